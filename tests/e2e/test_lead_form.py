"""The lead form in headless Chromium, against an API that can be made to fail at a chosen moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.fake_lead_api import PUBLISHABLE_KEY, Answer, LeadApi, form_site, lead_api
from tests.e2e.lead_page import LEAD, LeadPage, browser

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.fake_lead_api import Script

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as running:
        yield running


@pytest.fixture
def api() -> Iterator[LeadApi]:
    with lead_api() as running:
        yield running


@pytest.fixture
def form(chromium: Browser, api: LeadApi) -> Iterator[LeadPage]:
    config = {"apiUrl": api.url, "tenantName": "Acme Industries", "apiKey": PUBLISHABLE_KEY}
    with form_site(config) as url, chromium.new_context() as context:
        yield LeadPage(context.new_page(), url)


def test_a_lead_is_sent_as_it_was_typed_and_its_reference_shown(form: LeadPage, api: LeadApi) -> None:
    form.fill({**LEAD, "budget": "5000.50", "name": "  Ada Lovelace "})
    form.send()
    assert form.reference() == "lead-1"
    assert list(api.leads.values()) == [{**LEAD, "budget": 5000.5, "source": "lead-form"}]
    assert not form.replayed()
    assert form.errors == []


def test_a_double_click_makes_one_lead(form: LeadPage, api: LeadApi) -> None:
    form.fill(LEAD)
    form.page.dblclick("#send")
    form.reference()
    assert len(api.leads) == 1
    assert form.errors == []


def test_presses_while_the_answer_is_on_its_way_send_nothing_more(form: LeadPage, api: LeadApi) -> None:
    api.gate.clear()
    form.fill(LEAD)
    form.send()
    expect(form.page.locator("#send")).to_have_attribute("aria-disabled", "true")
    form.page.locator("#send").press("Enter")
    form.page.locator("#name").press("Enter")
    api.gate.set()
    form.reference()
    assert len(api.keys) == 1


def test_a_reload_and_resubmission_of_the_same_content_makes_one_lead(form: LeadPage, api: LeadApi) -> None:
    form.fill(LEAD)
    form.send()
    first = form.reference()
    form.page.reload()
    form.fill(LEAD)
    form.send()
    assert form.reference() == first
    assert form.replayed()
    assert len(api.leads) == 1
    assert form.errors == []


def test_a_message_whose_answer_was_lost_with_the_page_is_put_back_and_sent_once(
    form: LeadPage, api: LeadApi
) -> None:
    api.gate.clear()
    form.fill(LEAD)
    with form.page.expect_request("**/v1/leads"):
        form.send()
    form.page.reload()
    api.gate.set()
    expect(form.page.locator("#name")).to_have_value(LEAD["name"])
    expect(form.page.locator("#notice")).to_contain_text("it cannot arrive twice")
    form.send()
    form.reference()
    assert len(api.leads) == 1
    assert len(set(api.keys)) == 1


def test_an_edited_resubmission_makes_a_second_lead(form: LeadPage, api: LeadApi) -> None:
    form.fill(LEAD)
    form.send()
    first = form.reference()
    form.page.reload()
    form.fill({**LEAD, "message": "Make that Euler numbers."})
    form.send()
    assert form.reference() != first
    assert len(api.leads) == 2


def test_another_message_can_follow_and_is_another_lead(form: LeadPage, api: LeadApi) -> None:
    form.fill(LEAD)
    form.send()
    form.reference()
    form.page.click("#again")
    expect(form.page.locator("#name")).to_be_focused()
    form.fill({"name": "Charles Babbage", "phone": "+44 20 7946 0000"})
    form.send()
    assert form.reference() == "lead-2"
    assert list(api.leads.values())[1] == {
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
def test_the_form_tries_again_under_the_same_key(form: LeadPage, api: LeadApi, script: list[Script]) -> None:
    api.script.extend(script)
    form.fill(LEAD)
    form.send()
    assert form.reference() == "lead-1"
    assert api.keys == [api.keys[0]] * (len(script) + 1)
    assert form.replayed() == (script == ["break after"])


def test_a_retry_waits_as_long_as_the_answer_asks_and_says_that_it_tries_again(
    form: LeadPage, api: LeadApi
) -> None:
    api.script.append(Answer(503, headers={"Retry-After": "2"}))
    form.page.clock.install()
    form.fill(LEAD)
    form.send()
    expect(form.page.locator("#progress")).to_have_text("The connection is slow, trying again (2 of 6)")
    form.page.clock.run_for(1_900)
    assert len(api.keys) == 1
    form.page.clock.run_for(200)
    form.reference()
    assert len(api.keys) == 2


def test_when_every_attempt_fails_the_form_says_so_and_a_later_press_uses_the_same_key(
    form: LeadPage, api: LeadApi
) -> None:
    api.script.extend([Answer(503, headers={"Retry-After": "0"})] * 6)
    form.fill(LEAD)
    form.send()
    assert "your message cannot arrive twice" in form.summary()
    assert len(api.keys) == 6
    form.send()
    form.reference()
    assert len(set(api.keys)) == 1


def test_the_faults_that_the_api_lists_stand_next_to_their_fields(form: LeadPage, api: LeadApi) -> None:
    faults = [
        {
            "field": "/company",
            "rule": "string_too_long",
            "detail": "String should have at most 200 characters",
        },
        {"field": "/phone", "rule": "string_pattern_mismatch", "detail": "String should match pattern '^x$'"},
        {"field": "/source", "rule": "string_too_short", "detail": "String should have at least 1 character"},
    ]
    api.script.append(Answer(400, {"status": 400, "errors": faults}))
    form.fill({**LEAD, "phone": "+41 44 123 45 67"})
    form.send()
    assert [line for line in form.summary().splitlines() if line] == [
        "Please check what you entered",
        "String should have at most 200 characters",
        "Enter a phone number like +41 44 123 45 67",
        "source: String should have at least 1 character",
    ]
    assert form.error_of("company") == "String should have at most 200 characters"
    assert form.error_of("phone") == "Enter a phone number like +41 44 123 45 67"
    assert form.error_of("name") == ""
    expect(form.page.locator("#company")).to_have_attribute("aria-invalid", "true")
    expect(form.page.locator("#summary")).to_be_focused()
    form.page.click("#summary a >> nth=0")
    expect(form.page.locator("#company")).to_be_focused()


@pytest.mark.parametrize(
    ("typed", "field", "said"),
    [
        ({"email": "ada@engines.example"}, "name", "Enter your name"),
        ({"name": "Ada"}, "email", "Enter an email address or a phone number"),
        ({"name": "Ada", "email": "ada@engines"}, "email", "Enter an email address like name@example.com"),
        ({"name": "Ada", "phone": "soon"}, "phone", "Enter a phone number like +41 44 123 45 67"),
        ({**LEAD, "budget": "5,000"}, "budget", "Enter the budget as a number, like 5000"),
        ({**LEAD, "budget": "-1"}, "budget", "Enter the budget as a number, like 5000"),
    ],
)
def test_what_cannot_be_right_is_said_before_anything_is_sent(
    form: LeadPage, api: LeadApi, typed: dict[str, str], field: str, said: str
) -> None:
    form.fill(typed)
    form.send()
    assert said in form.summary()
    assert form.error_of(field) == said
    assert api.keys == []
    assert form.errors == []


def test_a_refusal_shows_the_reference_to_quote(form: LeadPage, api: LeadApi) -> None:
    api.script.append(Answer(403, {"status": 403, "correlationId": "c-123"}))
    form.fill(LEAD)
    form.send()
    assert "(403)" in form.summary()
    assert "c-123" in form.summary()
    assert len(api.keys) == 1


def test_the_form_works_by_keyboard_alone(form: LeadPage, api: LeadApi) -> None:
    form.page.keyboard.press("Tab")
    for text in ("Ada Lovelace", "ada@engines.example", "", "", "", "", "Hello"):
        form.page.keyboard.type(text)
        form.page.keyboard.press("Tab")
    form.page.keyboard.press("Enter")
    form.reference()
    expect(form.page.locator("#done-title")).to_be_focused()
    assert list(api.leads.values()) == [
        {"name": "Ada Lovelace", "email": "ada@engines.example", "message": "Hello", "source": "lead-form"}
    ]


def test_a_screen_reader_hears_every_field_by_its_label(form: LeadPage) -> None:
    labels = ("Name", "Email", "Phone", "Company", "Job title", "Budget", "Message")
    for label in labels:
        expect(form.page.get_by_role("textbox", name=label)).to_have_count(1)
    expect(form.page.get_by_role("textbox")).to_have_count(len(labels))
    expect(form.page.get_by_role("group", name="How can we reach you?")).to_have_count(1)
    expect(form.page.get_by_role("heading", level=1)).to_have_count(1)


def test_a_page_without_its_config_says_that_it_is_not_set_up(chromium: Browser) -> None:
    with form_site(None) as url, chromium.new_context() as context:
        form = LeadPage(context.new_page(), url)
        expect(form.page.locator("#notice")).to_contain_text("not set up")
        form.fill(LEAD)
        form.send()
        assert "nothing was sent" in form.summary()


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_nothing_is_cut_off_at_any_width(form: LeadPage, width: int) -> None:
    form.page.set_viewport_size({"width": width, "height": 800})
    assert form.page.evaluate("document.documentElement.scrollWidth") == width
