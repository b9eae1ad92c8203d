"""`ingest`: what is refused, and what an outage looks like to a caller."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from handlers.domain.errors import Refused, Unavailable
from tests.builders import LEAD, NOW_MS, authorizer_context, in_progress, lead_event
from tests.fakes.receipts import InMemoryReceipts
from tests.unit.handlers.ingest_calls import LOG, ORIGIN, keyed, post, rules

if TYPE_CHECKING:
    from handlers.domain.ports import PutOutcome
    from handlers.domain.protocol import Claim
    from handlers.domain.receipt import Receipt


@pytest.fixture
def store() -> InMemoryReceipts:
    return InMemoryReceipts()


@pytest.mark.parametrize(
    ("body", "faults"),
    [
        ({}, [("/name", "missing")]),
        ({"name": "A"}, [("", "unreachable")]),
        (
            {"name": "", "email": "no", "phone": 5},
            [("/name", "string_too_short"), ("/email", "string_pattern_mismatch"), ("/phone", "string_type")],
        ),
        (
            LEAD | {"budget": -1, "message": "m" * 5001},
            [("/message", "string_too_long"), ("/budget", "greater_than_equal")],
        ),
        (LEAD | {"budget": "1000"}, [("/budget", "float_type")]),
        ([LEAD], [("", "model_type")]),
        ("lead", [("", "model_type")]),
        (None, [("", "model_type")]),
    ],
)
def test_every_fault_of_a_body_is_listed_and_nothing_is_written(
    store: InMemoryReceipts, body: object, faults: list[tuple[str, str]]
) -> None:
    answer = post(store, lead_event(raw=json.dumps(body)))
    assert (answer["statusCode"], rules(answer)) == (400, faults)
    assert answer["headers"]["Content-Type"] == "application/problem+json"
    assert store.writes == 0


def test_a_fault_is_told_in_the_words_of_the_field_and_not_of_the_validator(store: InMemoryReceipts) -> None:
    answer = post(store, lead_event({"name": " ", "email": "x", "phone": "no", "budget": -1}))
    assert [fault["detail"] for fault in json.loads(answer["body"])["errors"]] == [
        "must hold more than white space",
        "must be an e-mail address, such as name@example.com",
        "must be a phone number, such as +1 202 555 0100",
        "must be 0 or more",
    ]


def test_what_was_sent_is_never_repeated_in_a_refusal_or_the_log(
    store: InMemoryReceipts, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = post(store, lead_event(LEAD | {"email": "SECRET@@x"}))
    assert answer["statusCode"] == 400
    assert "string_pattern_mismatch" in LOG.getvalue()
    assert "SECRET" not in answer["body"] + capsys.readouterr().out + LOG.getvalue()


@pytest.mark.parametrize(
    ("raw", "status", "rule"),
    [
        (b"{", 400, "not_json"),
        (b'{"name":"A","name":"B","phone":"12345"}', 400, "duplicate_name"),
        (b'{"name":"\\ud800","phone":"12345"}', 400, "lone_surrogate"),
        (b'{"name":NaN}', 400, "not_finite"),
        ("", 400, "not_json"),
    ],
)
def test_what_is_not_json_is_400(store: InMemoryReceipts, raw: str | bytes, status: int, rule: str) -> None:
    answer = post(store, lead_event(raw=raw))
    assert (answer["statusCode"], [found for _, found in rules(answer)]) == (status, [rule])


def test_a_body_that_is_marked_as_base64_and_is_not_is_400(store: InMemoryReceipts) -> None:
    answer = post(store, lead_event(raw="%%%") | {"isBase64Encoded": True})
    assert (answer["statusCode"], rules(answer)) == (400, [("", "bad_base64")])


@pytest.mark.parametrize("over", [1, 2, 1000])
def test_a_body_over_the_tier_s_limit_is_413_before_any_claim(store: InMemoryReceipts, over: int) -> None:
    raw = json.dumps(LEAD | {"message": "é" * 600}, ensure_ascii=False).encode()
    small = authorizer_context(bodyLimitBytes=str(len(raw)))
    assert post(store, lead_event(raw=raw + b" " * over, authorizer=small))["statusCode"] == 413
    assert store.writes == 0
    assert post(store, lead_event(raw=raw, authorizer=small))["statusCode"] == 201


@pytest.mark.parametrize(
    "sent",
    [
        ("text/plain", "application/json"),
        ("application/json", "text/plain"),
        ("application/json", "application/json; charset=latin-1"),
        ("application/json\ud800",),
        ("application/json; charset=\ud800",),
        ("\u00e9\ud800",),
        ("application/json\r\nX: y",),
        (),
    ],
)
def test_two_media_types_or_one_that_no_header_holds_are_415(
    store: InMemoryReceipts, sent: tuple[str, ...]
) -> None:
    answer = post(store, lead_event(headers={"content-type": list(sent)}))
    assert (answer["statusCode"], store.items) == (415, {})


def test_a_media_type_that_is_sent_twice_alike_counts_once(store: InMemoryReceipts) -> None:
    sent = ["application/json", " application/json\t"]
    assert post(store, lead_event(headers={"content-type": sent}))["statusCode"] == 201


@pytest.mark.parametrize(
    "media",
    [
        "text/plain",
        "application/xml",
        "",
        "json",
        "application/jsonp",
        "application/cloudevents+json",
        "application/json, text/plain",
        "application/json; charset=latin-1",
        "application/json; profile=x; charset=latin-1",
        'application/json; charset="utf-16"',
        "application/json; charset=",
        "application/json; charset*=utf-8''utf-16",
        "application/json; charset=ü",
        "application/json; a*=x; a*0=y",
        "application/json\xa0",
        "application/json\x0c; charset=utf-8",
    ],
)
def test_another_media_type_is_415(store: InMemoryReceipts, media: str) -> None:
    assert post(store, lead_event(headers={"content-type": [media]}))["statusCode"] == 415


@pytest.mark.parametrize("origin", [None, "https://evil.example", "null"])
def test_a_publishable_key_works_from_its_origins_only(store: InMemoryReceipts, origin: str | None) -> None:
    publishable = authorizer_context(operations="leads:create", origins=ORIGIN)
    headers = {} if origin is None else {"origin": [origin]}
    assert post(store, lead_event(headers=headers, authorizer=publishable))["statusCode"] == 403
    good = post(store, lead_event(headers={"origin": [ORIGIN]}, authorizer=publishable))
    assert good["statusCode"] == 201
    assert good["headers"]["Access-Control-Allow-Origin"] == ORIGIN


@pytest.mark.parametrize(
    ("origin", "allowed"),
    [(ORIGIN, ORIGIN), ("https://evil.example", None), (ORIGIN + ".evil.example", None), (None, None)],
)
def test_only_the_stage_s_origins_may_see_answers_and_caches_are_told(
    store: InMemoryReceipts, origin: str | None, allowed: str | None
) -> None:
    headers = {} if origin is None else {"origin": [origin]}
    for body in (LEAD, {}):
        answer = post(store, lead_event(body, headers=headers))
        assert answer["headers"].get("Access-Control-Allow-Origin") == allowed
        exposed = answer["headers"].get("Access-Control-Expose-Headers", "").split(", ")
        assert ("X-Correlation-Id" in exposed) == (allowed is not None)
        assert answer["headers"]["Vary"] == "Origin"


def test_a_key_without_the_permission_is_403(store: InMemoryReceipts) -> None:
    answer = post(store, lead_event(authorizer=authorizer_context(operations="leads:read")))
    assert (answer["statusCode"], store.writes) == (403, 0)


class FailingStore(InMemoryReceipts):
    """A store that cannot be reached."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self._error = error

    def put(self, receipt: Receipt, claim: Claim) -> PutOutcome:
        raise self._error


@pytest.mark.parametrize(
    "error", [Unavailable("receipts", "ConnectTimeoutError"), Refused("receipts", "AccessDenied")]
)
def test_an_outage_is_503_with_retry_after_and_never_a_2xx(error: Exception) -> None:
    answer = post(FailingStore(error), keyed("k1"))
    assert (answer["statusCode"], answer["headers"]["Retry-After"]) == (503, "1")
    assert "Timeout" not in answer["body"]


def test_an_unforeseen_error_is_a_500_that_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    answer = post(FailingStore(RuntimeError("SECRET payload")), keyed("k1"))
    assert (answer["statusCode"], json.loads(answer["body"])["type"]) == (
        500,
        "urn:onceward:problem:internal-error",
    )
    output = capsys.readouterr().out + LOG.getvalue()
    assert "RuntimeError at intake.py" in output
    assert "SECRET" not in output + answer["body"]


def test_an_unfinished_claim_of_another_mode_is_never_overwritten(store: InMemoryReceipts) -> None:
    post(store, keyed("k1"))
    done = store.items["acme", "k1"]
    store.items["acme", "k1"] = in_progress(fingerprint=done.fingerprint, lease_until=NOW_MS + 2_500)
    running = post(store, keyed("k1"))
    assert (running["statusCode"], running["headers"]["Retry-After"]) == (409, "3")
    store.items["acme", "k1"] = in_progress(fingerprint=done.fingerprint, lease_until=0)
    assert post(store, keyed("k1"))["statusCode"] == 503
