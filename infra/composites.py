"""Who pages: alarms that ring for one trouble are paged for together, and none while all is down.

A platform-wide failure makes half of the platform's alarms and most of the tenants' ring. `PLATFORM_DOWN`
says so once, and mutes the other composites meanwhile (only composites can be: their `actionsSuppressor`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from infra.alarm import MINUTE
from infra.alarms import FUNCTIONS, TABLES
from infra.tenant_alarms import ANSWERERS, FAILED_REQUESTS, STUCK, STUCK_WORK, THROTTLED_REQUESTS

PLATFORM_DOWN: Final = "platform-down"
# A muted composite waits so long for the suppressor to ring as well. The first failure rings a child; half of
# the last five minutes have failed two and a half later, and each of the two is looked at once a minute.
# Less than five: a single failure rings for so long, and its composite has to tell of it.
WAIT_SECONDS: Final = 4 * MINUTE
# And stays muted so long after it: by then the failures are out of the reach of the queries on all tenants,
# which look at two of three windows of five minutes, and where nobody calls any more at two older ones. What
# still rings is no echo.
EXTENSION_SECONDS: Final = 20 * MINUTE
# CloudWatch's most (API reference, PutCompositeAlarm).
LONGEST_RULE: Final = 10_240
MOST_CHILDREN: Final = 100

# What is a function's trouble beside failures, errors and throttles: that it is behind, or does not run. As a
# rule it is the same trouble; by itself it would tell while all is down, and it lasts no longer than that.
_LATE: Final[Mapping[str, tuple[str, ...]]] = {
    "dispatch": ("stream-iterator-age", "dispatch-retry-age"),
    "deliver": ("webhooks-age",),
    "fulfil": ("orders-age",),
    "reconcile": ("reconcile-not-called", "reconcile-silent"),
}

DOWN_BECAUSE: Final = ("calls-failing", "requests-failing", "dispatch-failing", "work-failing")
"""The alarms that mean everybody: shares of all there is, so that one tenant's trouble is none of them."""


@dataclass(frozen=True)
class Composite:
    """Rings while any of `children` does, and pages for them; `section` is the runbook's.

    `extension_seconds`: how long it stays muted after the suppressor; no shorter than its children look back.
    """

    name: str
    description: str
    children: tuple[str, ...]
    section: str
    extension_seconds: int = EXTENSION_SECONDS


def platform_down() -> Composite:
    """The suppressor: pages once for what is everybody's."""
    return Composite(
        PLATFORM_DOWN,
        "Half of all requests, events or work fails. The alarms of functions, tables and tenants are muted.",
        DOWN_BECAUSE,
        PLATFORM_DOWN,
    )


def troubles() -> tuple[Composite, ...]:
    """What is muted while the platform is down: one for each function, for the API, for the tables, for each
    of the rules for all tenants, and for what is late or unknown for want of somebody else's answer.

    One each, since a composite that rings already does not page again: throttles of one function must not
    hide the failures of another, nor one tenant's destination those of a function.
    """
    throttles = tuple(f"{table}-{kind}-throttles" for table in TABLES for kind in ("read", "write"))
    return (
        *(_of_function(function) for function in FUNCTIONS),
        *_of_tenants(),
        *_of_others(),
        Composite(
            "api-trouble", "The API answers late, or with 5xx.", ("api-5xx", "api-latency"), "api-trouble"
        ),
        Composite("tables-trouble", "Tables refuse reads or writes.", throttles, "tables-trouble"),
    )


def _of_function(function: str) -> Composite:
    return Composite(
        f"{function}-trouble",
        f"Function {function} fails, is refused concurrency, or is late.",
        (*(f"{function}-{kind}" for kind in ("failed", "errors", "throttles")), *_LATE.get(function, ())),
        "function-trouble",
    )


def _of_tenants() -> tuple[Composite, ...]:
    # Told by the tenant, as queries can, a failure of all would be a page for each of them. Deliveries are: a
    # subscriber that is down is one tenant's, whatever the platform does.
    return (
        Composite(
            "tenants-failing",
            "Requests of a tenant fail: `aws cloudwatch describe-alarm-contributors` says whose.",
            tuple(f"tenants-failing-{function}" for function in ANSWERERS),
            FAILED_REQUESTS,
        ),
        Composite(
            "tenants-over-limits",
            "A tenant sends more than its tier lets through.",
            ("tenants-throttled",),
            THROTTLED_REQUESTS,
        ),
        Composite(
            "tenants-stuck",
            "Events or work of a tenant are stuck: `onceward dlq list` says whose.",
            # Of dispatch the same count twice: by tenant, and of all, those that no query watches too. It is
            # no child of dispatch-trouble: one tenant's topic would hide what dispatch fails at for all.
            (*(f"tenants-stuck-{function}" for function in STUCK), "dispatch-parked", "dispatch-retry-depth"),
            STUCK_WORK,
        ),
    )


def _of_others() -> tuple[Composite, ...]:
    return (
        Composite(
            "pending-trouble",
            "Accepted work is not done in time: its destination is down, or the workers are.",
            ("pending-too-old",),
            "pending-too-old",
        ),
        Composite(
            "provider-trouble",
            "A provider fails or does not answer: `onceward alarms` says whose.",
            ("effect-unknown", "tenants-provider-trouble"),
            "effect-unknown",
        ),
    )


def any_of(alarms: Iterable[str]) -> str:
    """The rule of a composite that rings while any of `alarms` (their whole names) does.

    Raises ValueError for more than CloudWatch takes.
    """
    names = tuple(alarms)
    rule = " OR ".join(f'ALARM("{name}")' for name in names)
    if len(names) > MOST_CHILDREN or len(rule) > LONGEST_RULE:
        raise ValueError(
            f"a composite alarm takes {MOST_CHILDREN} alarms and {LONGEST_RULE} characters at most, "
            f"not {len(names)} and {len(rule)}"
        )
    return rule
