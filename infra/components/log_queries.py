"""The saved queries of the logs."""

from collections.abc import Sequence

import pulumi
import pulumi_aws as aws

from infra.log_queries import log_queries, saved_name
from infra.stage import Stage


class LogQueries(pulumi.ComponentResource):
    """What operators find under "Saved queries" in CloudWatch Logs Insights."""

    def __init__(self, stage: Stage, after: Sequence[pulumi.Resource]) -> None:
        """`after`: what makes the log groups."""
        super().__init__("onceward:index:LogQueries", "log-queries")
        for query in log_queries(stage.names):
            aws.cloudwatch.QueryDefinition(
                f"query-{query.slug}",
                name=saved_name(query, stage.names),
                log_group_names=list(query.log_groups),
                query_string=query.text,
                opts=stage.child(self, depends_on=list(after)),
            )
        self.register_outputs({})
