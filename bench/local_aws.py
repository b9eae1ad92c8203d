"""Clients of the local AWS, with the settings that the functions use, and tables to measure on."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import boto3

from handlers.adapters.aws import CLIENT_CONFIG

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_ssm import SSMClient

REGION: Final = "us-east-1"


@dataclass(frozen=True)
class Clients:
    """Clients of one endpoint."""

    dynamodb: DynamoDBClient
    ssm: SSMClient


def connect(endpoint_url: str, access_key_id: str, secret_access_key: str) -> Clients:
    """Clients that speak to `endpoint_url`: the local AWS, or a tap before it."""
    common: dict[str, Any] = {
        "endpoint_url": endpoint_url,
        "aws_access_key_id": access_key_id,
        "aws_secret_access_key": secret_access_key,
        "region_name": REGION,
        "config": CLIENT_CONFIG,
    }
    return Clients(boto3.client("dynamodb", **common), boto3.client("ssm", **common))


def make_table(client: DynamoDBClient, key: str) -> str:
    """Make an empty on-demand table with one hash key, and return its name."""
    name = f"bench-{uuid.uuid4().hex[:12]}"
    client.create_table(
        TableName=name,
        KeySchema=[{"AttributeName": key, "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    return name
