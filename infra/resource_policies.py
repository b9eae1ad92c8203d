"""Who may use the key, the topics, the queues and the bucket, as data: resource policies."""

from collections.abc import Sequence
from typing import Final

from infra.naming import Arns
from infra.policies import VERSION, Document, Statement

# What the services do with a customer-managed key on behalf of the caller (their own documentation):
# DynamoDB, SQS and SNS take data keys and decrypt; S3 and DynamoDB re-encrypt; all of them describe.
_USE: Final = (
    *("kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey"),
    *("kms:GenerateDataKeyWithoutPlaintext", "kms:ReEncryptFrom", "kms:ReEncryptTo"),
)
_DATA_KEYS: Final = ("kms:Decrypt", "kms:GenerateDataKey")
_VIA: Final = ("dynamodb", "s3", "sns", "sqs", "ssm")
# SNS encrypts for CloudWatch and EventBridge with their own principals, and SQS for SNS. Without these an
# alarm on an encrypted topic fires and nobody hears of it. No condition on the source: KMS is called by the
# service of the topic, which does not promise to pass the source on; the topic's policy checks it.
_PUBLISHERS: Final = ("cloudwatch.amazonaws.com", "events.amazonaws.com", "sns.amazonaws.com")
# What EventBridge adds to every use of a key for a bus, and to nothing else (its user guide, "Encrypting
# EventBridge event buses with AWS KMS keys").
_OF_A_BUS: Final = "kms:EncryptionContext:aws:events:event-bus:arn"


def key(arns: Arns) -> Document:
    """The policy of the stage's key.

    The account's root keeps the key manageable (IAM policies of administrators count). The platform's roles
    come in only through the services that store their data; log groups only with the stage's names.
    """
    location = arns.location
    platform_logs = [
        location.arn("logs", f"log-group:{arns.names.log_group('*')}"),
        location.arn("logs", f"log-group:{arns.names.access_log_group}"),
    ]
    statements: list[Statement] = [
        _grant("Administer", {"AWS": _root(arns)}, ["kms:*"]),
        _grant("RolesThroughServices", {"AWS": "*"}, _USE) | {"Condition": _own_roles_via_services(arns)},
        # For topics and queues. A bus's use of the key says so, and is let in below if the bus is ours.
        _grant("Publishers", {"Service": list(_PUBLISHERS)}, _DATA_KEYS)
        | {"Condition": {"Null": {_OF_A_BUS: "true"}}},
        _grant("Bus", {"Service": "events.amazonaws.com"}, _DATA_KEYS)
        | {"Condition": {"StringEquals": {_OF_A_BUS: arns.bus("orders")}}},
        # EventBridge looks at the key before it takes it for a bus: with neither context nor source, in its
        # guide's own example.
        _grant("BusLooksAtKey", {"Service": "events.amazonaws.com"}, ["kms:DescribeKey"]),
        _grant("Logs", {"Service": f"logs.{location.region}.amazonaws.com"}, _USE)
        | {"Condition": {"ArnLike": {"kms:EncryptionContext:aws:logs:arn": platform_logs}}},
    ]
    return {"Version": VERSION, "Statement": statements}


def tenant_topic(tenant_id: str, arns: Arns, *, require_tls: bool) -> Document:
    """A tenant's topic: `dispatch` and `notify` publish, whatever else in the account has a broad policy."""
    topic = arns.tenant_topic(tenant_id)
    # A session's aws:PrincipalArn is its role's ARN; the second form is what the local AWS calls it.
    publishers = [arn for name in ("dispatch", "notify") for arn in (arns.role(name), arns.sessions(name))]
    publish: Statement = {
        "Sid": "PlatformPublishes",
        "Effect": "Allow",
        "Principal": {"AWS": _root(arns)},
        "Action": "sns:Publish",
        "Resource": topic,
        "Condition": {"ArnLike": {"aws:PrincipalArn": publishers}},
    }
    nobody_else: Statement = {
        "Sid": "NobodyElsePublishes",
        "Effect": "Deny",
        "Principal": {"AWS": "*"},
        "Action": "sns:Publish",
        "Resource": topic,
        "Condition": {"ArnNotLike": {"aws:PrincipalArn": publishers}},
    }
    return _document([publish, nobody_else], "sns:Publish", [topic], require_tls=require_tls)


def alarm_topic(arns: Arns, *, require_tls: bool) -> Document:
    """The alarm topic: CloudWatch alarms of this account and EventBridge rules publish.

    EventBridge brings no source along when it publishes to a topic ("You can't use Condition blocks in Amazon
    SNS topic policies for EventBridge", its user guide): with a condition its events are dropped in silence.
    """
    topic = arns.topic("alarms")
    own_account = {"StringEquals": {"aws:SourceAccount": arns.location.account}}
    alarms = _publishes("AlarmsPublish", "cloudwatch.amazonaws.com", topic) | {"Condition": own_account}
    rules = _publishes("RulesPublish", "events.amazonaws.com", topic)
    return _document([alarms, rules], "sns:Publish", [topic], require_tls=require_tls)


def topic_to_queue(queue: str, topics: str, *, require_tls: bool) -> Document:
    """A queue that takes messages from the topics (an ARN, or a pattern of ARNs) and from nobody else."""
    send: Statement = {
        "Sid": "TopicSends",
        "Effect": "Allow",
        "Principal": {"Service": "sns.amazonaws.com"},
        "Action": "sqs:SendMessage",
        "Resource": queue,
        "Condition": {"ArnLike": {"aws:SourceArn": topics}},
    }
    return _document([send], "sqs:*", [queue], require_tls=require_tls)


def bus_to_queue(queue: str, sources: Sequence[str], *, require_tls: bool) -> Document:
    """A queue that takes what an event bus, or a rule of it, gave up (their ARNs), and from nobody else."""
    send: Statement = {
        "Sid": "BusSends",
        "Effect": "Allow",
        "Principal": {"Service": "events.amazonaws.com"},
        "Action": "sqs:SendMessage",
        "Resource": queue,
        "Condition": {"ArnEquals": {"aws:SourceArn": list(sources)}},
    }
    return _document([send], "sqs:*", [queue], require_tls=require_tls)


def tls_only_queue(queue: str) -> Document:
    """A queue that only roles use, by their own policies: nothing over an unencrypted connection."""
    return {"Version": VERSION, "Statement": [_tls_only("sqs:*", [queue])]}


def tls_only_bucket(arns: Arns) -> Document:
    """The failure bucket: nothing over an unencrypted connection."""
    bucket = arns.failure_bucket
    return {"Version": VERSION, "Statement": [_tls_only("s3:*", [bucket, f"{bucket}/*"])]}


def _document(statements: list[Statement], action: str, on: list[str], *, require_tls: bool) -> Document:
    return {
        "Version": VERSION,
        "Statement": [*statements, _tls_only(action, on)] if require_tls else statements,
    }


def _tls_only(action: str, resources: list[str]) -> Statement:
    return {
        "Sid": "TlsOnly",
        "Effect": "Deny",
        "Principal": {"AWS": "*"},
        "Action": action,
        "Resource": resources,
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
    }


def _publishes(sid: str, service: str, topic: str) -> dict[str, object]:
    return {
        "Sid": sid,
        "Effect": "Allow",
        "Principal": {"Service": service},
        "Action": "sns:Publish",
        "Resource": topic,
    }


def _grant(sid: str, principal: dict[str, object], actions: Sequence[str]) -> dict[str, object]:
    # In a key's policy `*` is the key itself: a key policy cannot name any other resource.
    return {"Sid": sid, "Effect": "Allow", "Principal": principal, "Action": list(actions), "Resource": "*"}


def _own_roles_via_services(arns: Arns) -> dict[str, object]:
    location = arns.location
    return {
        "StringEquals": {
            "kms:CallerAccount": location.account,
            "kms:ViaService": [f"{service}.{location.region}.amazonaws.com" for service in _VIA],
        },
        "ArnLike": {"aws:PrincipalArn": arns.role("*")},
    }


def _root(arns: Arns) -> str:
    return f"arn:{arns.location.partition}:iam::{arns.location.account}:root"
