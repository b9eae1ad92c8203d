"""What feeds the workers: an event source mapping from each queue of work."""

from typing import Final

import pulumi
import pulumi_aws as aws

from infra.components.functions import Functions
from infra.components.queues import Queues
from infra.naming import WORKERS
from infra.stage import Stage

# SQS's largest batch without a batching window, which would only make work wait.
_BATCH: Final = 10


class WorkFeed(pulumi.ComponentResource):
    """Mappings to the workers' alias `live`, with partial batch failures and bounded concurrency."""

    def __init__(self, stage: Stage, queues: Queues, functions: Functions) -> None:
        super().__init__("onceward:index:WorkFeed", "work-feed")
        for queue, worker in WORKERS.items():
            aws.lambda_.EventSourceMapping(
                f"{queue}-queue",
                function_name=functions[worker].alias.arn,
                event_source_arn=queues.work[queue].arn,
                batch_size=_BATCH,
                function_response_types=["ReportBatchItemFailures"],
                scaling_config=aws.lambda_.EventSourceMappingScalingConfigArgs(
                    maximum_concurrency=stage.settings.queue_concurrency[worker]
                ),
                opts=stage.child(self),
            )
        self.register_outputs({})
