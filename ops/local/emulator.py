"""The local AWS: one MiniStack process on the loopback interface, with IAM enforcement on."""

import json
import secrets
import shutil
import socket
import string
import time
import urllib.error
import urllib.request
from dataclasses import asdict, dataclass
from pathlib import Path

from ops.local.errors import LocalPlatformError
from ops.local.files import private_directory, read_json, write_private
from ops.local.process import POLL_SECONDS, ProcessId, clean_environment, start, stop

LOOPBACK = "127.0.0.1"
"""The only address that anything here listens on."""

HEALTHY_SECONDS = 30.0
"""How long the emulator may take to answer its first health check: 0.3 s when nothing is to be loaded."""

FREED_SECONDS = 2.0
"""How long a port may be held after its process was seen to be gone; milliseconds on an idle machine."""

HEALTH_PATH = "/_ministack/health"

_ALPHABET = string.ascii_uppercase + string.digits


@dataclass(frozen=True)
class Endpoint:
    """Where the emulator answers and as whom its administrator signs."""

    port: int
    access_key_id: str
    secret_access_key: str

    @property
    def url(self) -> str:
        """`http://127.0.0.1:PORT`, for every AWS service."""
        return f"http://{LOOPBACK}:{self.port}"


def new_credentials() -> tuple[str, str]:
    """Fresh admin credentials, in the shape AWS gives them (20 and 40 characters).

    The emulator takes any 12-digit access key for the root of that account, so ours begins as real ones do.
    """
    access_key_id = "AKIA" + "".join(secrets.choice(_ALPHABET) for _ in range(16))
    return access_key_id, secrets.token_urlsafe(30)


def free_port() -> int:
    """A loopback port that nothing listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def port_taken(port: int) -> bool:
    """Whether something listens on the loopback port."""
    with socket.socket() as probe:
        return probe.connect_ex((LOOPBACK, port)) == 0


def can_listen(port: int) -> bool:
    """Whether a server of ours could listen on the loopback port: ended connections may still have it."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


class Emulator:
    """The emulator of one home directory: its process, its port, its credentials, its saved state.

    The port and the credentials are kept from one run to the next, because the state that the emulator
    saves contains them (queue URLs, the addresses handed to functions).
    """

    def __init__(self, home: Path, region: str, *, owned: bool = False) -> None:
        self._home = home
        self._region = region
        self._owned = owned
        self._record = home / "emulator.json"
        self._data = home / "emulator"

    def endpoint(self) -> Endpoint | None:
        """Where it is, or was when it last ran; None if it never ran in this home."""
        record = read_json(self._record)
        return Endpoint(**record["endpoint"]) if record else None

    def running(self) -> bool:
        """Whether its process runs."""
        identity = self._identity()
        return identity is not None and identity.running() is not None

    def saved_at(self) -> float | None:
        """When the emulator last wrote its state (seconds since the epoch); None if it never did."""
        return max((f.stat().st_mtime for f in (self._data / "state").glob("*.json")), default=None)

    def started_at(self) -> float | None:
        """When it was last started, by the clock of `saved_at`; None if it never was."""
        return self._record.stat().st_mtime if self._record.exists() else None

    def start(self) -> Endpoint:
        """Start it, if it does not run yet, and return once it answers.

        Raises LocalPlatformError if its port is taken or it does not become healthy.
        """
        known = self.endpoint()
        if known is not None and self.running():
            _wait_until_healthy(known, self._identity(), self._home / "emulator.log")
            return known
        endpoint = known or Endpoint(free_port(), *new_credentials())
        if not _freed(endpoint.port):
            raise LocalPlatformError(
                f"port {endpoint.port}, which this platform's addresses contain, is taken: end the process "
                "that has it, or start afresh on another port with `onceward local up --fresh`"
            )
        identity = self._launch(endpoint)
        _wait_until_healthy(endpoint, identity, self._home / "emulator.log")
        return endpoint

    def stop(self) -> bool:
        """Stop it, saving its state; True if the state was saved (or it did not run)."""
        identity = self._identity()
        saved = identity is None or stop(identity)
        shutil.rmtree(self._data / "tmp", ignore_errors=True)
        return saved

    def forget_state(self) -> None:
        """Delete what it saved; port and credentials stay. It must not be running."""
        shutil.rmtree(self._data, ignore_errors=True)

    def forget(self) -> None:
        """Delete its saved state, port and credentials. It must not be running."""
        self.forget_state()
        self._record.unlink(missing_ok=True)

    def _identity(self) -> ProcessId | None:
        record = read_json(self._record)
        return ProcessId(**record["process"]) if record else None

    def _launch(self, endpoint: Endpoint) -> ProcessId:
        temporary = private_directory(self._data / "tmp")
        log = self._home / "emulator.log"
        log.unlink(missing_ok=True)
        environment = clean_environment(temporary) | self._settings(endpoint)
        identity = start(
            ["ministack"], environment=environment, log=log, directory=temporary, owned=self._owned
        )
        record = {"endpoint": asdict(endpoint), "process": asdict(identity)}
        write_private(self._record, json.dumps(record, indent=2))
        return identity

    def _settings(self, endpoint: Endpoint) -> dict[str, str]:
        """MiniStack's settings; they are read from its environment only."""
        return {
            "GATEWAY_PORT": str(endpoint.port),
            "BIND_HOST": LOOPBACK,  # its default is every interface
            "MINISTACK_HOST": LOOPBACK,  # in the URLs it makes; "localhost" may be ::1, where nothing listens
            "MINISTACK_REGION": self._region,
            "AUTH": "true",
            "AWS_ACCESS_KEY_ID": endpoint.access_key_id,
            "AWS_SECRET_ACCESS_KEY": endpoint.secret_access_key,
            "PERSIST_STATE": "1",
            "STATE_DIR": str(private_directory(self._data / "state")),
            "S3_PERSIST": "1",
            "S3_DATA_DIR": str(private_directory(self._data / "s3")),
            "IOT_MTLS_ENABLED": "0",
            "SFTP_ENABLED": "0",
            # It reaps containers and runs functions through Docker where it finds one: never the user's.
            "DOCKER_HOST": f"unix://{self._data / 'no-docker'}",
            "LAMBDA_EXECUTOR": "local",
            "LOG_LEVEL": "WARNING",  # at INFO it prints the bodies of SNS messages
        }


def _freed(port: int) -> bool:
    """Whether the port is free, or soon is: the threads of a killed process let go a moment later."""
    deadline = time.monotonic() + FREED_SECONDS
    while port_taken(port):
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True


def _wait_until_healthy(endpoint: Endpoint, identity: ProcessId | None, log: Path) -> None:
    deadline = time.monotonic() + HEALTHY_SECONDS
    while not _healthy(endpoint):
        if identity is None or identity.running() is None:
            raise LocalPlatformError(f"the local AWS ended while starting; its log is {log}")
        if time.monotonic() > deadline:
            raise LocalPlatformError(
                f"the local AWS did not answer in {HEALTHY_SECONDS:.0f} s; its log is {log}"
            )
        time.sleep(POLL_SECONDS)


def _healthy(endpoint: Endpoint) -> bool:
    try:
        with urllib.request.urlopen(endpoint.url + HEALTH_PATH, timeout=2) as answer:  # noqa: S310 (http, loopback)
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
