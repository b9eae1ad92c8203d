"""Faults in a storm, one at a time: the alarms that are for it ring, no others, and all is quiet afterwards.

The alarms are evaluated here (`ops.observing.alarm_states`), as the program registered them, from the metrics
of the running platform.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pytest
from typer.testing import CliRunner

from ops.cli import app
from ops.local.platform import LocalPlatform
from ops.observing.alarm_definitions import Definitions
from ops.observing.alarm_states import watch
from ops.observing.collecting import Collector, sources
from tests.e2e.alarm_storm import LateStore, Storm, Tenant
from tests.e2e.api import Api, eventually, fresh_key, new_client
from tests.e2e.stand_in import StandIn
from tests.e2e.test_work import depth, redrive
from tests.e2e.webhooks import Sender
from tests.platform_fixture import TENANTS, RunningPlatform

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

    from ops.observing.alarm_states import History

pytestmark = [pytest.mark.platform, pytest.mark.storm, pytest.mark.xdist_group("alarms")]

# Two of three windows have to be bad for a tenant's share.
BAD: Final = 3
# A query has no zeros of what is counted in trouble only: its last bad window is looked at for three more.
GOOD: Final = 5

DOWN: Final = "onceward-local_platform-down"
ALPHA: Final = "onceward-local-alpha_alarm"


def platforms(*names: str) -> set[str]:
    return {f"onceward-local_{name}" for name in names}


def alphas(*names: str) -> set[str]:
    return {f"onceward-local-alpha_{name}" for name in (*names, "alarm")}


@pytest.fixture(scope="module")
def storm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Storm]:
    """A platform of its own, whose dead-letter queues nobody else fills, after two first waves."""
    home = tmp_path_factory.mktemp("alarms")
    local = LocalPlatform(home, TENANTS, owned=True)
    try:
        local.up()
        # Callers are gone before the platform stops: it waits a minute for those that are connected.
        with LateStore(home / "metrics.sqlite") as store, new_client() as client:
            made = started(RunningPlatform(local, home), store, client)
            made.waves(2)
            yield made
    finally:
        local.down()


def started(platform: RunningPlatform, store: LateStore, client: httpx.Client) -> Storm:
    known = platform.outputs
    tenants = {
        name: Tenant(
            Api(known.api_url, known.tenants[name].keys["server"], client),
            Sender(hook.url, hook.scheme, hook.secret, client),
        )
        for name in ("alpha", "delta")
        for hook in [known.tenants[name].webhooks["events"]]
    }
    return Storm(platform, store, Collector(sources(known), store), tenants)


@pytest.fixture
def stand_in(storm: Storm) -> StandIn:
    url = storm.platform.outputs.stand_in_url
    assert url is not None
    return StandIn(url, storm.tenants["alpha"].api.client)


def quiet_again(storm: Storm, since_ms: int) -> History:
    """Waves without a fault; then no alarm rings any more. Returns what the alarms made of it since then."""
    storm.waves(GOOD)
    history = storm.watched(since_ms)
    assert storm.collector.trouble is None
    assert history.ringing() == set()
    return history


def listed(storm: Storm) -> tuple[int, dict[str, list[str]]]:
    """What `onceward alarms` says now, by the clock of everybody: its exit code; what rings, and whom for."""
    done = CliRunner().invoke(app, ["alarms", "--home", str(storm.platform.home), "--json"])
    found = json.loads(done.stdout)
    assert len(found) > 50, done.output
    return done.exit_code, {each["name"]: each["tenants"] for each in found if each["state"] == "ALARM"}


def groups(history: History) -> set[tuple[str, str]]:
    """(alarm, tenant) of the queries over all tenants that rang."""
    return {(alarm.removeprefix("onceward-local_"), tenant) for alarm, tenant in history.contributors}


def told(history: History) -> list[str]:
    """The alarms that told somebody that they ring, as often as they did."""
    return sorted(each.alarm for each in history.notifications if each.state == "ALARM")


def test_no_alarm_rings_in_a_storm_without_a_fault(storm: Storm) -> None:
    since = storm.store.now_ms()
    storm.waves(BAD)
    history = storm.watched(since)
    assert history.rang() == set()
    # They looked at something, and every one of them came to a verdict.
    assert {each.state for each in history.states.values()} == {"OK"}
    assert len(history.states) > 50
    code, ringing = listed(storm)
    assert (code, ringing) == (0, {})


def test_a_destination_that_is_down_rings_for_its_tenants_work(storm: Storm, stand_in: StandIn) -> None:
    since = storm.store.now_ms()
    with stand_in.fault("status", 503, host="crm.alpha.example", path="/v1/orders/*"):
        storm.waves(1)  # each lasts until the work of its orders was given up
    code, ringing = listed(storm)
    assert code == 1
    assert ringing["onceward-local_tenants-stuck-fulfil"] == ["alpha"]
    assert redrive(storm.platform, "alpha") > 0
    history = quiet_again(storm, since)
    who = platforms("orders-dlq-depth", "fulfil-given-up", "tenants-stuck")
    assert history.rang() == who | platforms("tenants-stuck-fulfil") | alphas("stuck-work")
    assert groups(history) == {("tenants-stuck-fulfil", "alpha")}
    assert told(history) == sorted([ALPHA, *who])
    # The same alarms would miss it if they watched a function of another name: that of the queue alone rings.
    astray = storm.definitions().to_json().replace("onceward-local_fulfil", "onceward-local_fulfill")
    missed = watch(Definitions.from_json(astray), storm.store, since, storm.store.now_ms())
    assert missed.rang() == platforms("orders-dlq-depth")


@contextmanager
def unreadable_receipts(storm: Storm, count: int) -> Iterator[None]:
    """Further keys that alpha uses, whose receipts nobody can read."""
    dynamodb, table = storm.platform.client("dynamodb"), storm.platform.outputs.tables["receipts"]
    storm.poisoned = [fresh_key("unreadable") for _ in range(count)]
    items = [{"pk": {"S": f"alpha#{key}"}, "schema": {"N": "1"}} for key in storm.poisoned]
    for item in items:
        dynamodb.put_item(TableName=table, Item=item)
    try:
        yield
    finally:
        storm.poisoned = []
        for item in items:
            dynamodb.delete_item(TableName=table, Key={"pk": item["pk"]})


def test_one_tenants_errors_ring_for_it_and_for_the_function_and_not_for_everybody(storm: Storm) -> None:
    since = storm.store.now_ms()
    with unreadable_receipts(storm, 3):  # sent twice: six failures among alpha's eighteen leads
        storm.waves(BAD)
    history = quiet_again(storm, since)
    who = platforms("ingest-trouble", "api-trouble", "tenants-failing")
    children = platforms("ingest-failed", "api-5xx", "tenants-failing-ingest") | alphas("failed-requests")
    assert history.rang() == who | children
    assert groups(history) == {("tenants-failing-ingest", "alpha")}
    assert told(history) == sorted([ALPHA, *who])


def test_a_poisoned_queue_rings_for_its_worker_and_its_dead_letters(storm: Storm) -> None:
    since = storm.store.now_ms()
    sqs = storm.platform.client("sqs")
    url, dead = (
        sqs.get_queue_url(QueueName=f"onceward-local_{name}")["QueueUrl"]
        for name in ("webhooks", "webhooks-dlq")
    )
    # Six failures: of three, which are just enough, the alarm ends when the first is five minutes old. On a
    # slow machine that is before its composite has waited for the suppressor (docs/adr/0122).
    for _ in range(2):
        sqs.send_message(QueueUrl=url, MessageBody="no work of ours")
    eventually(lambda: depth(storm.platform, "webhooks-dlq") == 2, seconds=120)
    storm.waves(1)
    for message in sqs.receive_message(QueueUrl=dead, MaxNumberOfMessages=10)["Messages"]:
        sqs.delete_message(QueueUrl=dead, ReceiptHandle=message["ReceiptHandle"])
    assert depth(storm.platform, "webhooks-dlq") == 0
    history = quiet_again(storm, since)
    who = platforms("deliver-trouble", "webhooks-dlq-depth")
    assert history.rang() == who | platforms("deliver-failed")
    assert groups(history) == set()
    assert told(history) == sorted(who)


@contextmanager
def without_the_right(platform: RunningPlatform, function: str, action: str) -> Iterator[None]:
    """The role of a function may not do that any more."""
    iam, role = platform.client("iam"), f"onceward-local_{function}"
    known = iam.get_role_policy(RoleName=role, PolicyName="calls")["PolicyDocument"]
    document: dict[str, Any] = json.loads(known) if isinstance(known, str) else known
    statements = [each for each in document["Statement"] if action not in str(each)]
    assert len(statements) < len(document["Statement"])
    put = partial(iam.put_role_policy, RoleName=role, PolicyName="calls")
    put(PolicyDocument=json.dumps(document | {"Statement": statements}))
    try:
        yield
    finally:
        put(PolicyDocument=json.dumps(document))


def test_when_everything_is_down_one_alarm_tells_so_and_mutes_the_others(storm: Storm) -> None:
    since = storm.store.now_ms()
    with without_the_right(storm.platform, "ingest", "dynamodb:PutItem"):
        storm.waves(BAD)
    history = quiet_again(storm, since)
    muted = platforms("ingest-trouble", "api-trouble", "tenants-failing") | {ALPHA}
    causes = platforms(
        "requests-failing", "calls-failing", "ingest-failed", "api-5xx", "tenants-failing-ingest"
    )
    assert history.rang() == {DOWN} | muted | causes | alphas("failed-requests")
    assert groups(history) == {("tenants-failing-ingest", name) for name in storm.tenants}
    assert {alarm for alarm, why in history.muted if why == "Alarm"} == muted
    assert told(history) == [DOWN]


def test_when_no_event_can_be_published_one_alarm_tells_so_and_mutes_the_others(storm: Storm) -> None:
    since = storm.store.now_ms()
    with without_the_right(storm.platform, "dispatch", "sns:Publish"):
        storm.waves(BAD)
    history = quiet_again(storm, since)
    muted = platforms("tenants-stuck") | {ALPHA}
    causes = platforms("dispatch-failing", "dispatch-parked", "tenants-stuck-dispatch")
    assert history.rang() == {DOWN} | muted | causes | alphas("stuck-work")
    assert groups(history) == {("tenants-stuck-dispatch", name) for name in storm.tenants}
    assert {alarm for alarm, why in history.muted if why == "Alarm"} == muted
    assert told(history) == [DOWN]
