"""The lead form against the platform: a page on the web with the publishable key of tenant alpha."""

from __future__ import annotations

import uuid
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.lead_form.fake_api import FORM
from tests.e2e.lead_form.page import LEAD, LeadPage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Route

    from tests.e2e.api import Api
    from tests.platform_fixture import RunningPlatform

pytestmark = [pytest.mark.platform, pytest.mark.browser]

# tests/tenants/alpha.yaml lets its key `web` be used from here.
OWN_ORIGIN = "https://www.alpha.example"
OTHER_ORIGIN = "https://www.beta.example"


@contextmanager
def page_at(chromium: Browser, origin: str, platform: RunningPlatform) -> Iterator[LeadPage]:
    """The form as any static host would serve it at `origin`, in a tab of its own."""
    config = {
        "apiUrl": platform.outputs.api_url,
        "tenantName": "Alpha",
        "apiKey": platform.outputs.tenants["alpha"].keys["web"],
    }

    def serve(route: Route) -> None:
        name = route.request.url.removeprefix(origin).lstrip("/") or "index.html"
        if name == "config.json":
            route.fulfill(json=config)
        else:
            route.fulfill(path=FORM / name)

    # A page on the web may call the loopback address only where its user said so; on AWS nobody is asked.
    with chromium.new_context(permissions=["local-network-access"]) as context:
        context.route(f"{origin}/**", serve)
        yield LeadPage(context.new_page(), f"{origin}/")


@pytest.fixture
def form(chromium: Browser, platform: RunningPlatform) -> Iterator[LeadPage]:
    with page_at(chromium, OWN_ORIGIN, platform) as page:
        yield page


@pytest.fixture
def name() -> str:
    """A visitor's name that no other test uses: the receipts of this test are those that hold it."""
    return f"Ada {uuid.uuid4().hex}"


def receipts_of(name: str, platform: RunningPlatform) -> list[dict[str, Any]]:
    """The receipts whose lead has this name."""
    pages = (
        platform.client("dynamodb")
        .get_paginator("scan")
        .paginate(
            TableName=platform.outputs.tables["receipts"],
            ConsistentRead=True,
            FilterExpression="contains(#outbox.#document, :name)",
            ExpressionAttributeNames={"#outbox": "outbox", "#document": "document"},
            ExpressionAttributeValues={":name": {"S": name}},
        )
    )
    return [item for page in pages for item in page["Items"]]


def test_a_double_click_makes_one_lead_that_the_tenant_can_read(
    form: LeadPage, platform: RunningPlatform, name: str, alpha: Api
) -> None:
    form.fill({**LEAD, "name": name})
    form.page.dblclick("#send")
    reference = form.reference()
    assert alpha.get(f"/v1/leads/{reference}").json()["lead"] == {**LEAD, "name": name, "source": "lead-form"}
    assert len(receipts_of(name, platform)) == 1
    assert form.errors == []


def test_a_reload_and_resubmission_makes_one_lead(
    form: LeadPage, platform: RunningPlatform, name: str
) -> None:
    form.fill({**LEAD, "name": name})
    form.send()
    first = form.reference()
    form.page.reload()
    form.fill({**LEAD, "name": name})
    form.send()
    assert form.reference() == first
    assert form.replayed()
    assert len(receipts_of(name, platform)) == 1
    assert form.errors == []


def test_an_edited_resubmission_makes_a_second_lead(
    form: LeadPage, platform: RunningPlatform, name: str
) -> None:
    form.fill({**LEAD, "name": name})
    form.send()
    first = form.reference()
    form.page.reload()
    form.fill({**LEAD, "name": name, "message": "Make that Euler numbers."})
    form.send()
    assert form.reference() != first
    assert len(receipts_of(name, platform)) == 2
    assert form.errors == []


def test_what_only_the_api_can_know_is_shown_next_to_its_field(
    form: LeadPage, platform: RunningPlatform, name: str
) -> None:
    # The page's own limits off, as in a browser that ignores them: the API has the last word.
    form.page.evaluate("document.querySelector('#company').removeAttribute('maxlength')")
    form.fill({**LEAD, "name": name, "company": "x" * 201})
    form.send()
    assert "200 characters" in form.summary()
    assert "200 characters" in form.error_of("company")
    assert receipts_of(name, platform) == []


def test_a_page_from_another_origin_is_refused(
    chromium: Browser, platform: RunningPlatform, name: str
) -> None:
    with page_at(chromium, OTHER_ORIGIN, platform) as form:
        form.fill({**LEAD, "name": name})
        form.send()
        assert "(403)" in form.summary()
    assert receipts_of(name, platform) == []


@pytest.mark.parametrize(
    "path", ["/v1/leads/{id}", "/v1/receipts/some-key", "/v1/leads/01JZZZZZZZZZZZZZZZZZZZZZZZ"]
)
def test_the_publishable_key_reads_nothing(
    form: LeadPage, name: str, caller: Callable[..., Api], path: str
) -> None:
    form.fill({**LEAD, "name": name})
    form.send()
    answer = caller("alpha", "web").get(path.format(id=form.reference()), headers={"Origin": OWN_ORIGIN})
    assert answer.status_code == 403
    assert name not in answer.text
