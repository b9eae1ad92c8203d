"""The three tables: receipts (the write protocol), records (business objects), tenants (the registry)."""

from typing import Final

import pulumi
import pulumi_aws as aws

from infra.stage import Stage

# DESIGN section 7: the attribute that DynamoDB's TTL reads (epoch seconds).
TTL_ATTRIBUTE: Final = "purgeAt"


class Tables(pulumi.ComponentResource):
    """On-demand tables with one string hash key `pk`, point-in-time recovery and the stage's key."""

    def __init__(self, stage: Stage, key_arn: pulumi.Input[str]) -> None:
        super().__init__("onceward:index:Tables", "tables")
        self._stage = stage
        self._key_arn = key_arn
        self.receipts = self._table(
            "receipts",
            ttl=aws.dynamodb.TableTtlArgs(attribute_name=TTL_ATTRIBUTE, enabled=True),
            stream_enabled=True,
            # The old image tells a redelivered or overwritten receipt from a new one.
            stream_view_type="NEW_AND_OLD_IMAGES",
        )
        self.records = self._table("records")
        self.tenants = self._table("tenants")
        self.register_outputs({name: table.name for name, table in self.by_name.items()})

    @property
    def by_name(self) -> dict[str, aws.dynamodb.Table]:
        """The tables by logical name."""
        return {"receipts": self.receipts, "records": self.records, "tenants": self.tenants}

    def _table(
        self,
        name: str,
        *,
        ttl: aws.dynamodb.TableTtlArgs | None = None,
        stream_enabled: bool | None = None,
        stream_view_type: str | None = None,
    ) -> aws.dynamodb.Table:
        return aws.dynamodb.Table(
            name,
            name=self._stage.names.platform(name),
            billing_mode="PAY_PER_REQUEST",
            hash_key="pk",
            attributes=[aws.dynamodb.TableAttributeArgs(name="pk", type="S")],
            ttl=ttl,
            stream_enabled=stream_enabled,
            stream_view_type=stream_view_type,
            point_in_time_recovery=aws.dynamodb.TablePointInTimeRecoveryArgs(enabled=True),
            server_side_encryption=aws.dynamodb.TableServerSideEncryptionArgs(
                enabled=True, kms_key_arn=self._key_arn
            ),
            deletion_protection_enabled=self._stage.settings.protect_data,
            opts=self._stage.keeper(self),
        )
