"""The tables: receipts (the write protocol), records (business objects), slots (booked ones), tenants."""

from typing import Final

import pulumi
import pulumi_aws as aws

from infra.naming import PENDING_INDEX
from infra.stage import Stage

# DESIGN section 7: the attribute that DynamoDB's TTL reads (epoch seconds).
TTL_ATTRIBUTE: Final = "purgeAt"
# What the reconciler needs to queue an item again, and an operator to see what it is: not the document.
PENDING_ATTRIBUTES: Final = (
    *("operation", "status", "eventId", "correlationId", "tenantId", "recordId"),
    *("requeuedAt", "requeues"),
)
_INDEX_KEYS: Final = (("pendingShard", "S"), ("pendingSince", "N"))


class Tables(pulumi.ComponentResource):
    """On-demand tables with one string hash key `pk`, point-in-time recovery and the stage's key."""

    def __init__(self, stage: Stage, key_arn: pulumi.Input[str]) -> None:
        super().__init__("onceward:index:Tables", "tables")
        self._stage = stage
        self._key_arn = key_arn
        swept = aws.dynamodb.TableTtlArgs(attribute_name=TTL_ATTRIBUTE, enabled=True)
        self.receipts = self._table(
            "receipts",
            ttl=swept,
            stream_enabled=True,
            # The old image tells a redelivered or overwritten receipt from a new one.
            stream_view_type="NEW_AND_OLD_IMAGES",
        )
        # Webhooks' records alone bear the attribute (ADR 79).
        self.records = self._table("records", index=_pending(), ttl=swept)
        self.slots = self._table("slots")
        self.tenants = self._table("tenants")
        self.register_outputs({name: table.name for name, table in self.by_name.items()})

    @property
    def by_name(self) -> dict[str, aws.dynamodb.Table]:
        """The tables by logical name."""
        return {
            "receipts": self.receipts,
            "records": self.records,
            "slots": self.slots,
            "tenants": self.tenants,
        }

    def _table(
        self,
        name: str,
        *,
        index: aws.dynamodb.TableGlobalSecondaryIndexArgs | None = None,
        ttl: aws.dynamodb.TableTtlArgs | None = None,
        stream_enabled: bool | None = None,
        stream_view_type: str | None = None,
    ) -> aws.dynamodb.Table:
        keys = [("pk", "S")] if index is None else [("pk", "S"), *_INDEX_KEYS]
        return aws.dynamodb.Table(
            name,
            name=self._stage.names.platform(name),
            billing_mode="PAY_PER_REQUEST",
            hash_key="pk",
            attributes=[aws.dynamodb.TableAttributeArgs(name=key, type=kind) for key, kind in keys],
            global_secondary_indexes=None if index is None else [index],
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


def _pending() -> aws.dynamodb.TableGlobalSecondaryIndexArgs:
    """Work that is not done yet, oldest first; sparse: a record without `pendingShard` is not in it."""
    (shard, _), (since, _) = _INDEX_KEYS
    return aws.dynamodb.TableGlobalSecondaryIndexArgs(
        name=PENDING_INDEX,
        key_schemas=[
            aws.dynamodb.TableGlobalSecondaryIndexKeySchemaArgs(attribute_name=shard, key_type="HASH"),
            aws.dynamodb.TableGlobalSecondaryIndexKeySchemaArgs(attribute_name=since, key_type="RANGE"),
        ],
        projection_type="INCLUDE",
        non_key_attributes=list(PENDING_ATTRIBUTES),
    )
