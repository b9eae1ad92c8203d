"""S3 buckets."""

from typing import Any, ClassVar

from ops.local.clients import Clients
from ops.local.diff import Identity
from ops.local.resources.base import Inputs, Made, Provider, by_name, physical_name
from ops.local.state import Entry

_HOME_REGION = "us-east-1"
"""The one region that CreateBucket does not take as a location constraint."""


class Bucket(Provider):
    """aws.s3.Bucket. Its settings are set by the resources below, not by its own deprecated properties."""

    kind: ClassVar = "aws:s3/bucket:Bucket"
    identity: ClassVar = Identity(names=("bucket",))
    applied: ClassVar = frozenset({"bucket", "forceDestroy"})

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """CreateBucket."""
        bucket = physical_name(inputs, name, "bucket")
        where: dict[str, Any] = (
            {}
            if aws.region == _HOME_REGION
            else {"CreateBucketConfiguration": {"LocationConstraint": aws.region}}
        )
        aws.s3.create_bucket(Bucket=bucket, **where)
        outputs = {
            "bucket": bucket,
            "arn": f"arn:aws:s3:::{bucket}",
            "bucketDomainName": f"{bucket}.s3.amazonaws.com",
            "bucketRegionalDomainName": f"{bucket}.s3.{aws.region}.amazonaws.com",
        }
        return Made(bucket, outputs)

    def leftover(self, aws: Clients, inputs: Inputs) -> Made | None:
        """The one with the name."""
        return by_name(inputs, "bucket")

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """Nothing to call: `forceDestroy` only matters at the end."""
        return Made(old.id, old.outputs)

    def delete(self, aws: Clients, old: Entry) -> None:
        """DeleteBucket; with `forceDestroy` its objects first, else S3 refuses one that is not empty."""
        try:
            if old.inputs.get("forceDestroy"):
                for page in aws.s3.get_paginator("list_object_versions").paginate(Bucket=old.id):
                    for there in [*page.get("Versions", []), *page.get("DeleteMarkers", [])]:
                        aws.s3.delete_object(Bucket=old.id, Key=there["Key"], VersionId=there["VersionId"])
            aws.s3.delete_bucket(Bucket=old.id)
        except aws.s3.exceptions.NoSuchBucket:
            return


PROVIDERS = (Bucket,)
