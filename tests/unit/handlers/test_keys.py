from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from handlers.domain import keys
from handlers.domain.errors import InvalidKey

VISIBLE = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=255)


@pytest.mark.parametrize(
    ("sent", "key"),
    [
        (["abc"], "abc"),
        ([" \tabc\t "], "abc"),
        (['"abc"'], "abc"),
        (['"a\\"b\\\\c"'], 'a"b\\c'),
        (['"abc"', "abc"], "abc"),
        (["abc", "abc"], "abc"),
        (["a,b"], "a,b"),
        (["abc, abc"], "abc"),
        (['abc, "abc"'], "abc"),
        (["#/?&%=+"], "#/?&%=+"),
        (["k" * 255], "k" * 255),
        ([], None),
    ],
)
def test_a_header_gives_its_key(sent: list[str], key: str | None) -> None:
    assert keys.from_header(sent) == key


@pytest.mark.parametrize(
    ("sent", "rule"),
    [
        ([""], "blank"),
        ([" \t "], "blank"),
        (['""'], "blank"),
        (["k" * 256], "too_long"),
        (["a b"], "not_visible_ascii"),
        (['"a b"'], "not_visible_ascii"),
        (["clé"], "not_visible_ascii"),
        (["a\x7fb"], "not_visible_ascii"),
        (["a\nb"], "not_visible_ascii"),
        (["abc\n"], "not_visible_ascii"),
        (['"abc'], "bad_quoting"),
        (['"abc";v=1'], "bad_quoting"),
        (['"a"b"'], "bad_quoting"),
        (["abc", "abd"], "conflicting"),
        (["abc, abd"], "conflicting"),
        (['"abc",\t"abd"'], "conflicting"),
        ([", abc"], "blank"),
    ],
)
def test_a_bad_key_is_refused_with_its_rule(sent: list[str], rule: str) -> None:
    with pytest.raises(InvalidKey) as refused:
        keys.from_header(sent)
    assert [fault.rule for fault in refused.value.faults] == [rule]
    assert refused.value.faults[0].field == "Idempotency-Key"


def test_a_refusal_never_repeats_the_key() -> None:
    with pytest.raises(InvalidKey) as refused:
        keys.from_header(["secret value"])
    assert "secret" not in str(refused.value)


@given(sent=st.text(max_size=300), derived=st.builds(keys.derived, st.text(), st.text(), st.text()))
@example(sent=" leads:body:x", derived=keys.derived("leads", "body", "x"))
@example(sent='" leads:body:x"', derived=keys.derived("leads", "body", "x"))
def test_no_header_reaches_where_derived_keys_live(sent: str, derived: str) -> None:
    try:
        key = keys.from_header([sent])
    except InvalidKey:
        return
    assert key is not None
    assert not key.startswith(" ")
    assert derived.startswith(" ")


@given(key=VISIBLE)
def test_a_key_that_a_header_can_carry_is_taken_as_it_is(key: str) -> None:
    assert keys.check(key) == key


@given(
    first=st.tuples(st.from_regex(r"[a-z][a-z0-9-]{1,30}[a-z0-9]", fullmatch=True), VISIBLE),
    second=st.tuples(st.from_regex(r"[a-z][a-z0-9-]{1,30}[a-z0-9]", fullmatch=True), VISIBLE),
)
def test_no_two_pairs_of_tenant_and_key_collide(first: tuple[str, str], second: tuple[str, str]) -> None:
    assert (keys.partition_key(*first) == keys.partition_key(*second)) == (first == second)


def test_derived_keys_of_two_operations_or_sources_differ() -> None:
    made = {
        keys.derived("leads", "body", "x"),
        keys.derived("orders", "body", "x"),
        keys.derived("leads", "event", "x"),
    }
    assert len(made) == 3
