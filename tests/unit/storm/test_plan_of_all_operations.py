"""The plan of a storm of all operations: each has its part, and every scenario that applies to it."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import pytest

from loadtest import bodies
from loadtest.expected import Expected, planned
from loadtest.operations import APPOINTMENTS, BY_NAME, LEADS, PAYMENTS, WEBHOOKS, in_order
from loadtest.plan import plan
from loadtest.run import RunSettings
from loadtest.schedule import PlannedRequest, Scenario, Step
from loadtest.signing import SOURCES
from tests.unit.storm.test_plan import SETTINGS, SMALL

ALL = replace(SETTINGS, operations=tuple(BY_NAME))
LEAST = replace(SMALL, keys=36, requests=250, burst=4, users=2, operations=tuple(BY_NAME))
MARK = ALL.key_prefix


def _steps(scenario: Scenario, settings: RunSettings = ALL) -> list[Step]:
    return [step for step in plan(settings).steps if step.scenario is scenario]


def _requests(name: str, settings: RunSettings = ALL) -> list[PlannedRequest]:
    return [one for one in plan(settings).requests() if one.operation == name]


@pytest.mark.parametrize("settings", [ALL, LEAST])
def test_it_has_exactly_the_requests_and_the_keys_asked_for(settings: RunSettings) -> None:
    requests = list(plan(settings).requests())
    assert len(requests) == settings.requests
    assert len({bodies.stored_key(settings.key_prefix, one) for one in requests}) == settings.keys


@pytest.mark.parametrize("settings", [ALL, LEAST])
@pytest.mark.parametrize("name", list(BY_NAME))
def test_every_operation_has_every_scenario_that_applies_to_it(settings: RunSettings, name: str) -> None:
    met = {
        step.scenario for step in plan(settings).steps if any(one.operation == name for one in step.requests)
    }
    everyones = {
        Scenario.FRESH,
        Scenario.DUPLICATE,
        Scenario.RETRY,
        Scenario.CROSS_TENANT,
        Scenario.REUSE,
    }
    own = {"leads": Scenario.KEYLESS, "webhooks": Scenario.CROSS_SOURCE, "appointments": Scenario.SLOT}
    # The fewest keys leave leads one fresh one, and that has no key.
    few = {Scenario.FRESH} if settings is LEAST and name == LEADS.name else set()
    assert met == (everyones | ({own[name]} if name in own else set())) - few


def test_the_mix_is_as_the_weights_say() -> None:
    keys = {name: len({one.subject for one in _requests(name)}) for name in BY_NAME}
    for name, operation in BY_NAME.items():
        assert keys[name] / sum(keys.values()) == pytest.approx(operation.weight / 100, abs=0.03)


def test_the_mix_is_as_documented_and_its_shares_add_up() -> None:
    keys: defaultdict[str, set[str]] = defaultdict(set)
    made = plan(ALL)
    for step in (*made.warm_up, *made.steps):
        for one in step.requests:
            for name in (step.scenario.value, one.operation):
                keys[name].add(bodies.stored_key(MARK, one))
    text = (Path(__file__).parents[3] / "docs" / "storms.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]
    scenarios = {row[0]: row[2:] for row in rows if len(row) == 4 and row[0] in set(keys) - set(BY_NAME)}
    assert scenarios == {
        name: [f"{len(found)}", f"{len(found) / ALL.keys:.1%}".replace(".0%", "%")]
        for name, found in keys.items()
        if name not in BY_NAME
    }
    assert sum(float(share.rstrip("%")) for _, share in scenarios.values()) == 100
    operations = {row[0]: row[1:3] for row in rows if row[0] in BY_NAME}
    assert operations == {name: [f"{one.weight}%", f"{len(keys[name])}"] for name, one in BY_NAME.items()}


@pytest.mark.parametrize("settings", [ALL, LEAST])
def test_some_payments_are_declined_and_most_are_not(settings: RunSettings) -> None:
    mark = settings.key_prefix
    declined = {one.subject: bodies.is_declined(mark, one) for one in _requests(PAYMENTS.name, settings)}
    assert 0 < sum(declined.values()) < len(declined) / 2


def test_two_patients_want_one_slot_under_keys_of_their_own() -> None:
    steps = _steps(Scenario.SLOT)
    assert steps
    for step in steps:
        assert step.together
        assert len({bodies.slot(MARK, one) for one in step.requests}) == 1
        assert len({bodies.stored_key(MARK, one) for one in step.requests}) == 2
        # The same moment, said with two offsets.
        assert len({bodies.body(MARK, one)["startsAt"] for one in step.requests}) == 2


def test_no_other_appointments_want_the_same_slot() -> None:
    wanted: defaultdict[tuple[str, str | None], set[int]] = defaultdict(set)
    for one in _requests(APPOINTMENTS.name):
        if one.slot is None:
            wanted[one.tenant, bodies.slot(MARK, one)].add(one.subject)
    assert max(map(len, wanted.values())) == 1


def test_one_event_id_comes_from_two_sources_and_is_two_keys() -> None:
    steps = _steps(Scenario.CROSS_SOURCE)
    assert steps
    for step in steps:
        assert {one.source for one in step.requests} == set(SOURCES)
        assert len({bodies.event_id(MARK, one) for one in step.requests}) == 1
        assert len({bodies.stored_key(MARK, one) for one in step.requests}) == 2


def test_webhooks_and_appointments_have_their_key_in_the_body() -> None:
    for name in (WEBHOOKS.name, APPOINTMENTS.name):
        assert all(one.key is None for one in _requests(name))
    for one in _requests(WEBHOOKS.name):
        again = replace(one, variant=one.variant + 1)
        assert bodies.body(MARK, one) != bodies.body(MARK, again)
        assert bodies.stored_key(MARK, one) == bodies.stored_key(MARK, again)


def test_warm_up_meets_every_operation_and_starts_the_workers_of_every_function() -> None:
    made = plan(ALL).warm_up
    alone = [step for step in made if not step.together]
    together = [step.requests for step in made if step.together]
    assert {one.operation for step in alone for one in step.requests} == set(BY_NAME)
    assert {one.tenant for step in alone for one in step.requests} == set(ALL.tenants)
    functions = Counter(BY_NAME[requests[0].operation].function for requests in together)
    assert functions == {one.function: 1 for one in BY_NAME.values()}


def test_what_is_expected_knows_the_cards_and_the_slots() -> None:
    expected = Expected.of(ALL, planned(ALL))
    assert expected.requests.total() == ALL.requests
    payments = {bodies.body_hash(MARK, one) for one in _requests(PAYMENTS.name)}
    assert expected.declined < payments
    assert set(expected.slots) == {bodies.body_hash(MARK, one) for one in _requests(APPOINTMENTS.name)}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"keys": 35}, "keys: 35 is too few for every scenario: give at least 36"),
        ({"operations": ()}, "operations: none"),
        ({"operations": ("orders", "leads")}, "operations: orders, leads"),
        ({"operations": ("refunds",)}, "refunds is none of"),
    ],
)
def test_a_mix_that_makes_no_storm_is_refused_by_name(changes: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        plan(replace(LEAST, **changes))  # type: ignore[arg-type]


def test_operations_are_put_in_order() -> None:
    assert in_order(["payments", "leads", "payments"]) == ("leads", "payments")


def test_a_run_older_than_its_operations_sent_leads() -> None:
    values = {name: getattr(SMALL, name) for name in SMALL.__slots__ if name != "operations"}
    assert RunSettings.from_json(values) == SMALL


def test_a_run_under_faults_that_does_not_tell_of_its_clocks_is_given_the_most() -> None:
    values = {name: getattr(SMALL, name) for name in SMALL.__slots__ if name != "skew_seconds"}
    assert RunSettings.from_json(values).skew_seconds == 0.0
    assert RunSettings.from_json(values | {"faults": True}).skew_seconds == 180.0
