"""The search over Powertools finds what breaks its promises, and is itself checked.

What takes more faults or attempts is left to `make proof`. `test_peer_by_hand.py` has each broken promise on
the real library over moto, without the search.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from handlers.domain.ports import TakenOver
from proof import peer
from proof.payments import payment
from proof.peer_handler import PORT, served
from proof.peer_promises import Promise, promises_in
from proof.peer_records import Table, Window
from proof.peer_rules import HeldReceipts, PeerRules, other_requests
from proof.programs import Call
from proof.provider import Charge
from proof.requests import unmeasured
from proof.scenario import Actor, Seen
from proof.search import search
from proof.state import Kind
from tests.builders import NOW_MS, claim, in_progress

if TYPE_CHECKING:
    from _pytest.capture import CaptureFixture


def test_one_fault_breaks_three_promises_where_workers_end_on_time(capsys: CaptureFixture[str]) -> None:
    verdicts = peer.Comparison(bounds=((2, 1), (3, 1))).peer(peer.ON_TIME_MS)
    kept = {one: verdict.states for one, verdict in verdicts.items() if not verdict.story}
    with capsys.disabled():
        print(f"\n  Powertools, up to 1 fault: {max(kept.values()):,} states", end="")
    assert {one: (of.moves, of.faults) for one, of in verdicts.items() if of.story} == {
        Promise.OWN_WRITE: (3, 1),
        Promise.MISMATCH: (7, 1),
        Promise.REMEMBERED: (4, 1),
    }
    assert set(kept) | set(verdicts) == set(peer.ALL)
    assert min(kept.values()) > 1_000


def test_two_faults_let_an_old_write_through_and_charge_twice() -> None:
    wanted = (Promise.FENCED, Promise.ONE_EFFECT)
    verdicts = peer.Comparison(bounds=((2, 2),)).peer(peer.ON_TIME_MS, wanted)
    assert [(verdicts[one].moves, verdicts[one].faults) for one in wanted] == [(7, 2), (6, 2)]


def test_a_late_worker_overwrites_its_successor_after_one_fault() -> None:
    wanted = [Promise.FENCED, Promise.ONE_ANSWER, Promise.ANSWER_STAYS]
    verdicts = peer.Comparison(bounds=((2, 1),)).peer(peer.LATE_MS, wanted)
    assert [(verdicts[one].moves, verdicts[one].faults) for one in wanted] == [(7, 1), (9, 1), (9, 1)]


def test_without_a_fault_the_peer_keeps_every_promise() -> None:
    for other in (False, True):
        judged = frozenset({Promise.MISMATCH} if other else set(Promise) - {Promise.MISMATCH})
        found = search(peer.peer_scenario(3, 0, peer.LATE_MS, judged))
        assert found.complete, found.broken


def test_the_table_has_a_row_for_each_promise_and_the_schedules() -> None:
    heard = list[Kind]()
    text = peer.table(tell=lambda found: heard.extend(found.faults), bounds=((2, 1),))
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + len(peer.ALL)
    assert "Powertools 3." in rows[0]
    assert all("| kept (" in row for row in rows[2:]), "Onceward's column"
    assert text.count("```text") == sum("**broken**" in row for row in rows)
    assert "and its SDK" in text
    assert heard


def test_a_search_of_onceward_that_finds_something_stops_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    def planted(attempts: int, faults: int, *, other: bool) -> Any:
        return peer.peer_scenario(attempts, faults)

    monkeypatch.setattr(peer, "onceward_scenario", planted)
    with pytest.raises(AssertionError, match="=> "):
        peer.table(bounds=((2, 1),))


def _seen(windows: tuple[Window, ...], *, answers: dict[str, Any] | None = None) -> Seen:
    return Seen(NOW_MS, {PORT: Table((), windows), "provider": ()}, answers or {})


def _answer(status: int) -> dict[str, Any]:
    return {"statusCode": status, "headers": {}, "body": "{}"}


def test_an_answer_that_was_never_stored_is_seen() -> None:
    told, window = _answer(201), Window("i", NOW_MS, NOW_MS // 1000 + 9, "A", (), ("A",))
    said = list(PeerRules().finished(_seen((window,)), "A", NOW_MS, told))
    assert promises_in(said) == {Promise.TOLD}
    stored = replace(window, answers=(json.dumps(told, sort_keys=True),))
    assert list(PeerRules().finished(_seen((stored,)), "A", NOW_MS, told)) == []


def test_a_key_that_stays_stuck_is_seen() -> None:
    window = Window("i", NOW_MS, NOW_MS // 1000 + 9, "A", (), ("A",))
    rules = PeerRules(probes=("Y",))
    assert promises_in(rules.finished(_seen((window,)), "Y", NOW_MS, _answer(409))) == {Promise.NOT_STUCK}
    assert list(rules.finished(_seen((window,)), "B", NOW_MS, _answer(409))) == []


def test_what_is_not_judged_is_not_told() -> None:
    told, window = _answer(201), Window("i", NOW_MS, NOW_MS // 1000 + 9, "A", (), ("A",))
    judged = frozenset({Promise.FENCED})
    assert list(PeerRules(judged).finished(_seen((window,)), "A", NOW_MS, told)) == []


def test_onceward_is_held_to_one_claim_at_a_time_too() -> None:
    held = in_progress(owner="A-random-0", lease_until=NOW_MS + 1)
    state = replace(HeldReceipts().initial(), items=((("acme", held.key), held),))
    call = Call("receipts", "take_over", (held, replace(claim(), owner="B-random-0"), NOW_MS + 9, NOW_MS + 9))
    early = HeldReceipts().apply(state, call, NOW_MS)
    assert isinstance(early.result, TakenOver)
    assert any("while A-random-0 holds it" in text for text in early.broken)
    assert HeldReceipts().apply(state, call, NOW_MS + 2).broken == ()


def test_onceward_is_held_to_noticing_another_request_too() -> None:
    charges = (Charge("d", "ch_1", 1999, "EUR", NOW_MS),)
    for amount, times in ((2999, 1), (1999, 0)):
        call = Call("provider", "charge", ("d", json.dumps({"amount": amount})))
        assert len(list(other_requests(charges, "B", call))) == times


def test_the_peers_handler_is_run_again_alike() -> None:
    runs = []
    for _ in range(2):
        with unmeasured():
            scenario = peer.peer_scenario(2, 1, judged=frozenset({Promise.TOLD}))
            assert scenario.actors[0] == Actor(
                "A", str(payment()), scenario.actors[0].program, lives_ms=peer.ON_TIME_MS
            )
            runs.append(search(scenario))
    assert runs[0].complete
    assert (runs[0].states, runs[0].schedules) == (runs[1].states, runs[1].schedules)
    assert callable(served(payment()))


def test_a_late_schedule_says_which_claim_is_over() -> None:
    verdict = peer.Comparison(bounds=((2, 1),)).peer(peer.LATE_MS, [Promise.FENCED])[Promise.FENCED]
    assert "28.001 s PASS: the claim of A is over" in verdict.story
    assert "A stores its answer (UpdateItem): done" in verdict.story
