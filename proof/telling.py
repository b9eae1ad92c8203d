"""A schedule as text, so that a person can follow what happens, and why the end of it is wrong."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final

from proof import wording
from proof.programs import Call, Finished
from proof.state import CRASHED, FAULTS, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from proof.search import Found
    from proof.state import Move, State
    from proof.world import Broken, World

# What a terminal and a page show without breaking lines themselves.
_WIDTH: Final = 108
# Of these nobody knows yet whether the call did anything.
_UNHEARD: Final = {
    Kind.CRASH_BEFORE: "the process of {name} DIES before it {does}",
    Kind.UNREACHED: "{name} {does}, but CANNOT REACH the {port}",
    Kind.OVERTAKEN: "{name} {does}: that is still under way when its SDK begins to send it again",
    Kind.LATE: "{name} {does}, and GIVES UP: the call is still under way",
}
# Whoever comes when all is over: they retry what was sent first.
_RETRIERS: Final = ("Y", "Z")


def told(found: Found) -> str:
    """The moves of a violation, one a line, and what they break.

    Each has its time since the beginning, by the gateway's clock.
    """
    world = found.world
    assert world is not None, "nothing was broken"
    lines = [f"{found.scenario}: {size(len(found.moves), faults(found))}"]
    state = world.initial()
    broken: Broken = ()
    for number, move in enumerate(found.moves, start=1):
        before = state
        state, broken = world.after(state, move)
        lines += _wrapped(f"{number:>3}.", world, state, _move(world, before, move, state))
    if broken != found.broken and not any(world.scenario.rules.settled(world.seen(state))):
        lines.append("  When all that has ended:")
        lines += _probing(world, state)
    return "\n".join([*lines, *(f"  => BROKEN: {one}" for one in found.broken)])


def faults(found: Found) -> int:
    """How many of a schedule's moves are faults."""
    return sum(move.kind in FAULTS for move in found.moves)


def size(moves: int, faults: int) -> str:
    """How large a schedule is, in words."""
    return f"{wording.count(moves, 'move')}, {wording.count(faults, 'fault')}"


def _wrapped(mark: str, world: World, state: State, said: str) -> list[str]:
    since = wording.span(state.now - world.scenario.begins_ms)
    return textwrap.wrap(
        f"{said}.", _WIDTH, initial_indent=f" {mark} at {since}: ", subsequent_indent=" " * (len(mark) + 2)
    )


def _probing(world: World, state: State) -> Iterator[str]:
    """What those find who come when all is over."""
    for before, move, after, _ in world.coming_after(state):
        yield from _wrapped("   -", world, after, _move(world, before, move, after))


def _move(world: World, before: State, move: Move, after: State) -> str:
    if move.kind is Kind.CLOCK:
        return _clock(world, before, move.detail, after)
    if move.kind is Kind.LAPSE:
        port = world.scenario.ports[move.actor]
        return list(port.lapses(world.interner.value(before.ports[move.actor]), before.now))[move.detail][0]
    name = world.actor(move.actor).name
    if move.kind is Kind.START:
        return f"{_start(world, move.actor, before.now)}{_end(world, after, move.actor)}"
    number = move.detail if move.kind is Kind.LANDS else world.runs.content(before.actors[move.actor])
    call: Call = world.interner.value(number)
    does = wording.called(call)
    if move.kind is Kind.LANDS:
        return f"what {name} sent long ago arrives: it {does}: {_heard(world, before, move.actor, number)}"
    if move.kind in _UNHEARD:
        said = _UNHEARD[move.kind].format(name=name, does=does, port=call.port)
        return f"{said}{_end(world, after, move.actor)}"
    heard = f"{name} {does}: {_heard(world, before, move.actor, number)}"
    if move.kind is Kind.CRASH_AFTER:
        return f"{heard}, and its process DIES"
    if move.kind is Kind.RESENT:
        return f"{heard}, but the ANSWER IS LOST, and its SDK will send it again"
    lost = ", but the ANSWER IS LOST" * (move.kind is Kind.UNANSWERED)
    return f"{heard}{lost}{_end(world, after, move.actor)}"


def _start(world: World, number: int, now: int) -> str:
    actor = world.actor(number)
    if actor.takes:
        node = world.runs.start(number, actor.name, actor.program, actor.skew_ms, now)
        return f"{actor.name} begins: it {wording.called(world.interner.value(world.runs.content(node)))}"
    skew = f" (its worker's clock is {wording.span(abs(actor.skew_ms))}"
    off = f"{skew} {'fast' if actor.skew_ms > 0 else 'slow'})" if actor.skew_ms else ""
    said = ", a retry," if actor.name[0] in _RETRIERS else ""
    return f"{actor.name}{said} begins{off}"


def _clock(world: World, before: State, at: int, after: State) -> str:
    states = [world.interner.value(number) for number in before.ports]
    said = list(dict.fromkeys(one for state in states for one in wording.meanings(state, at)))
    said += [
        f"{world.actor(number).name}, out of time, is gone"
        for number, (was, now) in enumerate(zip(before.actors, after.actors, strict=True))
        if now == CRASHED != was
    ]
    return f"{wording.span(at - before.now)} PASS{': ' * bool(said)}{'; '.join(said)}"


def _heard(world: World, state: State, actor: int, call: int) -> str:
    return wording.heard(world.interner.value(call), world.result(state, actor, call), state.now)


def _end(world: World, state: State, actor: int) -> str:
    """What the program answers, if it has ended there."""
    if state.actors[actor] < 0:
        return ""
    content = world.interner.value(world.runs.content(state.actors[actor]))
    if not isinstance(content, Finished):
        return ""
    return f"; {wording.answered(world.actor(actor).name, content.answer)}"
