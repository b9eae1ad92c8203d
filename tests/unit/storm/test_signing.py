"""The storm's signatures are those that their owners publish."""

from __future__ import annotations

import hashlib
import hmac

import pytest

from loadtest.signing import SOURCES, STANDARD, STRIPE, sign

# The example of the Standard Webhooks libraries' own tests (github.com/standard-webhooks, libraries/).
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
MESSAGE, BODY, AT = "msg_p5jXN8AQM9LWM0D4loKWxJek", b'{"test": 2432232314}', 1614265330


def test_standard_webhooks_is_signed_as_its_owners_example() -> None:
    assert sign(STANDARD, SECRET, MESSAGE, BODY, AT) == {
        "webhook-id": MESSAGE,
        "webhook-timestamp": str(AT),
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


def test_stripe_is_signed_over_time_and_body_with_the_whole_secret() -> None:
    expected = hmac.new(SECRET.encode(), b"1614265330." + BODY, hashlib.sha256).hexdigest()
    assert sign(STRIPE, SECRET, MESSAGE, BODY, AT) == {"Stripe-Signature": f"t={AT},v1={expected}"}


@pytest.mark.parametrize("source", SOURCES)
def test_each_source_signs_its_very_body(source: str) -> None:
    assert sign(source, SECRET, MESSAGE, BODY, AT) != sign(source, SECRET, MESSAGE, BODY + b" ", AT)


def test_a_source_of_another_scheme_is_not_signed_wrongly() -> None:
    with pytest.raises(KeyError, match="github"):
        sign("github", SECRET, MESSAGE, BODY, AT)
