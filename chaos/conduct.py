"""Sends the storm and lets happen meanwhile what the script says."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from botocore.exceptions import BotoCoreError, ClientError

from chaos.disorder import DELAY_SECONDS
from chaos.faults import Kind
from chaos.losses import Open
from chaos.script import Act
from chaos.workers import standing_still, storm_clients
from loadtest import storm
from ops.local.emulator import HEALTHY_SECONDS, port_taken

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from chaos.disorder import Disorder
    from chaos.losses import Losses
    from chaos.script import Occasion
    from chaos.wires import Wires
    from loadtest.run import RunDirectory
    from ops.local.emulator import Emulator
    from ops.local.platform import LocalPlatform

# Between two looks at how many attempts there are; the storm itself looks four times a second.
_LOOK_SECONDS: Final = 0.1
# botocore tries twice, and three callers may be at it at once (the stream, dispatch's own queue, a copy of
# the stream): of four attempts two are one call's. After one, its retry would pass, and nothing have failed.
_HELD_CALLS: Final = 4


class NothingSaved(Exception):
    """The local AWS did not end by itself, so that all it held is gone."""


@dataclass(frozen=True, slots=True)
class Stage:
    """What the acts are done to: the proxy, the platform and its AWS, its queues and stream."""

    wires: Wires
    platform: LocalPlatform
    emulator: Emulator
    disorder: Disorder
    losses: Losses


class Conductor:
    """Does each act at its time, in one thread, while the storm runs in another.

    Attributes:
        open: what had not followed when the local AWS was back: what the restart may have lost.
    """

    def __init__(self, stage: Stage, say: Callable[[str], None]) -> None:
        self._stage = stage
        self._wires = stage.wires
        self._disorder = stage.disorder
        self._say = say
        self._sent = 0
        self._held_before = 0
        self._storms: Callable[[], bool] = lambda: True
        self._up = threading.Event()
        self._up.set()
        self._threads: list[threading.Thread] = []
        self._failed: list[BaseException] = []
        self.open = Open()

    def run(self, directory: RunDirectory, home: Path, occasions: tuple[Occasion, ...]) -> None:
        """Send the storm to its end. Afterwards no fault is injected any more.

        Raises:
            StormError: it did not run to its end. LocalPlatformError: the platform did not come back.
        """
        settings = directory.settings()
        self._disorder.bring_back_soon()
        storming = self._beside(storm.run, directory, settings, home, self._note)
        self._storms = storming.is_alive
        try:
            for occasion in occasions:
                self._wait_for(partial(self._has_sent, occasion.attempts))
                self._up.wait()
                self._say(f"at {self._sent:>5} attempts: {occasion.act.value}")
                self._act(occasion)
        finally:
            storming.join()
            self._calm()
            for thread in self._threads:
                thread.join()
        if self._failed:
            raise self._failed[0]

    def _has_sent(self, attempts: int) -> bool:
        return self._sent >= attempts

    def _note(self, attempts: int) -> None:
        self._sent = attempts

    def _wait_for(self, there: Callable[[], bool]) -> None:
        """Until it is so; or the storm is over, after which nothing new comes."""
        while not there() and self._storms():
            time.sleep(_LOOK_SECONDS)

    def _act(self, occasion: Occasion) -> None:
        acts: dict[Act, Callable[[], object]] = {
            Act.ARM: self._wires.armed.set,
            Act.DELAY_QUEUES: lambda: self._delay(DELAY_SECONDS),
            Act.FLOW_QUEUES: lambda: self._delay(0),
            # A batch takes as long as its calls are made to take.
            Act.COPY_STREAM: lambda: self._beside(self._copy, occasion.number),
            Act.OUTAGE: self._hold,
            Act.RECOVER: self._let_go,
            Act.HOLD_DISPATCH: self._hold,
            Act.RESTART: self._begin_restart,
        }
        acts[occasion.act]()

    def _delay(self, seconds: int) -> None:
        self._wires.sends.delay = None  # nothing is known of what is sent while it changes
        self._disorder.delay_queues(seconds)
        self._wires.sends.delay = seconds

    def _hold(self) -> None:
        self._held_before = self._wires.tally.counts[Kind.HELD]
        self._wires.held.add("dispatch")

    def _is_held(self) -> bool:
        """Whether a call of dispatch's has failed for good by now, its second attempt too."""
        return self._wires.tally.counts[Kind.HELD] >= self._held_before + _HELD_CALLS

    def _let_go(self) -> None:
        self._wait_for(self._is_held)
        self._wires.held.clear()

    def _begin_restart(self) -> None:
        # However few requests a run has: a stream without records would show nothing of a lost one. Those
        # that wait in dispatch's own queue outlive a stop.
        self._wait_for(self._is_held)
        self._wait_for(lambda: len(self._stage.losses.unrecorded()) > self._disorder.parked())
        # The storm goes on meanwhile: bringing all of it up takes longer than its first answer.
        self._up.clear()
        self._beside(self._restart)

    def _beside(self, act: Callable[..., None], *arguments: object) -> threading.Thread:
        """Do something that takes its time beside the script."""

        def do() -> None:
            try:
                act(*arguments)
            except BaseException as error:  # noqa: BLE001 - it is raised in `run`, which waits for this
                self._failed.append(error)

        thread = threading.Thread(target=do, name=act.__name__)
        thread.start()
        self._threads.append(thread)
        return thread

    def _copy(self, number: int) -> None:
        try:
            for copied in self._disorder.copy_stream(number, self._stage.losses.unrecorded):
                self._wires.tally.add(Kind.STREAM_COPY, number, times=copied)
        except (BotoCoreError, ClientError) as error:
            # The local AWS was just stopped: what was handed out until then is counted.
            self._say(f"  no more copies at occasion {number}: {type(error).__name__}")

    def _restart(self) -> None:
        """SIGTERM in the middle of everything; it saves items and queues, and no stream."""
        emulator = self._stage.emulator
        endpoint = emulator.endpoint()
        assert endpoint is not None, "it runs"
        # What is on its way is cut off; the clients see that when the API is there again.
        with standing_still(storm_clients()) as go_on, self._script_goes_on():
            if not emulator.stop():
                raise NothingSaved(
                    "the local AWS had to be killed and saved nothing: this run proves nothing"
                )
            self._wires.held.clear()
            self._wires.tally.restarted = True
            self._beside(self._go_on_when_up, endpoint.port, go_on)
            self._stage.platform.up()
        self._wires.tally.add(Kind.RESTART)

    def _go_on_when_up(self, port: int, go_on: Callable[[], None]) -> None:
        deadline = time.monotonic() + HEALTHY_SECONDS
        while not port_taken(port) and time.monotonic() < deadline:
            time.sleep(_LOOK_SECONDS)
        try:
            # While the clients stand still: what is missing now, the stop has cut off.
            self.open = self._stage.losses.open()
        finally:
            self._up.set()
            go_on()

    @contextmanager
    def _script_goes_on(self) -> Iterator[None]:
        """Whatever becomes of the restart, the script must not wait for it for ever."""
        try:
            yield
        finally:
            self._up.set()

    def _calm(self) -> None:
        self._wires.armed.clear()
        self._wires.held.clear()
        if self._wires.sends.delay != 0:
            self._delay(0)
