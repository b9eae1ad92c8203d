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


@pytest.mark.parametrize(
    ("preset", "scheme", "least", "sender"),
    [
        ("shopify", "stripe", 3 * DAY, "stripe"),
        ("static-forms", "github", 3 * DAY, "github"),
        ("shopify", "standard-webhooks", 272_105, "standard-webhooks"),
        ("standard-webhooks", "shopify", 272_105, "standard-webhooks"),
        ("stripe", "shopify", 3 * DAY, "stripe"),
        ("stripe", "bearer", 3 * DAY, "stripe"),
    ],
)
def test_of_a_preset_beside_another_scheme_the_longer_retries_count(
    tmp_path: Path, preset: str, scheme: str, least: int, sender: str
) -> None:
    text = f"{{preset: {preset}, scheme: {scheme}, identity: {{path: id}}, windowSeconds: {least}}}"
    assert source(tmp_path, text).window_seconds == least
    check(
        tmp_path,
        f"webhooks: {{sources: {{forms: {text.replace(str(least), str(least - 1))}}}}}",
        "webhooks.sources.forms.windowSeconds",
        f"must be at least {least}: {sender} sends",
    )


def test_stripe_retries_for_three_days() -> None:
    assert PRESETS["stripe"].retries_seconds == 3 * DAY


@pytest.mark.parametrize(
    "path",
    [
        *("timestamp", "created", "data.created", "data.createdAt", "data.created_at", "event.sent_at"),
        *("time", "date", "data.eventTime", "order.orderDate", "data | created", "data.items[0].updated_at"),
        *("[0].created", "data.UPDATED_AT", "occurredAt"),
        *("timestampMs", "ts_ms", "eventTimeMs", "eventTimestampUtc", "createdOn", "created_on", "unixtime"),
        *("updated_utc", "data.epochMs", "createdAtISO8601", "createdAtUTC", "created_at_ms", "date_on"),
        *("createdat", "createdon", "updatedms", "unixtimestamp", "eventtime", "datecreated", "lastModified"),
        *("date_created_gmt", "dateUpdated", "epoch", "epochSeconds", "unix_ms", "occurredOn", "eventMillis"),
        *("timestamp_2", "sentUtc", "time_local", "createdAtOffset", "iat", "ms", "data.utc", "dateString"),
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


@pytest.mark.parametrize(
    "header",
    ["webhook-timestamp", "X-Shopify-Triggered-At", "Date", "X-Request-Time", "Last-Modified", "X-Time-Ms"],
)
def test_a_header_that_is_a_timestamp_is_never_an_identity(tmp_path: Path, header: str) -> None:
    text = f"webhooks: {{sources: {{forms: {{scheme: bearer, identity: {{header: {header}}}}}}}}}"
    check(tmp_path, text, "webhooks.sources.forms.identity.header", "must not be a timestamp")


@pytest.mark.parametrize(
    "path",
    [
        *("id", "data.submissionId", "data.format", "data.candidate.id", "timeline.id", "at", "mandate"),
        *("data.candidate", "update", "addOn", "add_on", "basedOn", "on", "contact_us", "us", "offset", "s"),
        *("created.id", "createdBy", "text", "status", "data.id_2", "sections", "events", "format_ms_id"),
    ],
)
def test_a_name_that_only_looks_like_a_time_may_be_one(tmp_path: Path, path: str) -> None:
    assert source(tmp_path, f"{{scheme: bearer, identity: {{path: {path}}}}}").event_identity.path == path


@pytest.mark.parametrize(
    "header",
    [
        *("Authorization", "authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-Api-Key"),
        *("X-API-KEY", "XApiKey", "X-Hub-Signature-256", "x-hub-signature", "Stripe-Signature"),
        *("X-Shopify-Hmac-Sha256", "X-Shopify-Hmac-SHA256", "webhook-signature", "svix-signature"),
        *("X-Gitlab-Token", "X-Form-Secret", "X-Auth", "Php-Auth-Pw", "X-Access-Key", "X-Sig"),
    ],
)
@pytest.mark.parametrize("path", ["", "path: id, "])
def test_a_header_that_proves_the_sender_is_never_an_identity(tmp_path: Path, header: str, path: str) -> None:
    text = f"webhooks: {{sources: {{forms: {{scheme: bearer, identity: {{{path}header: {header}}}}}}}}}"
    place = "webhooks.sources.forms.identity.header"
    check(tmp_path, text, place, "must not be a header by which a sender proves itself")


@pytest.mark.parametrize(
    "text",
    [
        "{scheme: header, header: X-Proof, identity: {header: X-Proof}}",
        "{scheme: header, header: X-Proof, identity: {header: x-proof}}",
        "{scheme: header, header: x-PROOF, identity: {path: id, header: X-Proof}}",
        "{preset: github, scheme: header, header: x-github-delivery}",
        "{preset: standard-webhooks, scheme: header, header: Webhook-Id}",
    ],
)
def test_the_header_of_the_secret_is_never_the_identity(tmp_path: Path, text: str) -> None:
    rule = "identity.header must not be a header by which a sender proves itself"
    check(tmp_path, f"webhooks: {{sources: {{forms: {text}}}}}", "webhooks.sources.forms", rule)


def test_no_header_that_a_preset_takes_an_id_from_is_a_secret_or_a_time(tmp_path: Path) -> None:
    for header in {known.header for known in PRESETS.values() if known.header} | {"X-Author-Id", "X-Event"}:
        text = f"{{scheme: header, header: X-Proof, identity: {{header: {header}}}}}"
        assert source(tmp_path, text).event_identity.header == header


@pytest.mark.parametrize(
    ("expression", "rule"),
    [
        *(
            ("data[", "must be JMESPath: "),
            ("a-b", "must be JMESPath: "),
            ("no_such(a)", "must be a path"),
        ),
        *(("'fixed'", "must name a member of the body"), ("@", "must name a member of the body")),
        *(
            ("items[*].id", "must give one value"),
            ("[a, b]", "must give one value"),
            ("{x: id}", "one value"),
        ),
        # Each gives something where nothing is.
        *((f"{function}(data.id)", "must be a path") for function in ("to_string", "type", "length", "keys")),
        *(
            (text, "must be a path")
            for text in ("data.id == `1`", "!id", "id || other", "id && other", "&id")
        ),
        *(
            (text, "must be a path")
            for text in ("join('-', [to_string(a), b])", "data | to_string(@) | [0].a")
        ),
        *(
            (text, "must be a path")
            for text in ("not_null(id, 'x')", "data.to_string(id)", "max_by(a, &b).c")
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


@pytest.mark.parametrize(
    "path", ["id", "data.id", "items[0].id", "items[-1]", "[0].id", "data | id", '\\"a-b\\".c']
)
def test_a_path_down_the_body_is_an_identity(tmp_path: Path, path: str) -> None:
    text = f'{{scheme: bearer, identity: {{path: "{path}"}}}}'
    assert source(tmp_path, text).event_identity.path == path.replace("\\", "")


@pytest.mark.parametrize(
    ("scheme", "header", "own"),
    [
        ("stripe", "X-Event-Id", ""),
        ("stripe", "webhook-id", ""),
        ("github", "X-Event-Id", " or X-GitHub-Delivery"),
        ("shopify", "X-Event-Id", " or X-Shopify-Webhook-Id"),
        ("standard-webhooks", "X-Event-Id", " or webhook-id"),
    ],
)
def test_a_header_that_no_signature_covers_is_no_identity_by_itself(
    tmp_path: Path, scheme: str, header: str, own: str
) -> None:
    text = f"{{scheme: {scheme}, identity: {{header: {header}}}}}"
    rule = f"a signature of {scheme} does not cover it, so that whoever has seen one event could send it "
    check(
        tmp_path,
        f"webhooks: {{sources: {{forms: {text}}}}}",
        "webhooks.sources.forms",
        f"{rule}again under any id; say identity.path{own}",
    )
    # Beside a path it has to agree with what is signed.
    both = source(tmp_path, text.replace("identity: {", "identity: {path: id, "))
    assert both.event_identity.header == header


@pytest.mark.parametrize(
    ("scheme", "header"),
    [
        ("github", "x-github-delivery"),
        ("shopify", "X-Shopify-Webhook-Id"),
        ("standard-webhooks", "Webhook-Id"),
        # The whole proof is a shared secret: whoever has it may say anything.
        ("bearer", "X-Event-Id"),
    ],
)
def test_the_header_that_a_sender_names_its_events_by_is_an_identity(
    tmp_path: Path, scheme: str, header: str
) -> None:
    assert (
        source(tmp_path, f"{{scheme: {scheme}, identity: {{header: {header}}}}}").event_identity.header
        == header
    )
