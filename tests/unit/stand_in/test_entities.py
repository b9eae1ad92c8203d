"""The CRM of the stand-in: one entity for each external id."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.unit.stand_in.conftest import Bench

CONTACT = "/crm.example/contacts/evt%2F1?source=forms"


def test_a_put_makes_the_entity_and_then_overwrites_it(bench: Bench) -> None:
    assert bench.client.put(CONTACT, json={"n": 1}).status_code == 201
    assert bench.client.put(CONTACT, json={"n": 1}).status_code == 200
    assert bench.client.put(CONTACT, json={"n": 2}).status_code == 200
    assert bench.client.get(CONTACT).json() == {"n": 2}
    found = bench.upserts()
    assert (found["entities"], found["writes"]) == (1, 3)
    one = found["upserts"][0]
    assert (one["host"], one["path"], one["bodies"]) == (
        "crm.example",
        "/contacts/evt%2F1?source=forms",
        2,
    )


def test_posts_with_one_key_make_one_entity_and_posts_without_make_one_each(bench: Bench) -> None:
    for key in ("a", "a", "b"):
        bench.client.post("/crm.example/contacts", json={}, headers={"Idempotency-Key": key})
    assert bench.upserts()["entities"] == 2
    for _ in range(2):
        assert bench.client.post("/crm.example/contacts", json={}).status_code == 201
    assert bench.upserts()["entities"] == 4


def test_two_hosts_keep_their_own(bench: Bench) -> None:
    for host in ("a.example", "b.example"):
        bench.client.put(f"/{host}/contacts/1", json={})
    assert bench.upserts()["entities"] == 2
    assert bench.client.get("/c.example/contacts/1").status_code == 404


def test_what_is_not_json_or_not_a_write_is_refused_and_writes_nothing(bench: Bench) -> None:
    assert bench.client.put(CONTACT, content=b"{").status_code == 400
    assert bench.client.delete(CONTACT).status_code == 405
    assert bench.upserts()["writes"] == 0


def test_concurrent_puts_of_one_id_are_one_entity(bench: Bench) -> None:
    with ThreadPoolExecutor(16) as pool:
        statuses = list(pool.map(lambda n: bench.client.put(CONTACT, json={"n": n}).status_code, range(64)))
    assert sorted(statuses) == [200] * 63 + [201]
    found = bench.upserts()
    assert (found["entities"], found["writes"], found["upserts"][0]["bodies"]) == (1, 64, 64)
