"""`onceward slots show` and `free`: who has a slot, and what may take it away."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from handlers.adapters.slots import DynamoDbSlots
from handlers.domain import ids
from handlers.domain.operation import Booking
from handlers.operations.appointments import slot_of
from ops import asking
from ops.commands import slots as command
from ops.slots import Freeing, Slots

if TYPE_CHECKING:
    from typer.testing import Result

    from tests.unit.ops.receipts_stage import ReceiptsStage

TABLE = "onceward-local_slots"
WHERE = ("acme", "dr-grey", "2031-01-01T10:00:00+01:00")
MINUTE_MS = 60_000


@pytest.fixture
def stage(receipts_stage: ReceiptsStage) -> ReceiptsStage:
    """A local stage with its slots on moto."""
    receipts_stage.dynamodb.create_table(
        TableName=TABLE,
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    return receipts_stage


def booked(stage: ReceiptsStage, age_ms: int = MINUTE_MS, generation: str = "g-1") -> Booking:
    """The slot, taken so long ago, as `execute` takes it."""
    record_id = ids.record_id("acme", "k", generation, time.time_ns() // 1_000_000 - age_ms)
    booking = Booking(generation, record_id, "hash")
    assert DynamoDbSlots(TABLE, stage.dynamodb).take("acme", slot_of(*WHERE[1:]), booking) is None
    return booking


def run(stage: ReceiptsStage, *arguments: str, typed: str | None = None) -> Result:
    environment = {"COLUMNS": "200", "TERM": "dumb"}
    options = [*arguments, "--home", str(stage.home)]
    return CliRunner().invoke(command.app, options, input=typed, env=environment)


def is_taken(stage: ReceiptsStage) -> bool:
    return run(stage, "show", *WHERE).exit_code == 0


@pytest.mark.parametrize("starts", [WHERE[2], "2031-01-01T09:00:00Z", "2031-01-01t08:00:00.000-01:00"])
def test_a_slot_is_shown_whatever_the_spelling_of_its_time(stage: ReceiptsStage, starts: str) -> None:
    booking = booked(stage)
    result = run(stage, "show", "acme", "dr-grey", starts, "--json")
    assert result.exit_code == 0
    told = json.loads(result.stdout)
    assert (told["recordId"], told["recordExists"]) == (booking.record_id, False)
    assert (told["generation"], told["slot"]) == ("g-1", slot_of(*WHERE[1:]))
    lines = [line.split() for line in run(stage, "show", *WHERE).stdout.splitlines()]
    assert lines[:4] == [
        ["tenant", "acme"],
        ["doctorId", "dr-grey"],
        ["startsAt", json.loads(told["slot"])[1]],
        ["recordId", booking.record_id],
    ]


@pytest.mark.parametrize("command_name", ["show", "free"])
def test_a_slot_that_nobody_has_is_said_to_be_free(stage: ReceiptsStage, command_name: str) -> None:
    booked(stage)
    result = run(stage, command_name, "acme", "dr-house", WHERE[2])
    assert result.exit_code == 1
    assert "Nobody has this slot of tenant acme: it is free." in result.stderr
    assert json.loads(run(stage, "show", "beta", *WHERE[1:], "--json").stdout) is None


@pytest.mark.parametrize(
    "arguments",
    [
        ("A#", *WHERE[1:]),
        (*WHERE[:2], "soon"),
        (*WHERE[:2], "2031-01-01T10:00:00"),
        (*WHERE, "--stage", "qa"),
    ],
)
def test_nonsense_is_a_usage_error(stage: ReceiptsStage, arguments: tuple[str, ...]) -> None:
    assert run(stage, "show", *arguments).exit_code == 2


def test_a_booking_that_was_never_completed_is_freed_and_says_what_follows(stage: ReceiptsStage) -> None:
    booked(stage)
    result = run(stage, "free", *WHERE, "--yes")
    assert result.exit_code == 0
    assert "resumes its booking if the slot is still free" in result.stdout
    assert "Freed: the next request for it gets it." in result.stdout
    assert not is_taken(stage)


def test_nothing_is_freed_unasked(stage: ReceiptsStage, monkeypatch: pytest.MonkeyPatch) -> None:
    booked(stage)
    result = run(stage, "free", *WHERE)
    assert result.exit_code == 1
    assert "Not freed: --yes does it without asking." in result.stderr
    monkeypatch.setattr(asking, "at_a_terminal", lambda: True)
    assert run(stage, "free", *WHERE, typed="n\n").exit_code == 1
    assert is_taken(stage)
    assert run(stage, "free", *WHERE, typed="y\n").exit_code == 0
    assert not is_taken(stage)


@pytest.mark.parametrize(
    ("age_ms", "recorded", "why"),
    [(MINUTE_MS, True, "its appointment exists"), (MINUTE_MS - 5_000, False, "may be under way")],
)
def test_what_may_be_an_appointment_is_freed_only_by_force(
    stage: ReceiptsStage, age_ms: int, recorded: bool, why: str
) -> None:
    booking = booked(stage, age_ms)
    if recorded:
        stage.put_record(booking.record_id)
    result = run(stage, "free", *WHERE, "--yes")
    assert result.exit_code == 1
    assert why in result.stderr
    refused = run(stage, "free", *WHERE, "--yes", "--json")
    assert (refused.exit_code, json.loads(refused.stdout)["outcome"]) == (1, "refused")
    assert is_taken(stage)
    forced = run(stage, "free", *WHERE, "--yes", "--force", "--json")
    assert json.loads(forced.stdout) == {"outcome": "freed"}


def test_what_another_booked_since_it_was_shown_stays(
    stage: ReceiptsStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    booked(stage)

    def meanwhile(*_arguments: Any, **_options: Any) -> bool:
        stage.dynamodb.delete_item(TableName=TABLE, Key={"pk": {"S": f"acme#{slot_of(*WHERE[1:])}"}})
        booked(stage, generation="g-2")
        return True

    monkeypatch.setattr(command, "confirmed", meanwhile)
    result = run(stage, "free", *WHERE)
    assert result.exit_code == 1
    assert "another booking has it by now" in result.stderr
    assert json.loads(run(stage, "show", *WHERE, "--json").stdout)["generation"] == "g-2"


def test_a_freeing_whose_first_answer_was_lost_is_one(stage: ReceiptsStage) -> None:
    booked(stage)
    slots = Slots(stage.dynamodb, TABLE, "onceward-local_records")
    slot = slots.find(*WHERE)
    assert slot is not None
    assert slots.free(slot) is Freeing.FREED
    assert slots.free(slot) is Freeing.GONE


def test_an_item_that_is_no_booking_is_one_line(stage: ReceiptsStage) -> None:
    stage.dynamodb.put_item(TableName=TABLE, Item={"pk": {"S": f"acme#{slot_of(*WHERE[1:])}"}})
    result = run(stage, "show", *WHERE)
    assert result.exit_code == 2
    assert "an item of the slots table is no booking: generation" in result.stderr
