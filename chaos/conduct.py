"""Sends the storm and lets happen meanwhile what the script says."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from botocore.exceptions import BotoCoreError, ClientError

from chaos.disorder import DELAY_SECONDS, Disorder
from chaos.faults import Kind
from chaos.script import Act
from chaos.workers import standing_still, storm_clients
from loadtest import storm
from ops.local.emulator import HEALTHY_SECONDS, port_taken

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from chaos.proxy import Wires
    from chaos.script import Occasion
    from loadtest.run import RunDirectory
    from loadtest.target import Target
    from ops.local.emulator import Emulator
    from ops.local.platform import LocalPlatform

# Between two looks at how many attempts there are; the storm itself looks four times a second.
_LOOK_SECONDS: Final = 0.1


class NothingSaved(Exception):
    """The local AWS did not end by itself, so that all it held is gone."""


class Conductor:
    """Does each act at its time, in one thread, while the storm runs in another."""

    def __init__(
        self,
        wires: Wires,
        target: Target,
        platform: LocalPlatform,
        emulator: Emulator,
        say: Callable[[str], None],
    ) -> None:
        self._wires = wires
        self._platform = platform
        self._emulator = emulator
        self._disorder = Disorder(target, wires.schedule.seed)
        self._say = say
        self._sent = 0
        self._up = threading.Event()
        self._up.set()
        self._threads: list[threading.Thread] = []
        self._failed: list[BaseException] = []

    def run(self, directory: RunDirectory, home: Path, occasions: tuple[Occasion, ...]) -> None:
        """Send the storm to its end. Afterwards no fault is injected any more.

        Raises:
            StormError: it did not run to its end. LocalPlatformError: the platform did not come back.
        """
        settings = directory.settings()
        self._disorder.bring_back_soon()
        self._beside(storm.run, directory, settings, home, self._note)
        [storming] = self._threads
        try:
            for occasion in occasions:
                while self._sent < occasion.attempts and storming.is_alive():
                    storming.join(_LOOK_SECONDS)
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

    def _note(self, attempts: int) -> None:
        self._sent = attempts

    def _act(self, occasion: Occasion) -> None:
        wires = self._wires
        if occasion.act is Act.ARM:
            wires.armed.set()
        elif occasion.act is Act.DELAY_QUEUES:
            self._disorder.delay_queues(DELAY_SECONDS)
            wires.reorder.set()
        elif occasion.act is Act.FLOW_QUEUES:
            wires.reorder.clear()
            self._disorder.delay_queues(0)
        elif occasion.act is Act.COPY_STREAM:
            # A batch takes as long as its calls are made to take.
            self._beside(self._copy, occasion.number)
        elif occasion.act is Act.HOLD_DISPATCH:
            wires.held.add("dispatch")
        else:
            # The storm goes on meanwhile: bringing all of it up takes longer than its first answer.
            self._up.clear()
            self._beside(self._restart)

    def _beside(self, act: Callable[..., None], *arguments: object) -> None:
        """Do something that takes its time beside the script."""

        def do() -> None:
            try:
                act(*arguments)
            except BaseException as error:  # noqa: BLE001 - it is raised in `run`, which waits for this
                self._failed.append(error)

        thread = threading.Thread(target=do, name=act.__name__)
        thread.start()
        self._threads.append(thread)

    def _copy(self, number: int) -> None:
        try:
            for copied in self._disorder.copy_stream(number):
                self._wires.tally.add(Kind.STREAM_COPY, number, times=copied)
        except (BotoCoreError, ClientError) as error:
            # The local AWS was just stopped: what was handed out until then is counted.
            self._say(f"  no more copies at occasion {number}: {type(error).__name__}")

    def _restart(self) -> None:
        """SIGTERM in the middle of everything; it saves items and queues, and no stream."""
        endpoint = self._emulator.endpoint()
        assert endpoint is not None, "it runs"
        # What is on its way is cut off; the clients see that when the API is there again.
        with standing_still(storm_clients()) as go_on, self._script_goes_on():
            if not self._emulator.stop():
                raise NothingSaved(
                    "the local AWS had to be killed and saved nothing: this run proves nothing"
                )
            self._wires.held.clear()
            self._beside(self._go_on_when_up, endpoint.port, go_on)
            self._platform.up()
        self._wires.tally.add(Kind.RESTART)

    def _go_on_when_up(self, port: int, go_on: Callable[[], None]) -> None:
        deadline = time.monotonic() + HEALTHY_SECONDS
        while not port_taken(port) and time.monotonic() < deadline:
            time.sleep(_LOOK_SECONDS)
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
        self._wires.reorder.clear()
        self._wires.held.clear()
