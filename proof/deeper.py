"""Walks deeper than a search can go: Hypothesis picks the moves, and shrinks what breaks a promise."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Final

import hypothesis
from hypothesis import strategies
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from proof.deep_scenarios import DEEP
from proof.requests import unmeasured
from proof.search import Found
from proof.state import FAULTS, Kind, Move
from proof.telling import told
from proof.world import World

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from proof.scenario import Scenario
    from proof.state import State

_LONGEST: Final = 30
"""In moves: what still runs then ends without another fault. Few do: most attempts have ended by then."""
# What a world remembers grows with each walk; some hundred megabytes are enough.
_MOST_EXECUTIONS: Final = 20_000
_TIME: Final = (Kind.CLOCK, Kind.LAPSE)
# Were they all equally likely, hardly an attempt would live to its end.
_GROUPS: Final[tuple[tuple[Kind, ...], ...]] = (
    *[(Kind.STEP,)] * 4,
    *[(Kind.START,)] * 2,
    (Kind.LANDS,),
    _TIME,
    *[tuple(FAULTS - set(_TIME))] * 3,
)


_CHOICES: Final = strategies.integers(0, 63)
"""Which of several: counted round from the first, where there are fewer."""


class BrokenPromise(AssertionError):
    """A walk broke a promise; its text is the whole walk."""


@dataclass
class Walked:
    """What all walks saw.

    Attributes:
        walks, moves: how many were made; `different`: walks, of those that ended well.
        faults: how often each kind happened; `most_faults`: in one walk.
        story: the shrunk walk that breaks a promise, if one does.
    """

    seed: int
    walks: int = 0
    different: int = 0
    moves: int = 0
    faults: Counter[Kind] = field(default_factory=Counter)
    most_faults: int = 0
    story: str = ""

    @property
    def passed(self) -> bool:
        """Walks were made, and none broke a promise."""
        return bool(self.walks) and not self.story


def run(examples: int, seed: int, scenarios: Sequence[Callable[[], Scenario]] = DEEP) -> Walked:
    """Walk `examples` times through `scenarios`, each as often, until a promise is broken.

    The same seed walks the same ways through the same code.
    """
    walked = Walked(seed)
    settings = hypothesis.settings(
        max_examples=-(-examples // len(scenarios)),
        stateful_step_count=_LONGEST,
        deadline=None,
        database=None,
        report_multiple_bugs=False,
        suppress_health_check=list(hypothesis.HealthCheck),
        verbosity=hypothesis.Verbosity.quiet,
    )
    with unmeasured():
        for scenario in scenarios:
            shared = _Shared(walked, scenario)
            machine = hypothesis.seed(seed)(type("Walk", (_Walk,), {"shared": shared}))
            try:
                run_state_machine_as_test(machine, settings=settings)
            except BrokenPromise as broken:
                walked.story = str(broken)
                break
            walked.different += len(shared.ways)
    return walked


@dataclass
class _Shared:
    """What the walks through one scenario have in common.

    Attributes:
        ways: the walks that were made, as hashes: Hypothesis makes some of them more than once.
    """

    walked: Walked
    scenario: Callable[[], Scenario]
    ways: set[int] = field(default_factory=set)
    _world: World | None = None

    def world(self) -> World:
        """The scenario's world, which remembers what the code did in earlier walks."""
        if self._world is None or self._world.runs.executions > _MOST_EXECUTIONS:
            self._world = World(self.scenario())
        return self._world


class _Walk(RuleBasedStateMachine):
    """One schedule of one scenario, a move at a time."""

    shared: ClassVar[_Shared]

    def __init__(self) -> None:
        super().__init__()
        self.world = self.shared.world()
        self.state = self.world.initial()
        self.shared.walked.walks += 1
        self.made: list[Move] = []
        self.is_broken = False

    @rule(group=strategies.sampled_from(_GROUPS), choice=_CHOICES)
    def go(self, group: tuple[Kind, ...], choice: int) -> None:
        """Make one of the moves that there are: of `group`, else one that is no fault, else any."""
        if self.world.is_settled(self.state):
            return
        moves = list(self.world.moves(self.state))
        fitting = [move for move in moves if move.kind in group]
        fitting = fitting or [move for move in moves if move.kind not in FAULTS] or moves
        if not fitting:
            return
        # Moments are in their order: most often the next one comes, or all who run would be gone each time.
        index = (choice ^ (choice + 1)).bit_length() - 1 if group == _TIME else choice
        self._make(fitting[index % len(fitting)])

    def teardown(self) -> None:
        """Let all who live end, without another fault; then those come who come when all is over."""
        if self.is_broken:
            return
        while not self.world.is_settled(self.state):
            self._make(_first_without_a_fault(self.world, self.state))
        walked = self.shared.walked
        walked.most_faults = max(walked.most_faults, self.state.faults)
        self.shared.ways.add(hash(tuple(self.made)))
        self._judge(self.world.probed(self.state))

    def _make(self, move: Move) -> None:
        self.state, broken = self.world.after(self.state, move)
        self.made.append(move)
        self.shared.walked.moves += 1
        self.shared.walked.faults[move.kind] += int(move.kind in FAULTS)
        self._judge(broken)

    def _judge(self, broken: tuple[str, ...]) -> None:
        if broken:
            self.is_broken = True
            name = self.world.scenario.name
            raise BrokenPromise(told(Found(name, broken=broken, moves=tuple(self.made), world=self.world)))


def _first_without_a_fault(world: World, state: State) -> Move:
    return next(move for move in world.moves(state) if move.kind not in FAULTS)
