"""`onceward soak`: its tenants, its figures, and how it ends when memory grows or a promise is broken."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import EndpointConnectionError
from typer.testing import CliRunner

from ops import audit_drain, soak_figures
from ops.audit_drain import AuditDrain
from ops.cli import app
from ops.commands import soak
from ops.local.platform import STAGE
from ops.memory import Bound, Growth
from ops.soak_tenants import tenant_ids, write_tenants
from tenants.loader import load
from tests.unit.storm.test_plan import SETTINGS

if TYPE_CHECKING:
    from pathlib import Path

FLAT = Growth("locust", Bound(16.0, "a test's"), tuple((number, 80.0) for number in range(10)))
GROWN = Growth("locust", Bound(16.0, "a test's"), tuple((number, 80.0 + 5 * number) for number in range(10)))
TOLD = Growth("local AWS", None, tuple((100_000 * number, 100.0 + 50 * number) for number in range(10)))
SUMMARY = {
    "passed": True,
    "violations": 0,
    "seconds": 1_900.0,
    "latencyMs": {"p50": 31.4, "p95": 80.0, "p99": 1_234.0, "most": 2_000.0},
    "counts": {
        "requests": 200_000,
        "keys": 20_000,
        "tenant_keys": 34_000,
        "effects": 33_000,
        "replays": 130_000,
        "dropped": 15_000,
        "unknown": 1,
        "server_errors": 2,
    },
}


def _found(summary: dict[str, Any] | None, *growths: Growth) -> dict[str, Any]:
    settings = replace(SETTINGS, requests=200_000, keys=20_000, tenants=tenant_ids(20), rate=105.0)
    minutes = {"bring-up": 0.2, "sending": 32.0, "judging": 2.04, "in all": 34.24}
    machine = {"cores": 2, "loadBefore": 0.1, "loadAfter": 2.2}
    drained = {"taken": 66_000, "missed": 1}
    return soak_figures.document(settings, summary, growths, minutes, machine, drained)


def test_its_tenants_are_the_storm_tenant_under_other_names(tmp_path: Path) -> None:
    write_tenants(tmp_path / "tenants", 5)
    write_tenants(tmp_path / "tenants", 3)
    loaded = load(tmp_path / "tenants", STAGE)
    assert tuple(one.id for one in loaded.tenants) == tenant_ids(3) == ("soak-001", "soak-002", "soak-003")
    for tenant in loaded.tenants:
        assert tenant.synthetic
        tier = loaded.tiers[tenant.tier]
        assert tier.rate_per_second > 1_000
        assert tier.quota_per_month > 1_000_000
        assert tenant.id in str(tenant.operations.payments)
        assert "storm-a" not in (tmp_path / "tenants" / f"{tenant.id}.yaml").read_text()


def test_its_figures_are_markdown_with_the_command_that_makes_them() -> None:
    text = soak_figures.markdown(_found(SUMMARY, FLAT, TOLD))
    assert (
        "`onceward soak --requests 200000 --keys 20000 --tenants 20 --rate 105 --users 8 --burst 8 --seed 7`"
        in text
    )
    assert "| requests | 200,000 in 31.7 min, 105 a second |" in text
    assert "| violations | **0** |" in text
    assert "| from the intended start to the answer | p50 31 ms, p95 80 ms, p99 1,234 ms |" in text
    assert "| minutes | bring-up 0.2, sending 32.0, judging 2.0, in all 34.2 |" in text
    assert "| events taken while it was sent | 66,000; 1 looks at their queues failed |" in text
    assert "| locust | 80 MB | 80 MB | 80 MB | 80 MB | +0.0 | 16 MB | yes |" in text
    assert "| local AWS | 200 MB | 300 MB | 450 MB | 550 MB | +50.0 | none | not judged |" in text
    for table in text.split("\n\n")[1:]:
        assert len({line.count("|") for line in table.strip().splitlines()}) == 1, "each row has each cell"


@pytest.mark.parametrize(
    ("summary", "growths", "passed", "constant", "said"),
    [
        (SUMMARY, (FLAT, TOLD), True, True, "PASSED, memory constant, in 34.2 min."),
        (SUMMARY, (GROWN, TOLD), True, False, "PASSED, memory NOT constant: locust, in 34.2 min."),
        (SUMMARY | {"passed": False}, (FLAT,), False, True, "FAILED, memory constant, in 34.2 min."),
        (None, (FLAT,), False, True, "FAILED, memory constant, in 34.2 min."),
        (SUMMARY, (Growth("judge", Bound(1.0, "a test's"), ()),), True, False, "memory NOT constant: judge"),
    ],
)
def test_growth_and_violations_are_found_apart(
    summary: dict[str, Any] | None, growths: tuple[Growth, ...], passed: bool, constant: bool, said: str
) -> None:
    found = _found(summary, *growths)
    assert (found["passed"], found["constant"]) == (passed, constant)
    assert said in soak_figures.conclusion(found)
    assert "| process | after warm-up |" in soak_figures.markdown(found)


def test_the_figures_of_a_run_are_printed_again(tmp_path: Path) -> None:
    found = _found(SUMMARY, FLAT, GROWN)
    (tmp_path / "soak.json").write_text(json.dumps(found))
    done = CliRunner().invoke(app, ["soak", "--figures", str(tmp_path)])
    assert done.exit_code == 0
    assert done.stdout == soak_figures.markdown(found)


def test_the_figures_of_a_run_are_put_into_a_page_that_has_marks_for_them(tmp_path: Path) -> None:
    found = _found(SUMMARY, FLAT)
    (tmp_path / "soak.json").write_text(json.dumps(found))
    page = tmp_path / "page.md"
    words = ["soak", "--figures", str(tmp_path), "--write", str(page)]
    page.write_text("Before\n<!-- soak -->\nnot yet run\n<!-- /soak -->\nAfter\n")
    for _ in range(2):
        assert CliRunner().invoke(app, words).exit_code == 0
        told = soak_figures.markdown(found).strip()
        assert page.read_text() == f"Before\n<!-- soak -->\n{told}\n<!-- /soak -->\nAfter\n"
    page.write_text("no marks")
    assert CliRunner().invoke(app, words).exit_code == 2
    assert CliRunner().invoke(app, ["soak", "--write", str(page)]).exit_code == 2


@pytest.mark.parametrize("content", [None, "{", "{}", "[]"])
def test_a_directory_without_figures_is_refused(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "soak.json").write_text(content)
    done = CliRunner().invoke(app, ["soak", "--figures", str(tmp_path)])
    assert done.exit_code == 2
    assert "not the figures of a soak" in " ".join(done.output.replace("│", " ").split())


def test_a_soak_that_makes_no_storm_is_refused_before_its_platform_is_made(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["soak", "--home", str(tmp_path / "home"), "--requests", "10"])
    assert done.exit_code == 2
    assert "is too few" in " ".join(done.output.replace("│", " ").split())
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    ("summary", "growth", "code"),
    [(SUMMARY, FLAT, 0), (SUMMARY, GROWN, 1), (SUMMARY | {"passed": False}, FLAT, 1)],
)
def test_it_exits_0_only_without_violation_and_without_growth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, summary: dict[str, Any], growth: Growth, code: int
) -> None:
    found = _found(summary, growth)
    monkeypatch.setattr(soak, "own_platform", lambda *_, **__: nullcontext())
    monkeypatch.setattr(soak, "reach", lambda *_: None)
    monkeypatch.setattr(soak._Soak, "run", lambda *_: found)
    done = CliRunner().invoke(app, ["soak", "--home", str(tmp_path / "home"), "--json"])
    assert done.exit_code == code
    assert json.loads(done.stdout) == found


class _Queues:
    """Audit queues that hold three messages, or cannot be reached."""

    def __init__(self, *, broken: bool) -> None:
        self.broken = broken

    def drain(self, wait_seconds: int) -> int:
        if self.broken:
            raise EndpointConnectionError(endpoint_url="http://127.0.0.1:1")
        return 3


@pytest.mark.parametrize(("broken", "taken", "missed"), [(False, 6, 0), (True, 0, 2)])
def test_audit_queues_are_emptied_now_and_then_and_left_when_they_do_not_answer(
    monkeypatch: pytest.MonkeyPatch, broken: bool, taken: int, missed: int
) -> None:
    # Each look reads the clock, and once more when it has emptied the queues.
    clock = iter((100.0, 101.0, 119.0, 121.0, 121.5, 122.0, 142.0, 142.5))
    monkeypatch.setattr(audit_drain, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    drain = AuditDrain(_Queues(broken=broken))  # type: ignore[arg-type]
    for _ in range(5):
        drain.look()
    assert drain.to_json() == {"taken": taken, "missed": missed}
