"""The figures of a soak, as JSON and as the Markdown that docs/proof.md holds: none is typed by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from loadtest.run import RunSettings
    from ops.memory import Growth

MEMORY_HEAD: Final = (
    "process",
    "after warm-up",
    "middle",
    "end",
    "most",
    "MB per 100,000 requests",
    "bound on growth",
    "constant",
)


def command_line(settings: RunSettings) -> str:
    """What sends the same soak again."""
    return (
        f"onceward soak --requests {settings.requests} --keys {settings.keys} "
        f"--tenants {len(settings.tenants)} --rate {settings.rate:g} --users {settings.users} "
        f"--burst {settings.burst} --seed {settings.seed}"
    )


def document(
    settings: RunSettings,
    summary: dict[str, Any] | None,
    growths: Iterable[Growth],
    minutes: dict[str, float],
    machine: dict[str, Any],
    drained: dict[str, int],
) -> dict[str, Any]:
    """Everything that a soak found.

    Args:
        settings: of its run. summary: of its verdict; None when there is no verdict.
        growths: of the memory of its processes. minutes: how long each part took.
        machine: what it ran on, and how busy that was.
        drained: of the audit queues while it was sent: events taken, and looks that failed (missed).
    """
    memory = [one.to_json() for one in growths]
    return {
        "command": command_line(settings),
        "runId": settings.run_id,
        "tenants": len(settings.tenants),
        "rate": settings.rate,
        "minutes": {name: round(value, 1) for name, value in minutes.items()},
        "machine": machine,
        "auditQueues": drained,
        "memory": memory,
        "constant": all(one["constant"] is not False for one in memory),
        "verdict": summary,
        "passed": summary is not None and bool(summary["passed"]),
    }


def conclusion(found: dict[str, Any]) -> str:
    """In words: the verdict, the memory, the time."""
    grown = [one["name"] for one in found["memory"] if one["constant"] is False]
    memory = f"memory NOT constant: {', '.join(grown)}" if grown else "memory constant"
    verdict = "PASSED" if found["passed"] else "FAILED"
    return f"{verdict}, {memory}, in {found['minutes']['in all']:.1f} min."


def markdown(found: dict[str, Any]) -> str:
    """The figures as Markdown: the command, a table of the run, a table of memory."""
    return "\n".join([f"`{found['command']}`", "", *_run(found), "", *_memory(found["memory"]), ""])


def _run(found: dict[str, Any]) -> Iterator[str]:
    yield "| | |"
    yield "|---|---|"
    verdict, minutes, machine = found["verdict"], found["minutes"], found["machine"]
    if verdict is None:
        yield "| verdict | none: it could not be judged |"
    else:
        counts, latency = verdict["counts"], verdict["latencyMs"]
        sent = counts["requests"] / verdict["seconds"] if verdict["seconds"] else 0.0
        minutes_sent = verdict["seconds"] / 60
        yield f"| requests | {counts['requests']:,} in {minutes_sent:.1f} min, {sent:.0f} a second |"
        yield f"| keys, with their tenants | {counts['keys']:,}, {counts['tenant_keys']:,} |"
        yield f"| tenants | {found['tenants']} |"
        yield f"| effects, replays | {counts['effects']:,}, {counts['replays']:,} |"
        unheard = ", ".join(f"{counts[name]:,}" for name in ("dropped", "unknown", "server_errors"))
        yield f"| hung up, no answer, 5xx | {unheard} |"
        yield f"| from the intended start to the answer | {_latency(latency)} |"
        yield f"| violations | **{verdict['violations']}** |"
    parts = ", ".join(f"{name} {value:.1f}" for name, value in minutes.items())
    yield f"| minutes | {parts} |"
    load = f"load average {machine['loadBefore']} before and {machine['loadAfter']} after"
    drained = found["auditQueues"]
    looks = f"{drained['missed']:,} looks at their queues failed"
    yield f"| events taken while it was sent | {drained['taken']:,}; {looks} |"
    yield f"| machine | {machine['cores']} cores, {load} |"


def _latency(latency: dict[str, float | None]) -> str:
    return ", ".join(
        f"{name} {'-' if latency[name] is None else format(latency[name], ',.0f')} ms"
        for name in ("p50", "p95", "p99")
    )


def _memory(rows: list[dict[str, Any]]) -> Iterator[str]:
    yield f"| {' | '.join(MEMORY_HEAD)} |"
    yield f"|---|{'---:|' * (len(MEMORY_HEAD) - 2)}---|"
    for row in rows:
        yield f"| {' | '.join(memory_cells(row))} |"


def memory_cells(row: dict[str, Any]) -> tuple[str, ...]:
    """One process's line of the table of memory."""
    names = ("afterWarmUpMb", "middleMb", "endMb", "mostMb")
    sizes = tuple(f"{row[name]:,.0f} MB" if name in row else "-" for name in names)
    slope = f"{row['mbPer100kRequests']:+.1f}" if "mbPer100kRequests" in row else "-"
    bound = f"{row['boundMb']:.0f} MB" if "boundMb" in row else "none"
    told = {True: "yes", False: "**no**", None: "not judged"}[row["constant"]]
    if row["constant"] is False and "growthMb" not in row:
        told = "**not known**: too few samples"
    return (row["name"], *sizes, slope, bound, told)
