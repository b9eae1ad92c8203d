"""What cannot be counted here: taken from AWS's documentation, or assumed, each with why.

Nobody has run the platform on AWS yet; `onceward cost` says that these are assumptions. Whoever has figures
of a stage puts them here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

# Billed milliseconds of a warm call. The local AWS takes 4 ms for a lead and 7 for a payment (`make bench`);
# on AWS a call to DynamoDB takes 5 to 10 ms, and a third of a processor (512 MB) is slower. `execute`,
# `deliver` and `fulfil` wait for somebody else's server most of their time. Cold starts are left out.
MILLISECONDS: Final[Mapping[str, int]] = {
    "authorizer": 20,
    "ingest": 25,
    "execute": 400,
    "webhooks": 30,
    "dispatch": 60,
    "deliver": 300,
    "fulfil": 320,
    "notify": 30,
    "reconcile": 300,
}

# What Lambda itself logs of a call (text format; Lambda developer guide, "Understanding the log format").
_REQUEST_ID: Final = "b3f1c8d2-1c55-4d5b-9f0e-5a1f4f6f1a77"
_LAMBDA_LINES: Final = (
    f"START RequestId: {_REQUEST_ID} Version: 123\n",
    f"END RequestId: {_REQUEST_ID}\n",
    f"REPORT RequestId: {_REQUEST_ID}\tDuration: 123.45 ms\tBilled Duration: 124 ms\tMemory Size: 512 MB\t"
    "Max Memory Used: 123 MB\tXRAY TraceId: 1-5e34a614-10bdxmplf1fb44f07bc535a1\t"
    "SegmentId: 07f5xmpl2d1f6f85\tSampled: true\t\n",
)
LAMBDA_LOG_BYTES: Final = sum(map(len, _LAMBDA_LINES))

# X-Ray developer guide, "Configure sampling rules": the default rule takes one request a second and 5 % more.
# The second is shared by all services under the rule; here each root has one of its own, an upper bound.
SAMPLED_SHARE: Final = 0.05
# Where a trace begins, by the function that it meets first: the API (whichever it calls), the stream and the
# schedule. Queues and the bus hand the trace on.
TRACE_ROOTS: Final[Mapping[str, str]] = {
    "ingest": "API",
    "execute": "API",
    "webhooks": "API",
    "dispatch": "stream",
    "reconcile": "schedule",
}

# Lambda developer guide, "Using Lambda with Amazon SQS": five pollers a queue; each asks again after a long
# poll of 20 s that found nothing.
POLLS_A_MINUTE: Final = 5 * 3

# SNS developer guide, "Estimating AWS KMS costs": a data key serves five minutes of one publisher's messages,
# and costs two requests (one to make it, one to read it). SQS's default is the same.
DATA_KEY_SECONDS: Final = 300
# `dispatch` publishes, and `notify` for orders.
PUBLISHERS: Final = 2
# Function and table, queue, bus or log group that asks KMS again each five minutes: about the number of
# grants in infra.policies. Assumed; at two requests each it is a dollar and a half a month.
PLATFORM_KEY_USERS: Final = 30

NOT_COUNTED: Final = (
    "free tiers and discounts",
    "data that leaves AWS, and subscribers' deliveries (https: $0.60 a million)",
    "reads of records and receipts (GET)",
    "work that is tried again, cold starts, and requests that are refused",
    "what is stored longer than a month: records stay, and each month adds as many again",
    "Lambda's metrics of event source mappings (no price was found; a handful of series)",
)
"""What the figures leave out, for people."""
