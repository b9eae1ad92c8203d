"""The collector on the running platform: what callers did is in the metrics, each thing once."""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING

import pytest

from infra import metrics
from infra.naming import Names
from ops.local.clients import Clients
from ops.observing.collecting import Collector, sources
from ops.observing.naming import of_metric
from ops.observing.queues import Queues
from ops.observing.series import SeriesName
from ops.observing.store import MetricStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.e2e.api import Api
    from tests.platform_fixture import RunningPlatform

pytestmark = pytest.mark.platform

NAMES = Names("local")
DAY = 86_400


class Observed:
    """A collector of its own, which sees what happens from now on."""

    def __init__(self, platform: RunningPlatform, store: MetricStore) -> None:
        self.began = time.time_ns() // 1_000_000
        self.store = store
        self.collector = Collector(sources(platform.outputs), store, since_ms=self.began)

    def total(self, series: SeriesName, statistic: str = "Sum") -> float | None:
        begin = self.began - 60_000
        found = self.store.read(series, statistic, DAY, begin, begin + DAY * 1000)
        return found[0][1] if found else None

    def onceward(self, name: str, function: str = "ingest", **dimensions: str) -> float | None:
        service = {"Service": NAMES.platform(function)}
        return self.total(SeriesName.of("Onceward", name, service | dimensions))


@pytest.fixture
def observed(platform: RunningPlatform, tmp_path: Path) -> Iterator[Observed]:
    with MetricStore(tmp_path / "metrics.sqlite") as store:
        yield Observed(platform, store)


def test_each_request_is_counted_once_however_often_is_looked(alpha: Api, observed: Observed) -> None:
    key = f"collected-{uuid.uuid4().hex}"
    assert alpha.post(idempotency_key=key).status_code == 201
    assert observed.collector.collect() > 0
    assert alpha.post(idempotency_key=key).status_code == 201
    for _ in range(3):
        observed.collector.collect()
    assert observed.collector.trouble is None
    for dimensions in ({}, {"TenantId": "alpha"}, {"Operation": "leads"}):
        assert observed.onceward("Accepted", **dimensions) == 1
        assert observed.onceward("Replayed", **dimensions) == 1
    assert observed.onceward("Failed", TenantId="alpha") == 0
    assert observed.total(of_metric(metrics.function(NAMES, "ingest", "Invocations"))) == 2
    assert observed.total(of_metric(metrics.function(NAMES, "ingest", "Errors"))) == 0
    assert observed.total(of_metric(metrics.api(NAMES, "Count"))) == 2
    assert observed.total(of_metric(metrics.api(NAMES, "4XXError"))) == 0
    assert observed.total(of_metric(metrics.table(NAMES, "receipts", "ConsumedWriteCapacityUnits"))) == 4


def test_the_slowest_request_is_the_one_that_its_line_says(alpha: Api, observed: Observed) -> None:
    assert alpha.post(idempotency_key=f"collected-{uuid.uuid4().hex}").status_code == 201
    observed.collector.collect()
    latency = SeriesName.of("Onceward", "RequestLatency", {"Service": NAMES.platform("ingest")})
    slowest = observed.total(latency, "p100")
    assert slowest is not None
    assert slowest == pytest.approx(observed.total(of_metric(metrics.api(NAMES, "Latency")), "p100"), abs=0.1)


def test_who_has_no_good_key_is_seen_by_the_metric_filters_of_the_access_log(
    anonymous: Api, caller: Callable[..., Api], observed: Observed
) -> None:
    stranger = type(anonymous)(anonymous.url, f"stranger{uuid.uuid4().hex}", anonymous.client)
    assert stranger.post().status_code == 403
    observed.collector.collect()
    assert observed.onceward("Unauthorized", "api") == 1
    assert observed.total(of_metric(metrics.api(NAMES, "4XXError"))) == 1
    assert caller("alpha").post(idempotency_key=f"collected-{uuid.uuid4().hex}").status_code == 201
    observed.collector.collect()
    assert observed.onceward("Throttled", "api", TenantId="alpha") == 0
    assert observed.onceward("Unauthorized", "api") == 1


def test_what_follows_from_a_lead_reaches_its_topic(alpha: Api, observed: Observed) -> None:
    assert alpha.post(idempotency_key=f"collected-{uuid.uuid4().hex}").status_code == 201
    published = of_metric(metrics.tenant_topic(NAMES, "alpha", "NumberOfMessagesPublished"))
    delivered = of_metric(metrics.tenant_topic(NAMES, "alpha", "NumberOfNotificationsDelivered"))
    deadline = time.monotonic() + 60
    while observed.total(published) is None:
        assert time.monotonic() < deadline, "nothing was dispatched in a minute"
        observed.collector.collect()
    assert observed.total(published) == 1
    assert (observed.total(delivered) or 0) >= 1
    age = observed.total(of_metric(metrics.function(NAMES, "dispatch", "IteratorAge", "Maximum")), "Maximum")
    assert age is not None
    assert age >= 0


def test_the_depth_and_age_of_a_queue_are_those_of_its_messages(
    platform: RunningPlatform, observed: Observed
) -> None:
    sqs = platform.client("sqs")
    url = sqs.get_queue_url(QueueName=NAMES.platform("notify-dlq"))["QueueUrl"]
    depth = of_metric(metrics.queue(NAMES, "notify-dlq", "ApproximateNumberOfMessagesVisible"))
    age = of_metric(metrics.queue(NAMES, "notify-dlq", "ApproximateAgeOfOldestMessage"))
    observed.collector.collect()
    before = observed.total(depth, "Maximum") or 0
    sqs.send_message(QueueUrl=url, MessageBody="a message of a test")
    try:
        observed.collector.collect()
        assert observed.total(depth, "Maximum") == before + 1
        # Whatever else is there: SQS itself says when the oldest was sent.
        there = sqs.receive_message(
            QueueUrl=url, MaxNumberOfMessages=10, VisibilityTimeout=0, AttributeNames=["SentTimestamp"]
        )["Messages"]
        oldest_ms = min(int(message["Attributes"]["SentTimestamp"]) for message in there)
        aws = Clients(sources(platform.outputs).endpoint, platform.outputs.region)
        later = {point.series: point.value for point in Queues(aws, NAMES).look(oldest_ms + 90_000)}
        assert later[age] == pytest.approx(90, abs=1)  # the local AWS's list has whole seconds
        origin = observed.store.origin(depth)
        assert origin is not None
        assert origin.startswith("observed here")
    finally:
        for message in sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", []):
            if message["Body"] == "a message of a test":
                sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])


def test_what_a_page_of_the_log_cannot_hold_comes_with_the_next(
    alpha: Api, observed: Observed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ops.observing.invocations._MOST_EVENTS", 8)
    for _ in range(6):
        assert alpha.post(idempotency_key=f"collected-{uuid.uuid4().hex}").status_code == 201
    observed.collector.collect()
    assert observed.collector.trouble is None
    assert observed.onceward("Accepted") == 6


def test_a_collector_in_its_thread_takes_a_last_look(alpha: Api, observed: Observed) -> None:
    with observed.collector:
        assert alpha.post(idempotency_key=f"collected-{uuid.uuid4().hex}").status_code == 201
    assert observed.onceward("Accepted") == 1
