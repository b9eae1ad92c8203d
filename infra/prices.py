"""What AWS charges, in US dollars: list prices of us-east-1, each with its source and the day it was read.

Nobody asks AWS for a price here: the program runs anywhere, and a figure whose origin is written beside it
can be checked. Free tiers are left out (an account's other stages use them up), and so are discounts. A price
whose page could not be read itself says what was read instead; one that is doubtful says why.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from math import inf
from typing import Final

REGION: Final = "us-east-1"
READ_ON: Final = date(2026, 11, 30)
"""When the sources were read; the pages themselves may be older, which `Price.read` says."""


@dataclass(frozen=True)
class Price:
    """What one unit costs.

    Attributes:
        service: whose bill it is on.
        unit: what is charged for.
        tiers: (quantity up to which, dollars a unit), ascending, the last without end; a month's quantity.
        page: the page of AWS that sets it.
        read: what was read on `READ_ON`, with its own date.
        doubt: what could not be made sure of; empty for nothing.
    """

    service: str
    unit: str
    tiers: tuple[tuple[float, float], ...]
    page: str
    read: str
    doubt: str = ""

    @property
    def usd(self) -> float:
        """The first unit's price."""
        return self.tiers[0][1]

    def cost(self, quantity: float) -> float:
        """Dollars for a month's quantity, tier by tier."""
        total, below = 0.0, 0.0
        for upper, usd in self.tiers:
            total += max(min(quantity, upper) - below, 0) * usd
            below = upper
        return total


def _flat(usd: float) -> tuple[tuple[float, float], ...]:
    return ((inf, usd),)


_MILLION: Final = 1e6
_TB: Final = 1024.0  # GB; CloudWatch's tiers of logs are in TB
_CLOUDWATCH: Final = "https://aws.amazon.com/cloudwatch/pricing/"
_PRICE_LIST: Final = "the AWS Price List as a public repository quoted it in 2026 (us-east-2)"

METRIC: Final = Price(
    "CloudWatch metrics",
    "custom metric series and month",
    ((10_000, 0.30), (250_000, 0.10), (1_000_000, 0.05), (inf, 0.02)),
    _CLOUDWATCH,
    f"CW:MetricMonitorUsage in {_PRICE_LIST}; signoz.io/guides/cloudwatch-pricing, 2026-02-15",
    doubt="taken for API Gateway's series of methods too: its guide says that they cost, and not what",
)
# Whatever widgets it has: what the console asks for them is free (its guide, "Building your queries").
DASHBOARD: Final = Price(
    "CloudWatch dashboards",
    "dashboard and month",
    _flat(3.00),
    _CLOUDWATCH,
    "AWS's page, stored undated, has the free tier only; $3.00 in a public repository in 2026",
    doubt="AWS's Price List has no such item to compare with",
)
ALARM: Final = Price(
    "CloudWatch alarms",
    "metric of an alarm and month",
    _flat(0.10),
    _CLOUDWATCH,
    f"CW:AlarmMonitorUsage in {_PRICE_LIST} (one minute's resolution)",
)
QUERY_ALARM: Final = Price(
    "CloudWatch alarms",
    "metric analysed by a query alarm and month",
    _flat(0.10),
    _CLOUDWATCH,
    f"CW:MetricInsightAlarmUsage in {_PRICE_LIST}",
)
COMPOSITE_ALARM: Final = Price(
    "CloudWatch alarms",
    "composite alarm and month",
    _flat(0.50),
    _CLOUDWATCH,
    f"CW:CompositeAlarmMonitorUsage in {_PRICE_LIST}",
)
FUNCTION_LOGS: Final = Price(
    "CloudWatch logs",
    "GB that functions log",
    ((10 * _TB, 0.50), (30 * _TB, 0.25), (50 * _TB, 0.10), (inf, 0.05)),
    _CLOUDWATCH,
    f"VendedLog-Bytes in {_PRICE_LIST}; duckbillgroup.com on the tiers of 2025-05-01",
)
ACCESS_LOGS: Final = Price(
    "CloudWatch logs",
    "GB of access log",
    _flat(0.50),
    _CLOUDWATCH,
    f"DataProcessing-Bytes in {_PRICE_LIST}",
    doubt="taken for custom logs; as vended ones they would cost the same up to 10 TB",
)
STORED_LOGS: Final = Price(
    "CloudWatch logs",
    "GB-month of logs kept",
    _flat(0.03),
    _CLOUDWATCH,
    f"TimedStorage-ByteHrs in {_PRICE_LIST}",
    doubt="AWS compresses them first: this is an upper bound",
)
API_CALL: Final = Price(
    "API Gateway",
    "call",
    (
        (333 * _MILLION, 3.50 / _MILLION),
        (1_000 * _MILLION, 2.80 / _MILLION),
        (20_000 * _MILLION, 2.38 / _MILLION),
        (inf, 1.51 / _MILLION),
    ),
    "https://aws.amazon.com/api-gateway/pricing/",
    "AWS whitepaper on private APIs, cost optimization, table 4 (stored, undated)",
)
INVOCATION: Final = Price(
    "Lambda",
    "invocation",
    _flat(0.20 / _MILLION),
    "https://aws.amazon.com/lambda/pricing/",
    "cloudchipr.com/blog/aws-lambda-pricing, 2024; the same in a public repository, 2026-05-11",
)
COMPUTE: Final = Price(
    "Lambda",
    "GB-second on arm64",
    ((7.5e9, 0.0000133334), (18.75e9, 0.0000120001), (inf, 0.0000106667)),
    "https://aws.amazon.com/lambda/pricing/",
    "cloudchipr.com/blog/aws-lambda-pricing, 2024; the first tier in a public repository, 2026-05-11",
    doubt="the third tier (above 18.75 billion GB-seconds) was not found: it is x86's, less a fifth",
)
WRITE_UNIT: Final = Price(
    "DynamoDB",
    "write request unit",
    _flat(0.625 / _MILLION),
    "https://aws.amazon.com/dynamodb/pricing/on-demand/",
    "airbyte.com/data-engineering-resources/dynamodb-pricing, 2025-07-21, after the cut of 2024-11",
)
READ_UNIT: Final = Price(
    "DynamoDB",
    "read request unit",
    _flat(0.125 / _MILLION),
    "https://aws.amazon.com/dynamodb/pricing/on-demand/",
    "airbyte.com/data-engineering-resources/dynamodb-pricing, 2025-07-21, after the cut of 2024-11",
)
TABLE_STORAGE: Final = Price(
    "DynamoDB",
    "GB-month in tables",
    _flat(0.25),
    "https://aws.amazon.com/dynamodb/pricing/",
    "that page, stored undated",
)
RECOVERY_STORAGE: Final = Price(
    "DynamoDB",
    "GB-month of point-in-time recovery",
    _flat(0.20),
    "https://aws.amazon.com/dynamodb/pricing/on-demand/",
    "TimedPITRStorage-ByteHrs in the AWS Price List as a public repository quoted it in 2026 (us-west-2)",
    doubt="read for us-west-2 only; the regions of the US have had one price",
)
PUBLISH: Final = Price(
    "SNS",
    "publish of up to 64 KB",
    _flat(0.50 / _MILLION),
    "https://aws.amazon.com/sns/pricing/",
    "factualminds.com/blog/amazon-sns-pricing-publishes-fanout-protocols, 2026-06-13",
)
QUEUE_REQUEST: Final = Price(
    "SQS",
    "request of up to 64 KB",
    ((100e9, 0.40 / _MILLION), (200e9, 0.30 / _MILLION), (inf, 0.24 / _MILLION)),
    "https://aws.amazon.com/sqs/pricing/",
    "cloudburn.io/blog/amazon-sqs-pricing, 2026-03-14",
)
FAIR_REQUEST: Final = Price(
    "SQS",
    "request with a message group, beside its own price",
    _flat(0.10 / _MILLION),
    "https://aws.amazon.com/sqs/pricing/",
    "cloudburn.io/blog/amazon-sqs-pricing, 2026-03-14",
    doubt="whether receiving and deleting cost it too was not found: they are counted as if",
)
EVENT: Final = Price(
    "EventBridge",
    "event put of up to 64 KB",
    _flat(1.00 / _MILLION),
    "https://aws.amazon.com/eventbridge/pricing/",
    "cloudburn.io/blog/amazon-eventbridge-pricing, 2026-03-13",
)
KEY: Final = Price(
    "KMS",
    "key and month",
    _flat(1.00),
    "https://aws.amazon.com/kms/pricing/",
    "cloudburn.io/blog/aws-kms-pricing, 2026-03-14 (each of the first two yearly rotations adds as much)",
)
KEY_REQUEST: Final = Price(
    "KMS",
    "request",
    _flat(0.03 / 10_000),
    "https://aws.amazon.com/kms/pricing/",
    "cloudburn.io/blog/aws-kms-pricing, 2026-03-14",
)
TRACE: Final = Price(
    "X-Ray",
    "trace recorded",
    _flat(5.00 / _MILLION),
    "https://aws.amazon.com/xray/pricing/",
    "that page in German, stored undated",
)

PRICES: Final = tuple(each for each in tuple(globals().values()) if isinstance(each, Price))
"""All of them, in this page's order."""


def by_service(used: Mapping[Price, float]) -> dict[str, float]:
    """Dollars a month by service, for so many of each price's unit; services in this page's order."""
    bills: dict[str, float] = {}
    for price in PRICES:
        if price in used:
            bills[price.service] = bills.get(price.service, 0.0) + price.cost(used[price])
    return bills
