"""A tenant's word for its metrics in detail, on its way from its file to whoever emits them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from handlers.adapters.receipt_item import from_item, to_item
from handlers.adapters.timed_cache import TimedCache
from handlers.adapters.timed_receipts import TimedReceipts
from handlers.domain import bus_event, registry_entry, tenant_config
from handlers.domain.caller import Caller
from handlers.domain.errors import Unavailable
from handlers.domain.ports import Written
from tenants.loader import load_all
from tenants.registry import context_bytes, key_item, tenant_item
from tests.builders import authorizer_context, claim, receipt
from tests.fakes.receipts import InMemoryReceipts
from tests.unit.handlers import test_notify
from tests.unit.handlers.dispatch_bench import emf
from tests.unit.handlers.ingest_calls import keyed, post
from tests.unit.handlers.payment_world import World
from tests.unit.handlers.work_bench import WorkBench, messages, order
from tests.unit.handlers.work_bench import tenant_config as config_of

if TYPE_CHECKING:
    from handlers.domain.ports import PutOutcome
    from handlers.domain.protocol import Claim
    from handlers.domain.receipt import Receipt

IN_DETAIL = {"metrics": "detailed"}
TENANTS = Path(__file__).parents[3] / "tenants"


@pytest.mark.parametrize("word", ["standard", "detailed"])
def test_the_file_s_word_reaches_the_caller_and_the_tenants_entry(word: str) -> None:
    found = load_all(TENANTS)
    tenant = next(each for each in found.tenants if each.id == "acme").model_copy(update={"metrics": word})
    tier, key = found.tier_of(tenant), tenant.keys[0]
    entry = registry_entry.from_item(key_item(tenant, tier, key, "f" * 64))
    context = entry.context()
    assert Caller.from_context(context).detailed_metrics is (word == "detailed")
    assert tenant_config.from_item(tenant_item(tenant, tier)).detailed_metrics is (word == "detailed")
    # Where it is not on, it costs nothing of the context.
    assert ("metrics" in context) is (word == "detailed")
    assert context_bytes(tenant, tier, key) == len(json.dumps(context, ensure_ascii=False).encode())


def test_a_word_of_a_later_release_is_no_reason_to_refuse_anybody() -> None:
    assert not Caller.from_context(authorizer_context(metrics="some")).detailed_metrics
    assert not config_of(metrics="some").detailed_metrics


@pytest.mark.parametrize("detailed", [False, True])
def test_the_receipt_keeps_it_for_dispatch_and_only_where_it_is_on(detailed: bool) -> None:
    store, paying = InMemoryReceipts(), World()
    event = keyed("k", authorizer=authorizer_context(**(IN_DETAIL if detailed else {})))
    post(store, event)
    paying.context = IN_DETAIL if detailed else {}
    paying.pay()
    assert isinstance(paying.store, InMemoryReceipts)
    for kept in (*store.items.values(), *paying.store.items.values()):
        assert kept.detailed_metrics is detailed
        item = to_item(kept)
        assert ("metrics" in item) is detailed
        assert from_item(item) == kept


@pytest.mark.parametrize("metrics", ["standard", "detailed"])
def test_an_order_s_event_says_so_to_notify(metrics: str, capsys: pytest.CaptureFixture[str]) -> None:
    bench = WorkBench(configs={"acme": config_of(metrics=metrics)})
    bench.store.write(order(1))
    bench.fulfil(messages(order(1)))
    [(_, detail)] = bench.events
    assert detail.get("metrics") == (None if metrics == "standard" else "detailed")
    capsys.readouterr()
    test_notify.notified({"detail": detail}, test_notify.Topics())
    [line] = emf(capsys.readouterr().out)
    assert line.get("TenantId") == (None if metrics == "standard" else "acme")


def test_a_notice_of_an_earlier_release_has_no_word() -> None:
    _, brought = test_notify.on_the_bus()
    assert not bus_event.notice_in(brought).detailed_metrics


def test_what_was_read_last_is_known_without_a_call_however_old_it_is() -> None:
    now = [0.0]
    cache: TimedCache[str] = TimedCache(lambda: now[0])
    assert cache.peek("acme") is None
    cache.get("acme", lambda: "read")
    now[0] = 1_000_000.0
    assert (cache.peek("acme"), cache.reads) == ("read", 1)


class Slow:
    """A store that takes 250 ms a write, and then may not answer."""

    def __init__(self, now: list[float], error: Exception | None) -> None:
        self.now, self.error = now, error

    def put(self, receipt: Receipt, claim: Claim) -> PutOutcome:
        return self._take()

    def take_over(self, *_: Any) -> Any:
        return self._take()

    def checkpoint(self, owned: Receipt, text: str) -> Any:
        return self._take()

    def complete(self, owned: Receipt) -> Any:
        return self._take()

    def release(self, owned: Receipt) -> Any:
        return self._take()

    def _take(self) -> PutOutcome:
        self.now[0] += 0.25
        if self.error is not None:
            raise self.error
        return Written(abandoned=False)


def test_the_store_is_timed_over_all_its_calls_failed_ones_too() -> None:
    now = [0.0]
    slow = Slow(now, None)
    timed = TimedReceipts(slow, lambda: now[0])
    assert timed.milliseconds is None
    one = receipt()
    timed.put(one, claim())
    timed.take_over(one, claim(), 1, 2)
    timed.checkpoint(one, "saved")
    timed.complete(replace(one))
    assert timed.milliseconds == 1_000
    slow.error = Unavailable("receipts", "ReadTimeoutError")
    with pytest.raises(Unavailable):
        timed.release(one)
    assert timed.milliseconds == 1_250
