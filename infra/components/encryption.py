"""The stage's key: everything that the platform stores is encrypted with it."""

import json
from typing import Final

import pulumi
import pulumi_aws as aws

from infra import resource_policies
from infra.stage import Stage

# KMS's longest waiting time (7-30 days): the time to notice that somebody scheduled the key's deletion.
_DELETION_WINDOW_DAYS: Final = 30


class Encryption(pulumi.ComponentResource):
    """A customer-managed KMS key with rotation, and its alias `alias/onceward-<stage>_data`."""

    def __init__(self, stage: Stage) -> None:
        super().__init__("onceward:index:Encryption", "encryption")
        key = aws.kms.Key(
            "key",
            description=f"Onceward {stage.names.stage}: tables, topics, queues, logs, failure bucket",
            enable_key_rotation=True,
            deletion_window_in_days=_DELETION_WINDOW_DAYS,
            policy=json.dumps(resource_policies.key(stage.arns)),
            opts=stage.keeper(self),
        )
        aws.kms.Alias(
            "key-alias",
            name=f"alias/{stage.names.platform('data')}",
            target_key_id=key.key_id,
            opts=stage.child(self),
        )
        self.key_arn: pulumi.Output[str] = key.arn
        self.register_outputs({"keyArn": self.key_arn})
