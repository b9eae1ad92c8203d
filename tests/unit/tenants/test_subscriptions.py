"""Subscriptions: what is taken, what is refused, and the filter policy that SNS gets."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tenants.errors import TenantFileError
from tenants.loader import load, load_all
from tenants.scope import Place
from tests.unit.tenants.files import TENANT, directory, faults_of

if TYPE_CHECKING:
    from pathlib import Path

SQS = "arn:aws:sqs:eu-west-1:123456789012:events"


def subscribed(*entries: str) -> str:
    return TENANT + "subscriptions:\n" + "".join(f"  - {entry}\n" for entry in entries)


def test_the_three_protocols_are_read(tmp_path: Path) -> None:
    text = subscribed(
        "{protocol: email, endpoint: ops@acme.example}",
        "{protocol: https, endpoint: 'https://hooks.acme.example:8443/in?x=1'}",
        f"{{protocol: sqs, endpoint: '{SQS}'}}",
    )
    (tenant,) = load_all(directory(tmp_path, acme=text)).tenants
    assert [entry.protocol for entry in tenant.subscriptions] == ["email", "https", "sqs"]
    assert [entry.filter_policy_json() for entry in tenant.subscriptions] == [None, None, None]


def test_a_filter_policy_reaches_sns_as_its_own_json(tmp_path: Path) -> None:
    policy = "{type: [lead.created, {prefix: lead.}], eventId: [{exists: true}, {anything-but: [a, b]}]}"
    text = subscribed(f"{{protocol: sqs, endpoint: '{SQS}', filterPolicy: {policy}}}")
    (tenant,) = load_all(directory(tmp_path, acme=text)).tenants
    assert json.loads(tenant.subscriptions[0].filter_policy_json() or "") == {
        "type": ["lead.created", {"prefix": "lead."}],
        "eventId": [{"exists": True}, {"anything-but": ["a", "b"]}],
    }


@pytest.mark.parametrize(
    ("entry", "field", "rule"),
    [
        ("{protocol: smtp, endpoint: x}", "", "must have a 'protocol' of email, https or sqs"),
        ("{endpoint: x}", "", "must have a 'protocol': email, https or sqs"),
        ("nobody", "", "must be a mapping"),
        ("{protocol: email}", ".endpoint", "is required"),
        ("{protocol: email, endpoint: nobody}", ".endpoint", "must be an e-mail address"),
        ("{protocol: https, endpoint: 'http://a.example'}", ".endpoint", "must be an https:// address"),
        ("{protocol: https, endpoint: 'https://'}", ".endpoint", "must be an https:// address"),
        ("{protocol: https, endpoint: 'https://a.example/#x'}", ".endpoint", "must be an https:// address"),
        (
            "{protocol: sqs, endpoint: 'https://sqs.example/1/q'}",
            ".endpoint",
            "must be the ARN of a standard q",
        ),
        (f"{{protocol: sqs, endpoint: '{SQS}.fifo'}}", ".endpoint", "must be the ARN of a standard queue"),
        (
            "{protocol: sqs, endpoint: 'arn:aws:sns:eu-west-1:123456789012:t'}",
            ".endpoint",
            "must be the ARN of a",
        ),
        ("{protocol: email, endpoint: a@b.example, raw: true}", ".raw", "is not a known field"),
        ("{protocol: email, endpoint: a@b.example, filterPolicy: {}}", ".filterPolicy", "must not be empty"),
        (
            "{protocol: email, endpoint: a@b.example, filterPolicy: {colour: [red]}}",
            *(".filterPolicy.colour", "must be 'type', 'tenantId' or 'eventId'"),
        ),
        (
            "{protocol: email, endpoint: a@b.example, filterPolicy: {type: lead}}",
            *(".filterPolicy.type", "must be a list"),
        ),
        (
            "{protocol: email, endpoint: a@b.example, filterPolicy: {type: [3]}}",
            *(".filterPolicy.type[0]", "must be a mapping"),
        ),
        (
            "{protocol: email, endpoint: a@b.example, filterPolicy: {type: [{prefix: a, suffix: b}]}}",
            *(".filterPolicy.type[0]", "must hold exactly one operator"),
        ),
        (
            "{protocol: email, endpoint: a@b.example, filterPolicy: {type: [{numeric: ['>', 1]}]}}",
            *(".filterPolicy.type[0].numeric", "is not a known field"),
        ),
    ],
)
def test_a_wrong_subscription_is_named_with_its_rule(
    tmp_path: Path, entry: str, field: str, rule: str
) -> None:
    fault = faults_of(directory(tmp_path, acme=subscribed(entry)))[0]
    assert (fault.line, fault.field) == (7, f"subscriptions[0]{field}")
    assert rule in fault.rule


@pytest.mark.parametrize(("values", "refused"), [(150, False), (151, True)])
def test_a_filter_policy_has_at_most_the_combinations_that_sns_takes(
    tmp_path: Path, values: int, refused: bool
) -> None:
    names = ", ".join(f"t{number}" for number in range(values))
    text = subscribed(f"{{protocol: sqs, endpoint: '{SQS}', filterPolicy: {{type: [{names}]}}}}")
    path = directory(tmp_path, acme=text)
    if refused:
        assert "must have at most 150 combinations of values (has 151)" in faults_of(path)[0].rule
    else:
        assert len(load_all(path).tenants) == 1


def test_an_endpoint_that_is_there_twice_is_refused_whatever_its_filters(tmp_path: Path) -> None:
    twice = subscribed(
        "{protocol: email, endpoint: ops@acme.example}",
        "{protocol: email, endpoint: ops@acme.example, filterPolicy: {type: [lead.created]}}",
    )
    (fault,) = faults_of(directory(tmp_path, acme=twice))
    assert fault.field == "subscriptions"
    assert fault.rule == "must not repeat itself: email ops@acme.example is there twice"


QUEUE_ON_DEV = f"{{protocol: sqs, endpoint: '{SQS}', stages: [dev]}}"


def test_a_subscription_may_belong_to_some_of_the_stages_since_accounts_differ(tmp_path: Path) -> None:
    mail = "{protocol: email, endpoint: ops@acme.example}"
    path = directory(tmp_path, acme=subscribed(QUEUE_ON_DEV, mail))
    (tenant,) = load_all(path).tenants
    assert [each.protocol for each in tenant.subscriptions_on("dev")] == ["sqs", "email"]
    assert [each.protocol for each in tenant.subscriptions_on("local")] == ["email"]
    # The queue is of another account than `local` is, which does not matter there.
    load(path, "local", place=Place("000000000000", "us-east-1"))
    with pytest.raises(TenantFileError, match=r"\[0\]\.endpoint: must be in the stage's account"):
        load(path, "dev", place=Place("000000000000", "us-east-1"))


def test_a_subscription_on_a_stage_that_the_tenant_is_not_on_is_refused(tmp_path: Path) -> None:
    text = subscribed("{protocol: email, endpoint: ops@acme.example, stages: [prod]}")
    (fault,) = faults_of(directory(tmp_path, acme=text))
    assert "subscriptions[0].stages must be among the tenant's stages (has prod)" in fault.rule


def test_a_tenant_s_own_key_may_belong_to_some_of_the_stages(tmp_path: Path) -> None:
    arn = "arn:aws:kms:eu-west-1:123456789012:key/1234abcd"
    text = TENANT + f"encryption: {{kmsKeyArn: '{arn}', stages: [dev]}}\n"
    (tenant,) = load_all(directory(tmp_path, acme=text)).tenants
    assert (tenant.kms_key_on("dev"), tenant.kms_key_on("local")) == (arn, None)
