"""Whether the lead form's page would be let in."""

from __future__ import annotations

from pathlib import Path

import pytest

from ops.local.form import FormSite
from ops.local.origins import refusal
from ops.local.platform import REPOSITORY, STAGE

TENANTS = REPOSITORY / "tenants"


def test_the_form_of_the_sample_tenant_is_let_in_at_its_own_port() -> None:
    assert refusal(FormSite(), TENANTS, STAGE) is None


def test_another_port_is_refused_with_the_origin_the_field_and_the_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(REPOSITORY)
    told = refusal(FormSite(port=9123), TENANTS, STAGE) or ""
    assert "http://127.0.0.1:9123 is not among the origins of acme's key web" in told
    assert f"keys[1].origins in {Path('tenants') / 'acme.yaml'} " in told


def test_a_key_without_origins_is_let_in_from_anywhere() -> None:
    assert refusal(FormSite(port=9123, key="server"), TENANTS, STAGE) is None


@pytest.mark.parametrize(("port", "origin"), [(80, "http://127.0.0.1"), (8088, "http://127.0.0.1:8088")])
def test_the_origin_is_the_one_that_a_browser_sends(port: int, origin: str) -> None:
    assert FormSite(port=port).origin == origin
