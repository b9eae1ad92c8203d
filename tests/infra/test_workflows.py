"""The workflows: pinned actions, and credentials only where and when they are needed."""

import re
from typing import Any

import pytest
from ruamel.yaml import YAML

from infra.program import REPOSITORY

WORKFLOWS = sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))
CREDENTIALS = "aws-actions/configure-aws-credentials@"


def deploy() -> dict[str, Any]:
    loaded: dict[str, Any] = YAML(typ="safe").load(REPOSITORY / ".github" / "workflows" / "deploy.yml")
    return loaded


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_action_is_pinned_to_a_commit_and_says_its_release(path: Any) -> None:
    used = re.findall(r"uses: (.+)", path.read_text(encoding="utf-8"))
    assert used
    for each in used:
        assert re.match(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+\b", each), each


@pytest.mark.parametrize("job", ["preview", "up"])
def test_nothing_is_installed_once_there_are_credentials(job: str) -> None:
    steps = deploy()["jobs"][job]["steps"]
    (taken,) = [place for place, step in enumerate(steps) if step.get("uses", "").startswith(CREDENTIALS)]
    (after,) = steps[taken + 1 :]
    assert after["run"].startswith("pulumi ")
    for step in steps[:taken]:
        assert "secrets." not in str(step)


def test_each_role_is_taken_in_an_environment_of_its_stage() -> None:
    jobs = deploy()["jobs"]
    assert jobs["preview"]["environment"] == "${{ matrix.stage }}-preview"
    assert jobs["preview"]["strategy"]["matrix"]["stage"] == ["dev", "prod"]
    assert jobs["up"]["environment"] == "${{ github.event_name == 'release' && 'prod' || 'dev' }}"
    for job in jobs.values():
        assert job["permissions"] == {"contents": "read", "id-token": "write"}


def test_a_fork_gets_no_preview_and_a_pre_release_no_deployment() -> None:
    workflow = deploy()
    assert "head.repo.full_name == github.repository" in workflow["jobs"]["preview"]["if"]
    assert workflow["on"]["release"] == {"types": ["released"]}


def test_the_documented_trust_names_the_environments_that_the_workflow_uses() -> None:
    text = (REPOSITORY / "docs" / "deploy.md").read_text(encoding="utf-8")
    assert {"dev", "prod", "dev-preview", "prod-preview"} <= set(re.findall(r"environment:([a-z-]+)", text))
    for name in re.findall(r"(?:vars|secrets)\.(\w+)", str(deploy())):
        assert f"`{name}`" in text, name
