"""What the dashboards' server answers, and whom it refuses."""

from __future__ import annotations

import http.client
import json
import re
import threading
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from ops.dashboard.site import RUNBOOK
from tests.unit.dashboard.made import body, counts, store
from tests.unit.dashboard.pages import MadeSource, site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    bodies = {"onceward-local_platform": body(counts()), "broken": "{"}
    with store(tmp_path) as metrics, site(MadeSource(metrics, bodies)) as url:
        yield url


def get(address: str, path: str, **headers: str) -> tuple[int, http.client.HTTPMessage, str]:
    """Ask by the address's own host unless a header says another."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=30)
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()
    finally:
        connection.close()


def get_json(address: str, path: str) -> Any:
    return json.loads(get(address, path)[2])


def test_the_dashboards_are_listed(address: str) -> None:
    assert get_json(address, "/api/dashboards") == {
        "title": "Made by hand",
        "live": False,
        "dashboards": ["onceward-local_platform", "broken"],
    }


def test_a_dashboard_is_drawn_as_the_address_asks(address: str) -> None:
    drawn = get_json(address, "/api/dashboard?name=onceward-local_platform&range=5m&period=fine")
    assert (drawn["name"], drawn["range"], drawn["widgets"][0]["period"]) == (
        "onceward-local_platform",
        "5m",
        10,
    )


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        ("name=none", 404, "there are onceward-local_platform, broken"),
        ("name=broken", 422, "not JSON"),
        ("name=onceward-local_platform&range=2m", 400, "there are 5m"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_the_reason(
    address: str, query: str, status: int, said: str
) -> None:
    answered, _, text = get(address, f"/api/dashboard?{query}")
    assert answered == status
    assert said in json.loads(text)["detail"]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "text/html"),
        ("/dashboard.css", "text/css"),
        ("/dashboard.js", "text/javascript"),
        ("/vendor/uplot/uPlot.iife.min.js", "text/javascript"),
    ],
)
def test_the_page_s_own_files_are_served(address: str, path: str, kind: str) -> None:
    status, headers, text = get(address, path)
    assert status == 200
    assert str(headers["Content-Type"]).startswith(kind)
    assert text


@pytest.mark.parametrize(
    "path",
    [
        "/../dashboard.css",
        "/%2e%2e/lead-form/form.js",
        "/vendor/uplot/../../../lead-form/form.js",
        "/vendor",
        "/x",
    ],
)
def test_no_other_file_is_served(address: str, path: str) -> None:
    assert get(address, path)[0] == 404


def test_everything_says_that_only_the_page_s_own_files_may_run(address: str) -> None:
    for path in ("/", "/api/dashboards", "/none"):
        policy = str(get(address, path)[1]["Content-Security-Policy"])
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy


def test_the_runbook_is_a_page_with_a_place_for_each_section(address: str) -> None:
    status, _, page = get(address, "/runbook")
    assert status == 200
    sections = re.findall(r"^## (.+)$", RUNBOOK.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert sections
    assert page.count("<h2 id=") == len(sections)


def test_a_stranger_s_name_for_this_address_is_refused(address: str) -> None:
    port = urlsplit(address).port
    assert get(address, "/api/dashboards", Host=f"localhost:{port}")[0] == 200
    for host in ("dashboards.example", f"dashboards.example:{port}", "127.0.0.1:1"):
        assert get(address, "/api/dashboards", Host=host)[0] == 421


def test_readers_at_the_same_time_get_the_same(address: str) -> None:
    answers: list[Any] = []
    path = "/api/dashboard?name=onceward-local_platform"
    readers = [threading.Thread(target=lambda: answers.append(get_json(address, path))) for _ in range(4)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    assert len(answers) == 4
    assert all(answer == answers[0] for answer in answers)
