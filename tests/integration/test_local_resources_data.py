"""Tables, topics, queues, keys, logs and buckets: made, changed and deleted; read back from the local AWS."""

from __future__ import annotations

import json

import pulumi
import pulumi_aws as aws
import pytest

from ops.local.resources.logs import QueryDefinition
from tests.integration.local_stack import Stack, allow, clients, names, stack

__all__ = ["clients", "stack"]

pytestmark = pytest.mark.platform


def by(attribute: str) -> aws.dynamodb.TableGlobalSecondaryIndexArgs:
    """An index that is called after its key."""
    return aws.dynamodb.TableGlobalSecondaryIndexArgs(
        name=f"by-{attribute}",
        key_schemas=[
            aws.dynamodb.TableGlobalSecondaryIndexKeySchemaArgs(attribute_name=attribute, key_type="HASH")
        ],
        projection_type="KEYS_ONLY",
    )


def test_tables_and_items(stack: Stack) -> None:
    def program(changed: bool) -> None:
        keys = ("pk", "b", "c") if changed else ("pk", "a")
        table = aws.dynamodb.Table(
            "table",
            name="s_table",
            hash_key="pk",
            attributes=[aws.dynamodb.TableAttributeArgs(name=key, type="S") for key in keys],
            global_secondary_indexes=[by("b") if changed else by("a"), *([by("c")] if changed else [])],
            billing_mode="PAY_PER_REQUEST",
            ttl=aws.dynamodb.TableTtlArgs(attribute_name="purgeAt", enabled=not changed),
            stream_enabled=True,
            stream_view_type="KEYS_ONLY" if changed else "NEW_AND_OLD_IMAGES",
            point_in_time_recovery=aws.dynamodb.TablePointInTimeRecoveryArgs(enabled=changed),
        )
        aws.dynamodb.TableItem(
            "item",
            table_name=table.name,
            hash_key="pk",
            item=json.dumps({"pk": {"S": "b" if changed else "a"}, "n": {"N": "1"}}),
        )
        pulumi.export("stream", table.stream_arn)

    changed = stack.through(program)
    assert names(changed.updated) == {"table", "item"}
    dynamodb = stack.aws.dynamodb
    there = dynamodb.describe_table(TableName="s_table")["Table"]
    # Indexes come and go in place: the table, and what is in it, stays.
    assert {index["IndexName"] for index in there["GlobalSecondaryIndexes"]} == {"by-b", "by-c"}
    assert there["StreamSpecification"]["StreamViewType"] == "KEYS_ONLY"
    assert there["LatestStreamArn"] == stack.outputs()["stream"]
    ttl = dynamodb.describe_time_to_live(TableName="s_table")["TimeToLiveDescription"]
    assert ttl["TimeToLiveStatus"] == "DISABLED"
    assert [item["pk"]["S"] for item in dynamodb.scan(TableName="s_table")["Items"]] == ["b"]


def test_topics_queues_and_what_is_between(stack: Stack) -> None:
    def program(changed: bool) -> None:
        topic = aws.sns.Topic("topic", name="s-topic", display_name="new" if changed else "old")
        dead = aws.sqs.Queue("dead", name="s_dead")
        queue = aws.sqs.Queue(
            "queue",
            name="s_queue",
            visibility_timeout_seconds=60 if changed else 45,
            delay_seconds=None if changed else 5,
        )
        aws.sqs.RedrivePolicy(
            "redrive",
            queue_url=queue.url,
            redrive_policy=dead.arn.apply(
                lambda arn: json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": 9 if changed else 3})
            ),
        )
        aws.sqs.RedriveAllowPolicy(
            "allow", queue_url=dead.url, redrive_allow_policy=json.dumps({"redrivePermission": "allowAll"})
        )
        aws.sqs.QueuePolicy(
            "policy", queue_url=queue.url, policy=allow("sqs:*" if changed else "sqs:SendMessage")
        )
        aws.sns.TopicPolicy("topic-policy", arn=topic.arn, policy=allow("sns:Publish"))
        aws.sns.TopicSubscription(
            "subscription",
            topic=topic.arn,
            protocol="sqs",
            endpoint=queue.arn,
            raw_message_delivery=not changed,
            filter_policy=json.dumps({"type": ["b" if changed else "a"]}),
        )
        pulumi.export("subscription", topic.arn)

    changed = stack.through(program)
    assert names(changed.updated) == {"topic", "queue", "redrive", "policy", "subscription"}
    sns, sqs = stack.aws.sns, stack.aws.sqs
    url = sqs.get_queue_url(QueueName="s_queue")["QueueUrl"]
    attributes = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    assert (attributes["VisibilityTimeout"], attributes["DelaySeconds"]) == ("60", "0")
    assert json.loads(attributes["RedrivePolicy"])["maxReceiveCount"] == 9
    [subscription] = sns.list_subscriptions_by_topic(TopicArn=stack.outputs()["subscription"])[
        "Subscriptions"
    ]
    there = sns.get_subscription_attributes(SubscriptionArn=subscription["SubscriptionArn"])["Attributes"]
    assert (there["RawMessageDelivery"], json.loads(there["FilterPolicy"])) == ("false", {"type": ["b"]})


def test_a_query_over_a_log_group_that_is_not_there_is_refused(stack: Stack) -> None:
    with pytest.raises(ValueError, match="there is no log group /s/none"):
        QueryDefinition().create(stack.aws, "query", {"name": "s/query", "logGroupNames": ["/s/none"]})


def test_keys_logs_and_buckets(stack: Stack) -> None:
    def program(changed: bool) -> None:
        key = aws.kms.Key("key", description="new" if changed else "old", enable_key_rotation=changed)
        aws.kms.Alias("alias", name="alias/s-key", target_key_id=key.key_id)
        logs = aws.cloudwatch.LogGroup(
            "logs", name="/s/logs", retention_in_days=7 if changed else 1, kms_key_id=key.arn
        )
        aws.cloudwatch.LogMetricFilter(
            "filter",
            name="errors",
            log_group_name=logs.name,
            pattern="ERROR" if changed else "error",
            metric_transformation=aws.cloudwatch.LogMetricFilterMetricTransformationArgs(
                name="Errors", namespace="S", value="1", default_value="0"
            ),
        )
        aws.cloudwatch.QueryDefinition(
            "query",
            name="s/query",
            log_group_names=[logs.name],
            query_string="fields b" if changed else "fields a",
        )
        bucket = aws.s3.Bucket("bucket", bucket="s-bucket", force_destroy=True)
        aws.s3.BucketVersioning(
            "versions",
            bucket=bucket.bucket,
            versioning_configuration=aws.s3.BucketVersioningVersioningConfigurationArgs(status="Enabled"),
        )
        aws.s3.BucketPublicAccessBlock(
            "closed", bucket=bucket.bucket, block_public_acls=True, block_public_policy=changed
        )
        aws.s3.BucketOwnershipControls(
            "owner",
            bucket=bucket.bucket,
            rule=aws.s3.BucketOwnershipControlsRuleArgs(object_ownership="BucketOwnerEnforced"),
        )
        aws.s3.BucketServerSideEncryptionConfiguration(
            "encrypted",
            bucket=bucket.bucket,
            rules=[
                aws.s3.BucketServerSideEncryptionConfigurationRuleArgs(
                    apply_server_side_encryption_by_default=aws.s3.BucketServerSideEncryptionConfigurationRuleApplyServerSideEncryptionByDefaultArgs(
                        sse_algorithm="aws:kms", kms_master_key_id=key.arn
                    )
                )
            ],
        )
        aws.s3.BucketLifecycleConfiguration(
            "expiry",
            bucket=bucket.bucket,
            rules=[
                aws.s3.BucketLifecycleConfigurationRuleArgs(
                    id="all",
                    status="Enabled",
                    expiration=aws.s3.BucketLifecycleConfigurationRuleExpirationArgs(
                        days=9 if changed else 5
                    ),
                )
            ],
        )
        aws.s3.BucketPolicy("policy", bucket=bucket.bucket, policy=allow("s3:GetObject"))

    changed = stack.through(program)
    assert names(changed.updated) == {"key", "logs", "filter", "query", "closed", "expiry"}
    [group] = stack.aws.logs.describe_log_groups(logGroupNamePrefix="/s/logs")["logGroups"]
    assert group["retentionInDays"] == 7
    rules = stack.aws.s3.get_bucket_lifecycle_configuration(Bucket="s-bucket")["Rules"]
    assert rules[0]["Expiration"]["Days"] == 9
    stack.aws.s3.put_object(Bucket="s-bucket", Key="parked", Body=b"x")  # force_destroy takes it along
