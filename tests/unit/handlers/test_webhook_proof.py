"""Proofs of senders, against what the schemes' owners publish: their vectors, and their own libraries."""

from __future__ import annotations

import base64
import hmac
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
import standardwebhooks
import stripe
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.handlers.webhook_vectors import NOW, STANDARD, STRIPE, VECTORS, reason

if TYPE_CHECKING:
    from handlers.domain.webhook_proof import Scheme

each_vector = pytest.mark.parametrize(
    ("scheme", "secret", "headers", "body", "at"), VECTORS, ids=[vector[0] for vector in VECTORS]
)


@each_vector
def test_a_published_signature_verifies(
    scheme: Scheme, secret: str, headers: dict[str, str], body: bytes, at: int
) -> None:
    assert reason(scheme, [secret], headers, body, at) is None
    upper = {name.upper(): value for name, value in headers.items()}
    assert reason(scheme, ["another", secret], upper, body, at) is None


@each_vector
def test_one_flipped_bit_of_the_body_or_a_wrong_secret_does_not(
    scheme: Scheme, secret: str, headers: dict[str, str], body: bytes, at: int
) -> None:
    for position in range(len(body) * 8):
        flipped = bytearray(body)
        flipped[position // 8] ^= 1 << position % 8
        assert reason(scheme, [secret], headers, bytes(flipped), at) == "no_match"
    assert reason(scheme, [secret], headers, body + b"\n", at) == "no_match"
    for wrong in (secret[:-1], secret + "A", "whsec_" + secret, secret.upper()):
        assert reason(scheme, [wrong], headers, body, at) == "no_match"
    assert reason(scheme, [], headers, body, at) == "no_secret"


@each_vector
def test_one_changed_character_of_a_signature_does_not(
    scheme: Scheme, secret: str, headers: dict[str, str], body: bytes, at: int
) -> None:
    name = next(name for name in headers if "sign" in name.lower() or "hmac" in name.lower())
    start = headers[name].find("v1=") + 3 if scheme == "stripe" else headers[name].find("v1,") + 3
    end = headers[name].find(",v0") if scheme == "stripe" else len(headers[name])
    for position in range(max(start, 0), end):
        sent = headers[name]
        other = "0" if sent[position] != "0" else "1"
        changed = sent[:position] + other + sent[position + 1 :]
        assert reason(scheme, [secret], headers | {name: changed}, body, at) is not None


@pytest.mark.parametrize("vector", [STANDARD, STRIPE], ids=["standard-webhooks", "stripe"])
@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (-301, "too_old_or_new"),
        (-300, None),
        (300, None),
        (300.5, "too_old_or_new"),
        (10**9, "too_old_or_new"),
    ],
)
def test_a_signature_s_time_may_differ_by_the_tolerance_either_way(
    vector: tuple[Scheme, str, dict[str, str], bytes, int], seconds: float, expected: str | None
) -> None:
    scheme, secret, headers, body, at = vector
    assert reason(scheme, [secret], headers, body, at + seconds) == expected


@pytest.mark.parametrize(
    "time_sent", ["", "soon", "-1614265330", "1614265330.0", " ", "\uff11\uff16", "9" * 400, "0x5"]
)
def test_a_time_that_is_no_number_of_seconds_is_refused(time_sent: str) -> None:
    scheme, secret, headers, body, at = STANDARD
    sent = headers | {"webhook-timestamp": time_sent}
    assert reason(scheme, [secret], sent, body, at) in {"malformed", "header_missing"}
    stripe_header = f"t={time_sent},v1=ab"
    assert reason("stripe", [secret], {"Stripe-Signature": stripe_header}, body, at) == "malformed"


def test_the_time_is_signed_so_that_a_new_one_does_not_revive_an_old_signature() -> None:
    scheme, secret, headers, body, _ = STANDARD
    assert reason(scheme, [secret], headers | {"webhook-timestamp": str(NOW)}, body) == "no_match"
    assert reason(scheme, [secret], headers | {"webhook-id": "msg_other"}, body, STANDARD[4]) == "no_match"
    renewed = STRIPE[2]["Stripe-Signature"].replace("1533204620", str(NOW))
    assert reason("stripe", ["webhook_secret"], {"Stripe-Signature": renewed}, STRIPE[3]) == "no_match"


def test_several_signatures_are_a_sender_s_rotation_and_only_version_1_counts() -> None:
    scheme, secret, headers, body, at = STANDARD
    good = headers["webhook-signature"]
    for several in (f"v1,bm9wZQ== {good}", f"{good} v1,bm9wZQ==", f"v1a,xyz v2,abc {good}", f"  {good}"):
        assert reason(scheme, [secret], headers | {"webhook-signature": several}, body, at) is None
    for none in (
        good.replace("v1,", "v1a,"),
        good.replace("v1,", "v2,"),
        good.replace("v1,", ""),
        "v1,",
        "v1",
    ):
        assert reason(scheme, [secret], headers | {"webhook-signature": none}, body, at) == "no_match"

    signed = STRIPE[2]["Stripe-Signature"].split(",")[1]
    for items, expected in (
        (f"t=1533204620,v1=00,{signed}", None),
        (f"{signed},v1=00,v0=1,t=1533204620", None),
        (f"t=1533204620,v0={signed[3:]}", "no_match"),
        ("t=1533204620", "no_match"),
        (signed, "malformed"),
        (f"t=1533204620,t=1533204621,{signed}", "malformed"),
    ):
        sent = {"Stripe-Signature": items}
        assert reason("stripe", ["webhook_secret"], sent, STRIPE[3], STRIPE[4]) == expected


def test_a_standard_webhooks_secret_may_lack_prefix_and_padding_and_what_is_no_base64_opens_nothing() -> None:
    scheme, secret, headers, body, at = STANDARD
    assert reason(scheme, [secret.removeprefix("whsec_")], headers, body, at) is None
    for none in ("whsec_", "whsec_!!!", "whsec_é", "=", "whsec_A"):
        assert reason(scheme, [none], headers, body, at) == "no_match"
        assert reason(scheme, [none, secret], headers, body, at) is None
    assert reason(scheme, [secret.replace("8", "!8")], headers, body, at) == "no_match"


def test_a_secret_without_a_key_in_it_is_no_key_that_a_stranger_can_sign_with() -> None:
    scheme, _, headers, body, at = STANDARD
    signed = f"{headers['webhook-id']}.{at}.".encode() + body
    empty = base64.b64encode(hmac.digest(b"", signed, "sha256")).decode()
    sent = headers | {"webhook-signature": f"v1,{empty}"}
    for secret in ("whsec_", "whsec_=", "="):
        assert reason(scheme, [secret], sent, body, at) == "no_match"


@given(body=st.text(max_size=40), secret=st.text("abcdefgh_0129é", min_size=1, max_size=20))
@settings(max_examples=40, deadline=None)
def test_what_stripe_s_own_library_signs_verifies(body: str, secret: str) -> None:
    header = stripe.WebhookSignature.generate_signature_header(body, secret, timestamp=NOW)
    assert reason("stripe", ["older", secret], {"stripe-signature": header}, body.encode()) is None
    assert reason("stripe", [secret], {"stripe-signature": header}, body.encode() + b" ") == "no_match"


@given(
    body=st.text(max_size=40),
    key=st.binary(min_size=1, max_size=40),
    event_id=st.text("abc-_.0é", min_size=1),
)
@settings(max_examples=40, deadline=None)
def test_what_the_standard_webhooks_library_signs_verifies(body: str, key: bytes, event_id: str) -> None:
    signature = standardwebhooks.Webhook(key).sign(event_id, datetime.fromtimestamp(NOW, UTC), body)
    headers = {"webhook-id": event_id, "webhook-timestamp": str(NOW), "webhook-signature": signature}
    secret = "whsec_" + base64.b64encode(key).decode()
    assert reason("standard-webhooks", [secret], headers, body.encode()) is None
    assert reason("standard-webhooks", [secret], headers, body.encode() + b" ") == "no_match"


def test_the_libraries_refuse_what_we_refuse_and_take_what_we_take() -> None:
    at = int(time.time())
    ours = stripe.WebhookSignature.generate_signature_header("{}", "s", timestamp=at)
    assert stripe.WebhookSignature.verify_header("{}", ours, "s", 300)
    assert reason("stripe", ["s"], {"stripe-signature": ours}, b"{}", at) is None
    old = stripe.WebhookSignature.generate_signature_header("{}", "s", timestamp=at - 400)
    with pytest.raises(stripe.SignatureVerificationError):
        stripe.WebhookSignature.verify_header("{}", old, "s", 300)
    assert reason("stripe", ["s"], {"stripe-signature": old}, b"{}", at) == "too_old_or_new"
    scheme, secret, headers, body, then = STANDARD
    with pytest.raises(standardwebhooks.WebhookVerificationError):
        standardwebhooks.Webhook(secret).verify(body, headers)
    assert reason(scheme, [secret], headers, body, at) == "too_old_or_new"
    assert then < at


BASIC = base64.b64encode(b"forms:pass:word").decode()


@pytest.mark.parametrize(
    ("scheme", "sent", "expected"),
    [
        ("bearer", "Bearer s3cret", None),
        ("bearer", "bearer  s3cret ", None),
        ("bearer", "Bearer s3cret2", "no_match"),
        ("bearer", "Bearer S3cret", "no_match"),
        ("bearer", "Bearer", "malformed"),
        ("bearer", "s3cret", "malformed"),
        ("bearer", "Basic s3cret", "malformed"),
        ("bearer", "", "header_missing"),
        ("basic", f"Basic {BASIC}", None),
        ("basic", f"basic {BASIC}", None),
        ("basic", f"Bearer {BASIC}", "malformed"),
        ("basic", "Basic forms:pass:word", "malformed"),
        ("basic", "Basic Zm9ybXM=", "no_match"),
        ("basic", "Basic é", "malformed"),
    ],
)
def test_credentials_in_authorization(scheme: Any, sent: str, expected: str | None) -> None:
    secrets = ["newer", "s3cret", "forms:pass:word"]
    assert reason(scheme, secrets, {"authorization": sent}) == expected


def test_a_custom_header_holds_the_secret() -> None:
    for sent, expected in (
        ("s3cret", None),
        (" s3cret\t", None),
        ("s3cre", "no_match"),
        ("", "header_missing"),
    ):
        assert reason("header", ["s3cret"], {"x-form-token": sent}, header="X-Form-Token") == expected
    assert reason("header", ["s3cret"], {}, header="X-Form-Token") == "header_missing"


@pytest.mark.parametrize("vector", VECTORS, ids=[vector[0] for vector in VECTORS])
@pytest.mark.parametrize("strange", ["é", "\ud800", "\x00", "日本", "v1=\ud800,t=1", "v1,\ud800"])
def test_a_header_of_any_characters_is_no_match_and_no_error(
    vector: tuple[Scheme, str, dict[str, str], bytes, int], strange: str
) -> None:
    scheme, secret, headers, body, at = vector
    for name in headers:
        assert reason(scheme, [secret], headers | {name: strange}, body, at) is not None
    assert reason("bearer", [secret], {"authorization": f"Bearer {strange}"}) == "no_match"
    assert reason("header", [secret], {"x": strange}, header="x") == "no_match"


@pytest.mark.parametrize("vector", VECTORS, ids=[vector[0] for vector in VECTORS])
def test_a_header_sent_twice_counts_once_when_both_say_the_same_and_is_refused_when_not(
    vector: tuple[Scheme, str, dict[str, str], bytes, int],
) -> None:
    scheme, secret, headers, body, at = vector
    for name, value in headers.items():
        assert reason(scheme, [secret], headers | {name: [value, value]}, body, at) is None
        for twice in ([value, "other"], ["other", value]):
            sent: Any = headers | {name: twice}
            assert reason(scheme, [secret], sent, body, at) == "header_twice"
