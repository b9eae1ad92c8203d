"""Where data is kept: tables, key and queues, and that no mistake deletes them."""

import pytest

from tests.infra.engine import Registered, Run
from tests.infra.stages import QUEUES, STAGES, previewed, run_stage, updated

TABLE = "aws:dynamodb/table:Table"
INDEX_KEYS = {"pendingShard": "S", "pendingSince": "N"}
KEPT = (
    *((TABLE, name) for name in ("receipts", "records", "slots", "tenants")),
    *(("aws:sqs/queue:Queue", name) for name in QUEUES),
    ("aws:kms/key:Key", "key"),
    ("aws:s3/bucket:Bucket", "failures"),
)


def protections(run: Run) -> set[tuple[bool, bool]]:
    found = [run.one(kind, name) for kind, name in KEPT]
    return {(each.protect, each.retain) for each in found}


@pytest.mark.parametrize("stage", ["dev", "prod"])
def test_data_is_protected_and_stays_behind_outside_local(stage: str) -> None:
    run = previewed(stage)
    assert protections(run) == {(True, True)}
    assert {each.inputs["deletionProtectionEnabled"] for each in run.of_type(TABLE)} == {True}
    assert run.one("aws:s3/bucket:Bucket", "failures").inputs["forceDestroy"] is False


def test_a_throwaway_stage_can_be_taken_down() -> None:
    for run in (previewed("local"), run_stage("dev", protectData=False)):
        assert protections(run) == {(False, False)}
        assert {each.inputs["deletionProtectionEnabled"] for each in run.of_type(TABLE)} == {False}


def test_protection_is_the_default() -> None:
    from infra.settings import parse

    assert parse({}, "prod").protect_data


def test_a_tenant_can_leave_a_protected_stage() -> None:
    """Its topic and keys are made again from its file; what it sent stays in the tables."""
    for each in previewed("prod").resources.values():
        if "onceward:index:Tenant" in each.urn:
            assert not each.protect, each.urn


@pytest.mark.parametrize("stage", STAGES)
def test_tables_are_on_demand_encrypted_and_can_go_back_in_time(stage: str) -> None:
    for each in updated(stage).of_type(TABLE):
        assert each.inputs["billingMode"] == "PAY_PER_REQUEST"
        assert each.inputs["hashKey"] == "pk"
        keys = {attribute["name"]: attribute["type"] for attribute in each.inputs["attributes"]}
        assert keys == {"pk": "S"} | (INDEX_KEYS if each.name == "records" else {})
        assert each.inputs["pointInTimeRecovery"] == {"enabled": True}
        encryption = each.inputs["serverSideEncryption"]
        assert encryption == {"enabled": True, "kmsKeyArn": "arn:aws:kms:eu-west-1:123456789012:key/k1"}


def test_receipts_are_swept_by_purge_at_and_streamed_with_both_images() -> None:
    receipts = previewed("dev").one(TABLE, "receipts").inputs
    assert receipts["ttl"] == {"attributeName": "purgeAt", "enabled": True}
    assert receipts["streamEnabled"] is True
    assert receipts["streamViewType"] == "NEW_AND_OLD_IMAGES"


def test_records_are_swept_by_purge_at_which_webhooks_alone_bear() -> None:
    assert previewed("dev").one(TABLE, "records").inputs["ttl"] == {
        "attributeName": "purgeAt",
        "enabled": True,
    }


def test_slots_and_registry_are_not_swept_and_only_receipts_are_streamed() -> None:
    tables = {each.name: each.inputs for each in previewed("dev").of_type(TABLE)}
    assert {name for name, table in tables.items() if "ttl" in table} == {"receipts", "records"}
    assert {name for name, table in tables.items() if "streamEnabled" in table} == {"receipts"}


def test_pending_work_is_found_by_shard_oldest_first_with_what_a_message_needs() -> None:
    run = previewed("dev")
    (index,) = run.one(TABLE, "records").inputs["globalSecondaryIndexes"]
    assert index["name"] == "pending"
    keys = [(key["attributeName"], key["keyType"]) for key in index["keySchemas"]]
    assert keys == [("pendingShard", "HASH"), ("pendingSince", "RANGE")]
    # Not the document: an index that held it would double what every order costs to write and to keep.
    assert index["projectionType"] == "INCLUDE"
    assert index["nonKeyAttributes"] == [
        *("operation", "status", "eventId", "correlationId", "tenantId", "recordId"),
        *("requeuedAt", "requeues"),
    ]
    assert not [each for each in run.of_type(TABLE) if each.name != "records" and _indexed(each)]


def _indexed(table: Registered) -> bool:
    return "globalSecondaryIndexes" in table.inputs


def test_the_key_turns_over_by_itself() -> None:
    key = previewed("prod").one("aws:kms/key:Key", "key").inputs
    assert key["enableKeyRotation"] is True
    assert key["deletionWindowInDays"] == 30
