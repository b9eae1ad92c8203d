"""What a client can send, in Hypothesis's terms: shapes that bytes seldom have by chance."""

from __future__ import annotations

import base64
import json
from typing import Any

from hypothesis import strategies as st

from fuzz.json_bodies import BODIES
from tests.builders import NOW_MS, authorizer_context

# Blanks of Unicode, controls, quotes, halves of surrogate pairs, and any text besides.
ODD = st.sampled_from(
    [*'"\\,; \t\r\n', "\u00a0", "\u2003", "\u3000", "\u200b", "\x00", "\x7f", "\ud800", "é", "😀"]
)
TEXT = st.lists(ODD | st.sampled_from([*"aK-1=:/+"]) | st.characters(), max_size=12).map("".join)

# RFC 9651 strings, right ones and nearly right ones.
INNER = st.text(st.characters(min_codepoint=0x1E, max_codepoint=0x80), max_size=20)
QUOTED = INNER.map(lambda text: '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"')
KEY = (
    st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=20)
    | QUOTED
    | INNER.map(lambda text: f'"{text}"')
    | st.integers(250, 260).map(lambda length: "k" * length)
    | TEXT
)
KEY_VALUES = st.lists(
    KEY | st.tuples(KEY, st.sampled_from([", ", ",\t ", ","]), KEY).map("".join), max_size=3
)

NUMBERS = st.sampled_from(
    [
        *("0", "-0", "-0.0", "1", "1.0", "1e0", "1E+0", "10e-1", "0.1", "1.5e-7", "1e21", "1e400", "-1e-400"),
        *(
            "9007199254740991",
            "9007199254740992",
            "9007199254740993",
            "9007199254740993.0",
            "9" * 40,
            "5e-324",
        ),
        *("01", "+1", ".5", "1.", "0x1", "NaN", "-Infinity", "1_0", "\uff11"),
    ]
) | st.floats(allow_nan=False, allow_infinity=False).map(repr)
NAMES = st.sampled_from(
    ['"a"', '"a"', '"\\u0061"', '"b"', '"\\ud83d\\ude00"', '"\\ufb33"', '"€"', '"\\r"', '""']
)
SCALARS = (
    NUMBERS
    | st.sampled_from(["true", "false", "null", '"\\ud800"', '"\\u0000"', '"\\/"', "'a'", "nul", '"\t"'])
    | TEXT.map(json.dumps)
    | TEXT.map(lambda text: json.dumps(text, ensure_ascii=False))
)
SPACE = st.sampled_from(["", " ", "\n\t\r ", "\u00a0", "\ufeff"])


def _containers(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    members = st.tuples(NAMES, SPACE, inner).map(lambda each: f"{each[0]}{each[1]}:{each[1]}{each[2]}")
    return st.lists(inner, max_size=4).map(lambda items: f"[{','.join(items)}]") | st.lists(
        members, max_size=4
    ).map(lambda items: "{" + " ,".join(items) + "}")


JSON_TEXT = (
    st.recursive(SCALARS, _containers, max_leaves=12)
    | st.tuples(SPACE, SCALARS, SPACE).map("".join)
    | st.sampled_from([1, 63, 64, 65, 999, 1001, 100_000]).map(lambda depth: "[" * depth + "]" * depth)
    | st.sampled_from([64, 65, 50_000]).map(lambda depth: '{"a":' * depth + "1" + "}" * depth)
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@st.composite
def bodies(draw: st.DrawFn, operation: str) -> bytes:
    """A body that fits, or nearly: members gone, of another type, or new; or any text of JSON."""
    if draw(st.integers(0, 3)) == 0:
        return draw(JSON_TEXT).encode("utf-8", "surrogatepass")
    body: dict[str, Any] = json.loads(json.dumps(BODIES[operation]))
    for _ in range(draw(st.integers(0, 3))):
        name = draw(st.sampled_from([*body, "more"])) if body else "more"
        if draw(st.booleans()):
            body[name] = draw(VALUES)
        else:
            body.pop(name, None)
    return json.dumps(body).encode()


HEADER_NAMES = st.sampled_from(
    [
        *("Idempotency-Key", "IDEMPOTENCY-KEY", "content-type", "Content-Type", "X-Correlation-Id", "Origin"),
        *("Authorization", "x-api-key", "X-Api-Key", "webhook-id", "stripe-signature"),
    ]
)
MEDIA = st.sampled_from(
    [
        *(
            "application/json",
            "APPLICATION/JSON; charset=UTF-8",
            "application/json;charset*=utf-8''utf-8",
            "text/plain",
        ),
        *(
            "application/json; a*=x; a*0=y",
            'application/json; charset="',
            "application/cloudevents+json",
            "a/b; *0*=1",
        ),
    ]
)
HEADERS = st.dictionaries(
    HEADER_NAMES | TEXT, st.none() | st.lists(st.none() | KEY | MEDIA | TEXT, max_size=3), max_size=5
)


@st.composite
def events(draw: st.DrawFn, resource: str, body: bytes, *, ordinary: bool = True) -> dict[str, Any]:
    """A proxy event: headers of any multiplicity and case, null members, base64 flags that may lie."""
    headers: dict[str, list[str | None] | None] = {"content-type": ["application/json"]} if ordinary else {}
    headers |= draw(HEADERS)
    encoded = draw(st.booleans())
    raw = base64.b64encode(body).decode() if encoded else body.decode("utf-8", "surrogateescape")
    event: dict[str, Any] = {
        "resource": resource,
        "path": resource,
        "httpMethod": "POST",
        "headers": {name: values[-1] if values else None for name, values in headers.items()},
        "multiValueHeaders": headers,
        "pathParameters": None,
        "requestContext": {
            "requestId": "gateway-request-id",
            "requestTimeEpoch": NOW_MS,
            "authorizer": authorizer_context(operationSettings=draw(SETTINGS)),
        },
        "body": draw(st.sampled_from([raw, raw, raw, None, ""])),
        "isBase64Encoded": draw(st.sampled_from([encoded, encoded, encoded, not encoded])),
    }
    for name in draw(st.sets(st.sampled_from(["headers", "multiValueHeaders", "path"]), max_size=1)):
        event[name] = None
    return event


# Expressions that tenant files refuse are here too: a registry of an earlier release may hold them.
EXPRESSIONS = st.sampled_from(
    [
        *(
            "email",
            "a.b.c",
            "items[0].sku",
            "items[*].sku",
            "*",
            "@",
            "keys(@)",
            "length(name)",
            "name || email",
        ),
        *(
            "to_number(budget)",
            "sum(items[].quantity)",
            "max_by(items, &sku)",
            "`1`",
            "!email",
            "more",
            '"é"',
            "[]",
        ),
    ]
)


def _settings(fields: list[str]) -> str:
    chosen = {"windowSeconds": 60, "keySource": "header", "keyFields": fields}
    payments = {"windowSeconds": 60, "keySource": "header", "options": {"providerUrl": "https://pay.example"}}
    return json.dumps({"leads": chosen, "orders": chosen, "appointments": chosen, "payments": payments})


PLAIN_SETTINGS = json.dumps(
    {
        "payments": {
            "windowSeconds": 60,
            "keySource": "header",
            "options": {"providerUrl": "https://pay.example"},
        }
    }
)
SETTINGS = st.just(PLAIN_SETTINGS) | st.lists(EXPRESSIONS, min_size=1, max_size=3).map(_settings)
