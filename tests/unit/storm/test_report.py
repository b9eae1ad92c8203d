"""The report: right figures, one file that needs nothing else, and the verdict before all."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from loadtest import charts
from loadtest.charts import Series
from loadtest.history import Outcome
from loadtest.measures import measure
from loadtest.report import again, render
from loadtest.told import Told
from tests.unit.storm import wide_stories
from tests.unit.storm.stories import Story, good
from tests.unit.storm.test_plan import SETTINGS


def test_a_request_that_timed_out_counts_with_the_time_that_its_client_waited() -> None:
    story = Story()
    quick = [story.attempt("acme", f"k{number}", "one", number) for number in range(100)]
    lost = [
        replace(one, outcome=Outcome.UNKNOWN, status=None, end_ms=one.intended_start_ms + 35_000)
        for one in quick[:50]
    ]
    latency = measure(lambda: quick + lost).latency
    assert (latency.p95, latency.p99, latency.most) == (35_000, 35_000, 35_000)


def test_latency_counts_from_the_intended_start_and_leaves_dropped_attempts_out() -> None:
    story = Story()
    slow = replace(story.attempt("acme", "k", "one", 1), intended_start_ms=0.0, end_ms=5000.0)
    dropped = replace(slow, outcome=Outcome.UNKNOWN, status=None, end_ms=90.0, dropped=True)
    measures = measure(lambda: [slow, dropped])
    assert measures.latency.most == 5000.0
    assert measures.scenarios["fresh"].seen == {Told.NEW: 1, Told.DROPPED: 1}


def test_answers_are_counted_when_they_came_and_latency_when_it_was_meant() -> None:
    story = Story()
    late = replace(story.attempt("acme", "k", "one", 1), intended_start_ms=1000.0, end_ms=4500.0)
    early = replace(story.attempt("acme", "k", "one", 1), intended_start_ms=1000.0, end_ms=1100.0)
    buckets = measure(lambda: [late, early]).buckets
    assert [sum(one.seen.values()) for one in buckets] == [1, 0, 0, 1]
    assert [one.latency.most for one in buckets] == [3500.0, None, None, None]


def test_what_clients_saw_adds_up() -> None:
    measures = measure(lambda: good().attempts)
    seen = measures.scenarios["fresh"].seen
    assert seen == {Told.NEW: 3, Told.REPLAY: 4, Told.CONFLICT: 1, Told.NONE: 2}
    assert measures.requests == sum(seen.values())
    assert sum(sum(one.seen.values()) for one in measures.buckets) == measures.requests


def test_the_warm_up_is_a_row_of_its_own_and_slows_no_chart() -> None:
    story = Story()
    fast = story.attempt("acme", "k", "one", 1)
    cold = replace(fast, scenario="warm-up", intended_start_ms=0.0, end_ms=90_000.0)
    measures = measure(lambda: [cold, fast])
    assert measures.latency.most == fast.latency_ms
    assert (measures.began_ms, len(measures.buckets)) == (fast.intended_start_ms, 1)
    assert measures.requests == 2
    assert measures.scenarios["warm-up"].latencies.percentiles().p50 == 90_000.0


def test_a_long_run_has_wider_steps_and_no_more_of_them() -> None:
    story = Story()
    first = story.attempt("acme", "k", "one", 1)
    last = replace(first, intended_start_ms=7_200_000.0, end_ms=7_200_030.0)
    assert len(measure(lambda: [first, last]).buckets) <= 61


class _Page(HTMLParser):
    """Collects everything on a page that would be fetched, and the ids of nothing else."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.fetched += [value or "" for name, value in attrs if name in {"src", "href", "data", "action"}]


def _page(story: Story) -> tuple[str, _Page]:
    html = render(SETTINGS, story.verdict(), measure(lambda: story.attempts))
    page = _Page()
    page.feed(html)
    return html, page


def test_the_report_is_one_file_that_fetches_nothing() -> None:
    html, page = _page(good())
    assert page.fetched == []
    assert not {"script", "link", "img", "iframe", "object"} & set(page.tags)
    assert not re.search(r"url\(|@import|https?://", html)


def test_the_verdict_comes_first_and_the_charts_follow() -> None:
    html, page = _page(good())
    assert html.index("Passed: no violation") < html.index("Latency over time")
    assert page.tags.count("svg") == 3
    for title in ("Latency over time", "Answers over time", "Writes per key", "Scenarios"):
        assert title in html


def test_each_operation_has_a_row_and_what_is_outside_is_told() -> None:
    html, _ = _page(wide_stories.good())
    assert html.index("<h2>Operations") < html.index("<h2>Scenarios")
    for name in ("orders", "webhooks", "payments", "appointments"):
        assert f"<td>{name}</td>" in html
    assert "Every accepted payment is one charge" in html
    assert "no stand-in" in _page(good())[0]


def _cells(html: str, title: str) -> dict[str, dict[str, str]]:
    """A table of the report: by the name of each row, its cells by the name of their column."""
    section = html.partition(f"<h2>{title}")[2].partition("</section>")[0]
    heads = re.findall(r"<th>(.*?)</th>", section)
    rows = [re.findall(r"<td>(.*?)</td>", row) for row in re.findall(r"<tr>(<td>.*?)</tr>", section)]
    return {row[0]: dict(zip(heads, row, strict=True)) for row in rows}


def test_the_row_of_an_operation_shows_one_effect_for_each_key() -> None:
    html, _ = _page(wide_stories.good())
    payments, leads = _cells(html, "Operations")["payments"], _cells(_page(good())[0], "Operations")["leads"]
    heard = ("requests", "new", "replays", "in progress", "refused", "conflicts")
    assert [payments[name] for name in heard] == ["10", "2", "4", "1", "2", "1"]
    left = ("keys", "records", "stored refusals", "events", "effect outside")
    assert [payments[name] for name in left] == ["4", "2", "2", "2", "2 charges"]
    assert _cells(html, "Operations")["appointments"]["effect outside"] == "2 slots"
    assert leads["effect outside"] == "-"
    assert "There may be more records than new answers" in html


def test_what_was_not_looked_at_is_no_zero() -> None:
    story = wide_stories.good()
    html = render(SETTINGS, story.wide_verdict(outside=False), measure(lambda: story.attempts))
    assert _cells(html, "Operations")["payments"]["effect outside"] == "not checked"
    bare = good()
    html = render(SETTINGS, bare.verdict(events=False), measure(lambda: bare.attempts))
    assert _cells(html, "Operations")["leads"]["events"] == "not checked"


def test_a_refusal_is_not_said_to_have_taken_effect() -> None:
    said = " ".join(_page(wide_stories.good())[0].split())
    assert "took effect 10 times: once for each pair of tenant and key that was accepted" in said
    assert "Another 4 were refused for good" in said
    assert "refused for good" not in " ".join(_page(good())[0].partition("</section>")[0].split())


def test_the_latency_of_retries_is_said_to_be_theirs_alone() -> None:
    story = good()
    story.attempts[0] = replace(story.attempts[0], scenario="retry")
    html, _ = _page(story)
    assert "retry (latency: those sent at once after a hang-up)" in _cells(html, "Scenarios")


def test_a_failed_run_says_so_with_the_key() -> None:
    story = good()
    del story.records["acme#record-1"]
    html, _ = _page(story)
    assert "Failed: 1 violation" in html
    assert "lost-record" in html
    assert "<code>k1</code>" in html


def test_of_many_violations_the_first_are_shown_and_the_rest_is_folded() -> None:
    story = good()
    for number in range(40):
        story.store("acme", f"lost-{number}", "one", (f"record-{number + 100}", f"event-{number + 100}"))
    html, page = _page(story)
    assert page.tags.count("details") == 1
    assert html.index("lost-0<") < html.index("<details>") < html.index("lost-39<")


def test_a_run_of_very_many_keys_still_shows_each_that_is_wrong() -> None:
    story = good()
    once = [story.attempt("acme", f"many-{number}", "one", number) for number in range(2000)]
    never = replace(once[0], key="never-written", status=503, response_body=None)
    story.attempts += [*once, never]
    html, _ = _page(story)
    assert html.count("<g><title>acme ") <= 800
    assert "acme never-written: 1 requests, 0 writes" in html


def test_a_run_without_audit_queues_does_not_claim_its_events() -> None:
    story = good()
    html = render(SETTINGS, story.verdict(events=False), measure(lambda: story.attempts))
    assert "events were not checked" in html
    assert "events were not checked" not in _page(good())[0]


def test_what_came_from_outside_is_escaped() -> None:
    story = good()
    story.answered("acme", "<script>k</script>", "one", 422)
    html, page = _page(story)
    assert "script" not in page.tags
    assert "&lt;script&gt;k" in html


def test_a_run_without_an_attempt_still_has_a_report() -> None:
    html, page = _page(Story())
    assert "nothing-accepted" in html
    assert "svg" not in page.tags


@pytest.mark.parametrize("most", [0.0, 0.4, 7.0, 99.0, 12_345.0])
def test_a_chart_stays_inside_its_frame(most: float) -> None:
    drawn = charts.lines([0.0, 1.0, 2.0], [Series("a", "#000", [0.0, most, None])], "x", "y")
    heights = [float(value) for value in re.findall(r'cy="([-0-9.]+)"', drawn)]
    assert len(heights) == 2
    assert all(0 <= value <= 280 for value in heights)


def test_a_mark_stands_at_the_writes_of_its_key() -> None:
    drawn = charts.requests_and_writes(
        [("k1", 50, 1), ("k2", 50, 3), ("k3", 50, 0)], ("#bar", "#one", "#bad")
    )
    assert drawn.count("#one") == 1
    assert drawn.count("#bad") == 2


def test_the_same_storm_again_goes_to_the_same_local_platform() -> None:
    assert "--home" not in again(SETTINGS)
    local = again(replace(SETTINGS, home="/a b/demo"))
    assert local.startswith("onceward local up --home '/a b/demo' && onceward storm ")
    assert local.endswith(" --home '/a b/demo'")


def test_the_run_s_dashboards_are_opened_by_the_command_that_the_report_has() -> None:
    story = Story()
    attempts = measure(lambda: story.attempts)
    command = "onceward dashboard --run /a/b"
    assert command in render(SETTINGS, story.verdict(), attempts, dashboards=command)
    assert "onceward dashboard" not in render(SETTINGS, story.verdict(), attempts)
