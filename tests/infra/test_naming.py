"""Names: fixed, short enough, and never another tenant's or stage's."""

import pytest

from infra.naming import Arns, Location, Names

LONGEST_STAGE = "a" * 12
LONGEST_TENANT = "b" * 32


@pytest.mark.parametrize("stage", ["d", "Dev", "1dev", "dev-1", "dev_1", "a" * 13, "", "dev\n"])
def test_a_stack_that_is_no_stage_is_refused(stage: str) -> None:
    with pytest.raises(ValueError, match="must be a stage"):
        Names(stage)


@pytest.mark.parametrize("stage", ["local", "dev", "prod", "ab", "a" * 12])
def test_a_stage_is_taken(stage: str) -> None:
    assert Names(stage).platform("receipts") == f"onceward-{stage}_receipts"


def test_the_longest_names_fit_where_they_go() -> None:
    names = Names(LONGEST_STAGE)
    location = Location("aws", "123456789012", "ap-southeast-2")
    assert len(names.tenant_part(LONGEST_TENANT, "audit")) <= 80  # SQS queue
    assert len(names.platform("authorizer")) <= 64  # Lambda function and IAM role
    assert len(names.failure_bucket(location)) <= 63  # S3 bucket
    assert len(names.tenant(LONGEST_TENANT)) <= 256  # SNS topic, CloudWatch dashboard


def test_no_tenant_can_have_a_platform_name() -> None:
    names = Names("dev")
    assert not names.platform("alarms").startswith(names.tenant_prefix)


@pytest.mark.parametrize(("one", "other"), [("dev", "dev2"), ("dev", "de"), ("a1", "a11")])
def test_no_stages_pattern_matches_another_stages_names(one: str, other: str) -> None:
    location = Location("aws", "123456789012", "eu-west-1")
    prefix = Arns(location, Names(one)).tenant_topic_prefix
    assert not Arns(location, Names(other)).tenant_topic("acme").startswith(prefix)


def test_arns_follow_the_partition() -> None:
    arns = Arns(Location("aws-cn", "123456789012", "cn-north-1"), Names("dev"))
    assert arns.role("ingest") == "arn:aws-cn:iam::123456789012:role/onceward-dev_ingest"
    assert arns.failure_bucket.startswith("arn:aws-cn:s3:::onceward-dev-failures-")
