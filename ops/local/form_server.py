"""Serves the lead form: `python -m ops.local.form_server PORT FORM_DIRECTORY CONFIG_FILE`, on loopback only.

`/config.json` is the config file, read anew at each request; everything else is a file of the form.
"""

import sys
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import IO, Any

from ops.local.emulator import LOOPBACK


class FormHandler(SimpleHTTPRequestHandler):
    """The form's files and its configuration; no listings, no caching, no log of visitors."""

    def __init__(self, *arguments: Any, config: Path, **options: Any) -> None:  # noqa: ANN401 (socketserver's)
        self._config = config
        super().__init__(*arguments, **options)

    def do_GET(self) -> None:
        """Answer one request."""
        if self.path.split("?")[0] != "/config.json":
            super().do_GET()
            return
        content = self._config.read_bytes()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def list_directory(self, path: Any) -> IO[bytes] | None:  # type: ignore[override]  # noqa: ANN401, ARG002
        """Refuse: the form is its pages, not its directories."""
        self.send_error(HTTPStatus.NOT_FOUND)
        return None

    def end_headers(self) -> None:
        """Forbid caching: an edited page or a new key shows at the next load."""
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002, ANN401 (http.server's)
        """Say nothing."""


def main() -> None:
    """Serve until stopped."""
    port, directory, config = sys.argv[1:]
    handler = partial(FormHandler, directory=directory, config=Path(config))
    with ThreadingHTTPServer((LOOPBACK, int(port)), handler) as server:
        server.serve_forever()


if __name__ == "__main__":
    main()
