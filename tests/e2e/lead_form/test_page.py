"""What the lead form shows, to eyes, keyboards and screen readers, in headless Chromium."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.e2e.lead_form.fake_api import PUBLISHABLE_KEY, Answer, form_site
from tests.e2e.lead_form.page import LEAD, LeadPage

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.e2e.lead_form.fake_api import LeadApi

pytestmark = pytest.mark.browser


def test_the_faults_that_the_api_lists_stand_next_to_their_fields(form: LeadPage, fake_api: LeadApi) -> None:
    faults = [
        {
            "field": "/company",
            "rule": "string_too_long",
            "detail": "String should have at most 200 characters",
        },
        {"field": "/phone", "rule": "string_pattern_mismatch", "detail": "String should match pattern '^x$'"},
        {"field": "/source", "rule": "string_too_short", "detail": "String should have at least 1 character"},
    ]
    fake_api.script.append(Answer(400, {"status": 400, "errors": faults}))
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
        # 2**53 + 1, which is 2**53 in JavaScript, and the next longer number that is refused.
        ({**LEAD, "budget": "9007199254740993"}, "budget", "Enter a budget of at most 13 digits"),
        ({**LEAD, "budget": "10000000000000"}, "budget", "Enter a budget of at most 13 digits"),
    ],
)
def test_what_cannot_be_right_is_said_before_anything_is_sent(
    form: LeadPage, fake_api: LeadApi, typed: dict[str, str], field: str, said: str
) -> None:
    form.fill(typed)
    form.send()
    assert said in form.summary()
    assert form.error_of(field) == said
    assert fake_api.keys == []
    assert form.errors == []


def test_a_refusal_shows_the_reference_to_quote(form: LeadPage, fake_api: LeadApi) -> None:
    fake_api.script.append(Answer(403, {"status": 403, "correlationId": "c-123"}))
    form.fill(LEAD)
    form.send()
    assert "(403)" in form.summary()
    assert "c-123" in form.summary()
    assert len(fake_api.keys) == 1


def test_the_form_works_by_keyboard_alone(form: LeadPage, fake_api: LeadApi) -> None:
    form.page.keyboard.press("Tab")
    for text in ("Ada Lovelace", "ada@engines.example", "", "", "", "", "Hello"):
        form.page.keyboard.type(text)
        form.page.keyboard.press("Tab")
    form.page.keyboard.press("Enter")
    form.reference()
    expect(form.page.locator("#done-title")).to_be_focused()
    assert list(fake_api.leads.values()) == [
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


MARKUP = "<img src=x onerror=\"document.title='run'\"><b>bold</b>"


def test_markup_in_what_the_page_is_told_is_shown_as_text(chromium: Browser, fake_api: LeadApi) -> None:
    config = {"apiUrl": fake_api.url, "tenantName": MARKUP, "apiKey": PUBLISHABLE_KEY}
    with form_site(config) as url, chromium.new_context() as context:
        form = LeadPage(context.new_page(), url)
        expect(form.page.locator("#tenant")).to_have_text(MARKUP)
        fault = {"field": "/company", "rule": "x", "detail": MARKUP}
        fake_api.script.append(Answer(400, {"errors": [fault, {**fault, "field": MARKUP}]}))
        fake_api.script.append(Answer(403, {"correlationId": MARKUP}))
        fake_api.script.append(Answer(201, {"id": MARKUP}))
        form.fill(LEAD)
        form.send()
        assert form.summary().count(MARKUP) == 3
        assert form.error_of("company") == MARKUP
        form.send()
        expect(form.page.locator("#summary")).to_contain_text(
            f"(403). Please contact us another way. Reference: {MARKUP}"
        )
        form.send()
        assert form.reference() == MARKUP
        expect(form.page.locator("img, b")).to_have_count(0)
        assert form.page.title() == f"Get in touch with {MARKUP}"
        assert [
            line for line in form.errors if "status of 4" not in line
        ] == []  # the console's note of the two


@pytest.mark.parametrize("region", ["#notice", "#progress"])
def test_what_is_announced_later_has_its_place_from_the_beginning(form: LeadPage, region: str) -> None:
    place = form.page.locator(region)
    expect(place).to_have_text("")
    assert place.evaluate("each => getComputedStyle(each).display") == "block"
    assert place.evaluate("each => each.hidden") is False


def test_nothing_turns_for_a_visitor_who_wants_less_motion(form: LeadPage) -> None:
    name = "getComputedStyle(document.querySelector('.spinner')).animationName"
    assert form.page.evaluate(name) == "turn"
    form.page.emulate_media(reduced_motion="reduce")
    assert form.page.evaluate(name) == "none"
