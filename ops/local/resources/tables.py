"""DynamoDB tables and items."""

import json
from typing import Any, ClassVar

from ops.local.clients import Clients
from ops.local.diff import Identity
from ops.local.resources import table_indexes
from ops.local.resources.base import Inputs, Made, Provider, by_name, physical_name, without_missing
from ops.local.state import Entry


class Table(Provider):
    """aws.dynamodb.Table."""

    kind: ClassVar = "aws:dynamodb/table:Table"
    identity: ClassVar = Identity(names=("name",), fixed=("hashKey", "rangeKey"))
    applied: ClassVar = frozenset(
        {
            "name", "hashKey", "rangeKey", "attributes", "billingMode", "streamEnabled", "streamViewType",
            "ttl", "pointInTimeRecovery", "serverSideEncryption", "deletionProtectionEnabled", "tableClass",
            "globalSecondaryIndexes",
        }
    )  # fmt: skip
    not_applied: ClassVar = {
        "onDemandThroughput": "the emulator never throttles",
    }
    volatile: ClassVar = frozenset({"streamArn", "streamLabel"})

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """CreateTable, then what it does not take."""
        table = physical_name(inputs, name)
        keys = [
            ("HASH", inputs["hashKey"]),
            *([("RANGE", inputs["rangeKey"])] if "rangeKey" in inputs else []),
        ]
        arguments: dict[str, Any] = {
            "TableName": table,
            "KeySchema": [{"AttributeName": attribute, "KeyType": kind} for kind, attribute in keys],
            "AttributeDefinitions": table_indexes.attributes(inputs),
            **_settings(inputs),
        }
        if inputs.get("globalSecondaryIndexes"):
            arguments["GlobalSecondaryIndexes"] = table_indexes.indexes(inputs)
        aws.dynamodb.create_table(**arguments)
        aws.dynamodb.get_waiter("table_exists").wait(
            TableName=table, WaiterConfig={"Delay": 1, "MaxAttempts": 30}
        )
        self._separate_settings(aws, table, {}, inputs)
        return self._made(aws, table)

    def leftover(self, aws: Clients, inputs: Inputs) -> Made | None:
        """The one with the name."""
        return by_name(inputs)

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """UpdateTable for what changed; a stream's view cannot be changed while it is on."""
        changes = {k: v for k, v in _settings(inputs).items() if v != _settings(old.inputs).get(k)}
        if "StreamSpecification" in changes and old.inputs.get("streamEnabled"):
            aws.dynamodb.update_table(TableName=old.id, StreamSpecification={"StreamEnabled": False})
            if not inputs.get("streamEnabled"):
                del changes["StreamSpecification"]
        if changes:
            aws.dynamodb.update_table(TableName=old.id, **changes)
        for change in table_indexes.changes(old.inputs, inputs):
            # One a call, as AWS has it.
            aws.dynamodb.update_table(
                TableName=old.id,
                AttributeDefinitions=table_indexes.attributes(inputs),
                GlobalSecondaryIndexUpdates=[change],
            )
        self._separate_settings(aws, old.id, old.inputs, inputs)
        return self._made(aws, old.id)

    def delete(self, aws: Clients, old: Entry) -> None:
        """DeleteTable."""
        try:
            aws.dynamodb.delete_table(TableName=old.id)
        except aws.dynamodb.exceptions.ResourceNotFoundException:
            return

    def _separate_settings(self, aws: Clients, table: str, old: Inputs, new: Inputs) -> None:
        ttl, recovery = new.get("ttl"), new.get("pointInTimeRecovery")
        if ttl != old.get("ttl"):
            before = old.get("ttl") or {}
            wanted = ttl or {**before, "enabled": False}
            aws.dynamodb.update_time_to_live(
                TableName=table,
                TimeToLiveSpecification={
                    "Enabled": wanted.get("enabled", True),
                    "AttributeName": wanted["attributeName"],
                },
            )
        if recovery != old.get("pointInTimeRecovery"):
            aws.dynamodb.update_continuous_backups(
                TableName=table,
                PointInTimeRecoverySpecification={
                    "PointInTimeRecoveryEnabled": bool((recovery or {}).get("enabled"))
                },
            )

    def _made(self, aws: Clients, table: str) -> Made:
        there = aws.dynamodb.describe_table(TableName=table)["Table"]
        outputs = {
            "name": table,
            "arn": there["TableArn"],
            "streamArn": there.get("LatestStreamArn"),
            "streamLabel": there.get("LatestStreamLabel"),
        }
        return Made(table, without_missing(**outputs))


def _settings(inputs: Inputs) -> dict[str, Any]:
    """What CreateTable and UpdateTable take alike."""
    stream, encryption = inputs.get("streamEnabled"), inputs.get("serverSideEncryption")
    return without_missing(
        BillingMode=inputs.get("billingMode"),
        StreamSpecification={"StreamEnabled": True, "StreamViewType": inputs["streamViewType"]}
        if stream
        else None,
        SSESpecification=_encryption(encryption) if encryption else None,
        DeletionProtectionEnabled=inputs.get("deletionProtectionEnabled"),
        TableClass=inputs.get("tableClass"),
    )


def _encryption(asked: Inputs) -> dict[str, Any]:
    key = asked.get("kmsKeyArn")
    return {"Enabled": asked["enabled"], **({"SSEType": "KMS", "KMSMasterKeyId": key} if key else {})}


class TableItem(Provider):
    """aws.dynamodb.TableItem: one item, whole."""

    kind: ClassVar = "aws:dynamodb/tableItem:TableItem"
    identity: ClassVar = Identity(names=("tableName", "hashKey", "rangeKey"))
    applied: ClassVar = frozenset({"tableName", "hashKey", "rangeKey", "item"})

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """PutItem, which refuses to take an item that is there already, as on AWS."""
        aws.dynamodb.put_item(
            TableName=inputs["tableName"],
            Item=json.loads(inputs["item"]),
            ConditionExpression="attribute_not_exists(#hash)",
            ExpressionAttributeNames={"#hash": inputs["hashKey"]},
        )
        return _item_made(inputs)

    def leftover(self, aws: Clients, inputs: Inputs) -> Made | None:
        """The item itself."""
        return _item_made(inputs)

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """PutItem over the old one; if the key itself changed, the old one goes afterwards."""
        aws.dynamodb.put_item(TableName=inputs["tableName"], Item=json.loads(inputs["item"]))
        if _item_key(old.inputs) != _item_key(inputs):
            self.delete(aws, old)
        return _item_made(inputs)

    def delete(self, aws: Clients, old: Entry) -> None:
        """DeleteItem; a table that went before took it along."""
        try:
            aws.dynamodb.delete_item(TableName=old.inputs["tableName"], Key=_item_key(old.inputs))
        except aws.dynamodb.exceptions.ResourceNotFoundException:
            return


def _item_key(inputs: Inputs) -> dict[str, Any]:
    item = json.loads(inputs["item"])
    return {inputs[part]: item[inputs[part]] for part in ("hashKey", "rangeKey") if part in inputs}


def _item_made(inputs: Inputs) -> Made:
    key = "|".join(str(next(iter(value.values()))) for value in _item_key(inputs).values())
    return Made(f"{inputs['tableName']}|{key}", {})


PROVIDERS = (Table, TableItem)
