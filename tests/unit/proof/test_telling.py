"""A told schedule: every kind of move has a sentence, and so has every answer and every moment."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from handlers.domain.errors import Unavailable
from handlers.domain.operation import Booking
from handlers.domain.outbound import Answer
from handlers.domain.ports import Done, Gone, Held, TakenOver, Written
from proof import wording
from proof.accepting import lead, outward
from proof.payments import payments
from proof.programs import Call, Raised
from proof.receipts import Table
from proof.requests import unmeasured
from proof.search import Found
from proof.state import Kind
from proof.telling import told
from proof.world import World
from tests.builders import NOW_MS, in_progress, receipt

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from proof.scenario import Scenario

_A, _B, _NOBODY = 0, 1, -1
_BEGUN = [(Kind.START, _A)]
_CLAIMED = [*_BEGUN, (Kind.STEP, _A)]


def _lines(moves: Sequence[tuple[Kind, int]], scenario: Callable[[], Scenario]) -> list[str]:
    """What is told of these moves, each the first of its kind and actor; one line a move."""
    world = World(scenario())
    state, made = world.initial(), []
    with unmeasured():
        for kind, actor in moves:
            move = next(
                one for one in world.moves(state) if one.kind is kind and actor in (one.actor, _NOBODY)
            )
            state, _ = world.after(state, move)
            made.append(move)
        text = told(Found("a scenario", moves=tuple(made), world=world))
    return re.sub(r"\n {5,}", " ", text).replace("\n   1.", "\n  1.").splitlines()[1:]


@pytest.mark.parametrize(
    ("moves", "last"),
    [
        (_BEGUN, "at 0 s: A begins."),
        (_CLAIMED, "at 0 s: A claims the key: done."),
        ([*_BEGUN, (Kind.CRASH_BEFORE, _A)], "at 0 s: the process of A DIES before it claims the key."),
        ([*_BEGUN, (Kind.CRASH_AFTER, _A)], "at 0 s: A claims the key: done, and its process DIES."),
        (
            [*_BEGUN, (Kind.UNREACHED, _A)],
            "at 0 s: A claims the key, but CANNOT REACH the receipts; the client of A is told 503 "
            "(Temporarily unavailable; again in 1 s).",
        ),
        (
            [*_BEGUN, (Kind.UNANSWERED, _A)],
            "at 0 s: A claims the key: done, but the ANSWER IS LOST; the client of A is told 503 "
            "(Temporarily unavailable; again in 1 s).",
        ),
        (
            [*_BEGUN, (Kind.RESENT, _A)],
            "at 0 s: A claims the key: done, but the ANSWER IS LOST, and its SDK will send it again.",
        ),
        (
            [*_BEGUN, (Kind.LATE, _A)],
            "at 0 s: A claims the key, and GIVES UP: the call is still under way; the client of A is told "
            "503 (Temporarily unavailable; again in 1 s).",
        ),
        (
            [*_BEGUN, (Kind.LATE, _A), (Kind.LANDS, _A)],
            "at 0 s: what A sent long ago arrives: it claims the key: done.",
        ),
        (
            [*_BEGUN, (Kind.OVERTAKEN, _A)],
            "at 0 s: A claims the key: that is still under way when its SDK begins to send it again.",
        ),
        ([*_CLAIMED, (Kind.CLOCK, _NOBODY)], "at 32.999 s: 32.999 s PASS: the lease of A is all but over."),
        (
            [*_CLAIMED, (Kind.STEP, _A), (Kind.STEP, _A)],
            "at 0 s: A stores its answer: done; the client of A is told 201 (ch_1).",
        ),
        (
            [*_CLAIMED, (Kind.START, _B), (Kind.STEP, _B)],
            "at 0 s: B claims the key: refused, A has it, and its lease runs for 33 s more; the client of B "
            "is told 409 (The first request is still running; again in 33 s).",
        ),
        (
            [*_CLAIMED, (Kind.STEP, _A), (Kind.STEP, _A), (Kind.START, _B), (Kind.STEP, _B)],
            "at 0 s: B claims the key: refused, the answer of A is there; the client of B is told 201, a "
            "replay (ch_1).",
        ),
    ],
)
def test_every_kind_of_move_is_told(moves: list[tuple[Kind, int]], last: str) -> None:
    lines = _lines(moves, partial(payments, 2, 3))
    assert len(lines) == len(moves)
    assert lines[-1].strip() == f"{len(moves)}. {last}"


def test_a_clock_that_is_off_and_an_attempt_that_is_out_of_time_are_told() -> None:
    scenario = partial(payments, 1, 7, skews_ms=(2_500,))
    begun = _lines(_BEGUN, scenario)
    assert "(its worker's clock is 2.5 s fast)" in begun[0]
    # The lease ends, three moments by each of two clocks; long after that the provider is about to forget.
    later = _lines([*_CLAIMED, *[(Kind.CLOCK, _NOBODY)] * 7], scenario)
    assert later[-1].endswith(" PASS: A, out of time, is gone.")


def test_what_time_and_a_stream_do_is_told() -> None:
    lines = _lines([*_CLAIMED, (Kind.LAPSE, 0)], partial(outward, [lead()], 1))
    assert lines[-1].endswith("at 0 s: the stream LOSES record 1.")
    lines = _lines([*_CLAIMED, (Kind.START, _B)], partial(outward, [lead()], 0))
    assert lines[-1].endswith("at 0 s: K begins: it is given the first record of the stream.")


_PUT = Call("receipts", "put", (in_progress(), None))
_TAKE = Call("slots", "take", ())


@pytest.mark.parametrize(
    ("call", "value", "said"),
    [
        (_PUT, Written(abandoned=False), "done"),
        (_PUT, Done(), "done"),
        (_PUT, Raised(Unavailable, ()), "Unavailable"),
        (_PUT, Gone(), "there is nothing any more"),
        (_PUT, TakenOver(in_progress()), "done"),
        (_PUT, TakenOver(in_progress(checkpoint="{}")), "done, and there is a checkpoint"),
        (_PUT, Held(receipt(owner="A-random-0")), "refused, the answer of A is there"),
        (
            _PUT,
            Held(in_progress(owner="A-random-0", lease_until=NOW_MS + 1_500)),
            "refused, A has it, and its lease runs for 1.5 s more",
        ),
        (
            _PUT,
            Held(in_progress(owner="A-random-0", lease_until=NOW_MS)),
            "refused, A has it, and its lease is over",
        ),
        (Call("provider", "charge", ()), Answer(201, {}, b'{"id": "ch_1"}'), "ch_1"),
        (Call("provider", "look up", ()), Answer(200, {}, b'{"charges": []}'), "there is none"),
        (_TAKE, None, "done"),
        (_TAKE, Booking("g", "r", None), "refused, it is taken"),
        (Call("receipts", "take change", ()), None, "there is nothing"),
    ],
)
def test_every_answer_of_a_call_is_told_in_words(call: Call, value: Any, said: str) -> None:
    assert wording.heard(call, value, NOW_MS) == said


def test_a_call_that_nobody_has_named_is_told_by_its_name() -> None:
    assert wording.called(Call("bus", "put_event", ())) == "calls bus: put event"
    whole = Call("receipts", "put", (receipt(), None))
    assert wording.called(whole) == "claims the key, and stores its answer with it"
    lapsed = in_progress(owner="A-random-0")
    assert wording.called(Call("receipts", "take_over", (lapsed,))) == "takes over the claim of A"


def test_moments_are_told_by_what_begins_then() -> None:
    item = in_progress(owner="A-random-0", lease_until=NOW_MS + 5, expires_at=NOW_MS + 10_000)
    table = Table(((("acme", "k"), item),))
    assert list(wording.meanings(table, NOW_MS + 6)) == ["the lease of A is over"]
    assert list(wording.meanings(table, NOW_MS + 10_000)) == ["the window of A is over"]
    assert list(wording.meanings(table, item.purge_at * 1000)) == ["TTL may delete the item of A"]
    assert list(wording.meanings(table, NOW_MS + 7)) == []


@pytest.mark.parametrize(
    ("ms", "said"),
    [
        (0, "0 s"),
        (1, "0.001 s"),
        (33_000, "33 s"),
        (60_000, "1 min"),
        (3_600_000, "1 h"),
        (86_399_999, "23 h 59 min 59.999 s"),
        (8 * 86_400_000, "8 d"),
    ],
)
def test_spans_of_time_are_told_in_their_units(ms: int, said: str) -> None:
    assert wording.span(ms) == said


@pytest.mark.parametrize(("answer", "said"), [("done", "K ends: done"), (None, "K ends: None")])
def test_a_program_without_a_client_is_told_by_how_it_ends(answer: object, said: str) -> None:
    assert wording.answered("K", answer) == said
