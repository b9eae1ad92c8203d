"""`http_request`: a proxy event as the handlers want it."""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING, Any

from fuzz import http_events
from fuzz.choices import split
from fuzz.target import Target, require
from handlers import http_request
from handlers.domain.errors import BodyTooLarge, InvalidBody, UnsupportedMediaType

if TYPE_CHECKING:
    from handlers.http_request import HttpRequest

_LIMIT = 64
_CORRELATION = re.compile(r"[A-Za-z0-9._:/+=@-]{1,128}")


def check_request(event: dict[str, Any]) -> HttpRequest:
    """It is always read; what is asked of it answers, or refuses as it says."""
    request = http_request.parse(event)
    require(_CORRELATION.fullmatch(request.correlation_id), "a correlation id that a log line cannot hold")
    for name, values in request.headers.items():
        require(
            name == name.lower()
            and request.header(name.upper() if name.isascii() else name) == (values[-1] if values else None),
            "a header is not found under its name",
        )
    for suffixed in (False, True):
        _check_media(request, suffixed=suffixed)
    _check_body(request)
    return request


def _check_media(request: HttpRequest, *, suffixed: bool) -> None:
    try:
        request.require_json(suffixed=suffixed)
    except UnsupportedMediaType:
        return
    for sent in request.headers["content-type"]:
        media = sent.partition(";")[0].strip(" \t").lower()
        require(media == "application/json" or (suffixed and media.endswith("+json")), "taken for JSON")
        require("latin" not in sent.lower() and "utf-16" not in sent.lower(), "taken for UTF-8")


def _check_body(request: HttpRequest) -> None:
    try:
        expected = _decoded(request)
    except (binascii.Error, ValueError):
        expected = None
    try:
        body = request.body(_LIMIT)
    except InvalidBody:
        require(expected is None, "a good body was refused")
    except BodyTooLarge:
        require(expected is not None and len(expected) > _LIMIT, "a small body was refused")
    else:
        require(body == expected and len(body) <= _LIMIT, "another body than was sent")


def _decoded(request: HttpRequest) -> bytes:
    if request.is_base64:
        return base64.b64decode(request.raw_body, validate=True)
    return request.raw_body.encode("utf-8", "surrogatepass")


def _check(data: bytes) -> None:
    choices, body = split(data)
    check_request(http_events.post(choices, "/v1/leads", body))


# In the order of the decisions: the context's four; one header, no odd name, Content-Type, one value of one
# piece, `text/plain`, as it is.
_ANOTHER_MEDIA_TYPE = b"\x00\x00\x00\x00\x01\x00\x03\x01\x01\x05\x00\n{}"

TARGET = Target("requests", _check, lambda: [b"\n{}", b"\n" + b"a" * _LIMIT, _ANOTHER_MEDIA_TYPE])
