"""What the dashboards' server answers, and whom it refuses."""

from __future__ import annotations

import http.client
import json
import re
import socket
import threading
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from ops.dashboard.drawer import Drawer, Ended
from ops.dashboard.drawing import Asked
from ops.dashboard.site import RUNBOOK, own_hosts
from tests.unit.dashboard.made import body, counts, store
from tests.unit.dashboard.pages import MadeSource, site

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from ops.dashboard.drawing import Seen


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


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("/x\0y.js", 404),
        (f"/{'x' * 300}.js", 404),
        ("http://[x", 400),
        ("/api/dashboard?name=%00", 404),
    ],
)
def test_an_odd_address_is_answered(address: str, target: str, status: int) -> None:
    where = urlsplit(address)
    with socket.create_connection((str(where.hostname), int(where.port or 0)), timeout=30) as connection:
        connection.sendall(f"GET {target} HTTP/1.0\r\nHost: {where.netloc}\r\n\r\n".encode())
        answer = connection.makefile("rb").read()
    assert answer.startswith(f"HTTP/1.0 {status} ".encode())
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["detail"]


def test_what_nobody_thought_of_is_one_line_in_the_log_and_no_trace_for_the_reader(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Failing(MadeSource):
        def bodies(self) -> Mapping[str, str]:
            raise FileNotFoundError("local.json")

    with store(tmp_path) as metrics, site(Failing(metrics, {})) as url:
        for path in ("/api/dashboards", "/api/dashboard?name=x"):
            status, _, text = get(url, path)
            assert status == 500
            assert "local.json" not in text
            assert json.loads(text)["detail"].startswith("this server failed")
    logged = capsys.readouterr().err.splitlines()
    assert len(logged) == 2
    assert all("FileNotFoundError('local.json')" in line for line in logged)


def test_a_drawing_that_goes_on_is_waited_for_before_its_source_ends(tmp_path: Path) -> None:
    began, over = threading.Event(), threading.Event()
    outlived: list[bool] = []

    class Slow(MadeSource):
        def seen(self) -> Seen:
            (serving,) = [each for each in threading.enumerate() if each.name == "dashboard"]
            began.set()
            serving.join()
            # Whoever does not wait for this drawing ends its source now, and is given the time to.
            outlived.append(over.wait(0.5))
            return super().seen()

    with store(tmp_path) as metrics:
        with site(Slow(metrics, {"one": body(counts())})) as url:
            reader = threading.Thread(target=get, args=(url, "/api/dashboard?name=one"))
            reader.start()
            assert began.wait(60)
        over.set()
        reader.join()
    assert outlived == [False]


def test_a_source_that_ended_is_not_asked(tmp_path: Path) -> None:
    with store(tmp_path) as metrics:
        drawer = Drawer(MadeSource(metrics, {"one": body(counts())}))
        drawer.end()
    with pytest.raises(Ended):
        drawer.dashboard("one", Asked())
    with pytest.raises(Ended):
        drawer.listing()


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


def test_a_reader_of_port_80_names_no_port() -> None:
    assert own_hosts(80) == {"127.0.0.1", "localhost", "127.0.0.1:80", "localhost:80"}
    assert own_hosts(8090) == {"127.0.0.1:8090", "localhost:8090"}


def test_without_a_port_it_is_not_asked_where_there_is_one(address: str) -> None:
    assert get(address, "/api/dashboards", Host="127.0.0.1")[0] == 421


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
