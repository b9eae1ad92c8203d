"""Settings of S3 buckets, each a resource of its own."""

from typing import Any, ClassVar

from ops.local.clients import Clients
from ops.local.diff import Identity
from ops.local.resources.base import Inputs, Made, Provider, json_text, without_missing
from ops.local.state import Entry


class BucketSetting(Provider):
    """One setting of a bucket, set whole."""

    identity: ClassVar = Identity(names=("bucket",))

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """Set it."""
        self.put(aws, inputs["bucket"], inputs)
        return Made(inputs["bucket"], {})

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """As create: a bucket has one of it."""
        return self.create(aws, old.id, inputs)

    def delete(self, aws: Clients, old: Entry) -> None:
        """Unset it."""
        try:
            self.unset(aws, old.id)
        except aws.s3.exceptions.NoSuchBucket:
            return

    def put(self, aws: Clients, bucket: str, inputs: Inputs) -> None:
        """Set it on the bucket."""
        raise NotImplementedError

    def unset(self, aws: Clients, bucket: str) -> None:
        """Give the bucket S3's own default back."""
        raise NotImplementedError


class PublicAccessBlock(BucketSetting):
    """aws.s3.BucketPublicAccessBlock."""

    kind: ClassVar = "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock"
    _switches: ClassVar = (
        "blockPublicAcls",
        "blockPublicPolicy",
        "ignorePublicAcls",
        "restrictPublicBuckets",
    )
    applied: ClassVar = frozenset({"bucket", *_switches})
    not_applied: ClassVar = {"skipDestroy": "the setting goes with its bucket"}

    def put(self, aws: Clients, bucket: str, inputs: Inputs) -> None:
        """PutPublicAccessBlock."""
        switches: Any = {s[0].upper() + s[1:]: bool(inputs.get(s)) for s in self._switches}
        aws.s3.put_public_access_block(Bucket=bucket, PublicAccessBlockConfiguration=switches)

    def unset(self, aws: Clients, bucket: str) -> None:
        """DeletePublicAccessBlock."""
        aws.s3.delete_public_access_block(Bucket=bucket)


class BucketPolicy(BucketSetting):
    """aws.s3.BucketPolicy."""

    kind: ClassVar = "aws:s3/bucketPolicy:BucketPolicy"
    applied: ClassVar = frozenset({"bucket", "policy"})

    def put(self, aws: Clients, bucket: str, inputs: Inputs) -> None:
        """PutBucketPolicy."""
        aws.s3.put_bucket_policy(Bucket=bucket, Policy=json_text(inputs["policy"]))

    def unset(self, aws: Clients, bucket: str) -> None:
        """DeleteBucketPolicy."""
        aws.s3.delete_bucket_policy(Bucket=bucket)


class Encryption(BucketSetting):
    """aws.s3.BucketServerSideEncryptionConfiguration."""

    kind: ClassVar = "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration"
    applied: ClassVar = frozenset({"bucket", "rules"})

    def put(self, aws: Clients, bucket: str, inputs: Inputs) -> None:
        """PutBucketEncryption."""
        rules: list[Any] = []
        for rule in inputs["rules"]:
            default = rule.get("applyServerSideEncryptionByDefault", {})
            encryption = without_missing(
                SSEAlgorithm=default.get("sseAlgorithm"), KMSMasterKeyID=default.get("kmsMasterKeyId")
            )
            rules.append(
                {
                    "ApplyServerSideEncryptionByDefault": encryption,
                    "BucketKeyEnabled": bool(rule.get("bucketKeyEnabled")),
                }
            )
        aws.s3.put_bucket_encryption(Bucket=bucket, ServerSideEncryptionConfiguration={"Rules": rules})

    def unset(self, aws: Clients, bucket: str) -> None:
        """DeleteBucketEncryption."""
        aws.s3.delete_bucket_encryption(Bucket=bucket)


class Versioning(BucketSetting):
    """aws.s3.BucketVersioning."""

    kind: ClassVar = "aws:s3/bucketVersioning:BucketVersioning"
    applied: ClassVar = frozenset({"bucket", "versioningConfiguration"})

    def put(self, aws: Clients, bucket: str, inputs: Inputs) -> None:
        """PutBucketVersioning."""
        status = inputs["versioningConfiguration"]["status"]
        aws.s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": status})

    def unset(self, aws: Clients, bucket: str) -> None:
        """PutBucketVersioning: it can only be suspended."""
        aws.s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Suspended"})


class OwnershipControls(BucketSetting):
    """aws.s3.BucketOwnershipControls."""

    kind: ClassVar = "aws:s3/bucketOwnershipControls:BucketOwnershipControls"
    applied: ClassVar = frozenset({"bucket", "rule"})

    def put(self, aws: Clients, bucket: str, inputs: Inputs) -> None:
        """PutBucketOwnershipControls."""
        rule: Any = {"ObjectOwnership": inputs["rule"]["objectOwnership"]}
        aws.s3.put_bucket_ownership_controls(Bucket=bucket, OwnershipControls={"Rules": [rule]})

    def unset(self, aws: Clients, bucket: str) -> None:
        """DeleteBucketOwnershipControls."""
        aws.s3.delete_bucket_ownership_controls(Bucket=bucket)


class Lifecycle(BucketSetting):
    """aws.s3.BucketLifecycleConfiguration with rules that expire objects."""

    kind: ClassVar = "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration"
    applied: ClassVar = frozenset({"bucket", "rules"})

    def put(self, aws: Clients, bucket: str, inputs: Inputs) -> None:
        """PutBucketLifecycleConfiguration. Raises ValueError for a rule with anything but expirations."""
        rules: list[Any] = [_lifecycle_rule(rule) for rule in inputs["rules"]]
        aws.s3.put_bucket_lifecycle_configuration(Bucket=bucket, LifecycleConfiguration={"Rules": rules})

    def unset(self, aws: Clients, bucket: str) -> None:
        """DeleteBucketLifecycle."""
        aws.s3.delete_bucket_lifecycle(Bucket=bucket)


def _lifecycle_rule(rule: Inputs) -> dict[str, Any]:
    known = {
        "id",
        "status",
        "filter",
        "expiration",
        "noncurrentVersionExpiration",
        "abortIncompleteMultipartUpload",
    }
    strange = sorted(rule.keys() - known)
    if strange:
        raise ValueError(f"rules: not applied by the local platform: {', '.join(strange)}")
    expiration, old = rule.get("expiration"), rule.get("noncurrentVersionExpiration")
    abort = rule.get("abortIncompleteMultipartUpload")
    return {
        "ID": rule["id"],
        "Status": rule["status"],
        "Filter": {"Prefix": (rule.get("filter") or {}).get("prefix", "")},
        **without_missing(
            Expiration={"Days": expiration["days"]} if expiration else None,
            NoncurrentVersionExpiration={"NoncurrentDays": old["noncurrentDays"]} if old else None,
            AbortIncompleteMultipartUpload={"DaysAfterInitiation": abort["daysAfterInitiation"]}
            if abort
            else None,
        ),
    }


PROVIDERS = (PublicAccessBlock, BucketPolicy, Encryption, Versioning, OwnershipControls, Lifecycle)
