"""The lead form of the local platform: a static page in a background process, with a publishable key."""

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from ops.local.emulator import LOOPBACK, port_taken
from ops.local.errors import LocalPlatformError
from ops.local.files import private_directory, read_json, write_private
from ops.local.outputs import LocalOutputs
from ops.local.process import POLL_SECONDS, ProcessId, clean_environment, start, stop

READY_SECONDS = 10.0
"""How long the page's server may take to listen; it takes a tenth of a second."""


HTTP_PORT = 80
"""The default port of the scheme, which an origin leaves out (RFC 6454, section 6.2)."""


@dataclass(frozen=True)
class FormSite:
    """Whose form is served and where. Its `origin` must be among the key's origins, if that lists any."""

    port: int = 8088
    """The port in the origins of tenants/acme.yaml."""
    tenant: str = "acme"
    tenant_name: str = "Acme Industries"
    key: str = "web"
    """The publishable key; its value is in the page, as everybody's may see."""

    @property
    def url(self) -> str:
        """Where a browser finds it."""
        return f"http://{LOOPBACK}:{self.port}/"

    @property
    def origin(self) -> str:
        """What a browser sends as the page's `Origin`: without the port if it is HTTP's own."""
        return f"http://{LOOPBACK}" if self.port == HTTP_PORT else f"http://{LOOPBACK}:{self.port}"


class Form:
    """The form's process in one home directory."""

    def __init__(self, home: Path, pages: Path, *, owned: bool = False) -> None:
        self._pages = pages
        self._owned = owned
        self._record = home / "form.json"
        self._config = home / "form-config.json"
        self._log = home / "form.log"
        self._directory = home / "form"

    def url(self) -> str | None:
        """Where it is served; None if it is not."""
        record = read_json(self._record)
        if record is None or ProcessId(**record["process"]).running() is None:
            return None
        return str(record["url"])

    def serve(self, site: FormSite, outputs: LocalOutputs) -> str:
        """Serve the form with the key's value of now; returns its address.

        Raises LocalPlatformError if the port is taken, and KeyError if there is no such tenant or key.
        """
        config = {
            "apiUrl": outputs.api_url,
            "tenantName": site.tenant_name,
            "apiKey": outputs.tenants[site.tenant].keys[site.key],
        }
        write_private(self._config, json.dumps(config))
        if self.url() == site.url:
            return site.url  # it reads the configuration at each request
        self.stop()
        if port_taken(site.port):
            raise LocalPlatformError(f"the lead form is not served: port {site.port} is taken")
        arguments = ["ops.local.form_server", str(site.port), str(self._pages), str(self._config)]
        directory = private_directory(self._directory)
        environment = clean_environment(directory)
        process = start(
            arguments, environment=environment, log=self._log, directory=directory, owned=self._owned
        )
        write_private(self._record, json.dumps({"process": asdict(process), "url": site.url}))
        self._wait(site, process)
        return site.url

    def stop(self) -> None:
        """Stop serving."""
        record = read_json(self._record)
        if record is not None:
            stop(ProcessId(**record["process"]))
            self._record.unlink(missing_ok=True)

    def _wait(self, site: FormSite, process: ProcessId) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while not port_taken(site.port):
            if process.running() is None or time.monotonic() > deadline:
                raise LocalPlatformError(f"the lead form is not served; its log is {self._log}")
            time.sleep(POLL_SECONDS)
