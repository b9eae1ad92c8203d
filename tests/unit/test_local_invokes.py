"""The provider functions that a program may call."""

from __future__ import annotations

import json

import pytest

from ops.local.invokes import INVOKES, Caller

CALLER = Caller("000000000000", "eu-central-1")


def call(function: str, **arguments: object) -> dict[str, object]:
    return INVOKES[function](CALLER, arguments)


def document(*statements: dict[str, object]) -> dict[str, object]:
    answer = call("aws:iam/getPolicyDocument:getPolicyDocument", statements=list(statements))
    found: dict[str, object] = json.loads(str(answer["json"]))
    assert found == json.loads(str(answer["minifiedJson"]))
    return found


def test_the_program_learns_where_it_runs() -> None:
    assert call("aws:index/getCallerIdentity:getCallerIdentity")["accountId"] == "000000000000"
    assert call("aws:index/getRegion:getRegion")["region"] == "eu-central-1"
    assert call("aws:index/getPartition:getPartition")["partition"] == "aws"


def test_another_region_is_refused() -> None:
    with pytest.raises(ValueError, match=r"us-west-2.*eu-central-1"):
        call("aws:index/getRegion:getRegion", region="us-west-2")


def test_a_policy_is_written_as_the_provider_writes_it() -> None:
    assert document(
        {
            "sid": "Put",
            "actions": ["s3:PutObject"],
            "resources": ["b", "a"],
            "principals": [{"type": "Service", "identifiers": ["lambda.amazonaws.com"]}],
            "conditions": [
                {"test": "StringEquals", "variable": "aws:SourceAccount", "values": ["1"]},
                {"test": "StringEquals", "variable": "aws:PrincipalOrgID", "values": ["o", "p"]},
            ],
        },
        {
            "effect": "Deny",
            "notActions": ["s3:Get*"],
            "resources": ["*"],
            "principals": [{"type": "*", "identifiers": []}],
        },
    ) == {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Sid": "Put",
                "Action": "s3:PutObject",
                "Resource": ["a", "b"],
                "Principal": {"Service": "lambda.amazonaws.com"},
                "Condition": {"StringEquals": {"aws:SourceAccount": "1", "aws:PrincipalOrgID": ["o", "p"]}},
            },
            {"Effect": "Deny", "NotAction": "s3:Get*", "Resource": "*", "Principal": "*"},
        ],
    }


def test_merging_policies_is_refused_rather_than_forgotten() -> None:
    with pytest.raises(ValueError, match="merging"):
        call("aws:iam/getPolicyDocument:getPolicyDocument", sourcePolicyDocuments=["{}"])
