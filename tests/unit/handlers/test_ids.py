from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handlers.domain import ids
from tests.builders import NOW_MS

if TYPE_CHECKING:
    from collections.abc import Callable

CLAIM = ("acme", "key", "generation", NOW_MS)


@pytest.mark.parametrize("make", [ids.record_id, ids.event_id])
@pytest.mark.parametrize(
    "other",
    [
        ("bluebird", "key", "generation", NOW_MS),
        ("acme", "another", "generation", NOW_MS),
        ("acme", "key", "another", NOW_MS),
        ("acme", "key", "generation", NOW_MS + 1),
        ("acm", "ekey", "generation", NOW_MS),
        ("acme", "keyg", "eneration", NOW_MS),
    ],
)
def test_an_id_differs_by_everything_that_it_is_made_from(
    make: Callable[[str, str, str, int], str], other: tuple[str, str, str, int]
) -> None:
    assert make(*CLAIM) == make(*CLAIM)
    # Not only in its time: the randomness of two tenants' ids has nothing in common.
    assert (make(*CLAIM)[10:] != make(*other)[10:]) == (other[:3] != CLAIM[:3])
    assert make(*CLAIM) != make(*other)


def test_a_record_and_its_event_have_ids_of_their_own() -> None:
    assert ids.record_id(*CLAIM) != ids.event_id(*CLAIM)


@given(created_at=st.integers(0, 2**48 - 1))
def test_an_id_tells_when_it_was_made(created_at: int) -> None:
    assert ids.created_at_ms(ids.record_id("acme", "key", "generation", created_at)) == created_at


@pytest.mark.parametrize(
    "text", ["", "R", "01ARZ3NDEKTSV4RRFFQ69G5FA", "01arz3ndektsv4rrffq69g5fav", "é" * 26]
)
def test_what_is_no_id_of_ours_has_no_time(text: str) -> None:
    assert ids.created_at_ms(text) is None
