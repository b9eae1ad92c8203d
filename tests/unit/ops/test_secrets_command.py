"""`onceward secrets`: where secrets go, what is refused, and that none is ever shown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import typer
from moto import mock_aws

from ops.commands.secrets import set_
from ops.local.webhooks import provide
from ops.stages import telling
from ops.tenant_secrets import TenantSecrets, check, generated
from tenants.loader import load_all
from tests.unit.ops.secrets_stage import SOURCES, SecretsStage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


SIGNING = "0123456789abcdef"
ONE, TWO = "one-one-one-one-one", "two-two-two-two-two"


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SecretsStage]:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with mock_aws():
        yield SecretsStage(tmp_path)


def test_a_secret_from_standard_input_is_encrypted_with_the_stages_key(stage: SecretsStage) -> None:
    told = stage.run("secrets", "set", "acme", "webhooks/stripe", given="whsec_b25lLW9uZS1vbmUtb25l\n")
    assert told.exit_code == 0, told.output
    assert stage.value("webhooks/stripe") == "whsec_b25lLW9uZS1vbmUtb25l"
    described = stage.ssm.describe_parameters()["Parameters"][0]
    assert (described["Type"], described["KeyId"]) == ("SecureString", "alias/onceward-local_data")
    assert "whsec_b25lLW9uZS1vbmUtb25l" not in told.output
    assert "version 1; one secret is valid" in told.stderr


def test_on_the_local_stage_local_json_tells_the_new_secret(stage: SecretsStage) -> None:
    stage.run("secrets", "set", "acme", "webhooks/stripe", given="whsec_b25lLW9uZS1vbmUtb25l")
    assert stage.told_secret() == "whsec_b25lLW9uZS1vbmUtb25l"
    assert (stage.home / "local.json").stat().st_mode & 0o777 == 0o600


def test_a_prompt_is_hidden_and_asks_twice(stage: SecretsStage, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {}

    def prompt(text: str, **options: bool) -> str:
        asked.update(options | {"text": text})
        return "hush-hush"

    class Terminal:
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(typer, "prompt", prompt)
    monkeypatch.setattr("sys.stdin", Terminal())
    set_("acme", "payments/provider", False, False, "local", stage.home, stage.home)
    assert (asked["hide_input"], asked["confirmation_prompt"]) == (True, True)
    assert stage.value("payments/provider") == "hush-hush"


def test_a_rotation_keeps_the_former_one_until_it_is_finished(stage: SecretsStage) -> None:
    for secret in (ONE, TWO):
        assert stage.run("secrets", "rotate", "acme", "webhooks/github", given=secret).exit_code == 0
    assert stage.value("webhooks/github").splitlines() == [TWO, ONE]
    assert stage.run("secrets", "rotate", "acme", "webhooks/github", "--finish").exit_code == 0
    assert stage.value("webhooks/github") == TWO
    assert stage.run("secrets", "set", "acme", "webhooks/github", "--add", given=TWO).exit_code == 0
    assert stage.value("webhooks/github") == TWO, "the same one again is no rotation"
    again = stage.run("secrets", "rotate", "acme", "webhooks/github", "--finish")
    assert (again.exit_code, "only one is valid already" in again.stdout) == (0, True)
    assert stage.run("secrets", "rotate", "acme", "webhooks/forms", "--finish").exit_code == 2


def test_a_secret_that_is_in_use_is_not_set_over_unless_forced(stage: SecretsStage) -> None:
    arguments = ("secrets", "set", "acme", "webhooks/github")
    assert stage.run(*arguments, given=ONE).exit_code == 0
    refused = stage.run(*arguments, given=TWO)
    told = " ".join(refused.stderr.replace("│", " ").split())
    assert (refused.exit_code, "onceward secrets rotate acme webhooks/github" in told) == (2, True)
    assert stage.value("webhooks/github") == ONE
    assert stage.run(*arguments, "--force", given=TWO).exit_code == 0
    assert stage.value("webhooks/github") == TWO


@pytest.mark.parametrize(
    "again", [("rotate",), ("rotate", "--generate"), ("set", "--add"), ("set", "--add", "--generate")]
)
def test_a_rotation_on_top_of_an_unfinished_one_drops_no_secret_in_use_unless_forced(
    stage: SecretsStage, again: tuple[str, ...]
) -> None:
    TenantSecrets(stage.ssm, "local").put("acme", "webhooks/github", ["two", "one"])
    command, *options = again
    arguments = ("secrets", command, "acme", "webhooks/github", *options)
    refused = stage.run(*arguments, given="three-three-three")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "secrets rotate --finish" in " ".join(refused.stderr.replace("│", " ").split())
    assert stage.value("webhooks/github").splitlines() == ["two", "one"]
    assert stage.run(*arguments, "--force", given="three-three-three").exit_code == 0
    newest, former = stage.value("webhooks/github").splitlines()
    assert (newest != "two", former) == (True, "two")


def test_a_generated_secret_is_printed_once_alone_on_standard_output(stage: SecretsStage) -> None:
    told = stage.run("secrets", "set", "acme", "webhooks/events", "--generate")
    assert told.stdout.strip() == stage.value("webhooks/events")
    assert told.stdout.startswith("whsec_")


NEVER_TO_WORK = (
    ("webhooks/stripe", ""),
    ("webhooks/stripe", "two words"),
    ("webhooks/stripe", "two\nlines"),
    ("webhooks/stripe", "schlüssel"),
    ("webhooks/stripe", "x" * 2001),
    ("webhooks/events", "whsec_***"),
    ("webhooks/legacy", "no-password"),
    ("webhooks/stripe", "fifteen-letters"),
    ("webhooks/stripe", "whsec_MTUgbGV0dGVycw"),
    ("webhooks/plain", "7-signs"),
    ("webhooks/legacy", "username:7-signs"),
    ("payments/provider", "7-signs"),
    ("webhooks/none", "s"),
    ("webhooks/", "s"),
    ("destinations/webhooks/stripe", "s"),
    ("payments", "s"),
)


def test_what_could_never_work_is_refused_unread_and_unsaid(stage: SecretsStage) -> None:
    for name, secret in NEVER_TO_WORK:
        refused = stage.run("secrets", "set", "acme", name, given=secret)
        assert refused.exit_code == 2, (name, secret)
        assert len(secret) < 3 or secret not in refused.output
    assert stage.ssm.describe_parameters()["Parameters"] == []


@pytest.mark.parametrize("command", [["set"], ["rotate"], ["rotate", "--finish"]])
def test_a_stage_that_the_tenant_is_not_on_gets_no_secret_and_is_not_even_asked(
    stage: SecretsStage, command: list[str]
) -> None:
    # No Pulumi.dev.yaml is read and no client made: the file of the tenant says no before that.
    refused = stage.run(
        "secrets", *command, "acme", "webhooks/stripe", "--stage", "dev", given="whsec_b25lLW9uZS1vbmUtb25l"
    )
    assert refused.exit_code == 2
    told = " ".join(refused.output.replace("│", " ").split())
    assert "tenant acme is not on stage 'dev'; its file says: local" in told
    assert stage.ssm.describe_parameters()["Parameters"] == []


def test_a_value_cannot_be_an_argument_and_an_unknown_tenant_is_named(stage: SecretsStage) -> None:
    assert stage.run("secrets", "set", "acme", "webhooks/stripe", "value").exit_code == 2
    refused = stage.run("secrets", "set", "nobody", "webhooks/stripe", given="s")
    assert (refused.exit_code, "acme" in refused.output) == (2, True)


def test_a_list_shows_what_is_there_what_is_missing_and_what_nothing_needs_and_no_value(
    stage: SecretsStage,
) -> None:
    stage.run("secrets", "set", "acme", "webhooks/stripe", given=SIGNING)
    stage.run("secrets", "set", "acme", "webhooks/stripe", "--force", given=SIGNING)
    TenantSecrets(stage.ssm, "local").put("acme", "webhooks/gone", ["hush-hush"])
    told = stage.run("secrets", "list", "acme")
    lines = {line.split()[0]: line for line in told.stdout.splitlines()}
    assert lines["webhooks/stripe"].split()[1] == "2"
    assert "the sender's proof (stripe)" in lines["webhooks/stripe"]
    assert lines["webhooks/github"].split()[1:3] == ["missing", "-"]
    assert lines["payments/provider"].split()[1:3] == ["none", "-"]
    assert "does not name it" in lines["webhooks/gone"]
    assert SIGNING not in told.output
    assert "hush-hush" not in told.output
    listed = json.loads(stage.run("secrets", "list", "acme", "--json").stdout)
    assert {each["name"] for each in listed if each["version"]} == {"webhooks/stripe", "webhooks/gone"}
    assert [each["name"] for each in listed if not each["named"]] == ["webhooks/gone"]


def test_a_removed_secret_is_gone_and_removing_it_again_says_so(stage: SecretsStage) -> None:
    stage.run("secrets", "set", "acme", "webhooks/stripe", given=SIGNING)
    unasked = stage.run("secrets", "remove", "acme", "webhooks/stripe")
    assert (unasked.exit_code, "Not removed: --yes" in unasked.stderr) == (1, True)
    assert stage.value("webhooks/stripe") == SIGNING
    assert stage.run("secrets", "remove", "acme", "webhooks/stripe", "--yes").exit_code == 0
    assert stage.run("secrets", "remove", "acme", "webhooks/stripe", "--yes").exit_code == 1
    assert stage.ssm.describe_parameters()["Parameters"] == []


def test_a_stage_without_its_key_is_told_in_one_line(stage: SecretsStage) -> None:
    class NoKey:
        def put_parameter(self, **options: object) -> None:
            raise stage.ssm.exceptions.InvalidKeyId(
                {"Error": {"Code": "InvalidKeyId", "Message": "no key"}}, "PutParameter"
            )

    with pytest.raises(typer.Exit) as ended, telling():
        TenantSecrets(NoKey(), "local").put("acme", "webhooks/stripe", ["s"])  # type: ignore[arg-type]
    assert ended.value.exit_code == 2


def test_the_local_platform_gives_every_source_a_secret_of_its_form_and_keeps_those_that_are_there(
    stage: SecretsStage,
) -> None:
    (tenant,) = load_all(stage.home).tenants
    store = TenantSecrets(stage.ssm, "local")
    store.put("acme", "webhooks/github", ["new-new-new-new-new", "old"])
    first = provide([tenant], store, "http://api")["acme"]
    assert tuple(first) == SOURCES
    for source in SOURCES:
        check(tenant, f"webhooks/{source}", first[source]["secret"])
        assert stage.value(f"webhooks/{source}").splitlines()[0] == first[source]["secret"]
    assert first["github"] == {
        "url": "http://api/v1/webhooks/acme/github",
        "scheme": "github",
        "header": None,
        "secret": "new-new-new-new-new",
    }
    assert (first["plain"]["header"], first["legacy"]["secret"].split(":")[0]) == ("X-Proof", "acme")
    assert len({each["secret"] for each in first.values()}) == len(SOURCES)
    assert provide([tenant], store, "http://api")["acme"] == first
    assert generated(tenant, "webhooks/forms") != generated(tenant, "webhooks/forms")
