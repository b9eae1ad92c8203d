"""What each function's role may do, as data: identity policies, one per function.

KMS is not here: the key's own policy lets the roles in, through the services that use the key
(`infra.resource_policies.key`).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from infra.naming import Arns

Statement = Mapping[str, object]
Document = Mapping[str, object]

VERSION: Final = "2012-10-17"

TAKES_NO_RESOURCE: Final[Mapping[str, str]] = {
    "xray:PutTraceSegments": "a segment belongs to no resource: it goes to the account's trace store",
    "xray:PutTelemetryRecords": "telemetry belongs to no resource: it goes to the account's trace store",
    "dynamodb:ListStreams": "lists the account's streams; the event source mapping makes it with the role",
}
"""The only actions that a role may have on `*`, each with its reason (a test reads this)."""


def assume_role() -> Document:
    """The trust policy of every function's role."""
    return {
        "Version": VERSION,
        "Statement": [
            {
                "Effect": "Allow",
                "Principal": {"Service": "lambda.amazonaws.com"},
                "Action": "sts:AssumeRole",
            }
        ],
    }


def function_role(function: str, arns: Arns) -> Document:
    """The identity policy of one function's role; KeyError for a name that is no function."""
    own = _CALLS[function](arns)
    return {"Version": VERSION, "Statement": [*own, *_telemetry(function, arns)]}


def api_logging_trust() -> Document:
    """The trust policy of the account's API Gateway logging role."""
    return {
        "Version": VERSION,
        "Statement": [
            {
                "Effect": "Allow",
                "Principal": {"Service": "apigateway.amazonaws.com"},
                "Action": "sts:AssumeRole",
            }
        ],
    }


def allow(sid: str, actions: Sequence[str], resources: str | Sequence[str]) -> dict[str, object]:
    """One Allow statement."""
    listed = [resources] if isinstance(resources, str) else list(resources)
    return {"Sid": sid, "Effect": "Allow", "Action": list(actions), "Resource": listed}


def _telemetry(function: str, arns: Arns) -> list[Statement]:
    return [
        # No CreateLogGroup: the program makes the group, with its key and retention.
        allow("OwnLogs", ["logs:CreateLogStream", "logs:PutLogEvents"], arns.log_streams(function)),
        allow("Traces", ["xray:PutTraceSegments", "xray:PutTelemetryRecords"], "*"),
    ]


def _authorizer(arns: Arns) -> list[Statement]:
    return [allow("FindKey", ["dynamodb:GetItem"], arns.table("tenants"))]


def _ingest(arns: Arns) -> list[Statement]:
    # No GetItem: the losing put brings the winner back, so a read would be a bug.
    return [allow("Claim", ["dynamodb:PutItem"], arns.table("receipts"))]


def _read(arns: Arns) -> list[Statement]:
    return [allow("Look", ["dynamodb:GetItem"], [arns.table("receipts"), arns.table("records")])]


def _dispatch(arns: Arns) -> list[Statement]:
    polling = ["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"]
    polling_queue = ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"]
    # Its own calls: to park, and to let what failed again wait.
    retrying = [*polling_queue, "sqs:SendMessage", "sqs:ChangeMessageVisibility"]
    own_bucket = {"Condition": {"StringEquals": {"s3:ResourceAccount": arns.location.account}}}
    return [
        allow("StoreRecord", ["dynamodb:PutItem"], arns.table("records")),
        allow("Publish", ["sns:Publish"], f"{arns.tenant_topic_prefix}*"),
        allow("ReadReceiptsStream", polling, arns.stream("receipts")),
        allow("FindStreams", ["dynamodb:ListStreams"], "*"),
        allow("ParkAndRetry", retrying, arns.queue("dispatch-retry")),
        # Lambda writes batches that it gives up with the function's role; it lists the bucket to find it.
        # Bucket names are everybody's: should ours be gone and another's have its name, nothing goes there.
        allow("KeepFailures", ["s3:PutObject"], f"{arns.failure_bucket}/*") | own_bucket,
        allow("FindFailureBucket", ["s3:ListBucket"], arns.failure_bucket) | own_bucket,
    ]


_CALLS: Final[Mapping[str, Callable[[Arns], list[Statement]]]] = {
    "authorizer": _authorizer,
    "ingest": _ingest,
    "read": _read,
    "dispatch": _dispatch,
}
