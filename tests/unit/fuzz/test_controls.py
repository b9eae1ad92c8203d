"""Every target finds a fault that is planted for it: an oracle that cannot fail would prove nothing."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from fuzz.quiet import quietly
from fuzz.registry import TARGETS, inputs
from fuzz.target import Broken, require
from tests.unit.fuzz import plants_of_requests, plants_of_work

if TYPE_CHECKING:
    from tests.unit.fuzz.planting import Plant

PLANTED = [*plants_of_requests.PLANTED, *plants_of_work.PLANTED]
# Where a seed does not do: an input as the fuzzer makes one.
MORE: dict[str, list[bytes]] = {
    "read": [b"\x05\n" + b"k" * 256],
    "images": [b"\x01\x01\x00\x00\x0c\n"],
    "pending": [b"\x01\n{}", b'\x01\n{"pk":{"S":"a"}}'],
}


def _finds(name: str) -> BaseException | None:
    target = TARGETS[name]
    for each in [*inputs(target), *MORE.get(name, [])]:
        try:
            target.check(each)
        except Exception as error:  # noqa: BLE001 - whatever it is, the fault was found
            return error
    return None


@pytest.mark.parametrize(
    ("name", "plant", "promise"), PLANTED, ids=lambda each: getattr(each, "__name__", each)
)
def test_a_planted_fault_is_found_by_the_promise_that_it_breaks(
    name: str, plant: Plant, promise: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    found = _finds(name)
    # Not any exception: what a plant raises by itself would need no oracle.
    assert isinstance(found, Broken)
    assert str(found) == promise


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_what_is_ordinary_and_what_was_once_found_breaks_nothing(name: str) -> None:
    assert _finds(name) is None


def test_every_target_has_a_planted_fault() -> None:
    assert {name for name, _, _ in PLANTED} == set(TARGETS)


def test_a_promise_that_a_handler_swallows_is_heard_all_the_same() -> None:
    def handler() -> str:
        with suppress(Exception):  # as those do whose one record must not hold up the others
            require(kept=False, promise="planted")
        return "fine"

    with pytest.raises(Broken, match="planted"), quietly():
        assert handler() == "fine"
    with quietly():
        require(kept=True, promise="and what is over is forgotten")
