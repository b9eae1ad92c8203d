"""The saved queries of the logs: they ask for members of lines that are really logged."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from infra import access_log
from infra.log_queries import LogQuery, log_queries, saved_name
from infra.naming import Names
from tests.emitting.everything import RUNS, everything
from tests.infra.stages import previewed

if TYPE_CHECKING:
    from collections.abc import Mapping

NAMES = Names("dev")
QUERIES = {query.slug: query for query in log_queries(NAMES)}
QUERY = "aws:cloudwatch/queryDefinition:QueryDefinition"
# Words of the query language (CloudWatch Logs user guide, "Logs Insights QL: supported commands" and
# "functions"), and what CloudWatch itself adds to a line.
LANGUAGE = {
    *("fields", "filter", "stats", "sort", "limit", "by", "as", "and", "in", "asc", "desc"),
    *("ispresent", "count", "count_distinct", "latest"),
}
# Only with Lambda's environment around it; `test_every_outcome` sees that it is on each line.
BY_LAMBDA = {"xray_trace_id"}
SERVICES = {NAMES.log_group(name): name for name in RUNS}


def asked(query: LogQuery) -> set[str]:
    """The members that a query asks for."""
    text = re.sub(r"'[^']*'|@timestamp", "", query.text)
    named = set(re.findall(r"\bas (\w+)", text))
    return set(re.findall(r"\b[a-zA-Z_]\w*", text)) - LANGUAGE - named


def words(query: LogQuery) -> set[str]:
    """The values that a query compares with, but for those that a person fills in."""
    return {word for word in re.findall(r"'([^']*)'", query.text) if not word.startswith("<")}


def lines_of(query: LogQuery) -> list[Mapping[str, object]]:
    """The lines in the log groups of a query."""
    if list(query.log_groups) == [NAMES.access_log_group]:
        return [access_log.line(NAMES)]
    return [line for group in query.log_groups for line in everything()[SERVICES[group]].lines]


@pytest.mark.parametrize("slug", sorted(QUERIES))
def test_a_query_asks_for_what_is_logged(slug: str) -> None:
    query = QUERIES[slug]
    logged = {name for line in lines_of(query) for name in line} | BY_LAMBDA
    assert asked(query) - logged == set()
    assert asked(query)


@pytest.mark.parametrize("slug", sorted(QUERIES))
def test_a_query_looks_for_words_that_are_logged(slug: str) -> None:
    query = QUERIES[slug]
    if slug == "refused-at-the-gateway":
        # The gateway's own statuses, in the text that its log has instead of a number.
        assert words(query) == {"401", "403", "429"}
        return
    logged = {str(value) for line in lines_of(query) for value in line.values()}
    assert words(query) - logged == set()


def test_the_checks_above_can_fail() -> None:
    query = QUERIES["conflicts-by-tenant"]
    renamed = LogQuery(query.slug, query.title, query.log_groups, query.text.replace("key_name", "keyName"))
    assert asked(renamed) - {name for line in lines_of(query) for name in line} == {"keyName"}
    assert words(LogQuery("", "", (), "filter outcome = 'in-progress'")) == {"in-progress"}


def test_the_program_saves_each_of_them_with_its_log_groups() -> None:
    saved = {each.inputs["name"]: each.inputs for each in previewed("dev").of_type(QUERY)}
    assert set(saved) == {saved_name(query, NAMES) for query in QUERIES.values()}
    groups = {each.inputs["name"] for each in previewed("dev").of_type("aws:cloudwatch/logGroup:LogGroup")}
    for query in QUERIES.values():
        inputs = saved[saved_name(query, NAMES)]
        assert inputs["queryString"] == query.text
        # CloudWatch takes 50 log groups a query (API reference, PutQueryDefinition).
        assert 0 < len(inputs["logGroupNames"]) <= 50
        assert set(inputs["logGroupNames"]) <= groups


def test_no_query_asks_in_two_stages_at_once() -> None:
    for query in log_queries(Names("prod")):
        assert not any("dev" in group for group in query.log_groups)
