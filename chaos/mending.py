"""After the faults: wait for what comes by itself, then do what the runbooks say, and only that."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from chaos import recovery
from loadtest.verdict import Kind

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from chaos.losses import Losses, Open
    from chaos.outcome import Outcome
    from loadtest.verdict import Verdict

# Between two looks at something that should soon have gone, or be there.
_LOOK_SECONDS: Final = 2.0
# How often nothing must have changed for the stream to have brought all it has: dispatch's batch is brought
# again about once a second, and two workers' timeouts (7 s a call) may lie between two records.
_QUIET_LOOKS: Final = 8
# How long the queues may hold work after the faults: a lease by a clock 90 s ahead, and a message that waits
# for its end, three times over (the local stage gives work up after three receives).
_DRAIN_SECONDS: Final = 420.0
# What follows from a receipt: of these an outage may take the rest away where there is a record already.
_FOLLOWING: Final = frozenset({Kind.LOST_EVENT, Kind.UNFINISHED_WORK})


@dataclass(frozen=True, slots=True)
class Mending:
    """The operator's steps.

    Attributes:
        home: of the platform. losses: looks at what is missing. waiting: messages in all queues of work.
        letters: how many there are in a dead-letter queue, by its short name: a command on one that is empty
            takes seconds, and there are several. say: is told what was done. pause: waits between two looks.
    """

    home: Path
    losses: Losses
    waiting: Callable[[], int]
    letters: Callable[[str], int]
    say: Callable[[str], None]
    pause: Callable[[float], None] = time.sleep

    def drain(self, outcome: Outcome) -> None:
        """Wait for the queues of work; what they gave up meanwhile is sent back. Raises RecoveryFailed."""
        looks = int(_DRAIN_SECONDS / _LOOK_SECONDS)
        while looks:
            if self.waiting():
                looks -= 1
                self.pause(_LOOK_SECONDS)
                continue
            sent = recovery.redrive(self.home, filter(self.letters, recovery.REDRIVEN))
            for name in recovery.REDRIVEN:
                outcome.redriven[name] = outcome.redriven.get(name, 0) + sent.get(name, 0)
            if not any(sent.values()):
                break
        self.say(f"onceward dlq redrive: {sum(outcome.redriven.values())} letters so far")

    def replay(self, outcome: Outcome, cut_off: Open) -> None:
        """Bring back what the restart lost; what else is missing is dispatch's own loss, and told as such.

        Args:
            cut_off: what had not followed at the restart.

        Raises:
            RecoveryFailed: the command did.
        """
        missing, same = self.losses.unrecorded(), 0
        while missing and same < _QUIET_LOOKS:
            self.pause(_LOOK_SECONDS)
            now = self.losses.unrecorded()
            missing, same = now, same + 1 if now == missing else 0
        outcome.unexplained = tuple(sorted(missing - cut_off.unrecorded))
        if missing:
            recovery.replay(self.home)
        outcome.lost = len(missing & cut_off.unrecorded)
        own = len(outcome.unexplained)
        self.say(
            f"onceward dispatch replay: {outcome.lost} receipts that the stream lost, {own} that dispatch did"
        )

    def republish(self, outcome: Outcome, cut_off: Open) -> bool:
        """Publish again if all that is missing was cut off by the restart, after its record was written.

        Whether it was done. All events of the run come again: none may be missing for another reason, which
        that would hide. Raises RecoveryFailed.
        """
        assert outcome.verdict is not None, "it was judged"
        pks = _behind(outcome.verdict)
        if not pks or not pks <= cut_off.unheard:
            return False
        self.say(f"onceward dispatch replay --republish: for {len(pks)} that the restart cut off")
        recovery.replay(self.home, republish=True)
        outcome.republished = len(pks)
        self.drain(outcome)
        return True


def _behind(verdict: Verdict) -> frozenset[str]:
    """The receipts whose event or work is missing; none where not every one of them is named."""
    found = [one for one in verdict.violations if one.kind in _FOLLOWING]
    if len(found) < sum(verdict.by_kind.get(kind.value, 0) for kind in _FOLLOWING):
        return frozenset()
    return frozenset(f"{one.tenant}#{one.key}" for one in found)
