"""Every target finds a fault that is planted for it: an oracle that cannot fail would prove nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fuzz.registry import TARGETS, inputs
from fuzz.target import Broken
from tests.unit.fuzz.plants import PLANTED

if TYPE_CHECKING:
    from tests.unit.fuzz.plants import Plant

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
