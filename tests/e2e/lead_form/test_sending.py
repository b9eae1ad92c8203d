"""What the lead form sends, and under which key: headless Chromium against an API that breaks on cue."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.e2e.lead_form.fake_api import Answer
from tests.e2e.lead_form.page import LEAD

if TYPE_CHECKING:
    from tests.e2e.lead_form.fake_api import LeadApi, Script
    from tests.e2e.lead_form.page import LeadPage

pytestmark = pytest.mark.browser


def test_a_lead_is_sent_as_it_was_typed_and_its_reference_shown(form: LeadPage, fake_api: LeadApi) -> None:
    form.fill({**LEAD, "budget": "5000.50", "name": "  Ada Lovelace "})
    form.send()
    assert form.reference() == "lead-1"
    assert list(fake_api.leads.values()) == [{**LEAD, "budget": 5000.5, "source": "lead-form"}]
    assert not form.replayed()
    assert form.errors == []


def test_a_double_click_makes_one_lead(form: LeadPage, fake_api: LeadApi) -> None:
    form.fill(LEAD)
    form.page.dblclick("#send")
    form.reference()
    assert len(fake_api.leads) == 1
    assert form.errors == []


def test_presses_while_the_answer_is_on_its_way_send_nothing_more(form: LeadPage, fake_api: LeadApi) -> None:
    fake_api.gate.clear()
    form.fill(LEAD)
    form.send()
    expect(form.page.locator("#send")).to_have_attribute("aria-disabled", "true")
    form.page.locator("#send").press("Enter")
    form.page.locator("#name").press("Enter")
    fake_api.gate.set()
    form.reference()
    assert len(fake_api.keys) == 1


def test_a_reload_and_resubmission_of_the_same_content_makes_one_lead(
    form: LeadPage, fake_api: LeadApi
) -> None:
    form.fill(LEAD)
    form.send()
    first = form.reference()
    form.page.reload()
    form.fill(LEAD)
    form.send()
    assert form.reference() == first
    assert form.replayed()
    assert len(fake_api.leads) == 1
    assert form.errors == []


def test_a_message_whose_answer_was_lost_with_the_page_is_put_back_and_sent_once(
    form: LeadPage, fake_api: LeadApi
) -> None:
    fake_api.gate.clear()
    form.fill(LEAD)
    with form.page.expect_request("**/v1/leads"):
        form.send()
    form.page.reload()
    fake_api.gate.set()
    expect(form.page.locator("#name")).to_have_value(LEAD["name"])
    expect(form.page.locator("#notice")).to_contain_text("it cannot arrive twice")
    form.send()
    form.reference()
    assert len(fake_api.leads) == 1
    assert len(set(fake_api.keys)) == 1


def test_an_edited_resubmission_makes_a_second_lead(form: LeadPage, fake_api: LeadApi) -> None:
    form.fill(LEAD)
    form.send()
    first = form.reference()
    form.page.reload()
    form.fill({**LEAD, "message": "Make that Euler numbers."})
    form.send()
    assert form.reference() != first
    assert len(fake_api.leads) == 2


def test_another_message_can_follow_and_is_another_lead(form: LeadPage, fake_api: LeadApi) -> None:
    form.fill(LEAD)
    form.send()
    form.reference()
    form.page.click("#again")
    expect(form.page.locator("#name")).to_be_focused()
    form.fill({"name": "Charles Babbage", "phone": "+44 20 7946 0000"})
    form.send()
    assert form.reference() == "lead-2"
    assert list(fake_api.leads.values())[1] == {
        "name": "Charles Babbage",
        "phone": "+44 20 7946 0000",
        "source": "lead-form",
    }


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(["break before"], id="the connection breaks before the API acted"),
        pytest.param(["break after"], id="the connection breaks after the API acted"),
        pytest.param([Answer(503, headers={"Retry-After": "1"})], id="503 with Retry-After"),
        pytest.param([Answer(500), Answer(502)], id="two server errors"),
        pytest.param([Answer(409, headers={"Retry-After": "1"})], id="409 with Retry-After"),
        pytest.param([Answer(429, headers={"Retry-After": "1"})], id="429 with Retry-After"),
    ],
)
def test_the_form_tries_again_under_the_same_key(
    form: LeadPage, fake_api: LeadApi, script: list[Script]
) -> None:
    fake_api.script.extend(script)
    form.fill(LEAD)
    form.send()
    assert form.reference() == "lead-1"
    assert fake_api.keys == [fake_api.keys[0]] * (len(script) + 1)
    assert form.replayed() == (script == ["break after"])


def test_a_retry_waits_as_long_as_the_answer_asks_and_says_that_it_tries_again(
    form: LeadPage, fake_api: LeadApi
) -> None:
    fake_api.script.append(Answer(503, headers={"Retry-After": "2"}))
    form.page.clock.install()
    form.fill(LEAD)
    form.send()
    expect(form.page.locator("#progress")).to_have_text("The connection is slow, trying again (2 of 6)")
    form.page.clock.run_for(1_900)
    assert len(fake_api.keys) == 1
    form.page.clock.run_for(200)
    form.reference()
    assert len(fake_api.keys) == 2


def test_when_every_attempt_fails_the_form_says_so_and_a_later_press_uses_the_same_key(
    form: LeadPage, fake_api: LeadApi
) -> None:
    fake_api.script.extend([Answer(503, headers={"Retry-After": "0"})] * 6)
    form.fill(LEAD)
    form.send()
    assert "your message cannot arrive twice" in form.summary()
    assert len(fake_api.keys) == 6
    form.send()
    form.reference()
    assert len(set(fake_api.keys)) == 1


@pytest.mark.parametrize(
    ("page", "status"),
    [
        pytest.param("<html><h1>Request blocked</h1></html>", 403, id="a firewall"),
        pytest.param("<html><h1>Too large</h1></html>", 413, id="a proxy"),
        pytest.param("", 400, id="nothing"),
        pytest.param('["no", "problem"]', 400, id="JSON, but no problem"),
        pytest.param('{"errors": "none of ours"}', 400, id="another's problem"),
        pytest.param('{"errors": [{"reason": "none of ours"}]}', 400, id="another's list of problems"),
    ],
)
def test_a_refusal_that_is_not_the_apis_is_final_too(
    form: LeadPage, fake_api: LeadApi, page: str, status: int
) -> None:
    fake_api.script.append(Answer(status, page, {"Content-Type": "text/html"}))
    form.fill(LEAD)
    form.send()
    assert f"({status})" in form.summary()
    assert len(fake_api.keys) == 1


@pytest.mark.parametrize("body", ["", "{}", "null", "created"])
def test_a_lead_is_taken_as_accepted_by_the_status_whatever_the_body(
    form: LeadPage, fake_api: LeadApi, body: str
) -> None:
    fake_api.script.append(Answer(201, body, {"Location": "/v1/leads/lead-9"}))
    form.fill(LEAD)
    form.send()
    assert form.reference() == "lead-9"
    assert len(fake_api.keys) == 1


def test_an_accepted_lead_without_a_reference_shows_none(form: LeadPage, fake_api: LeadApi) -> None:
    fake_api.script.append(Answer(201, ""))
    form.fill(LEAD)
    form.send()
    expect(form.page.locator("#done")).to_be_visible()
    expect(form.page.locator("#reference")).to_be_hidden()
    assert len(fake_api.keys) == 1


def test_a_browser_from_before_abort_signal_timeout_sends_too(form: LeadPage, fake_api: LeadApi) -> None:
    form.page.add_init_script("delete AbortSignal.timeout; delete AbortSignal.any;")
    form.page.reload()
    form.fill(LEAD)
    form.send()
    assert form.reference() == "lead-1"
    assert len(fake_api.keys) == 1


def test_after_a_minute_of_pauses_that_were_asked_for_the_visitor_is_told(
    form: LeadPage, fake_api: LeadApi
) -> None:
    fake_api.script.extend([Answer(503, headers={"Retry-After": "25"})] * 6)
    form.page.clock.install()
    form.fill(LEAD)
    form.send()
    for attempt in (2, 3):
        expect(form.page.locator("#progress")).to_contain_text(f"({attempt} of 6)")
        form.page.clock.run_for(25_000)
    # A third pause would end later than a minute after the button was pressed: there is none.
    assert "your message cannot arrive twice" in form.summary()
    assert len(fake_api.keys) == 3


def test_after_a_minute_without_an_answer_the_visitor_is_told(form: LeadPage, fake_api: LeadApi) -> None:
    fake_api.gate.clear()
    form.page.clock.install()
    form.fill(LEAD)
    with form.page.expect_request("**/v1/leads"):
        form.send()
    form.page.clock.run_for(30_000)
    with form.page.expect_request("**/v1/leads"):  # the second attempt, which gets what is left of the minute
        form.page.clock.run_for(1_000)
    form.page.clock.run_for(30_000)
    assert "your message cannot arrive twice" in form.summary()
    fake_api.gate.set()


def test_the_link_that_a_visitor_came_by_is_sent_and_the_page_says_so(
    form: LeadPage, fake_api: LeadApi
) -> None:
    form.page.goto(f"{form.page.url}?source=newsletter")
    form.fill(LEAD)
    form.send()
    form.reference()
    assert list(fake_api.leads.values()) == [{**LEAD, "source": "newsletter"}]
    assert "the name of the link that brought you" in form.page.locator(".promises").inner_text()


@pytest.mark.parametrize("typed", ["9999999999999.99", "0.1", "12345678901,5"])
def test_a_budget_is_sent_as_the_number_that_was_typed(form: LeadPage, fake_api: LeadApi, typed: str) -> None:
    form.fill({**LEAD, "budget": typed})
    form.send()
    form.reference()
    (lead,) = fake_api.leads.values()
    assert isinstance(lead, dict)
    assert Decimal(repr(lead["budget"])) == Decimal(typed.replace(",", "."))
