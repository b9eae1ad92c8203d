"""The local AWS as a process: where it listens, as whom it lets in, and that it goes when it should."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import boto3
import psutil
import pytest
from botocore.exceptions import ClientError

from ops.local.emulator import Emulator, free_port
from ops.local.errors import LocalPlatformError
from ops.local.process import ProcessId

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ops.local.emulator import Endpoint

pytestmark = pytest.mark.platform

REGION = "us-east-1"


def client(service: str, endpoint: Endpoint, **credentials: str) -> Any:
    keys: dict[str, Any] = {
        "aws_access_key_id": endpoint.access_key_id,
        "aws_secret_access_key": endpoint.secret_access_key,
        **credentials,
    }
    return boto3.client(service, endpoint_url=endpoint.url, region_name=REGION, **keys)


@pytest.fixture
def emulator(tmp_path: Path) -> Iterator[Emulator]:
    running = Emulator(tmp_path, REGION, owned=True)
    yield running
    running.stop()


def process_of(home: Path) -> psutil.Process:
    record = json.loads((home / "emulator.json").read_text())
    process = ProcessId(**record["process"]).running()
    assert process is not None
    return process


def gone(pid: int, seconds: float = 20) -> bool:
    deadline = time.monotonic() + seconds
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def test_it_listens_on_the_loopback_address_and_nowhere_else(emulator: Emulator, tmp_path: Path) -> None:
    endpoint = emulator.start()
    process = process_of(tmp_path)
    listening = [
        connection.laddr
        for each in [process, *process.children(recursive=True)]
        for connection in each.net_connections()
        if connection.status == psutil.CONN_LISTEN
    ]
    assert [(address.ip, address.port) for address in listening] == [("127.0.0.1", endpoint.port)]


def test_what_was_made_is_there_after_a_restart_at_the_same_address(emulator: Emulator) -> None:
    before = emulator.start()
    url = client("sqs", before).create_queue(QueueName="kept")["QueueUrl"]
    assert emulator.stop()
    after = emulator.start()
    assert after == before
    assert client("sqs", after).list_queues()["QueueUrls"] == [url]


def test_starting_what_runs_already_gives_the_one_that_runs(emulator: Emulator, tmp_path: Path) -> None:
    first = emulator.start()
    pid = process_of(tmp_path).pid
    assert Emulator(tmp_path, REGION).start() == first
    assert process_of(tmp_path).pid == pid


def test_credentials_are_made_fresh_for_each_home_and_readable_by_the_user_only(tmp_path: Path) -> None:
    found = set()
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        emulator = Emulator(tmp_path / name, REGION, owned=True)
        endpoint = emulator.start()
        emulator.stop()
        found.add((endpoint.access_key_id, endpoint.secret_access_key))
        assert (tmp_path / name / "emulator.json").stat().st_mode & 0o777 == 0o600
        assert (tmp_path / name / "emulator.log").stat().st_mode & 0o777 == 0o600
    assert len(found) == 2


def test_a_role_without_a_right_is_refused_and_one_with_it_is_not(emulator: Emulator) -> None:
    endpoint = emulator.start()
    iam = client("iam", endpoint)
    trust = {"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}
    role = iam.create_role(
        RoleName="reader",
        AssumeRolePolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [trust]}),
    )["Role"]["Arn"]
    session = client("sts", endpoint).assume_role(RoleArn=role, RoleSessionName="test")["Credentials"]
    as_role = client(
        "sqs",
        endpoint,
        aws_access_key_id=session["AccessKeyId"],
        aws_secret_access_key=session["SecretAccessKey"],
        aws_session_token=session["SessionToken"],
    )
    with pytest.raises(ClientError, match="AccessDenied"):
        as_role.list_queues()
    allow = {"Effect": "Allow", "Action": "sqs:ListQueues", "Resource": "*"}
    iam.put_role_policy(
        RoleName="reader",
        PolicyName="list",
        PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [allow]}),
    )
    assert as_role.list_queues()["ResponseMetadata"]["HTTPStatusCode"] == 200


def test_nothing_of_our_environment_reaches_it(
    emulator: Emulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTPS_PROXY", "AWS_SESSION_TOKEN", "LOG_LEVEL", "PYTHONPATH", "ONCEWARD_ANYTHING"):
        monkeypatch.setenv(name, "theirs")
    emulator.start()
    assert "theirs" not in process_of(tmp_path).environ().values()


def test_a_stale_record_is_not_taken_for_a_running_emulator(emulator: Emulator, tmp_path: Path) -> None:
    emulator.start()
    pid = process_of(tmp_path).pid
    os.kill(pid, signal.SIGKILL)
    assert gone(pid)
    assert not emulator.running()
    # The number belongs to another process by now: it must be neither waited for nor stopped.
    record = json.loads((tmp_path / "emulator.json").read_text())
    record["process"]["pid"] = os.getpid()
    (tmp_path / "emulator.json").write_text(json.dumps(record))
    assert not emulator.running()
    assert emulator.stop()
    emulator.start()
    assert emulator.running()


def test_a_port_that_somebody_else_took_is_named(emulator: Emulator) -> None:
    endpoint = emulator.start()
    emulator.stop()
    with socket.create_server(("127.0.0.1", endpoint.port)):
        with pytest.raises(LocalPlatformError, match=rf"port {endpoint.port}.*--fresh"):
            emulator.start()
        emulator.forget()
        assert emulator.start().port != endpoint.port


OWNER = """
import pathlib, sys, time
from ops.local.emulator import Emulator
Emulator(pathlib.Path(sys.argv[1]), "us-east-1", owned=True).start()
print("up", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_an_owned_emulator_goes_with_its_owner_however_that_dies(
    tmp_path: Path, number: signal.Signals
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "up\n"
        pid = process_of(tmp_path).pid
        owner.send_signal(number)
        owner.wait()
    assert gone(pid)
    assert list((tmp_path / "emulator" / "state").glob("*.json")), "it saved its state before it went"


def test_a_free_port_is_free() -> None:
    with socket.create_server(("127.0.0.1", free_port())):
        pass
