"""The four functions, wired to the tables and queues they use."""

from dataclasses import dataclass
from typing import Final

import pulumi

from infra.components.function import Bundle, Function, FunctionSpec
from infra.components.tables import Tables
from infra.settings import FunctionName
from infra.stage import Stage

# Seconds. API Gateway gives up after 29 s, and its callers long before. A call whose answers are lost takes
# 7 s (handlers.adapters.aws), and a function stopped in the middle of it could not say 503. `read` may look
# for a fresh record for 2 s before its last call (DESIGN section 8); `dispatch` handles a batch of up to 50
# records, two calls each.
TIMEOUTS: Final[dict[FunctionName, int]] = {"authorizer": 10, "ingest": 10, "read": 10, "dispatch": 30}


@dataclass(frozen=True)
class Functions:
    """The functions by name."""

    authorizer: Function
    ingest: Function
    read: Function
    dispatch: Function

    @property
    def by_name(self) -> dict[FunctionName, Function]:
        """The functions by logical name."""
        return {
            "authorizer": self.authorizer,
            "ingest": self.ingest,
            "read": self.read,
            "dispatch": self.dispatch,
        }


def make_functions(
    stage: Stage,
    key_arn: pulumi.Input[str],
    tables: Tables,
    retry_queue_url: pulumi.Input[str],
    bundle: Bundle,
) -> Functions:
    """Make all four functions; their environment is what `handlers.settings` reads."""
    environments: dict[FunctionName, dict[str, pulumi.Input[str]]] = {
        "authorizer": {"TENANTS_TABLE": tables.tenants.name},
        "ingest": {"RECEIPTS_TABLE": tables.receipts.name},
        "read": {"RECEIPTS_TABLE": tables.receipts.name, "RECORDS_TABLE": tables.records.name},
        "dispatch": {
            "RECORDS_TABLE": tables.records.name,
            "TOPIC_ARN_PREFIX": stage.arns.tenant_topic_prefix,
            "RETRY_QUEUE_URL": retry_queue_url,
            "STREAM_PARTIAL_FAILURES": "honoured" if stage.settings.stream_partial_failures else "ignored",
        },
    }
    # Answers of proxied functions go out as they are: the CORS headers have to come from the function.
    origins = ",".join(stage.settings.cors_origins)
    for name in ("ingest", "read"):
        environments[name]["CORS_ORIGINS"] = origins

    def make(name: FunctionName) -> Function:
        return Function(FunctionSpec(name, TIMEOUTS[name], environments[name]), stage, key_arn, bundle)

    return Functions(make("authorizer"), make("ingest"), make("read"), make("dispatch"))
