"""After `onceward demo` every widget of every dashboard has data, drawn of what the demo left."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ops.dashboard.runs import RunFiles
from ops.dashboard.site import serving
from ops.dashboard.sources import Recorded
from tests.e2e.dashboard.page import faults

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.dashboard.conftest import Opened

pytestmark = [pytest.mark.platform, pytest.mark.storm, pytest.mark.browser, pytest.mark.xdist_group("drawn")]

ROOT = Path(__file__).resolve().parents[3]
SCREENS = ROOT / "build" / "screens"
_DEMO = [sys.executable, "-c", "from ops.cli import main; main()", "demo", "--json", "--seed", "7"]
# Every operation and every outcome of a plan: as much as the widgets need of the usual demo.
_SIZE = ["--requests", "600", "--keys", "60", "--users", "4"]
# Bundles to zip, 400 resources to make, a storm of seconds: a minute on 2 idle cores, six on busy ones.
_SECONDS = 900


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> RunFiles:
    """The files of a demo that has passed."""
    home = tmp_path_factory.mktemp("demo")
    done = subprocess.run(
        [*_DEMO, *_SIZE, "--home", str(home)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr or done.stdout
    return RunFiles(Path(json.loads(done.stdout)["directory"]))


@pytest.fixture(scope="module")
def address(demo: RunFiles) -> Iterator[str]:
    with Recorded(demo) as source, serving(source, 0) as url:
        yield url


def test_the_report_says_how_to_open_the_dashboards(demo: RunFiles) -> None:
    report = (demo.directory / "report.html").read_text(encoding="utf-8")
    assert f"onceward dashboard --run {demo.directory}" in report


@pytest.mark.parametrize("width", [1280, 1920])
def test_every_widget_of_every_dashboard_has_data(
    demo: RunFiles, address: str, tab: Opened, width: int
) -> None:
    names = list(demo.bodies())
    assert len(names) > 2
    found = {}
    with tab(address, width) as page:
        for name in names:
            page.open(name)
            page.photograph(SCREENS / f"demo-{name}-{width}.png")
            found[name] = faults(page.cards(), width)
        assert page.errors == []
    assert found == {name: [] for name in names}
