"""Appointments: the key is made of the body, a window of seconds, and a slot that is booked once."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

from handlers.domain import keys
from handlers.domain.operation import Booking
from handlers.operations.appointments import slot_of
from tests.fakes.receipts import InMemoryReceipts
from tests.unit.handlers.payment_world import Fault, World, created, problem

if TYPE_CHECKING:
    from handlers.domain.receipt import Receipt

BODY = {"doctorId": "dr-grey", "patientId": "p-1", "startsAt": "2031-01-01T10:00:00+01:00"}
WINDOW_MS = 10_000


def book(world: World, *faults: Fault, **changes: Any) -> dict[str, Any]:
    answer = world.post("/v1/appointments", {**BODY, **changes}, None, *faults)
    assert answer is not None
    return answer


def stored(world: World) -> list[Receipt]:
    assert isinstance(world.store, InMemoryReceipts)
    return list(world.store.items.values())


def test_a_slot_is_booked_once_and_the_answer_replayed() -> None:
    world = World()
    first, again = book(world), book(world)
    body = created(first)
    assert body == {
        "id": body["id"],
        "createdAt": body["createdAt"],
        "status": "booked",
        "doctorId": "dr-grey",
        "startsAt": BODY["startsAt"],
    }
    assert first["headers"]["Location"] == f"/v1/appointments/{body['id']}"
    assert (again["body"], again["headers"]["Idempotent-Replayed"]) == (first["body"], "true")
    assert world.slots.writes == 1
    (receipt,) = stored(world)
    assert receipt.key.startswith(keys.derived("appointments", "fields", ""))
    assert receipt.expires_at - receipt.created_at == WINDOW_MS
    assert receipt.outbox is not None
    assert receipt.outbox.type == "appointment.created"
    assert json.loads(receipt.outbox.document)["appointment"] == BODY


def test_it_is_three_writes_fresh_and_one_for_a_duplicate() -> None:
    world = World()
    book(world)
    assert (world.process.calls, world.slots.writes) == (["put", "complete"], 1)
    book(world)
    assert (world.process.calls, world.slots.writes) == (["put"], 1)


@pytest.mark.parametrize("field", ["doctorId", "patientId", "startsAt"])
def test_a_part_that_is_missing_is_400_and_named(field: str) -> None:
    world = World()
    for value in (None, ...):
        body = {name: part for name, part in (BODY | {field: value}).items() if part is not ...}
        answer = world.post("/v1/appointments", body)
        assert problem(answer) == (400, "invalid-body")
        assert answer is not None
        assert f'"/{field}"' in answer["body"]
    assert stored(world) == []


def test_a_tenant_s_own_fields_are_the_key_and_each_that_is_missing_is_named() -> None:
    world = World()
    settings = {"windowSeconds": 10, "keySource": "fields", "keyFields": ["visit.number", "visit.site[0]"]}
    world.operation_settings["appointments"] = settings
    answer = book(world)
    assert problem(answer) == (400, "invalid-body")
    errors = json.loads(answer["body"])["errors"]
    assert [(error["field"], error["rule"]) for error in errors] == [
        ("/visit/number", "missing"),
        ("visit.site[0]", "missing"),
    ]
    visit = {"number": 7, "site": ["A", "B"]}
    assert book(world, visit=visit)["statusCode"] == 201
    # The same parts, another body: one key.
    assert problem(book(world, visit=visit | {"site": ["A"]})) == (422, "key-reused")
    assert problem(book(world, visit=visit | {"number": 8})) == (409, "slot-taken")


@pytest.mark.parametrize("header", ["k", "", "two words", "k" * 300])
def test_a_header_is_not_looked_at(header: str) -> None:
    world = World()
    first = world.post("/v1/appointments", BODY, header)
    assert created(book(world)) == created(first)


def test_another_patient_is_refused_for_good_whatever_the_spelling_of_the_time() -> None:
    world = World()
    book(world)
    for starts in ("2031-01-01T10:00:00+01:00", "2031-01-01T09:00:00Z", "2031-01-01t08:00:00.000-01:00"):
        second = {"patientId": "p-2", "startsAt": starts}
        refused, again = book(world, **second), book(world, **second)
        assert problem(refused) == problem(again) == (409, "slot-taken")
        assert "Retry-After" not in refused["headers"]
        assert (again["body"], again["headers"]["Idempotent-Replayed"]) == (refused["body"], "true")
    for free in ({"doctorId": "dr-house"}, {"startsAt": "2031-01-01T10:00:01+01:00"}):
        assert book(world, **free)["statusCode"] == 201
    assert len([receipt for receipt in stored(world) if receipt.outbox is not None]) == 3


def test_after_the_window_the_same_request_is_a_new_one_and_the_slot_answers() -> None:
    world = World()
    first = book(world)
    world.now += WINDOW_MS - 1
    assert book(world)["body"] == first["body"]
    world.now += 1
    assert problem(book(world)) == (409, "slot-taken")


@pytest.mark.parametrize("fault", [Fault("complete", "kill-before"), Fault("complete", "refused")])
def test_a_successor_knows_its_predecessor_s_slot_for_its_own(fault: Fault) -> None:
    world = World()
    world.post("/v1/appointments", BODY, None, fault)
    waiting = book(world)
    assert problem(waiting) == (409, "request-in-progress")
    # Its window is over long since: taken over all the same, and never overwritten.
    world.now += int(waiting["headers"]["Retry-After"]) * 1000
    assert created(book(world))["status"] == "booked"
    assert book(world)["headers"]["Idempotent-Replayed"] == "true"


def test_of_64_at_once_one_is_booked() -> None:
    world, callers = World(), 64
    barrier, answers = threading.Barrier(callers), []

    def call() -> None:
        barrier.wait()
        answers.append(book(world))

    threads = [threading.Thread(target=call) for _ in range(callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    done = [answer for answer in answers if answer["statusCode"] == 201]
    assert len([answer for answer in done if "Idempotent-Replayed" not in answer["headers"]]) == 1
    assert len({answer["body"] for answer in done}) == 1
    refused = {problem(answer) for answer in answers if answer["statusCode"] != 201}
    assert refused <= {(409, "request-in-progress")}
    assert (world.slots.writes, len(answers)) == (1, callers)


@pytest.mark.parametrize(
    "starts",
    [
        "2031-01-01T10:00:00",
        "2031-01-01",
        "soon",
        "",
        "2031-02-30T10:00:00Z",
        "2031-01-01T25:00:00Z",
        "2031-01-01T10:00:00+25:00",
        "0001-01-01T00:00:00+14:00",
        "2031-01-01T10:00:00.1234567Z",
        "2031-01-01T10:00:00.0000000Z",
        "٢031-01-01T10:00:00Z",
        "2031-01-01T10:00:00Z\n",
        7,
    ],
)
def test_what_is_no_moment_is_named(starts: object) -> None:
    answer = book(World(), startsAt=starts)
    assert problem(answer) == (400, "invalid-body")
    assert [error["field"] for error in json.loads(answer["body"])["errors"]] == ["/startsAt"]


@pytest.mark.parametrize("fraction", [".5", ".001", ".000001", ".10"])
def test_a_fraction_of_a_second_is_refused_by_name_and_one_of_zeros_is_none(fraction: str) -> None:
    world = World()
    answer = book(world, startsAt=f"2031-01-01T10:00:00{fraction}+01:00")
    assert problem(answer) == (400, "invalid-body")
    (error,) = json.loads(answer["body"])["errors"]
    assert (error["field"], error["rule"]) == ("/startsAt", "whole_second")
    assert world.slots.writes == 0
    # As JavaScript's Date writes it.
    assert book(world, startsAt="2031-01-01T09:00:00.000Z")["statusCode"] == 201


def test_a_reused_key_made_of_fields_is_not_told_to_send_another_key() -> None:
    world = World()
    book(world, reason="cough")
    answer = book(world, reason="cold")
    assert problem(answer) == (422, "key-reused")
    detail = json.loads(answer["body"])["detail"]
    assert "(appointments; reason differs); doctorId, patientId, startsAt make the key; " in detail
    assert "send a new key" not in detail
    settings = {"windowSeconds": 10, "keySource": "fields", "keyFields": ["visit"]}
    world.operation_settings["appointments"] = settings
    book(world, visit=1, startsAt="2031-01-03T10:00:00Z")
    assert "visit makes the key; a new request differs in it" in book(world, visit=1)["body"]


def test_a_field_of_the_key_that_is_a_boolean_is_refused_and_named() -> None:
    world = World()
    settings = {"windowSeconds": 10, "keySource": "fields", "keyFields": ["visit.first", "doctorId"]}
    world.operation_settings["appointments"] = settings
    for value in (True, False):
        answer = book(world, visit={"first": value})
        assert problem(answer) == (400, "invalid-body")
        (error,) = json.loads(answer["body"])["errors"]
        assert (error["field"], error["rule"]) == ("/visit/first", "boolean")


def test_no_two_pairs_of_doctor_and_moment_have_one_slot() -> None:
    doctors = ["a", 'a"', 'a","2031-01-01T10:00:00+00:00', "a#b", "A"]
    moments = ["2031-01-01T10:00:00Z", "2031-01-01T10:00:01Z", "2031-01-01T10:00:00.5Z"]
    slots = {slot_of(doctor, moment) for doctor in doctors for moment in moments}
    assert len(slots) == len(doctors) * len(moments)


def test_a_slot_that_the_same_patient_has_says_so_and_nobody_else_is_told_whose_it_is() -> None:
    world = World()
    booked = book(world)
    world.now += WINDOW_MS
    mine, other = book(world), book(world, patientId="p-2")
    assert problem(mine) == problem(other) == (409, "slot-taken")
    assert "this patient already has this slot" in mine["body"]
    assert "this doctor has another appointment at this time" in other["body"]
    # Where its appointment is, for its patient only, in the replay as well.
    for answer in (mine, book(world)):
        assert answer["headers"]["Location"] == booked["headers"]["Location"]
    assert "Location" not in other["headers"] | book(world, patientId="p-2")["headers"]
    assert "p-1" not in other["body"]
    # What is kept of the patient tells nobody who it is, and two bookings not that they are one patient's.
    book(world, startsAt="2031-01-02T10:00:00Z")
    holders = {booking.holder for booking in world.slots.taken.values()}
    assert len(holders) == 2
    assert not any("p-1" in (holder or "") for holder in holders)


def test_a_duplicate_that_comes_when_retry_after_says_finds_its_own_booking() -> None:
    world = World()
    take, told = world.slots.take, []

    def slowly(*arguments: Any) -> Any:
        world.slots.take = take  # type: ignore[method-assign]
        process = world.process
        told.append(int(book(world)["headers"]["Retry-After"]))
        world.process = process
        return take(*arguments)

    world.slots.take = slowly  # type: ignore[method-assign, assignment]
    created(book(world))
    world.now += told[0] * 1000
    answer = book(world)
    assert problem(answer) == (409, "slot-taken")
    assert "this patient already has this slot" in answer["body"]


def test_a_booking_of_an_earlier_release_names_nobody() -> None:
    world = World()
    slot = slot_of(BODY["doctorId"], BODY["startsAt"])
    world.slots.taken["acme", slot] = Booking("generation", "R", None)
    assert "this doctor has another appointment" in book(world)["body"]


@pytest.mark.parametrize("field", ["doctorId", "patientId"])
@pytest.mark.parametrize("name", [" dr-grey", "dr-grey ", "\tdr-grey", "dr-grey\n", "\u00a0dr-grey", " "])
def test_white_space_around_a_name_is_refused(field: str, name: str) -> None:
    answer = book(World(), **{field: name})
    assert problem(answer) == (400, "invalid-body")
    assert "must not begin or end with white space" in answer["body"]
    assert book(World(), **{field: "dr grey"})["statusCode"] == 201


def test_a_doctor_whose_name_is_spelled_with_other_code_points_is_the_same_one() -> None:
    world = World()
    assert book(world, doctorId="dr-m\u00fcller")["statusCode"] == 201
    assert problem(book(world, doctorId="dr-mu\u0308ller", patientId="p-2")) == (409, "slot-taken")
