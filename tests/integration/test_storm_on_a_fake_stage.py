"""Locust itself against a small fake stage on loopback: each attempt is written down, faults are found."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import TYPE_CHECKING

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from loadtest import history, stored, storm
from loadtest.answers import Answers
from loadtest.checker import check
from loadtest.expected import Expected, planned
from loadtest.history import Outcome
from loadtest.operations import BY_NAME
from loadtest.plan import plan
from loadtest.reads import read_records
from loadtest.run import RunDirectory
from loadtest.target import parse
from loadtest.verdict import Kind
from tests.unit.storm.fake_platform import SECRET, FakePlatform, key_of, serve
from tests.unit.storm.test_plan import SMALL

if TYPE_CHECKING:
    from pathlib import Path

    from loadtest.run import RunSettings
    from loadtest.verdict import Verdict

# Fast enough for a test, slow enough for the fake server.
QUICK = replace(SMALL, requests=250, keys=16, rate=400.0)
ALL = replace(SMALL, requests=450, keys=40, rate=400.0, operations=tuple(BY_NAME))


def _storm(tmp_path: Path, platform: FakePlatform, settings: RunSettings = QUICK) -> RunDirectory:
    platform.write_outputs(tmp_path / "home")
    directory = RunDirectory.create(tmp_path / "run", settings)
    progress: list[int] = []
    storm.run(directory, settings, tmp_path / "home", progress.append)
    assert progress[-1] == settings.requests, directory.log.read_text()
    assert progress == sorted(progress)
    return directory


def _judge(directory: RunDirectory, platform: FakePlatform) -> Verdict:
    """The verdict; the platform must still be up, to be read from."""
    target = parse(platform.outputs())
    ids = [
        (receipt["operation"], receipt["outbox"]["recordId"])
        for receipt in platform.receipts.values()
        if "outbox" in receipt
    ]
    read_records(target, target.tenants.values(), ids, directory.reads)
    answers = Answers()
    for attempt in history.read(directory.path):
        answers.hear(attempt)
    return check(
        answers,
        map(stored.receipt, platform.receipts.values()),
        map(stored.record, platform.records.values()),
        [stored.event(*event) for event in platform.events],
        Expected.of(directory.settings(), planned(directory.settings())),
        platform.outside(),
    )


def test_a_storm_on_a_good_stage_passes_and_does_what_was_planned(tmp_path: Path) -> None:
    with serve() as platform:
        directory = _storm(tmp_path, platform, ALL)
        verdict = _judge(directory, platform)
    assert verdict.violations == ()
    planned = sorted((one.operation, one.tenant, one.key or "") for one in plan(ALL).requests())
    attempts = [one for one in history.read(directory.path) if one.operation in BY_NAME]
    assert sorted((one.operation, one.tenant, one.key or "") for one in attempts) == planned
    assert len({one.attempt_id for one in attempts}) == ALL.requests
    dropped = sum(one.drop_after_ms is not None for one in plan(ALL).requests())
    counts = verdict.counts
    assert (counts.dropped, counts.unknown) == (dropped, 0)
    assert min(dropped, counts.conflicts, counts.in_progress, counts.declined) > 0
    assert min(counts.charges, counts.entities) > 0
    assert set(verdict.by_operation) == set(BY_NAME)
    assert verdict.writes_per_key == {1: len(platform.receipts)}
    for file in directory.path.iterdir():
        for secret in (SECRET, *map(key_of, ALL.tenants)):
            assert secret not in file.read_text(), f"{file.name} holds a key or a secret"


def test_faults_outside_the_tables_are_found(tmp_path: Path) -> None:
    with serve("outside") as platform:
        verdict = _judge(_storm(tmp_path, platform, ALL), platform)
    assert {one.kind for one in verdict.violations} == {
        Kind.SECOND_CHARGE,
        Kind.SLOT_BOOKED_TWICE,
        Kind.LOST_ENTITY,
    }


def test_locusts_own_workers_share_the_plan(tmp_path: Path) -> None:
    settings = replace(QUICK, workers=2)
    with serve() as platform:
        directory = _storm(tmp_path, platform, settings)
        verdict = _judge(directory, platform)
    assert verdict.violations == ()
    lines = [len(directory.history(share).read_text().splitlines()) for share in range(2)]
    assert sum(lines) == settings.requests
    assert min(lines) > settings.requests / 4


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("unconditional-put", Kind.SECOND_WRITE),
        ("changed-byte", Kind.REPLAY_BODY),
        ("dropped-dispatch", Kind.LOST_RECORD),
        ("unavailable", Kind.NOTHING_ACCEPTED),
    ],
)
def test_a_fault_of_the_stage_is_found(tmp_path: Path, fault: str, kind: Kind) -> None:
    with serve(fault) as platform:
        verdict = _judge(_storm(tmp_path, platform), platform)
    assert kind in {one.kind for one in verdict.violations}


def test_an_answer_that_is_cut_off_is_no_answer(tmp_path: Path) -> None:
    with serve("truncated") as platform:
        directory = _storm(tmp_path, platform)
    waited = [one for one in history.read(directory.path) if not one.dropped]
    assert {(one.outcome, one.status) for one in waited if one.status != 422} == {(Outcome.UNKNOWN, None)}
    assert platform.receipts


def test_a_stage_that_is_down_fails_every_attempt_and_proves_nothing(tmp_path: Path) -> None:
    with serve() as platform:
        platform.write_outputs(tmp_path / "home")
    settings = replace(QUICK, rate=2000.0)
    directory = RunDirectory.create(tmp_path / "run", settings)
    storm.run(directory, settings, tmp_path / "home", lambda _: None)
    assert {one.outcome for one in history.read(directory.path)} == {Outcome.FAIL}


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 that only its own file vouches for, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "fake stage")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    file = tmp_path_factory.mktemp("tls") / "stage.pem"
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain)
    file.write_bytes(private + made.public_bytes(pem))
    return file


def test_a_stage_that_cannot_prove_its_name_is_sent_nothing(tmp_path: Path, certificate: Path) -> None:
    with serve(certificate=certificate) as platform:
        directory = _storm(tmp_path, platform, replace(QUICK, rate=2000.0))
        assert platform.receipts == {}
    assert {one.outcome for one in history.read(directory.path)} == {Outcome.FAIL}


def test_a_storm_over_tls_passes_where_the_certificate_is_trusted(
    tmp_path: Path, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with serve(certificate=certificate) as platform:
        verdict = _judge(_storm(tmp_path, platform), platform)
    assert verdict.violations == ()
    assert verdict.counts.dropped > 0


def test_a_storm_that_cannot_find_its_target_ends_with_its_reason(tmp_path: Path) -> None:
    directory = RunDirectory.create(tmp_path / "run", QUICK)
    with pytest.raises(storm.StormError, match=r"locust\.log"):
        storm.run(directory, QUICK, tmp_path / "nowhere", lambda _: None)
    assert "the local platform is not up" in directory.log.read_text()
