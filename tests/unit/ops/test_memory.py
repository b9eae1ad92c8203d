"""Memory over a storm: a process that grows is told from one that stays, and few samples prove nothing."""

from __future__ import annotations

import random
import subprocess
import sys
from typing import TYPE_CHECKING

import psutil
import pytest

from ops import memory_watch
from ops.memory import LEAST_SAMPLES, Bound, Growth, Series, slope
from ops.memory_watch import MemoryWatch, watch_judge

if TYPE_CHECKING:
    from collections.abc import Callable

REQUESTS = 200_000
BOUND = Bound(16.0, "a test's")


def judged(size: Callable[[int], float], bound: Bound | None = BOUND, samples: int = 400) -> Growth:
    """A series whose size follows from the requests so far."""
    series = Series("locust", bound)
    for number in range(samples):
        sent = REQUESTS * number // (samples - 1)
        series.samples.append((sent, size(sent)))
    return series.judge(REQUESTS)


def test_a_process_that_warms_up_and_then_stays_is_constant() -> None:
    dice = random.Random(1)
    growth = judged(lambda sent: 60.0 + min(sent, 10_000) / 500 + dice.uniform(-2.0, 2.0))
    assert growth.constant is True
    assert growth.start_mb == pytest.approx(80.0, abs=2.5)
    assert growth.slope_mb == pytest.approx(0.0, abs=0.5)
    assert growth.growth_mb < 6.0


def test_a_process_that_keeps_a_hundred_bytes_of_each_request_is_not() -> None:
    """The negative control: the least that anything kept of each request takes."""
    growth = judged(lambda sent: 80.0 + sent * 100 / 1e6)
    assert growth.constant is False
    assert growth.slope_mb == pytest.approx(10.0)
    assert growth.end_mb - growth.start_mb == pytest.approx(18.0, abs=0.5)
    assert growth.middle_mb == pytest.approx((growth.start_mb + growth.end_mb) / 2, abs=0.5)


def test_a_process_that_grew_and_let_it_go_again_is_not_constant() -> None:
    growth = judged(lambda sent: 200.0 if 90_000 < sent < 95_000 else 80.0)
    assert growth.constant is False
    assert growth.growth_mb == pytest.approx(120.0)


def test_growth_without_a_bound_is_told_and_not_judged() -> None:
    growth = judged(lambda sent: 100.0 + sent / 200, bound=None)
    assert growth.constant is None
    assert growth.to_json()["mbPer100kRequests"] == pytest.approx(500.0)


@pytest.mark.parametrize("samples", [0, 2, LEAST_SAMPLES - 1])
def test_too_few_samples_prove_nothing(samples: int) -> None:
    series = Series("locust", BOUND, [(REQUESTS, 80.0)] * samples)
    growth = series.judge(REQUESTS)
    assert growth.constant is False
    assert growth.to_json() == {
        "name": "locust",
        "constant": False,
        "samples": samples,
        "boundMb": BOUND.mb,
        "boundBecause": BOUND.why,
    }


def test_the_slope_is_that_of_the_least_squares() -> None:
    assert slope([(0, 1.0), (1, 3.0), (2, 2.0), (3, 4.0)]) == pytest.approx(0.8)
    assert slope([(5, 1.0), (5, 3.0)]) == 0.0


def _judge(body: str) -> Growth:
    """Watch a process that loads 80 MB, as modules, and then does this."""
    return watch_judge("import time; modules = b'x' * 80_000_000", body, [], REQUESTS, quiet=True)


def test_a_judge_that_keeps_what_it_reads_is_told_from_one_that_does_not() -> None:
    """Both read for three seconds; one keeps 10 MB of every tenth of a second."""
    flat = _judge("block = b'x' * 10_000_000\nfor _ in range(30): time.sleep(0.1)")
    growing = _judge("kept = []\nfor _ in range(30): kept.append(b'x' * 10_000_000); time.sleep(0.1)")
    assert (flat.constant, growing.constant) == (True, False)
    assert growing.growth_mb > 100


def test_a_judge_that_takes_it_all_at_once_and_then_waits_is_found() -> None:
    growing = _judge("kept = b'x' * 100_000_000\nfor _ in range(15): time.sleep(0.1)")
    assert growing.constant is False


def test_a_worker_that_grows_is_not_hidden_by_a_larger_one_that_does_not() -> None:
    watch = MemoryWatch(expected_seconds=1.0)
    sent = range(0, REQUESTS, 2_000)
    large, small = (Series(memory_watch.HANDLERS, memory_watch.WORKER) for _ in range(2))
    large.samples += [(n, 95.0) for n in sent]
    small.samples += [(n, 50.0 + n / 5_000) for n in sent]
    watch.workers = {(1, 0.0): large, (2, 0.0): small}
    for series in watch.series.values():
        series.samples += [(n, 80.0) for n in sent]
    workers = watch.growths(REQUESTS)[1]
    assert workers.name == memory_watch.HANDLERS
    assert workers.constant is False
    assert workers.growth_mb > 30


def test_a_judge_that_does_not_even_begin_has_no_memory_to_judge() -> None:
    assert not watch_judge("raise SystemExit(1)", "", [], REQUESTS, quiet=True).known


def test_a_storms_processes_are_found_by_what_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Children of ours that bear the words of a Locust process and of the local AWS, and a child of that."""
    wait = "import sys, time; print(flush=True); time.sleep(60)"
    inner = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {wait!r}])"
    started = [
        subprocess.Popen([sys.executable, "-c", body, word], stdout=subprocess.PIPE)
        for body, word in ((wait, "--run-dir"), (inner, "ministack"), (wait, "ops.local.stand_in"))
    ]
    try:
        for process in started:
            assert process.stdout is not None
            process.stdout.readline()
        watch = MemoryWatch(expected_seconds=0.0)
        watch.look(7)
        assert not watch.workers  # too young: it may be loading its modules
        monkeypatch.setattr(memory_watch, "_WORKER_STARTS_SECONDS", 0.0)
        for series in watch.series.values():
            series.samples.clear()
        watch.look(7)
        assert set(watch.series) == {
            memory_watch.LOCUST,
            memory_watch.EMULATOR,
            memory_watch.STAND_IN,
        }
        assert len(watch.workers) == 1
        for series in (*watch.series.values(), *watch.workers.values()):
            assert [sent for sent, _ in series.samples] == [7]
            assert 3.0 < series.samples[0][1] < 100.0
    finally:
        for process in started:
            for child in psutil.Process(process.pid).children():
                child.kill()
            process.kill()
            process.communicate()
