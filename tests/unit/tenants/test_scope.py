"""What tenant files are checked against beyond themselves: known stages, the stage's account and region."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tenants.errors import TenantFileError
from tenants.loader import check_text, load, load_all
from tenants.scope import Place, stages_in
from tests.unit.tenants.files import TENANT, directory

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HERE = Place("123456789012", "eu-west-1")
ELSEWHERE = ["us-east-1:123456789012", "eu-west-1:210987654321", "us-east-1:210987654321"]
KEY = "encryption: {{kmsKeyArn: 'arn:aws:kms:{place}:key/1111-2222'}}\n"
QUEUE = "subscriptions:\n  - protocol: sqs\n    endpoint: arn:aws:sqs:{place}:crm\n"


def refused(read: Callable[[], object]) -> list[str]:
    with pytest.raises(TenantFileError) as raised:
        read()
    return [f"{fault.line}: {fault.field}: {fault.rule}" for fault in raised.value.faults]


def test_the_stages_are_those_that_have_a_file(tmp_path: Path) -> None:
    for name in ("Pulumi.yaml", "Pulumi.local.yaml", "Pulumi.dev.yaml"):
        (tmp_path / name).touch()
    assert stages_in(tmp_path) == {"local", "dev"}


@pytest.mark.parametrize("stages", ["[local, de]", "[prd, local]", "[local, dev, staging]"])
def test_a_stage_without_a_file_is_refused_by_line_whoever_reads(tmp_path: Path, stages: str) -> None:
    text = TENANT.replace("[local, dev]", stages)
    path, known = directory(tmp_path, acme=text), frozenset({"local", "dev"})
    (bad,) = set(stages.strip("[]").split(", ")) - known
    place = stages.strip("[]").split(", ").index(bad)
    fault = f"4: stages[{place}]: must have a Pulumi.{bad}.yaml; there are dev, local (is '{bad}')"
    assert refused(lambda: load(path, "local", known_stages=known)) == [fault]
    assert refused(lambda: load_all(path, known_stages=known)) == [fault]
    assert refused(lambda: check_text(path / "acme.yaml", text, known_stages=known)) == [fault]
    assert len(load_all(path).tenants) == 1  # nothing is said where the stages are not known


@pytest.mark.parametrize("place", ELSEWHERE)
def test_a_queue_of_another_account_or_region_is_refused(tmp_path: Path, place: str) -> None:
    path = directory(tmp_path, acme=TENANT + QUEUE.format(place=place))
    (fault,) = refused(lambda: load(path, "dev", place=HERE))
    assert fault.startswith("8: subscriptions[0].endpoint: must be in the stage's account and region, 1234")


@pytest.mark.parametrize("place", ELSEWHERE)
def test_a_key_of_another_account_or_region_is_refused(tmp_path: Path, place: str) -> None:
    path = directory(tmp_path, acme=TENANT + KEY.format(place=place))
    region, account = place.split(":")
    assert refused(lambda: load(path, "dev", place=HERE)) == [
        "6: encryption.kmsKeyArn: must be in the stage's account and region, 123456789012 in eu-west-1 "
        f"(is {account} in {region}); `stages` limits it to the stages that it belongs to"
    ]


@pytest.mark.parametrize("more", [KEY, QUEUE])
def test_the_stages_own_are_taken_and_other_stages_tenants_may_be_elsewhere(
    tmp_path: Path, more: str
) -> None:
    path = directory(tmp_path, acme=TENANT + more.format(place="eu-west-1:123456789012"))
    assert len(load(path, "dev", place=HERE).tenants) == 1
    path = directory(tmp_path, acme=TENANT + more.format(place=ELSEWHERE[0]))
    assert load(path, "prod", place=HERE).tenants == ()
