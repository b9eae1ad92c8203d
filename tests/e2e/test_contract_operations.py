"""Section 3 of the contract for orders, payments and appointments, through the deployed API.

Leads have test_contract.py, webhooks test_contract_webhooks.py.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.api import Api, assert_problem, eventually, fresh_key
from tests.e2e.operations import APPOINTMENTS, BESIDE_LEADS, KEYED, LEADS, ORDERS, PAYMENTS, Operation, text

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.platform

VARIANTS = [
    pytest.param(operation, variant, id=f"{operation.name}-{number}")
    for operation in BESIDE_LEADS
    for number, variant in enumerate(operation.variants)
]
INVALID = [
    pytest.param(operation, body, fields, id=f"{operation.name}-{number}")
    for operation in BESIDE_LEADS
    for number, (body, fields) in enumerate(operation.invalid)
]
each_operation = pytest.mark.parametrize("operation", BESIDE_LEADS, ids=lambda each: each.name)
each_keyed_operation = pytest.mark.parametrize("operation", KEYED, ids=lambda each: each.name)


@pytest.mark.parametrize(("operation", "variant"), VARIANTS)
def test_a_new_request_is_done_and_can_be_read(
    alpha: Api, operation: Operation, variant: dict[str, Any]
) -> None:
    body = operation.body() | variant
    answer = operation.send(alpha, body)
    assert answer.status_code == operation.status, answer.text
    assert not {"Idempotent-Replayed", "Idempotency-First-Seen"} & set(answer.headers)
    made = answer.json()
    assert set(made) == operation.answered
    assert answer.headers["Location"] == f"{operation.path}/{made['id']}"
    stored = alpha.get(answer.headers["Location"])
    assert stored.status_code == 200
    assert stored.json()[operation.member] == body
    assert (stored.json()["id"], stored.json()["createdAt"]) == (made["id"], made["createdAt"])


@pytest.mark.parametrize(("operation", "variant"), VARIANTS)
def test_the_same_request_is_replayed_byte_for_byte(
    alpha: Api, operation: Operation, variant: dict[str, Any]
) -> None:
    body, key = operation.body() | variant, fresh_key()
    first = operation.send(alpha, body, key)
    again = operation.send(alpha, None, key, raw=text(body))
    assert again.headers["Idempotent-Replayed"] == "true"
    assert (again.status_code, again.content) == (first.status_code, first.content)
    for name in ("Location", "Content-Type"):
        assert again.headers[name] == first.headers[name]
    assert again.headers["Idempotency-First-Seen"] == first.json()["createdAt"]
    left = _time(again.headers["Idempotency-Expires"]) - _time(first.json()["createdAt"])
    assert left.total_seconds() == (10 if operation is APPOINTMENTS else 86_400)


@each_operation
def test_another_body_under_the_key_is_422_and_names_what_differs(alpha: Api, operation: Operation) -> None:
    body, key = operation.body(), fresh_key()
    first = operation.send(alpha, body, key)
    for change in (operation.other, {"unheard": 1}, {**operation.other, "unheard": [1]}):
        problem = assert_problem(operation.send(alpha, body | change, key), 422, "key-reused")
        for name in change:
            assert name in str(problem["detail"])
        assert not any(str(value) in str(problem["detail"]) for value in change.values() if value != 1)
    assert operation.send(alpha, body, key).content == first.content


@each_keyed_operation
@pytest.mark.parametrize("other", [LEADS, ORDERS, PAYMENTS], ids=lambda each: each.name)
def test_a_key_of_another_operation_is_422(alpha: Api, operation: Operation, other: Operation) -> None:
    if other is operation:
        other = LEADS
    key = fresh_key()
    assert operation.send(alpha, None, key).status_code == operation.status
    assert_problem(other.send(alpha, None, key), 422, "key-reused")


@each_keyed_operation
@pytest.mark.parametrize(
    ("key", "rule"),
    [
        ("", "blank"),
        ("k" * 256, "too_long"),
        ("a b", "not_visible_ascii"),
        ('"unbalanced', "bad_quoting"),
    ],
)
def test_a_bad_key_is_400_and_names_the_rule(alpha: Api, operation: Operation, key: str, rule: str) -> None:
    problem = assert_problem(operation.send(alpha, None, key), 400, "invalid-key")
    assert [fault["rule"] for fault in problem["errors"]] == [rule]  # type: ignore[attr-defined]


@each_keyed_operation
def test_a_key_that_is_missing_or_sent_with_two_values_is_400(alpha: Api, operation: Operation) -> None:
    for _ in range(3):
        assert_problem(alpha.post(operation.body(), path=operation.path), 400, "invalid-key")
    for second in ("b", "A", '"b"'):
        headers = [("Idempotency-Key", "a-2"), ("Idempotency-Key", second + "-2")]
        assert_problem(alpha.post(operation.body(), path=operation.path, headers=headers), 400, "invalid-key")


@pytest.mark.parametrize(("operation", "body", "fields"), INVALID)
def test_a_body_that_fails_validation_is_400_and_lists_every_fault(
    alpha: Api, operation: Operation, body: object, fields: set[str]
) -> None:
    problem = assert_problem(operation.send(alpha, body), 400, "invalid-body")
    assert {fault["field"] for fault in problem["errors"]} == fields  # type: ignore[attr-defined]


@each_operation
@pytest.mark.parametrize(
    ("raw", "rule"),
    [
        (b"", "not_json"),
        (b'{"a":NaN}', "not_finite"),
        (b'{"a":1,"a":1}', "duplicate_name"),
        (b'{"a":"\\ud83d"}', "lone_surrogate"),
    ],
)
def test_a_body_that_is_not_strict_json_is_400(
    alpha: Api, operation: Operation, raw: bytes, rule: str
) -> None:
    problem = assert_problem(operation.send(alpha, raw=raw), 400, "invalid-body")
    assert [fault["rule"] for fault in problem["errors"]] == [rule]  # type: ignore[attr-defined]


@each_operation
def test_a_body_over_the_limit_is_413_and_another_media_type_415(alpha: Api, operation: Operation) -> None:
    for size in (131_073, 140_000, 200_000):
        assert_problem(operation.send(alpha, raw=b" " * size), 413, "body-too-large")
    for media in ("text/plain", "application/x-www-form-urlencoded", "application/xml"):
        headers = {"content-type": media, "Idempotency-Key": fresh_key()}
        assert_problem(operation.send(alpha, headers=headers), 415, "unsupported-media-type")


@each_operation
def test_who_is_not_known_is_401_or_403(
    alpha: Api, anonymous: Api, caller: Callable[..., Api], operation: Operation
) -> None:
    stranger, closed = Api(alpha.url, "x" * 40, alpha.client), caller("closed")
    web = caller("alpha", "web")
    for _ in range(3):
        assert_problem(operation.send(anonymous), 401, "unauthorized")
        assert_problem(operation.send(stranger), 403, "forbidden")
        assert_problem(operation.send(closed), 403, "forbidden")
        # A key for leads opens no other operation.
        assert_problem(operation.send(web), 403, "forbidden")


def test_a_tenant_without_a_provider_has_no_payments(caller: Callable[..., Api]) -> None:
    for tenant in ("beta", "gamma", "strict"):
        assert_problem(PAYMENTS.send(caller(tenant)), 403, "forbidden")


@each_operation
def test_unknown_paths_are_404_and_other_methods_405(alpha: Api, operation: Operation) -> None:
    for path in (f"{operation.path}x", f"{operation.path}/a/b", operation.path[:-1]):
        assert_problem(alpha.get(path), 404, "not-found")
    for method in ("GET", "DELETE", "PUT"):
        answer = alpha.request(method, operation.path)
        assert_problem(answer, 405, "method-not-allowed", by_mock=True)
        assert {word.strip() for word in answer.headers["Allow"].split(",")} == {"POST", "OPTIONS"}


@each_operation
def test_over_the_rate_is_429_and_another_tenant_does_not_notice(
    caller: Callable[..., Api], alpha: Api, operation: Operation
) -> None:
    narrow = caller("narrow")
    answers = [operation.send(narrow) for _ in range(8)]
    refused = [answer for answer in answers if answer.status_code == 429]
    assert len(refused) >= 3
    for answer in refused:
        assert_problem(answer, 429, "rate-limited")
    assert operation.send(alpha).status_code == operation.status


@each_operation
def test_another_tenant_s_record_is_404(alpha: Api, caller: Callable[..., Api], operation: Operation) -> None:
    places = [operation.send(alpha).headers["Location"] for _ in range(3)]
    assert [alpha.get(place).status_code for place in places] == [200, 200, 200]
    # One table holds all records: an id of one operation is nothing to the others.
    asked = [(caller("beta"), place) for place in places]
    asked += [(alpha, f"/v1/leads/{place.rsplit('/', 1)[1]}") for place in places]
    # At once: each is looked for as long as it might be on its way.
    with ThreadPoolExecutor(len(asked)) as pool:
        for answer in pool.map(lambda one: one[0].get(one[1]), asked):
            assert_problem(answer, 404, "not-found")


@each_keyed_operation
def test_a_receipt_says_what_became_of_the_key(alpha: Api, operation: Operation) -> None:
    for _ in range(3):
        key = fresh_key()
        answer = operation.send(alpha, None, key)
        receipt = alpha.get(f"/v1/receipts/{key}").json()
        assert (receipt["operation"], receipt["status"]) == (operation.name, "COMPLETED")
        assert (receipt["record"], receipt["firstSeen"]) == (
            answer.headers["Location"],
            answer.json()["createdAt"],
        )


@each_keyed_operation
def test_the_same_key_under_two_tenants_is_two_requests(
    alpha: Api, caller: Callable[..., Api], operation: Operation
) -> None:
    for _ in range(3):
        body, key = operation.body(), fresh_key()
        answers = [operation.send(api, body, key) for api in (alpha, caller("delta"))]
        assert [answer.status_code for answer in answers] == [operation.status] * 2
        assert len({answer.json()["id"] for answer in answers}) == 2


def test_after_its_window_an_appointment_is_a_new_request_and_the_slot_answers(alpha: Api) -> None:
    body = APPOINTMENTS.body()
    assert APPOINTMENTS.send(alpha, body).status_code == 201

    def later() -> dict[str, object] | None:
        answer = APPOINTMENTS.send(alpha, body)
        if answer.status_code == 201:
            assert answer.headers["Idempotent-Replayed"] == "true"
            return None
        return assert_problem(answer, 409, "slot-taken")

    assert eventually(later, seconds=25)


def test_a_slot_is_taken_for_a_second_patient_whatever_the_spelling_of_its_time(alpha: Api) -> None:
    body = APPOINTMENTS.body()
    assert APPOINTMENTS.send(alpha, body).status_code == 201
    for starts in (body["startsAt"], body["startsAt"].replace("+00:00", "Z"), _elsewhere(body["startsAt"])):
        second = body | {"patientId": fresh_key("patient"), "startsAt": starts}
        first = APPOINTMENTS.send(alpha, second)
        assert first.status_code == 409
        assert first.json()["type"] == "urn:onceward:problem:slot-taken"
        # A final answer: stored, and replayed like any other.
        again = APPOINTMENTS.send(alpha, second)
        assert (again.status_code, again.content) == (409, first.content)
        assert again.headers["Idempotent-Replayed"] == "true"
    for other in ({"doctorId": "dr-house"}, {"startsAt": "2032-02-03T04:05:06+01:00"}):
        assert APPOINTMENTS.send(alpha, body | other).status_code == 201


def _elsewhere(starts: str) -> str:
    """The same instant, as a clock two hours ahead shows it."""
    moment = datetime.fromisoformat(starts)
    hour = moment.hour + 2
    return moment.replace(hour=hour).isoformat().replace("+00:00", "+02:00") if hour < 24 else starts


def _time(text_: str) -> datetime:
    return datetime.fromisoformat(text_)
