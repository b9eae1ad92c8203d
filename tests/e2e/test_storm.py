"""A short storm on the local AWS, from the command line to the verdict; and a second look at it."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from infra.naming import ALIAS
from loadtest.operations import BY_NAME
from ops.cli import app
from ops.observing.kept_files import METRICS
from ops.observing.store import MetricStore
from tests.e2e.drawn import empty_widgets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.platform_fixture import RunningPlatform

pytestmark = [pytest.mark.platform, pytest.mark.storm, pytest.mark.xdist_group("soak")]

# The first has its metrics in detail, the second does not.
TENANTS = ("gale", "squall")
# Every scenario of every operation, and duplicates; few clients at once, since each is a cold worker.
SIZE = ("--requests", "330", "--keys", "40", "--rate", "60", "--users", "3", "--burst", "4", "--seed", "5")
REQUESTS, KEYS = 330, 40


@pytest.fixture(scope="module")
def storm(platform: RunningPlatform, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """One storm: the JSON that `onceward storm` printed."""
    chosen = [word for tenant in TENANTS for word in ("--tenants", tenant)]
    run_dir = tmp_path_factory.mktemp("runs") / "run"
    with _reconciled(platform):
        done = _onceward("storm", *chosen, *SIZE, "--run-dir", str(run_dir), platform=platform)
    assert done.exit_code == 0, done.output
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


@contextmanager
def _reconciled(platform: RunningPlatform) -> Iterator[None]:
    """Meanwhile the reconciler runs every second, whose schedule is once a minute: a storm may be shorter."""
    ended, functions = threading.Event(), platform.client("lambda")

    def work() -> None:
        while not ended.wait(1):
            functions.invoke(FunctionName="onceward-local_reconcile", Qualifier=ALIAS, Payload=b"{}")

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _onceward(*arguments: str, platform: RunningPlatform) -> Any:
    return CliRunner().invoke(app, [*arguments, "--home", str(platform.home), "--json"])


def test_a_short_storm_passes_and_its_figures_are_right(storm: dict[str, Any]) -> None:
    counts = storm["counts"]
    assert storm["passed"]
    assert storm["violations"] == 0
    assert storm["eventsChecked"]
    assert storm["downstreamChecked"]
    assert (counts["requests"], counts["keys"]) == (REQUESTS, KEYS)
    assert counts["writes"] == counts["tenant_keys"] > KEYS
    # Of what was refused for good (a card declined, a slot taken) there is the receipt, and nothing follows.
    followed = counts["writes"] - sum(one["refusedForGood"] for one in storm["byOperation"].values())
    assert counts["records"] == counts["events"] == followed
    assert counts["server_errors"] == counts["throttled"] == counts["rejected"] == 0
    kinds = ("created", "declined", "replays", "in_progress", "conflicts", "dropped")
    assert sum(counts[kind] for kind in kinds) == REQUESTS
    assert min(counts[kind] for kind in (*kinds, "reads") if kind != "in_progress") > 0
    assert storm["writesPerKey"] == {"1": counts["writes"]}


def test_each_operation_has_its_part_of_the_storm_and_of_what_is_outside(storm: dict[str, Any]) -> None:
    writes, counts = storm["byOperation"], storm["counts"]
    assert set(writes) == set(storm["operations"]) == set(BY_NAME)
    charged = writes["payments"]["receipts"] - writes["payments"]["refusedForGood"]
    assert counts["charges"] == charged == writes["payments"]["records"] > 0
    assert counts["entities"] == writes["orders"]["records"] + writes["webhooks"]["records"] > 0
    for name in ("payments", "appointments"):
        assert writes[name]["refusedForGood"] > 0
    assert all(one["latencyMs"]["p50"] > 0 for one in storm["operations"].values())


def test_the_report_is_written_beside_the_history(storm: dict[str, Any]) -> None:
    report = Path(storm["report"]).read_text()
    assert "Passed: no violation" in report
    assert report.count("<svg") == 3


def test_the_metrics_of_the_storm_say_what_its_verdict_says(storm: dict[str, Any]) -> None:
    counts = storm["counts"]
    with MetricStore(Path(storm["directory"]) / METRICS, read_only=True) as store:
        took_in = {
            name: _counted(store, name) for name in ("Accepted", "FinalRefusal", "Replayed", "Mismatch")
        }
    assert took_in["Accepted"] + took_in["FinalRefusal"] == counts["writes"]
    # A client that hung up was not told, and is in the metrics all the same.
    assert counts["replays"] <= took_in["Replayed"] <= counts["replays"] + counts["dropped"]
    assert took_in["Mismatch"] == counts["conflicts"]


def _counted(store: MetricStore, name: str) -> float:
    series = (
        one for one in store.names("Onceward", name) if [key for key, _ in one.dimensions] == ["Service"]
    )
    first, last = store.span() or (0, 0)
    values = (store.read(one, "Sum", 86_400, first, last + 1000) for one in series)
    return sum(value for points in values for _, value in points)


def test_every_widget_of_the_dashboards_has_data_after_a_storm(storm: dict[str, Any]) -> None:
    run, (detailed, standard) = Path(storm["directory"]), TENANTS
    assert empty_widgets(run, "onceward-local_platform", detailed) == []
    assert empty_widgets(run, "onceward-local_any-tenant", detailed) == []
    empty = empty_widgets(run, "onceward-local_any-tenant", standard)
    assert empty
    assert all(title.endswith(", by operation") for title in empty), empty


def test_a_run_can_be_judged_again_and_a_loss_since_then_is_found(
    storm: dict[str, Any], platform: RunningPlatform
) -> None:
    again = _onceward("verify", "--history", storm["directory"], platform=platform)
    assert again.exit_code == 0, again.output
    assert json.loads(again.stdout)["counts"] == storm["counts"]

    table = platform.outputs.tables["records"]
    dynamodb = platform.client("dynamodb")
    mark = {":mark": {"S": f"storm-{storm['runId']}-"}}
    where = "contains(document, :mark)"
    item = dynamodb.scan(TableName=table, FilterExpression=where, ExpressionAttributeValues=mark)["Items"][0]
    dynamodb.delete_item(TableName=table, Key={"pk": item["pk"]})
    found = _onceward("verify", "--history", storm["directory"], "--settle-seconds", "1", platform=platform)
    dynamodb.put_item(TableName=table, Item=item)
    assert found.exit_code == 1
    verdict = json.loads(found.stdout)
    assert list(verdict["byKind"]) == ["lost-record"]
    assert item["recordId"]["S"] in verdict["examples"][0]["detail"]
    assert verdict["examples"][0]["key"]
    assert "Failed: 1 violation" in Path(storm["report"]).read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--tenants", "nobody"], "nobody"),
        (["--tenants", "closed"], "closed"),
        (["--tenants", "alpha"], "at least two"),
        (["--keys", "3"], "keys: 3"),
        (["--operations", "refunds"], "refunds"),
        (["--stage", "No Such"], "No Such"),
    ],
)
def test_a_storm_that_cannot_be_sent_is_a_usage_error(
    platform: RunningPlatform, arguments: list[str], said: str
) -> None:
    done = _onceward("storm", *arguments, platform=platform)
    assert done.exit_code == 2
    assert said in done.output


def test_a_directory_that_is_no_run_is_a_usage_error(platform: RunningPlatform, tmp_path: Path) -> None:
    done = _onceward("verify", "--history", str(tmp_path), platform=platform)
    assert done.exit_code == 2
    # The terminal's width breaks a long path where it likes.
    assert "run.json" in "".join(done.output.replace("│", "").split())
