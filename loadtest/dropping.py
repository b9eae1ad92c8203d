"""A client that hangs up: it sends a whole request and closes the connection without reading the answer."""

from __future__ import annotations

import http.client
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from loadtest.history import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping

# To connect and to hand the request to the kernel; a server that does not take 1 KB in this time is down.
_SEND_SECONDS = 10.0


def send_and_drop(url: str, headers: Mapping[str, str], body: bytes, after_ms: float) -> Outcome:
    """POST `body`, wait `after_ms` milliseconds, and close the connection.

    The standard library's client is used, since it does nothing on its own: no pool, no retry, no reading.
    Under Locust its sockets are gevent's, so that waiting here stops no other user.

    Returns:
        UNKNOWN when the request was handed over, or may have been in part; FAIL when no connection came
        about, so that the server certainly saw nothing.
    """
    parts = urlsplit(url)
    maker = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = maker(parts.netloc, timeout=_SEND_SECONDS)
    try:
        connection.connect()
    except OSError:
        return Outcome.FAIL
    try:
        connection.request("POST", parts.path, body=body, headers=dict(headers))
        time.sleep(after_ms / 1000)
    except OSError:
        pass  # a part of it may have arrived
    finally:
        connection.close()
    return Outcome.UNKNOWN
