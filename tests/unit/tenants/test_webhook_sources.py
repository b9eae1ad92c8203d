"""Each rule of a webhook source: presets, identities, windows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tenants.presets import PRESETS, SENDERS, TOLERANCE_SECONDS
from tests.unit.tenants.files import check, source

if TYPE_CHECKING:
    from pathlib import Path

DAY = 86_400


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_a_preset_is_enough(tmp_path: Path, preset: str) -> None:
    read = source(tmp_path, f"{{preset: {preset}}}")
    known = PRESETS[read.preset or "stripe"]
    assert read.proof_scheme == known.scheme
    assert (read.event_identity.path, read.event_identity.header) == (known.path, known.header)
    assert (read.window_seconds, read.tolerance_seconds) == (30 * DAY, TOLERANCE_SECONDS)


def test_what_is_written_out_goes_before_the_preset(tmp_path: Path) -> None:
    read = source(
        tmp_path,
        "{preset: stripe, scheme: basic, identity: {path: data.id}, "
        "toleranceSeconds: 60, windowSeconds: 300000}",
    )
    assert (read.proof_scheme, read.event_identity.filled_template) == ("basic", "{data.id}")
    assert (read.tolerance_seconds, read.window_seconds) == (60, 300_000)


@pytest.mark.parametrize(
    ("text", "field", "rule"),
    [
        ("{}", "", "must have a preset, or say scheme"),
        ("{scheme: bearer}", "", "must have a preset, or say identity"),
        ("{preset: paypal}", ".preset", "must be 'stripe', 'github'"),
        ("{scheme: hmac, identity: {path: id}}", ".scheme", "must be 'bearer', 'basic'"),
        ("{scheme: header, identity: {path: id}}", "", "must have a header with the scheme 'header'"),
        ("{preset: stripe, header: X-Secret}", "", "must have a header with the scheme 'header'"),
        ("{preset: stripe, scheme: header, header: 'X Y'}", ".header", "must be the name of a header"),
        ("{preset: stripe, toleranceSeconds: 29}", ".toleranceSeconds", "greater than or equal to 30"),
        ("{preset: stripe, identity: {}}", ".identity", "must have a path or a header"),
        ("{preset: stripe, identity: {header: X-Id, template: 'a:{id}'}}", ".identity", "must have a path"),
        (
            "{preset: stripe, destination: {url: 'https://a.example/{id}', method: PATCH}}",
            ".destination.method",
            "'PUT'",
        ),
    ],
)
def test_a_source_that_is_not_complete_is_told(tmp_path: Path, text: str, field: str, rule: str) -> None:
    check(tmp_path, f"webhooks: {{sources: {{forms: {text}}}}}", f"webhooks.sources.forms{field}", rule)


@pytest.mark.parametrize("sender", sorted(SENDERS.values()))
@pytest.mark.parametrize("by", ["preset", "scheme"])
def test_a_window_shorter_than_the_sender_retries_is_refused(tmp_path: Path, sender: str, by: str) -> None:
    horizon = next(known.retries_seconds for name, known in PRESETS.items() if name == sender)
    text = f"{{{by}: {sender}, identity: {{path: id}}, windowSeconds: {horizon}}}"
    assert source(tmp_path, text).window_seconds == horizon
    check(
        tmp_path,
        f"webhooks: {{sources: {{forms: {text.replace(str(horizon), str(horizon - 1))}}}}}",
        "webhooks.sources.forms.windowSeconds",
        f"must be at least {horizon}: {sender} sends an event again until then",
    )


def test_stripe_retries_for_three_days() -> None:
    assert PRESETS["stripe"].retries_seconds == 3 * DAY


@pytest.mark.parametrize(
    "path",
    [
        *("timestamp", "created", "data.created", "data.createdAt", "data.created_at", "event.sent_at"),
        *("time", "date", "data.eventTime", "order.orderDate", "id || created", "data.items[0].updated_at"),
        *("join(':', [data.id, data.date])", "to_string(created)", "data.UPDATED_AT", "occurredAt"),
    ],
)
def test_a_timestamp_is_never_an_identity(tmp_path: Path, path: str) -> None:
    place = "webhooks.sources.forms.identity"
    text = f'{{scheme: bearer, identity: {{path: "{path}"}}}}'
    check(tmp_path, f"webhooks: {{sources: {{forms: {text}}}}}", f"{place}.path", "must not be a timestamp")
    text = f'{{scheme: bearer, identity: {{path: id, template: "{{id}}:{{{path}}}"}}}}'
    check(
        tmp_path, f"webhooks: {{sources: {{forms: {text}}}}}", f"{place}.template", "must not be a timestamp"
    )


@pytest.mark.parametrize("header", ["webhook-timestamp", "X-Shopify-Triggered-At", "Date", "X-Request-Time"])
def test_a_header_that_is_a_timestamp_is_never_an_identity(tmp_path: Path, header: str) -> None:
    text = f"webhooks: {{sources: {{forms: {{scheme: bearer, identity: {{header: {header}}}}}}}}}"
    check(tmp_path, text, "webhooks.sources.forms.identity.header", "must not be a timestamp")


@pytest.mark.parametrize(
    "path", ["id", "data.submissionId", "data.format", "data.candidate.id", "timeline.id", "at"]
)
def test_a_name_that_only_looks_like_a_time_may_be_one(tmp_path: Path, path: str) -> None:
    assert source(tmp_path, f"{{scheme: bearer, identity: {{path: {path}}}}}").event_identity.path == path


@pytest.mark.parametrize(
    ("expression", "rule"),
    [
        *(
            ("data[", "must be JMESPath: "),
            ("a-b", "must be JMESPath: "),
            ("no_such(a)", "must be JMESPath: "),
        ),
        *(("'fixed'", "must name a member of the body"), ("@", "must name a member of the body")),
        *(
            ("items[*].id", "must give one value"),
            ("[a, b]", "must give one value"),
            ("{x: id}", "one value"),
        ),
    ],
)
def test_an_expression_that_gives_no_one_member_is_refused(
    tmp_path: Path, expression: str, rule: str
) -> None:
    text = f'{{scheme: bearer, identity: {{path: "{expression}"}}}}'
    check(tmp_path, f"webhooks: {{sources: {{forms: {text}}}}}", "webhooks.sources.forms.identity.path", rule)


@pytest.mark.parametrize(
    ("template", "rule"),
    [
        *(
            ("fixed", "must hold at least one {path}"),
            ("{id}}", "no brace besides"),
            ("{a[}", "must be JMESPath"),
        ),
        *(("{a}{b}", "must have a mark"), ("{a}x{b}", "must have a mark"), ("{a}%{b}", "must have a mark")),
    ],
)
def test_a_template_that_makes_no_identity_is_refused(tmp_path: Path, template: str, rule: str) -> None:
    text = f'{{scheme: bearer, identity: {{path: id, template: "{template}"}}}}'
    place = "webhooks.sources.forms.identity.template"
    check(tmp_path, f"webhooks: {{sources: {{forms: {text}}}}}", place, rule)
