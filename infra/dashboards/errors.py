"""Errors by kind, which is by who has to act: us, a provider or destination, the caller."""

from infra import metrics
from infra.alarms import FUNCTIONS
from infra.dashboards.sections import FAILED, NEW, section, total
from infra.naming import Names
from infra.tenant_alarms import ANSWERERS
from infra.widget_kinds import Graph, Widget
from infra.widget_rows import Line


def errors(names: Names) -> tuple[Widget, ...]:
    """What failed, the worst first."""
    return (
        section(
            "Errors by kind",
            "Whose is it? Ours: roll back, then look. A provider's: tell it. A caller's: tell the tenant.",
        ),
        *_ours(names),
        _of_callers(names),
        *_of_effects(names),
        *_of_functions(names),
    )


def _ours(names: Names) -> tuple[Graph, ...]:
    failed = [
        Line(metrics.onceward(names, each, "Failed"), each, id=f"failed{place}")
        for place, each in enumerate(ANSWERERS)
    ]
    return (
        Graph(
            "Ours: answered with 5xx by the API",
            "requests per {period}",
            (Line(metrics.api(names, "5XXError"), "5xx", colour=FAILED),),
        ),
        Graph(
            "Ours: failed, by function",
            "requests per {period}",
            (
                *failed,
                Line(metrics.onceward(names, "authorizer", "Failed"), "authorizer"),
                total(failed, "all but the authorizer"),
            ),
        ),
    )


def _of_effects(names: Names) -> tuple[Graph, ...]:
    outside = {
        "EffectTrouble": "5xx for a provider",
        "EffectFailed": "did not happen (502)",
        "EffectUnknown": "nobody knows (504)",
        "LookupImpossible": "too old to be asked (503)",
    }
    doubtful = {
        "EffectOrphaned": "happened, unrecorded",
        "SeveralCharges": "more than one charge",
        "LeaseLost": "overtaken",
        "Takeover": "resumed by a retry",
    }
    kept = {"Abandoned": "nobody finished", "ResponseTooLarge": "answer too large"}
    done = Line(metrics.onceward(names, "execute", "Accepted"), "took effect", colour=NEW)
    no = Line(metrics.onceward(names, "execute", "FinalRefusal"), "final no (declined, taken)")
    return (
        Graph(
            "A provider's: payments and appointments",
            "done, per {period}",
            (done, no, *_right(names, "execute", outside)),
            right_unit="not done, per {period}",
            width=12,
        ),
        Graph(
            "In doubt: look at each, money may be owed",
            "done, per {period}",
            (
                done,
                *_right(names, "execute", doubtful),
                *(
                    line
                    for taker in ("ingest", "execute")
                    for line in _right(names, taker, kept, prefix=f"{taker}: ")
                ),
            ),
            right_unit="in doubt, per {period}",
            width=12,
        ),
    )


def _of_callers(names: Names) -> Graph:
    return Graph(
        "A caller's: refused for what it sent",
        "requests per {period}",
        (
            Line(metrics.api(names, "4XXError"), "all 4xx"),
            *(Line(metrics.onceward(names, each, "Rejected"), f"{each}: at fault") for each in ANSWERERS),
            Line(metrics.onceward(names, "webhooks", "Unauthorized"), "webhooks: sender not proved"),
        ),
    )


def _of_functions(names: Names) -> tuple[Graph, ...]:
    return (
        Graph(
            "Functions that raised or timed out",
            "errors per {period}",
            tuple(Line(metrics.function(names, name, "Errors"), name) for name in FUNCTIONS),
            width=12,
        ),
        Graph(
            "Functions that were refused concurrency",
            "throttles per {period}",
            tuple(Line(metrics.function(names, name, "Throttles"), name) for name in FUNCTIONS),
            width=12,
        ),
    )


def _right(names: Names, function: str, labels: dict[str, str], prefix: str = "") -> tuple[Line, ...]:
    return tuple(
        Line(metrics.onceward(names, function, name), f"{prefix}{text}", right=True)
        for name, text in labels.items()
    )
