"""The queries of dashboards and alarms: rows, maths, labels; and what is refused, never guessed at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ops.observing.queries import QueryError, evaluate, evaluate_queries, period_of
from ops.observing.series import Unit
from tests.unit.observing.builders import END, MINUTE_MS, START, accepted, put

if TYPE_CHECKING:
    from ops.observing.queries import Line
    from ops.observing.store import MetricStore

ACCEPTED = ["Onceward", "Accepted", "Service", "ingest"]
FAILED = ["Onceward", "Failed", "Service", "ingest"]
NOTHING = ["Onceward", "Nothing", "Service", "ingest"]


@pytest.fixture(autouse=True)
def _values(store: MetricStore) -> None:
    put(store, accepted(), 10, 20, 40)
    put(store, accepted(name="Failed"), 1, None, 4)


def lines(store: MetricStore, *rows: list[Any], statistic: str = "Sum") -> list[Line]:
    return evaluate(rows, store, 60, START, END, statistic=statistic)


def calculated(store: MetricStore, expression: str) -> list[float | None]:
    """The result in each of the three minutes; None where there is none."""
    rows: list[list[Any]] = [
        [*ACCEPTED, {"id": "a", "visible": False}],
        [*FAILED, {"id": "f", "visible": False}],
        [*NOTHING, {"id": "n", "visible": False}],
        [{"expression": expression, "id": "e"}],
    ]
    points = dict(lines(store, *rows)[-1].points)
    return [points.get(START + minute * MINUTE_MS) for minute in range(3)]


def test_a_row_is_a_line_with_what_it_says(store: MetricStore) -> None:
    options = {"id": "a", "label": "taken in", "visible": False, "yAxis": "right", "color": "#112233"}
    [line] = lines(store, [*ACCEPTED, options])
    assert (line.id, line.label, line.unit) == ("a", "taken in", Unit.COUNT)
    assert (line.visible, line.y_axis, line.color) == (False, "right", "#112233")
    assert line.contributor == (("Service", "ingest"),)
    assert line.points == ((START, 10), (START + MINUTE_MS, 20), (START + 2 * MINUTE_MS, 40))


def test_a_rows_statistic_comes_before_the_widgets(store: MetricStore) -> None:
    one, other = lines(store, ACCEPTED, [*ACCEPTED, {"stat": "SampleCount"}])
    assert [one.points[0][1], other.points[0][1]] == [10, 1]


def test_a_metric_without_data_is_a_line_without_points(store: MetricStore) -> None:
    [line] = lines(store, NOTHING)
    assert (line.label, line.points, line.unit) == ("Nothing", (), None)


def test_the_shorthand_of_rows_stands_for_what_is_in_the_row_before(store: MetricStore) -> None:
    put(store, accepted("execute"), 5)
    rows: list[list[Any]] = [
        ACCEPTED,
        [".", "Failed", ".", "."],
        ["...", "execute"],
        [".", "Accepted", ".", "."],
    ]
    assert [line.points[:1] for line in lines(store, *rows)] == [
        ((START, 10),),
        ((START, 1),),
        (),
        ((START, 5),),
    ]


@pytest.mark.parametrize(
    "row",
    [[], [{}], ["Onceward"], ["Onceward", "Accepted", "Service"], [".", "Accepted"], [1, 2], [{"id": "a"}]],
)
def test_a_row_that_is_no_metric_is_refused(store: MetricStore, row: list[Any]) -> None:
    with pytest.raises(QueryError):
        lines(store, row)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("a + f", [11, None, 44]),
        ("a - f - 1", [8, None, 35]),
        ("-a", [-10, -20, -40]),
        ("1 + 2 * a", [21, 41, 81]),
        ("(1 + 2) * a", [30, 60, 120]),
        ("100 * f / a", [10, None, 10]),
        ("a / 0", [None, None, None]),
        ("a / (a - 20)", [-1, None, 2]),
        ("FILL(f, 0)", [1, 0, 4]),
        ("FILL(n, 7)", [7, 7, 7]),
        ("FILL(f, 0) + a", [11, 20, 44]),
        ("f + n", [None, None, None]),
        ("SUM([a, f, n])", [11, 20, 44]),
        ("SUM(METRICS())", [11, 20, 44]),
        ("SUM(METRICS('a'))", [10, 20, 40]),
        ("AVG([a, f])", [5.5, 20, 22]),
        ("MAX([a, f])", [10, 20, 40]),
        ("MIN([a, f])", [1, 20, 4]),
        ("a / SUM(a)", [10 / 70, 20 / 70, 40 / 70]),
        ("a - MAX(a)", [-30, -20, 0]),
        ("IF(a > 15, a, 0)", [0, 20, 40]),
        ("IF(a >= 20, 1, 0)", [0, 1, 1]),
        ("IF(f < 2, f, 100)", [1, None, 100]),
        ("IF(a <= 10, a)", [10, None, None]),
        ("IF(a == 20, f, a)", [10, None, 40]),
        ("IF(FILL(f, 0) > 0, 100 * FILL(f, 0) / a, 0)", [10, 0, 10]),
        ("a / PERIOD(a)", [10 / 60, 20 / 60, 40 / 60]),
        ("a > 15", [0, 1, 1]),
    ],
)
def test_maths_is_by_the_minute(store: MetricStore, expression: str, expected: list[float | None]) -> None:
    assert calculated(store, expression) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("1 + 2", "is a number"),
        ("SUM(a)", "is a number"),
        ("missing + 1", "no query has this id"),
        ("e + 1", "is made of itself"),
        ("RATE(a)", "not evaluated here"),
        ("FILL(a, REPEAT)", "no query has this id"),
        ("FILL(a)", "not evaluated here"),
        ("ANOMALY_DETECTION_BAND(a, 2)", "not evaluated here"),
        ("IF([a, f], 1, 0)", "IF of an array"),
        ("[a, f] + [a]", "must be as many"),
        ("[a, 1]", "a number in an array"),
        ("a +", "its end"),
        ("(a", "its end"),
        ("a f", "expected nothing more"),
        ("a $ f", "cannot be read"),
        ("SELECT SUM(", "its end"),
    ],
)
def test_what_is_not_evaluated_is_refused_with_the_reason(
    store: MetricStore, expression: str, why: str
) -> None:
    with pytest.raises(QueryError, match=why):
        calculated(store, expression)


def test_a_search_is_a_line_a_series(store: MetricStore) -> None:
    put(store, accepted(tenant="acme"), 1)
    put(store, accepted(tenant="bolt"), 2)
    expression = """SEARCH('{Onceward,Service,TenantId} MetricName="Accepted"', 'Sum', 60)"""
    both = lines(store, [{"expression": expression, "label": "${PROP('Dim.TenantId')} took in", "id": "s"}])
    assert [line.label for line in both] == ["acme took in", "bolt took in"]
    named = lines(
        store, [{"expression": expression, "label": "${PROP('Dim.TenantId')}: ${PROP('MetricName')}"}]
    )
    assert [line.label for line in named] == ["acme: Accepted", "bolt: Accepted"]
    [total] = lines(store, [{"expression": f"SUM({expression})", "label": "all"}])
    assert (total.label, total.points) == ("all", ((START, 3),))
    doubled = lines(store, [{"expression": f"2 * {expression}"}])
    assert [line.points[0][1] for line in doubled] == [2, 4]
    assert [line.contributor for line in doubled] == [line.contributor for line in both]


def test_groups_of_a_select_can_be_calculated_with(store: MetricStore) -> None:
    put(store, accepted(tenant="acme", name="Failed"), 0.25)
    put(store, accepted(tenant="bolt", name="Failed"), 0)
    select = 'SELECT AVG("Failed") FROM SCHEMA("Onceward", "Service", "TenantId") GROUP BY "TenantId"'
    _, _, acme, bolt = lines(
        store,
        [{"expression": select, "id": "q", "visible": False}],
        [{"expression": "100 * q", "id": "share"}],
    )
    assert (acme.label, acme.points, acme.contributor) == ("acme", ((START, 25),), (("TenantId", "acme"),))
    assert bolt.points == ((START, 0),)


def test_a_plain_label_of_several_lines_comes_before_what_tells_them_apart(store: MetricStore) -> None:
    put(store, accepted(tenant="acme"), 1)
    select = 'SELECT SUM(Accepted) FROM SCHEMA("Onceward", Service, TenantId) GROUP BY TenantId'
    [line] = lines(store, [{"expression": select, "label": "taken in"}])
    assert line.label == "taken in acme"


def test_lines_of_one_name_are_told_apart_by_their_dimensions(store: MetricStore) -> None:
    put(store, accepted("execute"), 1)
    labels = [line.label for line in lines(store, ACCEPTED, ["...", "execute"], FAILED)]
    assert labels == ["Accepted ingest", "Accepted execute", "Failed"]


def test_a_line_that_is_not_shown_is_not_told_apart_from_one_that_is(store: MetricStore) -> None:
    put(store, accepted("execute"), 1)
    hidden, shown = lines(store, [*ACCEPTED, {"visible": False}], ["...", "execute"])
    assert [hidden.label, shown.label] == ["Accepted", "Accepted"]


def test_a_number_that_is_not_shown_feeds_what_is(store: MetricStore) -> None:
    hidden: list[Any] = [{"expression": "SUM(a)", "id": "total", "visible": False}]
    a, share = lines(store, [*ACCEPTED, {"id": "a"}], hidden, [{"expression": "a / total", "id": "share"}])
    assert [value for _, value in share.points] == pytest.approx([10 / 70, 20 / 70, 40 / 70])
    assert a.id == "a"
    with pytest.raises(QueryError, match="is a number"):
        lines(store, [*ACCEPTED, {"id": "a"}], [{"expression": "SUM(a)", "id": "total"}])


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("all: ${SUM}", "all: 70"),
        ("${LABEL} [${MIN} to ${MAX}, ${LAST}]", "Accepted [10 to 40, 40]"),
        ("${PROP('Dim.Service')}: ${PROP('MetricName')}", "ingest: Accepted"),
        ("${PROP('Dim.Other')}", "${PROP('Dim.Other')}"),
        ("${UNKNOWN}", "${UNKNOWN}"),
    ],
)
def test_dynamic_labels_say_what_the_line_holds(store: MetricStore, label: str, expected: str) -> None:
    [line] = lines(store, [*ACCEPTED, {"label": label}])
    assert line.label == expected


def query(name: str, metric: str = "", expression: str = "", **more: object) -> dict[str, Any]:
    if expression:
        return {"Id": name, "Expression": expression, **more}
    dimensions = [{"Name": "Service", "Value": "ingest"}]
    measured = {"Namespace": "Onceward", "MetricName": metric, "Dimensions": dimensions}
    return {"Id": name, "MetricStat": {"Metric": measured, "Period": 300, "Stat": "Sum"}, **more}


def test_the_apis_queries_are_evaluated_alike(store: MetricStore) -> None:
    queries = [
        query("total", expression="FILL(m0, 0) + FILL(m1, 0)", ReturnData=True),
        query("m0", "Accepted", ReturnData=False),
        query("m1", "Failed", ReturnData=False),
    ]
    total, *inputs = evaluate_queries(queries, store, 60, START, END)
    assert [value for _, value in total.points] == [11, 20, 44]
    assert (total.visible, [line.visible for line in inputs]) == (True, [False, False])


def test_a_window_may_begin_at_any_second(store: MetricStore) -> None:
    begin = START - 30_000
    [line] = evaluate_queries([query("m", "Accepted")], store, 60, begin + 999, END)
    assert line.points[0] == (begin, 10)
    filled = evaluate_queries(
        [query("m", "Accepted"), query("f", expression="FILL(m, 0)")], store, 60, begin + 999, END
    )[1]
    assert [at for at, _ in filled.points] == list(range(begin, END, MINUTE_MS))


def test_the_period_of_queries_is_the_one_that_they_say() -> None:
    assert period_of([query("m", "Accepted"), query("e", expression="m")]) == 300
    assert period_of([query("q", expression="SELECT ...", Period=120)]) == 120
    assert period_of([query("e", expression="m")]) == 60


def test_a_query_without_metric_and_expression_is_refused(store: MetricStore) -> None:
    with pytest.raises(QueryError, match="neither"):
        evaluate_queries([{"Id": "m"}], store, 60, START, END)


def test_an_unknown_statistic_is_refused_with_the_metrics_name(store: MetricStore) -> None:
    with pytest.raises(QueryError, match="Accepted: statistic 'tm99'"):
        lines(store, [*ACCEPTED, {"stat": "tm99"}])
