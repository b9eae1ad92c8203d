"""The proxy: what each fault does to a call and to what is behind it, and what is written down of it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError, ConnectionClosedError, HTTPClientError

from chaos.faults import Fault, Kind, Schedule
from chaos.proxy import between, upstream_of
from chaos.sends import Sends
from chaos.tally import Tally
from chaos.wires import Call, Wires
from handlers.adapters.aws import code_of, is_not_now
from tests.unit.chaos.upstream import Upstream, upstream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SECRET_BODY = "what a caller sent"
BROKEN = (ConnectionClosedError, HTTPClientError)


@dataclass(frozen=True)
class Scripted(Schedule):
    """One fault for the first call, none for all others."""

    seed: int = 0
    first: Fault | None = None

    def of_call(self, function: str, service: str, number: int) -> Fault | None:
        return self.first if number == 0 else None


@dataclass
class World:
    behind: Upstream
    wires: Wires
    tally: Tally
    killed: list[int] = field(default_factory=list)
    there: list[bool] = field(default_factory=lambda: [True])

    def client(self, service: str, attempts: int = 1) -> Any:
        return boto3.client(
            service,
            endpoint_url=self.wires.urls["fulfil"],
            aws_access_key_id="key",
            aws_secret_access_key="word",
            region_name="us-east-1",
            config=Config(retries={"total_max_attempts": attempts, "mode": "standard"}, read_timeout=10),
        )

    def send(self, attempts: int = 1) -> Any:
        return self.client("sqs", attempts).send_message(QueueUrl="http://queue/q", MessageBody=SECRET_BODY)


@pytest.fixture
def world(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[World]:
    tally = Tally(tmp_path / "faults.log")
    killed: list[int] = []
    there = [True]

    def kill(port: int) -> bool:
        killed.append(port)
        return there[0]

    with upstream() as behind:
        url = f"http://127.0.0.1:{behind.server_port}"
        wires = Wires(Scripted(first=request.param), tally, upstream_of(url), kill)
        wires.armed.set()
        with between(wires, ["fulfil"]):
            yield World(behind, wires, tally, killed, there)
    tally.close()


def first(kind: Kind, seconds: float = 0.0) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("world", [Fault(kind, seconds)], indirect=True)


@pytest.mark.parametrize("world", [None], indirect=True)
def test_without_a_fault_a_call_passes_and_is_counted(world: World) -> None:
    assert world.send()["MessageId"] == "one"
    assert len(world.behind.effects) == 1
    assert world.tally.calls == {("fulfil", "sqs"): 1}
    assert not world.tally.counts


@first(Kind.LATENCY, 7.5)
def test_a_late_answer_is_the_answer(world: World) -> None:
    waited: list[float] = []
    world.wires.pause = waited.append
    assert world.send()["MessageId"] == "one"
    assert waited == [7.5]
    assert len(world.behind.effects) == 1
    assert world.tally.counts == {Kind.LATENCY: 1}


@first(Kind.RESET)
def test_a_reset_connection_has_no_effect_and_the_sdk_tries_again(world: World) -> None:
    with pytest.raises(BROKEN):
        world.send()
    assert world.behind.effects == []
    assert world.tally.counts == {Kind.RESET: 1}
    assert world.send()["MessageId"] == "one"


@first(Kind.LOST_ANSWER)
def test_a_lost_answer_took_effect_and_the_sdks_retry_does_it_again(world: World) -> None:
    assert world.send(attempts=2)["MessageId"] == "one"
    assert len(world.behind.effects) == 2
    assert world.tally.counts == {Kind.LOST_ANSWER: 1}


@first(Kind.LATE_EFFECT, 0.05)
def test_a_late_effect_comes_after_its_caller_was_cut_off(world: World) -> None:
    with pytest.raises(BROKEN):
        world.send()
    world.wires.finish()
    assert len(world.behind.effects) == 1
    assert world.tally.counts == {Kind.LATE_EFFECT: 1}


@pytest.mark.parametrize("world", [Fault(Kind.COPY, 0.05), Fault(Kind.LATE_EFFECT, 0.05)], indirect=True)
def test_what_was_to_take_effect_later_is_not_counted_when_the_aws_was_gone_by_then(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = world.wires.forward_later

    def then_gone(call: Call, seconds: float, note: Callable[[], None]) -> None:
        world.wires.upstream = "127.0.0.1:9"
        begun(call, seconds, note)

    monkeypatch.setattr(world.wires, "forward_later", then_gone)
    with suppress(*BROKEN):
        world.send()
    world.wires.finish()
    assert not world.tally.counts


@first(Kind.COPY, 0.05)
def test_a_copied_message_is_sent_twice_and_answered_once(world: World) -> None:
    assert world.send()["MessageId"] == "one"
    world.wires.finish()
    assert len(world.behind.effects) == 2
    assert world.behind.effects[0] == world.behind.effects[1]
    assert world.tally.counts == {Kind.COPY: 1}


@pytest.mark.parametrize(
    ("world", "effects", "kind"),
    [(Fault(Kind.KILL_BEFORE), 0, Kind.KILL_BEFORE), (Fault(Kind.KILL_AFTER), 1, Kind.KILL_AFTER)],
    indirect=["world"],
)
def test_the_worker_that_calls_is_killed_before_or_after_the_effect(
    world: World, effects: int, kind: Kind
) -> None:
    with pytest.raises(BROKEN):
        world.send()
    assert len(world.killed) == 1
    assert len(world.behind.effects) == effects
    assert world.tally.counts == {kind: 1}


@pytest.mark.parametrize(
    ("world", "counted"),
    [(Fault(Kind.KILL_BEFORE), Kind.RESET), (Fault(Kind.KILL_AFTER), Kind.LOST_ANSWER)],
    indirect=["world"],
)
def test_a_worker_that_is_gone_already_counts_as_no_kill(world: World, counted: Kind) -> None:
    world.there[0] = False
    with pytest.raises(BROKEN):
        world.send()
    assert world.tally.counts == {counted: 1}


@pytest.mark.parametrize("world", [Fault(Kind.THROTTLE), Fault(Kind.ERROR)], indirect=True)
@pytest.mark.parametrize("service", ["dynamodb", "sqs", "sns", "events", "ssm"])
def test_a_refusal_has_the_services_own_shape_and_means_not_now(world: World, service: str) -> None:
    calls: dict[str, tuple[str, dict[str, Any]]] = {
        "dynamodb": ("get_item", {"TableName": "table", "Key": {"pk": {"S": "a"}}}),
        "sqs": ("send_message", {"QueueUrl": "http://queue/q", "MessageBody": "m"}),
        "sns": ("publish", {"TopicArn": "arn:aws:sns:us-east-1:123456789012:t", "Message": "m"}),
        "events": ("put_events", {"Entries": [{"Source": "s", "DetailType": "t", "Detail": "{}"}]}),
        "ssm": ("get_parameter", {"Name": "n"}),
    }
    name, arguments = calls[service]
    with pytest.raises(ClientError) as refused:
        getattr(world.client(service), name)(**arguments)
    assert is_not_now(refused.value), code_of(refused.value)
    assert code_of(refused.value) not in {"Unknown", "400", "500"}
    assert world.behind.effects == []


@first(Kind.RESET)
def test_a_proxy_that_is_not_armed_injects_nothing(world: World) -> None:
    world.wires.armed.clear()
    assert world.send()["MessageId"] == "one"
    assert not world.tally.counts


@pytest.mark.parametrize("world", [None], indirect=True)
def test_a_held_function_is_throttled_at_the_store_and_nowhere_else(world: World) -> None:
    world.wires.held.add("fulfil")
    with pytest.raises(ClientError, match="Throughput"):
        world.client("dynamodb").get_item(TableName="table", Key={"pk": {"S": "a"}})
    assert world.send()["MessageId"] == "one"
    assert world.tally.counts[Kind.HELD] == 1


@pytest.mark.parametrize("world", [None], indirect=True)
def test_a_message_is_counted_as_reordered_when_it_overtakes_another(world: World) -> None:
    world.wires.sends = Sends(["q"])
    world.send()
    world.wires.sends.delay = 60
    world.send()
    world.send()
    assert not world.tally.counts
    world.wires.sends.delay = 0
    world.send()
    assert world.tally.counts == {Kind.REORDERED: 1}


@pytest.mark.parametrize("world", [None], indirect=True)
def test_each_call_that_comes_is_told_apart_by_whether_the_restart_was_before_it(world: World) -> None:
    world.wires.armed.clear()
    world.send()
    world.tally.restarted = True
    world.send()
    assert (world.tally.before, world.tally.after) == ({("fulfil", "sqs"): 1}, {("fulfil", "sqs"): 1})


@pytest.mark.parametrize("world", [None], indirect=True)
def test_a_worker_tells_of_its_clock_and_is_counted_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SDK_UA_APP_ID", "chaosclock-4711--42")
    world.send()
    world.send()
    assert world.tally.counts == {Kind.SKEWED_CLOCK: 1}
    monkeypatch.setenv("AWS_SDK_UA_APP_ID", "chaosclock-4712-17")
    world.send()
    assert world.tally.gap == 59


@first(Kind.LOST_ANSWER)
def test_the_log_names_the_call_and_holds_nothing_of_it(world: World, tmp_path: Path) -> None:
    world.send(attempts=2)
    assert (tmp_path / "faults.log").read_text() == "LOST_ANSWER 1 fulfil sqs SendMessage 0\n"
