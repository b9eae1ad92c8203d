"""What the stream gave up: the objects that Lambda wrote to the failure bucket."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from handlers.domain.outbox import is_due

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mypy_boto3_s3 import S3Client

    from ops.replay import Window

    Image = Mapping[str, Any]

# Lambda Developer Guide, "Retain discarded records for a DynamoDB event source": its objects are called
# aws/lambda/<mapping>/<shard>/<time>-<random>.
PREFIX: Final = "aws/lambda/"


class UnreadableFailure(ValueError):
    """An object of the failure bucket is no record of a batch that Lambda gave up."""


class Failures:
    """The failure bucket of a stage."""

    def __init__(self, client: S3Client, bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def objects(self, window: Window) -> Iterator[str]:
        """The names of what Lambda wrote there in the time of `window`, in the bucket's order."""
        pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=PREFIX)
        for page in pages:
            for one in page.get("Contents", []):
                written = one["LastModified"]
                if (window.since is None or written >= window.since) and (
                    window.until is None or written < window.until
                ):
                    yield one["Key"]

    def images(self, name: str) -> list[Image]:
        """The images in one object that have something to dispatch, as the stream brought them.

        Raises:
            UnreadableFailure: it is no record of a batch that Lambda gave up.
        """
        body = self._client.get_object(Bucket=self._bucket, Key=name)["Body"].read()
        try:
            changes = [record["dynamodb"] for record in _records(json.loads(body)["payload"])]
            return [
                change["NewImage"]
                for change in changes
                if is_due(change.get("NewImage"), change.get("OldImage"))
            ]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise UnreadableFailure(f"{name} is no record of a batch that Lambda gave up") from None

    def delete(self, name: str) -> None:
        """Remove an object."""
        self._client.delete_object(Bucket=self._bucket, Key=name)


def _records(payload: Any) -> list[Mapping[str, Any]]:  # noqa: ANN401 - JSON of any shape
    # The guide shows the payload as text, captures of AWS (LocalStack's tests) as an object: both are taken.
    event = json.loads(payload) if isinstance(payload, str) else payload
    records: list[Mapping[str, Any]] = event["Records"]
    return records
