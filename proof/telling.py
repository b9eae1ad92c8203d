"""A schedule in words, so that a person can follow how a promise was broken."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from handlers.domain.ports import Done, Gone, Held, TakenOver, Written
from proof.programs import Call, Finished, Raised
from proof.state import FAULTS, Kind

if TYPE_CHECKING:
    from proof.search import Found
    from proof.state import Move, State
    from proof.world import World


def told(found: Found) -> str:
    """The moves of a violation, one a line, and what they break."""
    world = found.world
    assert world is not None, "nothing was broken"
    lines = [f"{found.scenario}: {len(found.moves)} moves, {_faults(found)}"]
    state = world.initial()
    for number, move in enumerate(found.moves, start=1):
        before = state
        state, _ = world.after(state, move)
        lines.append(f"  {number:>2}. {_move(world, before, move, state)}")
    return "\n".join([*lines, *(f"  => {one}" for one in found.broken)])


def _faults(found: Found) -> str:
    count = sum(move.kind in FAULTS for move in found.moves)
    return f"{count} fault{'s' if count != 1 else ''}"


def _move(world: World, before: State, move: Move, after: State) -> str:
    if move.kind is Kind.CLOCK:
        passed = move.detail - before.now
        return f"time passes: {passed:,} ms, to {_time(move.detail)}"
    if move.kind is Kind.LAPSE:
        port = world.scenario.ports[move.actor]
        lapses = list(port.lapses(world.interner.value(before.ports[move.actor]), before.now))
        return lapses[move.detail][0]
    name = world.scenario.actors[move.actor].name
    if move.kind is Kind.START:
        return f"{name} starts{_next(world, after, move.actor)}"
    if move.kind is Kind.LANDS:
        call: Call = world.interner.value(move.detail)
        return f"{name}'s late call lands: {call.port}.{call.name}"
    call = world.interner.value(world.runs.content(before.actors[move.actor]))
    return f"{name} {call.port}.{call.name}: {move.kind.value}{_next(world, after, move.actor)}"


def _next(world: World, state: State, actor: int) -> str:
    node = state.actors[actor]
    if node < 0:
        return ""
    content = world.interner.value(world.runs.content(node))
    if isinstance(content, Finished):
        return f"; it answers {_answer(content.answer)}"
    return ""


def _answer(answer: Any) -> str:  # noqa: ANN401 - any program's
    if isinstance(answer, dict) and "statusCode" in answer:
        replayed = " (replayed)" if answer["headers"].get("Idempotent-Replayed") else ""
        return f"{answer['statusCode']}{replayed} {answer['body'][:100]}"
    return str(answer)


def _time(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%d %b %H:%M:%S.%f")[:-3]


def result(value: Any) -> str:  # noqa: ANN401 - any port's
    """What a call was answered, in a word or two."""
    if isinstance(value, Raised):
        return f"raises {value.kind.__name__}"
    if isinstance(value, Held | TakenOver):
        kind = value.existing if isinstance(value, Held) else value.receipt
        return f"{type(value).__name__.lower()}, {kind.status.value} of {kind.owner}"
    if isinstance(value, Written | Gone | Done):
        return type(value).__name__.lower()
    return str(value)
