"""Data sources: functions of the AWS provider that the program may call, by Pulumi's name of each."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Arguments = Mapping[str, Any]

POLICY_VERSION = "2012-10-17"
"""The current version of the IAM policy language, which the provider fills in."""


@dataclass(frozen=True)
class Caller:
    """Whom the program runs as."""

    account: str
    region: str


def caller_identity(caller: Caller, _arguments: Arguments) -> dict[str, Any]:
    """`aws.get_caller_identity`."""
    return {
        "accountId": caller.account,
        "arn": f"arn:aws:iam::{caller.account}:root",
        "id": caller.account,
        "userId": caller.account,
    }


def region(caller: Caller, arguments: Arguments) -> dict[str, Any]:
    """`aws.get_region`. Raises ValueError for a region other than the stage's."""
    asked = arguments.get("region") or arguments.get("name") or caller.region
    if asked != caller.region:
        raise ValueError(f"region {asked}: the local platform has one region only, {caller.region}")
    return {
        "id": caller.region,
        "name": caller.region,
        "region": caller.region,
        "endpoint": f"ec2.{caller.region}.amazonaws.com",
        "description": caller.region,
    }


def partition(_caller: Caller, _arguments: Arguments) -> dict[str, Any]:
    """`aws.get_partition`."""
    return {
        "id": "aws",
        "partition": "aws",
        "dnsSuffix": "amazonaws.com",
        "reverseDnsPrefix": "com.amazonaws",
    }


def policy_document(_caller: Caller, arguments: Arguments) -> dict[str, Any]:
    """`aws.iam.get_policy_document`: the JSON of an IAM policy."""
    if arguments.keys() & {"overridePolicyDocuments", "sourcePolicyDocuments"}:
        raise ValueError("merging policy documents is not supported locally")
    document = {
        "Version": arguments.get("version", POLICY_VERSION),
        **({"Id": arguments["policyId"]} if "policyId" in arguments else {}),
        "Statement": [_statement(statement) for statement in arguments.get("statements", [])],
    }
    text = json.dumps(document, indent=2)
    return {
        "id": "policy",
        "json": text,
        "minifiedJson": json.dumps(document, separators=(",", ":")),
        **arguments,
    }


def _statement(statement: Arguments) -> dict[str, Any]:
    lists = {
        "actions": "Action",
        "notActions": "NotAction",
        "resources": "Resource",
        "notResources": "NotResource",
    }
    made: dict[str, Any] = {"Effect": statement.get("effect", "Allow")}
    if "sid" in statement:
        made["Sid"] = statement["sid"]
    made |= {element: _one_or_many(statement[name]) for name, element in lists.items() if statement.get(name)}
    for name, element in (("principals", "Principal"), ("notPrincipals", "NotPrincipal")):
        if statement.get(name):
            made[element] = _principals(statement[name])
    conditions: dict[str, dict[str, Any]] = {}
    for condition in statement.get("conditions", []):
        conditions.setdefault(condition["test"], {})[condition["variable"]] = _one_or_many(
            condition["values"]
        )
    return made | ({"Condition": conditions} if conditions else {})


def _principals(principals: Sequence[Arguments]) -> Any:  # noqa: ANN401 (a string or an object, as IAM has it)
    if any(p["type"] == "*" for p in principals):
        return "*"
    return {p["type"]: _one_or_many(p["identifiers"]) for p in principals}


def _one_or_many(values: Sequence[str]) -> Any:  # noqa: ANN401 (a string or a list, as IAM has it)
    return values[0] if len(values) == 1 else sorted(values)


INVOKES: Mapping[str, Callable[[Caller, Arguments], dict[str, Any]]] = {
    "aws:index/getCallerIdentity:getCallerIdentity": caller_identity,
    "aws:index/getRegion:getRegion": region,
    "aws:index/getPartition:getPartition": partition,
    "aws:iam/getPolicyDocument:getPolicyDocument": policy_document,
}
