"""What each function's role may do, as data: identity policies, one per function.

KMS is not here: the key's own policy lets the roles in, through the services that use the key
(`infra.resource_policies.key`).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from infra.naming import PENDING_INDEX, WORK_QUEUES, Arns

Statement = Mapping[str, object]
Document = Mapping[str, object]

VERSION: Final = "2012-10-17"

# What a queue's consumer does: Lambda's poller the first three, with the function's role, and the function
# itself the last, to let what failed wait.
_TAKE: Final = (
    *("sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"),
    "sqs:ChangeMessageVisibility",
)

TAKES_NO_RESOURCE: Final[Mapping[str, str]] = {
    "xray:PutTraceSegments": "a segment belongs to no resource: it goes to the account's trace store",
    "xray:PutTelemetryRecords": "telemetry belongs to no resource: it goes to the account's trace store",
    "dynamodb:ListStreams": "lists the account's streams; the event source mapping makes it with the role",
}
"""The only actions that a role may have on `*`, each with its reason (a test reads this)."""


def trust(service: str) -> Document:
    """The trust policy of a role that a service takes: `lambda.amazonaws.com` for every function's."""
    return {
        "Version": VERSION,
        "Statement": [
            {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"},
        ],
    }


def function_role(function: str, arns: Arns) -> Document:
    """The identity policy of one function's role; KeyError for a name that is no function."""
    own = _CALLS[function](arns)
    return {"Version": VERSION, "Statement": [*own, *_telemetry(function, arns)]}


def canary_role(arns: Arns) -> Document:
    """What CodeDeploy needs to move the functions' aliases: AWSCodeDeployRoleForLambdaLimited, on our own.

    Less the S3 rights of that policy: what is to be deployed comes with the call, from no bucket.
    """
    moving = ["lambda:GetAlias", "lambda:GetProvisionedConcurrencyConfig", "lambda:UpdateAlias"]
    return {
        "Version": VERSION,
        "Statement": [
            allow("MoveAliases", moving, arns.function("*")),
            allow("WatchAlarms", ["cloudwatch:DescribeAlarms"], arns.alarm("*")),
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
    # Its own calls: to park, and to let what failed again wait.
    retrying = [*_TAKE, "sqs:SendMessage"]
    own_bucket = {"Condition": {"StringEquals": {"s3:ResourceAccount": arns.location.account}}}
    return [
        allow("StoreRecord", ["dynamodb:PutItem"], arns.table("records")),
        allow("Publish", ["sns:Publish"], f"{arns.tenant_topic_prefix}*"),
        allow("ReadReceiptsStream", polling, arns.stream("receipts")),
        allow("FindStreams", ["dynamodb:ListStreams"], "*"),
        allow("ParkAndRetry", retrying, arns.queue("dispatch-retry")),
        allow("QueueWork", ["sqs:SendMessage"], _work_queues(arns)),
        # Lambda writes batches that it gives up with the function's role; it lists the bucket to find it.
        # Bucket names are everybody's: should ours be gone and another's have its name, nothing goes there.
        allow("KeepFailures", ["s3:PutObject"], f"{arns.failure_bucket}/*") | own_bucket,
        allow("FindFailureBucket", ["s3:ListBucket"], arns.failure_bucket) | own_bucket,
    ]


def _execute(arns: Arns) -> list[Statement]:
    return [
        # No GetItem here either, and no DeleteItem: what fails is released, never removed.
        allow("ClaimAndComplete", ["dynamodb:PutItem", "dynamodb:UpdateItem"], arns.table("receipts")),
        allow("BookSlot", ["dynamodb:PutItem"], arns.table("slots")),
        allow("ProviderSecret", ["ssm:GetParameter"], arns.secrets("payments/provider")),
    ]


def _webhooks(arns: Arns) -> list[Statement]:
    return [
        allow("Claim", ["dynamodb:PutItem"], arns.table("receipts")),
        allow("FindSource", ["dynamodb:GetItem"], arns.table("tenants")),
        allow("SendersSecrets", ["ssm:GetParameter"], arns.secrets("webhooks/*")),
        # A `*` spans slashes, so the pattern meets `<tenant>/destinations/webhooks/<source>` as well: what we
        # send to destinations is none of the receiver's business.
        {
            "Sid": "NoDestinationsSecrets",
            "Effect": "Deny",
            "Action": ["ssm:GetParameter"],
            "Resource": [arns.secrets("destinations/*")],
        },
    ]


def _deliver(arns: Arns) -> list[Statement]:
    return _worker(arns, "webhooks")


def _fulfil(arns: Arns) -> list[Statement]:
    return [*_worker(arns, "orders"), allow("PutEvents", ["events:PutEvents"], arns.bus("orders"))]


def _worker(arns: Arns, queue: str) -> list[Statement]:
    """Claim on the record itself and mark it; never made or removed by a worker, hence UpdateItem alone."""
    return [
        allow("ClaimAndMark", ["dynamodb:UpdateItem"], arns.table("records")),
        allow("FindDestination", ["dynamodb:GetItem"], arns.table("tenants")),
        allow("DestinationSecrets", ["ssm:GetParameter"], arns.secrets(f"destinations/{queue}*")),
        allow("TakeWork", _TAKE, arns.queue(queue)),
    ]


def _notify(arns: Arns) -> list[Statement]:
    return [
        allow("Publish", ["sns:Publish"], f"{arns.tenant_topic_prefix}*"),
        # Lambda sends what an asynchronous call gave up with the function's own role.
        allow("KeepFailures", ["sqs:SendMessage"], arns.queue("notify-dlq")),
    ]


def _reconcile(arns: Arns) -> list[Statement]:
    return [
        allow("FindPending", ["dynamodb:Query"], arns.index("records", PENDING_INDEX)),
        allow("MarkRequeued", ["dynamodb:UpdateItem"], arns.table("records")),
        allow("QueueWork", ["sqs:SendMessage"], _work_queues(arns)),
    ]


def _work_queues(arns: Arns) -> list[str]:
    return [arns.queue(name) for name in WORK_QUEUES]


_CALLS: Final[Mapping[str, Callable[[Arns], list[Statement]]]] = {
    "authorizer": _authorizer,
    "ingest": _ingest,
    "read": _read,
    "dispatch": _dispatch,
    "execute": _execute,
    "webhooks": _webhooks,
    "deliver": _deliver,
    "fulfil": _fulfil,
    "notify": _notify,
    "reconcile": _reconcile,
}
