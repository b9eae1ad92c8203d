"""The work that is not done yet when the local platform is stopped."""

from collections.abc import Sequence

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from infra.naming import WORK_QUEUES, Names
from ops.local.emulator import Endpoint

RETRY_QUEUE = "dispatch-retry"
"""Where records wait that dispatch could not deliver, by short name."""

_CONFIG = Config(connect_timeout=1, read_timeout=2, retries={"total_max_attempts": 1})
"""An emulator that hangs must not hold up its end for a hint; one that runs answers in milliseconds."""

_COUNTS = (
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesNotVisible",
    "ApproximateNumberOfMessagesDelayed",
)
"""What waits, what is in progress or waits for its next attempt, and what is not to be seen yet."""


def queued(endpoint: Endpoint, region: str, stage: str) -> int:
    """How many messages the queues of work and the retry queue of dispatch hold; 0 where they do not say."""
    try:
        return counted(endpoint, region, stage)
    except (BotoCoreError, ClientError):
        return 0


def counted(
    endpoint: Endpoint, region: str, stage: str, queues: Sequence[str] = (*WORK_QUEUES, RETRY_QUEUE)
) -> int:
    """The same of some queues, by short name. Raises ClientError or BotoCoreError where they do not say."""
    client = boto3.session.Session(
        aws_access_key_id=endpoint.access_key_id,
        aws_secret_access_key=endpoint.secret_access_key,
        region_name=region,
    ).client("sqs", endpoint_url=endpoint.url, config=_CONFIG)
    names, count = Names(stage), 0
    for queue in queues:
        url = client.get_queue_url(QueueName=names.platform(queue))["QueueUrl"]
        attributes = client.get_queue_attributes(QueueUrl=url, AttributeNames=_COUNTS)["Attributes"]
        count += sum(int(attributes[each]) for each in _COUNTS)
    return count


def told(count: int) -> str:
    """What a person should know of so much work."""
    piece, goes = ("piece", "goes") if count == 1 else ("pieces", "go")
    return f"{count:,} {piece} of work (orders, webhooks) not done yet: {goes} on after the next `up`."
