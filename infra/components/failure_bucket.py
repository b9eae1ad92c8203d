"""The bucket of stream batches that Lambda gave up: encrypted, private, TLS only, emptied in time."""

import json
from typing import Final

import pulumi
import pulumi_aws as aws

from infra import resource_policies
from infra.stage import Stage

# As long as a receipt keeps its outbox at the least is 8 days (DESIGN section 7); 90 give people time and
# then the copy of a tenant's data goes.
_KEEP_DAYS: Final = 90


class FailureBucket(pulumi.ComponentResource):
    """`onceward-<stage>-failures-<account>-<region>`."""

    def __init__(self, stage: Stage, key_arn: pulumi.Input[str], *, parent: pulumi.Resource) -> None:
        super().__init__(
            "onceward:index:FailureBucket", "dispatch-failures", opts=pulumi.ResourceOptions(parent=parent)
        )
        bucket = aws.s3.Bucket(
            "failures",
            bucket=stage.names.failure_bucket(stage.location),
            # A throwaway stage is taken down whole, whatever its tests left in here.
            force_destroy=not stage.settings.protect_data,
            opts=stage.keeper(self),
        )
        self._close(stage, bucket)
        self._encrypt(stage, bucket, key_arn)
        self._forget(stage, bucket)
        self.name: pulumi.Output[str] = bucket.bucket
        self.arn: pulumi.Output[str] = bucket.arn
        self.register_outputs({"name": self.name})

    def _close(self, stage: Stage, bucket: aws.s3.Bucket) -> None:
        closed = aws.s3.BucketPublicAccessBlock(
            "failures-private",
            bucket=bucket.bucket,
            block_public_acls=True,
            block_public_policy=True,
            ignore_public_acls=True,
            restrict_public_buckets=True,
            opts=stage.child(self),
        )
        if stage.settings.require_tls:
            aws.s3.BucketPolicy(
                "failures-tls",
                bucket=bucket.bucket,
                policy=json.dumps(resource_policies.tls_only_bucket(stage.arns)),
                # S3 refuses two changes of a bucket's access at once.
                opts=stage.child(self, depends_on=[closed]),
            )

    def _encrypt(self, stage: Stage, bucket: aws.s3.Bucket, key_arn: pulumi.Input[str]) -> None:
        by_default = aws.s3.BucketServerSideEncryptionConfigurationRuleApplyServerSideEncryptionByDefaultArgs(
            sse_algorithm="aws:kms", kms_master_key_id=key_arn
        )
        rule = aws.s3.BucketServerSideEncryptionConfigurationRuleArgs(
            apply_server_side_encryption_by_default=by_default,
            # One data key for the bucket rather than a KMS call per object.
            bucket_key_enabled=True,
        )
        aws.s3.BucketServerSideEncryptionConfiguration(
            "failures-encryption", bucket=bucket.bucket, rules=[rule], opts=stage.child(self)
        )

    def _forget(self, stage: Stage, bucket: aws.s3.Bucket) -> None:
        rule = aws.s3.BucketLifecycleConfigurationRuleArgs(
            id="forget",
            status="Enabled",
            filter=aws.s3.BucketLifecycleConfigurationRuleFilterArgs(prefix=""),
            expiration=aws.s3.BucketLifecycleConfigurationRuleExpirationArgs(days=_KEEP_DAYS),
        )
        aws.s3.BucketLifecycleConfiguration(
            "failures-lifecycle", bucket=bucket.bucket, rules=[rule], opts=stage.child(self)
        )
