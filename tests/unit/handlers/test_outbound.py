"""Calls outside AWS: what may be called, that it is what was checked, and that each call ends in time."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from handlers.adapters import outbound
from handlers.adapters.http_exchange import MAX_ANSWER_BYTES
from handlers.adapters.outbound import OutboundHttp
from handlers.domain.outbound import Answer, AnswerLost, DestinationForbidden, NotSent
from tests.unit.handlers.tls_server import NAME, Server, certificate, respond, serving, silent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PUBLIC = "93.184.215.14"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture
def loopback_is_public(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test's server stands for one on the internet; what is public is tested apart."""
    monkeypatch.setattr(outbound, "is_public", lambda address: address == "127.0.0.1")


def trusting(files: tuple[Path, Path]) -> Callable[[], ssl.SSLContext]:
    return lambda: ssl.create_default_context(cafile=files[0])


def to(*addresses: str) -> Callable[[str, int], list[str]]:
    return lambda _host, _port: list(addresses)


def call(outbound_http: OutboundHttp, url: str, *, seconds: float = 5.0, **more: Any) -> Answer:
    given: dict[str, Any] = {"method": "PUT", "headers": {"X-One": "1"}, "body": b'{"a":1}'} | more
    return outbound_http.call(given["method"], url, given["headers"], given["body"], timeout_seconds=seconds)


@pytest.mark.parametrize(
    "addresses",
    [
        ("127.0.0.1",),
        ("10.0.0.7",),
        ("169.254.169.254",),
        ("::1",),
        (PUBLIC, "10.0.0.7"),
        ("10.0.0.7", PUBLIC),
    ],
)
def test_a_public_name_that_means_a_private_address_is_refused_before_any_connection(
    files: tuple[Path, Path], addresses: tuple[str, ...]
) -> None:
    with serving(respond(200), files) as server:
        one = OutboundHttp(None, resolve=to(*addresses), trust=trusting(files))
        with pytest.raises(DestinationForbidden, match=NAME):
            call(one, f"https://{NAME}:{server.port}/contacts/7")
    assert server.connections == 0


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "localhost", "2130706433", "0x7f.1", "127.1"])
def test_an_address_in_the_url_is_checked_like_any_other(host: str) -> None:
    # With the system's own resolver, which takes all of these without asking anybody.
    with pytest.raises((DestinationForbidden, NotSent)) as raised:
        call(OutboundHttp(None), f"https://{host}/x")
    assert isinstance(raised.value, DestinationForbidden) or "no address" in str(raised.value)


@pytest.mark.parametrize(
    "url",
    [
        "http://crm.acme.example/x",
        "ftp://crm.acme.example/x",
        "crm.acme.example/x",
        "https:///x",
        "",
        "https://u:p@h/",
    ],
)
def test_anything_but_https_without_credentials_is_refused(url: str) -> None:
    for one in (OutboundHttp(None, resolve=to(PUBLIC)), OutboundHttp("http://127.0.0.1:1")):
        with pytest.raises(DestinationForbidden):
            call(one, url)


@pytest.mark.usefixtures("loopback_is_public")
def test_the_name_is_looked_up_once_and_its_address_connected_to(files: tuple[Path, Path]) -> None:
    looked_up: list[str] = []

    def rebinding(host: str, _port: int) -> list[str]:
        looked_up.append(host)
        # Whoever asks again gets an address where nobody listens.
        return ["127.0.0.1"] if len(looked_up) == 1 else ["127.0.0.2"]

    names: list[str | None] = []
    with serving(respond(201, b"made", {"X-Two": "2"}), files, names) as server:
        one = OutboundHttp(None, resolve=rebinding, trust=trusting(files))
        answer = call(one, f"https://{NAME}:{server.port}/contacts/7?a=b")

    assert (answer.status, answer.body, answer.headers["x-two"]) == (201, b"made", "2")
    assert looked_up == [NAME]
    assert names == [NAME]
    [(method, path, headers, body)] = server.requests
    assert (method, path, body) == ("PUT", "/contacts/7?a=b", b'{"a":1}')
    assert headers["Host"] == f"{NAME}:{server.port}"
    assert headers["X-One"] == "1"


@pytest.mark.usefixtures("loopback_is_public")
def test_the_certificate_must_be_the_names_and_from_somebody_trusted(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    another = certificate(tmp_path, "another.example")
    for presented, trusted in ((another, another), (files, another)):
        with serving(respond(200), presented) as server:
            one = OutboundHttp(None, resolve=to("127.0.0.1"), trust=trusting(trusted))
            with pytest.raises(NotSent, match="not connected"):
                call(one, f"https://{NAME}:{server.port}/")
        assert server.requests == []


@pytest.mark.usefixtures("loopback_is_public")
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_an_answer_and_is_not_followed(files: tuple[Path, Path], status: int) -> None:
    with serving(respond(status), files) as server:
        server.answer = respond(status, b"", {"Location": f"https://{NAME}:{server.port}/elsewhere"})
        one = OutboundHttp(None, resolve=to("127.0.0.1"), trust=trusting(files))
        assert call(one, f"https://{NAME}:{server.port}/here").status == status
    assert [path for _, path, _, _ in server.requests] == ["/here"]


def reset(handler: Any) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)


def half(handler: Any) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")


def nonsense(handler: Any) -> None:
    handler.wfile.write(b"what\r\n\r\n")


def too_much(handler: Any) -> None:
    respond(200, b"x" * (MAX_ANSWER_BYTES + 1))(handler)


@pytest.mark.usefixtures("loopback_is_public")
@pytest.mark.parametrize("answer", [reset, half, nonsense, too_much])
def test_a_request_without_a_whole_answer_may_have_been_received(
    files: tuple[Path, Path], answer: Callable[[Any], None]
) -> None:
    with serving(answer, files) as server:
        one = OutboundHttp(None, resolve=to("127.0.0.1"), trust=trusting(files))
        with pytest.raises(AnswerLost, match=NAME) as lost:
            call(one, f"https://{NAME}:{server.port}/secret-path", headers={"Authorization": "Bearer secret"})
    assert "secret" not in str(lost.value)
    # Never by itself: whether a second try is safe is not for the transport to say.
    assert len(server.requests) == 1


def drip(handler: Any) -> None:
    # Each byte begins a socket's timeout anew.
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    for _ in range(200):
        handler.wfile.write(b"X: y\r\n")
        time.sleep(0.02)


@pytest.mark.usefixtures("loopback_is_public")
def test_an_answer_that_drips_is_given_up_when_the_time_is_over(files: tuple[Path, Path]) -> None:
    with serving(drip, files) as server:
        one = OutboundHttp(None, resolve=to("127.0.0.1"), trust=trusting(files))
        started = time.monotonic()
        with pytest.raises(AnswerLost):
            call(one, f"https://{NAME}:{server.port}/", seconds=0.3)
        assert time.monotonic() - started < 2
        # Its thread does not listen to the rest, which takes 4 s.
        ended(1)


def ended(seconds: float) -> None:
    """Wait until the threads of all calls are gone."""
    for thread in threading.enumerate():
        if thread.name == "outbound":
            thread.join(seconds)
            assert not thread.is_alive()


@pytest.mark.usefixtures("loopback_is_public")
def test_a_handshake_that_never_ends_is_a_request_that_was_never_sent(files: tuple[Path, Path]) -> None:
    with silent() as port:
        one = OutboundHttp(None, resolve=to("127.0.0.1"), trust=trusting(files))
        with pytest.raises(NotSent):
            call(one, f"https://{NAME}:{port}/", seconds=0.2)


def test_a_lookup_that_hangs_ends_with_the_time_and_sends_nothing_later(
    files: tuple[Path, Path], loopback_is_public: None
) -> None:
    looking: list[str] = []
    with serving(respond(200), files) as server:

        def slow(host: str, _port: int) -> list[str]:
            time.sleep(0.2)
            looking.append(host)
            return ["127.0.0.1"]

        one = OutboundHttp(None, resolve=slow, trust=trusting(files))
        with pytest.raises(NotSent, match="no answer in"):
            call(one, f"https://{NAME}:{server.port}/", seconds=0.05)
        ended(5)
        # It has been connected to by then, and hears nothing: nobody waits for the answer.
        assert (looking, server.connections) == ([NAME], 1)
    assert server.requests == []


@pytest.mark.parametrize("value", ["Bearer tok\u20acn", "a\r\nX-Two: 2", "a\nb", "a\rb", "a\x00b", "\ud800"])
def test_a_header_that_cannot_be_sent_is_refused_before_any_connection_and_not_repeated(
    stand_in: Server, value: str
) -> None:
    one = OutboundHttp(f"http://127.0.0.1:{stand_in.port}")
    with pytest.raises(DestinationForbidden, match=r"^crm.acme.example: header Authorization") as refused:
        call(one, "https://crm.acme.example/x", headers={"Authorization": value})
    assert value not in str(refused.value)
    assert stand_in.connections == 0
    assert (
        call(one, "https://crm.acme.example/x", headers={"Authorization": "Bearer t\u00f6ken"}).status == 200
    )


@pytest.mark.parametrize(
    "resolve",
    [to(), lambda _host, _port: (_ for _ in ()).throw(socket.gaierror(-2, "Name or service not known"))],
)
def test_a_name_without_an_address_was_not_called(resolve: Any) -> None:
    with pytest.raises(NotSent, match="no address"):
        call(OutboundHttp(None, resolve=resolve), f"https://{NAME}/")


@pytest.mark.usefixtures("loopback_is_public")
def test_a_port_where_nobody_listens_was_not_reached(files: tuple[Path, Path]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    one = OutboundHttp(None, resolve=to("127.0.0.1"), trust=trusting(files))
    with pytest.raises(NotSent, match="not connected"):
        call(one, f"https://{NAME}:{port}/")


@pytest.fixture
def stand_in() -> Iterator[Server]:
    with serving(respond(200, b"{}"), None) as server:
        yield server


def test_on_the_local_stage_the_stand_in_answers_for_every_destination(stand_in: Server) -> None:
    one = OutboundHttp(f"http://127.0.0.1:{stand_in.port}", resolve=to())
    assert call(one, "https://crm.acme.example/contacts/a%2Fb?x=1").status == 200
    call(one, "https://provider.example/v1/charges?idempotencyKey=K", method="GET", body=b"")
    asked = [(method, path, body) for method, path, _, body in stand_in.requests]
    assert asked == [
        ("PUT", "/crm.acme.example/contacts/a%2Fb?x=1", b'{"a":1}'),
        ("GET", "/provider.example/v1/charges?idempotencyKey=K", b""),
    ]
