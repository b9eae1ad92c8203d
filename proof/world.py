"""The moves of a scenario's states: which there are, where each leads, and what it breaks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from proof.interning import Interner
from proof.programs import Call, Finished, Runs
from proof.scenario import Seen
from proof.state import CRASHED, FAULTS, NOT_STARTED, Kind, Move, State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from proof.programs import Raised
    from proof.scenario import Actor, Scenario

Broken = tuple[str, ...]


class World:
    """A scenario, run. Its states are values: any of them can be gone on from, in any order."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.interner = Interner()
        self.runs = Runs(self.interner)
        self._index = {port.name: number for number, port in enumerate(scenario.ports)}
        self._applied: dict[tuple[int, int, int], tuple[int, int, Broken]] = {}
        self._probed: dict[tuple[tuple[int, ...], int, tuple[int, ...], bool], Broken] = {}
        self._instants: dict[tuple[int, int], tuple[int, ...]] = {}

    def initial(self) -> State:
        """The state in which the search begins."""
        ports = tuple(self.interner.number(port.initial()) for port in self.scenario.ports)
        return State(self.scenario.begins_ms, ports, (NOT_STARTED,) * len(self.scenario.actors), (), 0)

    def moves(self, state: State) -> Iterator[Move]:
        """Every move there is, faults only while there may be more of them."""
        may_fail = state.faults < self.scenario.faults
        begun: set[str] = set()
        for number, node in enumerate(state.actors):
            if node == NOT_STARTED:
                kind = self.scenario.actors[number].kind
                if kind not in begun and self._has_cause(state, number):
                    begun.add(kind)
                    yield Move(Kind.START, number)
            elif node != CRASHED:
                content = self.interner.value(self.runs.content(node))
                if isinstance(content, Call):
                    yield Move(Kind.STEP, number)
                    if may_fail:
                        yield from self._faults_of(number, content)
        for actor, call, _ in state.late:
            yield Move(Kind.LANDS, actor, call)
        if may_fail:
            yield from self._time(state)

    def _faults_of(self, actor: int, call: Call) -> Iterator[Move]:
        port = self.scenario.ports[self._index[call.port]]
        yield Move(Kind.CRASH_BEFORE, actor)
        yield Move(Kind.CRASH_AFTER, actor)
        if port.unreached(call) is not None:
            yield Move(Kind.UNREACHED, actor)
        if port.unanswered(call) is not None:
            yield Move(Kind.UNANSWERED, actor)
            yield Move(Kind.LATE, actor)
        if port.resends and port.unanswered(call) is not None:
            yield Move(Kind.RESENT, actor)
            yield Move(Kind.OVERTAKEN, actor)

    def _has_cause(self, state: State, number: int) -> bool:
        """Whether there is what starts this actor: of one that takes a message, whether one waits for it."""
        actor = self.actor(number)
        if not actor.takes:
            return True
        node = self.runs.start(number, actor.name, actor.program, actor.skew_ms, state.now)
        _, result, _ = self._apply(state, number, self.runs.content(node))
        return self.interner.value(result) is not None

    def _time(self, state: State) -> Iterator[Move]:
        instants: set[int] = set()
        for number, port_state in enumerate(state.ports):
            instants |= {at for at in self._instants_of(number, port_state) if at > state.now}
        for at in sorted(instants):
            yield Move(Kind.CLOCK, detail=at)
        for number, port in enumerate(self.scenario.ports):
            lapses = port.lapses(self.interner.value(state.ports[number]), state.now)
            for index, _ in enumerate(lapses):
                yield Move(Kind.LAPSE, number, index)

    def _instants_of(self, port: int, state: int) -> tuple[int, ...]:
        found = self._instants.get((port, state))
        if found is None:
            at = self.scenario.ports[port].instants(self.interner.value(state))
            found = self._instants[port, state] = tuple(at)
        return found

    def after(self, state: State, move: Move) -> tuple[State, Broken]:
        """The state after a move, and the promises that the move broke."""
        faults = state.faults + (move.kind in FAULTS)
        if move.kind is Kind.CLOCK:
            return self._later(state, move.detail)._replace(faults=faults), ()
        if move.kind is Kind.LAPSE:
            port = self.scenario.ports[move.actor]
            lapses = list(port.lapses(self.interner.value(state.ports[move.actor]), state.now))
            _, lapsed, broken = lapses[move.detail]
            return _with_port(state, move.actor, self.interner.number(lapsed))._replace(faults=faults), broken
        if move.kind is Kind.LANDS:
            landed = next(one for one in state.late if one[:2] == (move.actor, move.detail))
            left = tuple(one for one in state.late if one is not landed)
            after, _, broken = self._apply(state._replace(late=left), move.actor, move.detail)
            return after, broken
        if move.kind is Kind.START:
            actor = self.actor(move.actor)
            node = self.runs.start(move.actor, actor.name, actor.program, actor.skew_ms, state.now)
            begun, broken = self._at(state, move.actor, node)
            # What takes a message is started by it: there is no moment between the two.
            return self._acted(begun, Move(Kind.STEP, move.actor)) if actor.takes else (begun, broken)
        return self._acted(state._replace(faults=faults), move)

    def _acted(self, state: State, move: Move) -> tuple[State, Broken]:
        node, kind = state.actors[move.actor], move.kind
        number = self.runs.content(node)
        call: Call = self.interner.value(number)
        port = self.scenario.ports[self._index[call.port]]
        if kind is Kind.CRASH_BEFORE:
            return _with_actor(state, move.actor, CRASHED), ()
        if kind is Kind.UNREACHED:
            return self._answered(state, move.actor, self._raised(port.unreached(call)))
        if kind in (Kind.LATE, Kind.OVERTAKEN):
            dies = self.runs.started_ms(node) + self.actor(move.actor).lives_ms
            late = tuple(sorted((*state.late, (move.actor, number, dies))))
            waiting = state._replace(late=late)
            if kind is Kind.OVERTAKEN:  # at its call as before: what it does next is the second sending
                return waiting, ()
            return self._answered(waiting, move.actor, self._raised(port.unanswered(call)))
        after, result, broken = self._apply(state, move.actor, number)
        if kind is Kind.CRASH_AFTER:
            return _with_actor(after, move.actor, CRASHED), broken
        if kind is Kind.RESENT:
            return after, broken
        if kind is Kind.UNANSWERED:
            result = self._raised(port.unanswered(call))
        answered, more = self._answered(after, move.actor, result)
        return answered, broken + more

    def _apply(self, state: State, actor: int, number: int) -> tuple[State, int, Broken]:
        call: Call = self.interner.value(number)
        index = self._index[call.port]
        key = (state.ports[index], number, state.now)
        found = self._applied.get(key)
        if found is None:
            port = self.scenario.ports[index]
            applied = port.apply(self.interner.value(state.ports[index]), call, state.now)
            found = self._applied[key] = (
                self.interner.number(applied.state),
                self.interner.number(applied.result),
                applied.broken,
            )
        port_state, result, broken = found
        if call.name in self.scenario.rules.judged_before:
            broken += tuple(self.scenario.rules.before(self.seen(state), self.actor(actor).name, call))
        return _with_port(state, index, port_state), result, broken

    def result(self, state: State, actor: int, call: int) -> Any:  # noqa: ANN401 - any port's
        """What an actor's call (its number) is answered in this state; known already where it was tried."""
        return self.interner.value(self._apply(state, actor, call)[1])

    def _answered(self, state: State, actor: int, result: int) -> tuple[State, Broken]:
        return self._at(state, actor, self.runs.answered(state.actors[actor], result, state.now))

    def _at(self, state: State, actor: int, node: int) -> tuple[State, Broken]:
        """The state with an actor at `node`, and what its answer breaks if it has ended there."""
        after = _with_actor(state, actor, node)
        content = self.interner.value(self.runs.content(node))
        if not isinstance(content, Finished):
            return after, ()
        started = self.runs.started_ms(node)
        name = self.actor(actor).name
        return after, tuple(self.scenario.rules.finished(self.seen(after), name, started, content.answer))

    def _later(self, state: State, now: int) -> State:
        """Time has passed: whoever outlived its invocation is gone, and so is what it had under way."""
        actors = list(state.actors)
        for number, node in enumerate(actors):
            if node >= 0 and isinstance(self.interner.value(self.runs.content(node)), Call):
                dies = self.runs.started_ms(node) + self.scenario.actors[number].lives_ms
                actors[number] = CRASHED if now > dies else node
        late = tuple(one for one in state.late if now <= one[2])
        return state._replace(now=now, actors=tuple(actors), late=late)

    def _raised(self, raised: Raised | None) -> int:
        return self.interner.number(raised)

    def actor(self, number: int) -> Actor:
        """An actor, or (numbers after theirs) a probe."""
        actors = self.scenario.actors
        return actors[number] if number < len(actors) else self.scenario.probes[number - len(actors)]

    def seen(self, state: State) -> Seen:
        """What the rules look at."""
        ports = {name: self.interner.value(state.ports[number]) for name, number in self._index.items()}
        answers, failed = {}, {}
        for number, node in enumerate(state.actors):
            if node >= 0:
                failed[self.actor(number).name] = self.runs.failed(node)
                content = self.interner.value(self.runs.content(node))
                if isinstance(content, Finished):
                    answers[self.actor(number).name] = content.answer
        return Seen(state.now, ports, answers, state.faults, failed)

    def is_settled(self, state: State) -> bool:
        """Whether every actor has ended, or has nothing that starts it."""
        return all(
            node == CRASHED
            or (node >= 0 and isinstance(self.interner.value(self.runs.content(node)), Finished))
            or (node == NOT_STARTED and not self._has_cause(state, number))
            for number, node in enumerate(state.actors)
        )

    def probed(self, state: State) -> Broken:
        """What is broken for those who come after all actors of this state have ended.

        What they meet is in the ports alone, and what the rules compare it with in the answers that were
        told, so that ends that differ in nothing else are probed once.
        """
        contents = tuple(self.runs.content(node) for node in state.actors if node >= 0)
        key = (state.ports, state.now, contents, state.faults > 0)
        known = self._probed.get(key)
        if known is None:
            known = self._probed[key] = self._probe(state)
        return known

    def _probe(self, state: State) -> Broken:
        broken = tuple(self.scenario.rules.settled(self.seen(state)))
        if broken:
            return broken
        for _, _, after, found in self.coming_after(state):
            state, broken = after, broken + found
        # Once more, since those who came have acted too.
        return broken or tuple(self.scenario.rules.settled(self.seen(state)))

    def coming_after(self, state: State) -> Iterator[tuple[State, Move, State, Broken]]:
        """Those who come when all is over, one after the other, without a fault, until a promise is broken.

        Each move: the state before it, the move, the state after it, and what it broke. What was still under
        way has not landed, and does not: that is another end, if it can.
        """
        if not self.scenario.probes:
            return
        at = max(self.scenario.settled_at(self.seen(state)), state.now)
        if at > state.now:
            later = self._later(state, at)
            yield state, Move(Kind.CLOCK, detail=at), later, ()
            state = later
        state = state._replace(late=())
        first = len(self.scenario.actors)
        for number in range(first, first + len(self.scenario.probes)):
            move = Move(Kind.START, number)
            while move.kind is Kind.START or self._is_at_a_call(state.actors[number]):
                before = state
                state, broken = self.after(before, move)
                yield before, move, state, broken
                if broken:
                    return
                move = Move(Kind.STEP, number)

    def _is_at_a_call(self, node: int) -> bool:
        return node >= 0 and isinstance(self.interner.value(self.runs.content(node)), Call)


def _with_actor(state: State, actor: int, node: int) -> State:
    actors = (*state.actors[:actor], node, *state.actors[actor + 1 :])
    return state._replace(actors=actors)


def _with_port(state: State, port: int, number: int) -> State:
    return state._replace(ports=(*state.ports[:port], number, *state.ports[port + 1 :]))
