"""Queries that find their metrics themselves: SEARCH and Metrics Insights' SELECT, written and read back.

Written for dashboards and alarms; read back so that a test can tell which metrics a text is about. Only what
is written here is understood (CloudWatch's user guide, "search expression syntax" and "Query components and
syntax in CloudWatch Metrics Insights").
"""

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

Function = Literal["AVG", "COUNT", "MAX", "MIN", "SUM"]
STATISTICS: Final[Mapping[str, str]] = {
    "AVG": "Average",
    "COUNT": "SampleCount",
    "MAX": "Maximum",
    "MIN": "Minimum",
    "SUM": "Sum",
}
"""What Metrics Insights' functions are called elsewhere in CloudWatch."""

# A word, or anything in double quotes; the namespaces of AWS have a slash.
_WORD: Final = r'(?:"[^"]+"|[A-Za-z_][A-Za-z0-9_]*)'
_SELECT: Final = re.compile(
    rf"SELECT (?P<function>AVG|COUNT|MAX|MIN|SUM)\((?P<name>{_WORD})\)"  # noqa: S608 - no database
    rf" FROM SCHEMA\((?P<schema>{_WORD}(?:, {_WORD})+)\)"
    r"(?: WHERE (?P<where>.+?))?"
    rf"(?: GROUP BY (?P<group>{_WORD}))?"
    r"(?: ORDER BY (?:AVG|COUNT|MAX|MIN|SUM)\(\)(?: ASC| DESC)?)?(?: LIMIT [0-9]+)?"
)
_CONDITION: Final = re.compile(rf"(?P<key>{_WORD}) (?P<operator>=|!=) '(?P<value>[^']*)'")
_SEARCH: Final = re.compile(r"SEARCH\('(?P<searched>[^']+)', '(?P<statistic>[A-Za-z0-9.]+)', [0-9]+\)")
_SEARCHED: Final = re.compile(r"\{(?P<schema>[^{}]+)\} (?P<terms>.+)")
_ONE: Final = r'"[^"]*"'
_TERM: Final = re.compile(rf"(?P<key>[A-Za-z]+)=(?P<values>{_ONE}|\({_ONE}(?: OR {_ONE})*\))(?: |$)")
_NAME: Final = "MetricName"
# What is left of a WHERE without its conditions.
_JOINTS: Final = re.compile(r"(?: AND )*")


@dataclass(frozen=True)
class MetricReference:
    """One metric, or family of metrics, that a dashboard or an alarm reads.

    `dimension_names`: the names of all its dimensions. `dimensions`: those whose value is given, sorted by
    name; a query leaves some open. `statistic`: Sum, Average, Maximum, SampleCount, p99 and the like.
    """

    namespace: str
    name: str
    dimension_names: frozenset[str]
    dimensions: tuple[tuple[str, str], ...]
    statistic: str


@dataclass(frozen=True)
class Search:
    """Every metric with exactly these dimensions, one of these names, and for each key of `where` one of its
    values."""

    namespace: str
    dimensions: tuple[str, ...]
    names: tuple[str, ...]
    where: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def searched(self) -> str:
        """What is searched for, as a dashboard's variable wants it."""
        terms = [f"{key}={_alternatives(values)}" for key, values in (*self.where, (_NAME, self.names))]
        return f"{{{','.join((self.namespace, *self.dimensions))}}} {' '.join(terms)}"

    def expression(self, statistic: str, period_seconds: int) -> str:
        """The expression for a graph."""
        return f"SEARCH('{self.searched}', '{statistic}', {period_seconds})"


@dataclass(frozen=True)
class Select:
    """A Metrics Insights query: one line a value of `group_by`, the highest first, over the metrics that have
    these dimensions, every one of the values of `where`, and none of those of `unless`.

    Metrics Insights has no OR and no IN (its user guide, "Supported operators"). `limit`: only so many lines.
    """

    function: Function
    name: str
    namespace: str
    dimensions: tuple[str, ...]
    where: tuple[tuple[str, str], ...]
    group_by: str
    unless: tuple[tuple[str, str], ...] = ()
    limit: int | None = None

    @property
    def expression(self) -> str:
        """The query."""
        schema = ", ".join(_quoted(word) for word in (self.namespace, *self.dimensions))
        conditions = [f"{_quoted(key)} = '{value}'" for key, value in self.where]
        conditions += [f"{_quoted(key)} != '{value}'" for key, value in self.unless]
        text = f"SELECT {self.function}({_quoted(self.name)}) FROM SCHEMA({schema})"  # noqa: S608 - no database
        text += f" WHERE {' AND '.join(conditions)}" if conditions else ""
        text += f" GROUP BY {_quoted(self.group_by)} ORDER BY {self.function}() DESC"
        return text if self.limit is None else f"{text} LIMIT {self.limit}"


def in_expression(text: str) -> frozenset[MetricReference]:
    """The metrics that one SELECT or SEARCH is about: one reference a name and combination of given values.

    Raises ValueError for a text that is neither, or not as they are written here.
    """
    if text.startswith("SELECT "):
        return frozenset({_selected(text)})
    match = _SEARCH.fullmatch(text)
    if match is None:
        raise ValueError(f"neither a SELECT nor a SEARCH that is understood: {text}")
    return in_search(match["searched"], match["statistic"])


def in_search(searched: str, statistic: str) -> frozenset[MetricReference]:
    """The metrics that a search without its SEARCH() is about. Raises ValueError as `in_expression` does."""
    match = _SEARCHED.fullmatch(searched)
    if match is None:
        raise ValueError(f"not a search that is understood: {searched}")
    terms = {
        found["key"]: tuple(re.findall(r'"([^"]*)"', found["values"])) for found in _terms(match["terms"])
    }
    names = terms.pop(_NAME, ())
    namespace, *dimensions = match["schema"].split(",")
    if not names or not terms.keys() <= set(dimensions):
        raise ValueError(f"a search has {_NAME}= and else only dimensions of its schema: {searched}")
    return frozenset(
        MetricReference(namespace, name, frozenset(dimensions), given, statistic)
        for name in names
        for given in _combinations(terms)
    )


def _terms(text: str) -> Iterator[re.Match[str]]:
    position = 0
    while position < len(text):
        match = _TERM.match(text, position)
        if match is None:
            raise ValueError(
                f'a search\'s terms are key="value" or key=("one" OR "other"): {text[position:]}'
            )
        yield match
        position = match.end()


def _selected(text: str) -> MetricReference:
    match = _SELECT.fullmatch(text)
    if match is None:
        raise ValueError(f"not a SELECT that is understood: {text}")
    namespace, *dimensions = (_bare(word) for word in re.findall(_WORD, match["schema"]))
    where = match["where"] or ""
    if not _JOINTS.fullmatch(_CONDITION.sub("", where)):
        raise ValueError(f"a WHERE has conditions such as key = 'value', joined by AND: {text}")
    conditions = [(_bare(found["key"]), found) for found in _CONDITION.finditer(where)]
    named = {key for key, _ in conditions} | ({_bare(match["group"])} if match["group"] else set())
    if not named <= set(dimensions):
        raise ValueError(f"WHERE and GROUP BY are about dimensions of the SCHEMA: {text}")
    given = {key: found["value"] for key, found in conditions if found["operator"] == "="}
    return MetricReference(
        namespace,
        _bare(match["name"]),
        frozenset(dimensions),
        tuple(sorted(given.items())),
        STATISTICS[match["function"]],
    )


def _combinations(given: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[tuple[str, str], ...]]:
    keys = sorted(given)
    for values in itertools.product(*(given[key] for key in keys)):
        yield tuple(zip(keys, values, strict=True))


def _alternatives(values: tuple[str, ...]) -> str:
    quoted = [f'"{value}"' for value in values]
    return quoted[0] if len(quoted) == 1 else f"({' OR '.join(quoted)})"


def _quoted(word: str) -> str:
    # All of them, though a plain word needs no quotes: Metrics Insights has hundreds of reserved words, and a
    # name that is one, or becomes one, would make a query that CloudWatch refuses.
    return f'"{word}"'


def _bare(word: str) -> str:
    return word.strip('"')
