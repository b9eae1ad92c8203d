"""The bus's stand-in calls `notify` until it takes an event, and never again then."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import boto3
import pytest
from botocore.config import Config
from moto import mock_aws

from chaos.bus import Bus
from infra.naming import NOTIFY_RULE, Names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadtest.target import Target

NAMES = Names("local")


class Place:
    stage = "local"

    def client_options(self) -> dict[str, Any]:
        return {
            "region_name": "us-east-1",
            "config": Config(),
            "aws_access_key_id": "key",
            "aws_secret_access_key": "word",
        }


class Notify:
    """`invoke` of Lambda, with what each call says; True: it took the event."""

    def __init__(self, *answers: bool) -> None:
        self.answers = list(answers)
        self.heard: list[Any] = []

    def invoke(self, *, FunctionName: str, Qualifier: str, Payload: bytes) -> dict[str, str]:  # noqa: N803
        assert (FunctionName, Qualifier) == (NAMES.platform("notify"), "live")
        self.heard.append(json.loads(Payload))
        return {} if self.answers.pop(0) else {"FunctionError": "Unhandled"}


@pytest.fixture
def events() -> Iterator[Any]:
    with mock_aws():
        client = boto3.client("events", **Place().client_options())
        bus = NAMES.platform("orders")
        client.create_event_bus(Name=bus)
        pattern = json.dumps({"source": ["onceward.local"]})
        client.put_rule(Name=NAMES.platform(NOTIFY_RULE), EventBusName=bus, EventPattern=pattern)
        yield client


def _bus(notify: Notify) -> Bus:
    bus = Bus(cast("Target", Place()))
    bus._lambda = notify
    return bus


def _put(bus: Bus) -> None:
    """An event as the bus hands it to a queue: moto's own does not render one for it."""
    event = {"source": "onceward.local", "detail-type": "order.completed", "detail": {"n": 1}}
    bus._sqs.send_message(QueueUrl=bus._url, MessageBody=json.dumps(event))


def test_the_platforms_own_rule_is_switched_off_and_its_pattern_leads_to_the_queue(events: Any) -> None:
    bus = _bus(Notify())
    on = NAMES.platform("orders")
    assert events.describe_rule(Name=NAMES.platform(NOTIFY_RULE), EventBusName=on)["State"] == "DISABLED"
    [own] = [one for one in events.list_rules(EventBusName=on)["Rules"] if one["State"] == "ENABLED"]
    assert json.loads(own["EventPattern"]) == {"source": ["onceward.local"]}
    [target] = events.list_targets_by_rule(Rule=own["Name"], EventBusName=on)["Targets"]
    assert target["Arn"].rpartition(":")[2] == bus._url.rpartition("/")[2]


def test_an_event_that_notify_takes_comes_once_with_its_whole_envelope(events: Any) -> None:
    notify = Notify(True)
    bus = _bus(notify)
    _put(bus)
    assert bus.waiting() == 1
    assert bus.deliver_some() == 1
    [heard] = notify.heard
    assert (heard["source"], heard["detail-type"], heard["detail"]) == (
        "onceward.local", "order.completed", {"n": 1},
    )  # fmt: skip
    assert (bus.waiting(), bus.delivered, bus.again) == (0, 1, 0)


def test_an_event_that_notify_failed_stays_and_comes_again(
    events: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chaos.bus._AGAIN_SECONDS", 0)
    notify = Notify(False, True)
    bus = _bus(notify)
    _put(bus)
    bus.deliver_some()
    assert (bus.waiting(), bus.delivered) == (1, 0)
    bus.deliver_some()
    assert notify.heard[0] == notify.heard[1]
    assert (bus.waiting(), bus.delivered, bus.again) == (0, 1, 1)
