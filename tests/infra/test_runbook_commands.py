"""What the runbook tells people to type: each command can be typed, and does what its section needs."""

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import get_args

import pytest
import typer.main
from typer.core import TyperGroup
from typer.exceptions import TyperException

from handlers.domain.pending import MOST_REQUEUES, period_ms
from infra.settings import FunctionName
from ops.cli import app
from ops.dead_letters import DELIVERY, SOURCES
from tests.infra.stages import updated
from tests.infra.test_runbook import PAGE, listed, sections

# What somebody has to put in, and what one could.
SAMPLES = {
    "TENANT": "acme",
    "KEY": "order-1",
    "FUNCTION": "ingest",
    "ID": "ord_1",
    "S": "prod",
    "T": "2026-11-28T12:00:00Z",
    "DIR": ".",
    "DOCTOR": "anna",
    "TIME": "2026-12-01T09:00:00Z",
}
DAY = 86_400
UNITS = {"h": 3_600, "d": DAY}


def commands(page: str) -> Iterator[str]:
    """Every `onceward ...` of the page, options and all."""
    yield from (match[1] for match in re.finditer(r"`(onceward [^`]+)`", page))


def refusal(command: str) -> str | None:
    """Why the CLI would not take a command, with SAMPLES put in; None if it would."""
    words = [SAMPLES.get(word, word) for word in shlex.split(command)[1:]]
    current = typer.main.get_command(app)
    while isinstance(current, TyperGroup):
        if not words or words[0] not in current.commands:
            return f"no command: {' '.join(words[:1])}"
        current = current.commands[words.pop(0)]
    try:
        said = current.make_context(current.name, words).params
    except TyperException as error:
        return str(error)
    # What is text to the parser, and is looked at by the command itself.
    queues = said.get("queue") or []
    known = set(SOURCES) - ({DELIVERY} if current.name == "redrive" else set())
    unknown = set([queues] if isinstance(queues, str) else queues) - known
    functions = {said["function"]} if "function" in said else set(said.get("functions") or ())
    unknown |= functions - set(get_args(FunctionName))
    return f"unknown: {', '.join(sorted(unknown))}" if unknown else None


def test_every_command_in_it_can_be_typed() -> None:
    found = set(commands(PAGE))
    assert len(found) > 20
    assert {command: refusal(command) for command in found if refusal(command)} == {}


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("onceward mend TENANT", "no command: mend"),
        ("onceward dlq review", "no command: review"),
        ("onceward dlq", "no command: "),
        ("onceward dlq list --que orders-dlq --stage S", "--que"),
        ("onceward dlq list --queue orders --stage S", "unknown: orders"),
        ("onceward dlq redrive nonsense-dlq --stage S", "unknown: nonsense-dlq"),
        # SNS cannot send to one subscriber alone: the command refuses it.
        ("onceward dlq redrive delivery-dlq --stage S", "unknown: delivery-dlq"),
        ("onceward dlq redrive --stage S", "Missing parameter: queue"),
        ("onceward dlq redrive orders-dlq TENANT --stage S", "unexpected extra argument"),
        ("onceward dlq redrive orders-dlq --limit few --stage S", "a valid integer"),
        ("onceward rollback FUNCTION", "Missing parameter: stage"),
        ("onceward rollback refund --stage S", "unknown: refund"),
        ("onceward release refund --stage S", "unknown: refund"),
    ],
)
def test_a_command_that_nobody_can_type_is_found(command: str, why: str) -> None:
    assert why in (refusal(command) or "")


def test_every_dead_letter_queue_that_it_names_is_there() -> None:
    alarms = {name for text in sections(PAGE).values() for name in listed(text)}
    named = set(re.findall(r"`([a-z-]+-dlq)`", PAGE)) - alarms
    assert len(named) > 2
    assert named <= set(SOURCES)


def tried_seconds() -> dict[str, float]:
    """By section: how old what is lost, or lies in the queue, can be before anybody hears of it."""
    run = updated("prod")
    [stream] = [
        each
        for each in run.of_type("aws:lambda/eventSourceMapping:EventSourceMapping")
        if each.inputs.get("maximumRecordAgeInSeconds")
    ]
    ages = [
        each.inputs["retryPolicy"]["maximumEventAgeInSeconds"]
        for each in run.of_type("aws:cloudwatch/eventTarget:EventTarget")
    ]
    return {
        "dispatch-failures-lost": stream.inputs["maximumRecordAgeInSeconds"],
        "bus-events-lost": max(ages),
        "reconcile-given-up": sum(map(period_ms, range(MOST_REQUEUES + 1))) / 1_000,
    }


def too_late(page: str, tried: Mapping[str, float]) -> list[str]:
    """Where `--since` leaves out what it is for: replay goes by when a receipt was accepted.

    Of what was tried for so long before, a day is left for people to come. Where the oldest message says from
    when on, or somebody has to know (a restore), it is `T`.
    """
    found = []
    for section, text in sections(page).items():
        for since in re.findall(r"--since ([^\s`]+)", text):
            fixed = re.fullmatch(r"(\d+)([hd])", since)
            age = tried.get(section)
            if fixed is None and since != "T":
                found.append(f"{section}: {since}")
            if fixed and (age is None or int(fixed[1]) * UNITS[fixed[2]] < age + DAY):
                found.append(f"{section}: {since}")
    return found


def test_what_is_published_again_reaches_back_to_what_was_lost() -> None:
    tried = tried_seconds()
    assert too_late(PAGE, tried) == []
    assert all("--since" in sections(PAGE)[section] for section in tried)


@pytest.mark.parametrize(
    ("section", "said", "instead"),
    [
        ("dispatch-failures-lost", "--since 2d", "--since 1d"),
        ("bus-events-lost", "--since 2d", "--since 6h"),
        ("delivery-dlq-depth", "--since T", "--since 6h"),
        ("notify-dlq-depth", "--since T", "--since 6h"),
        ("reconcile-given-up", "--since 2d", "--since yesterday"),
    ],
)
def test_a_time_that_leaves_out_what_was_lost_is_found(section: str, said: str, instead: str) -> None:
    text = sections(PAGE)[section]
    assert said in text
    page = PAGE.replace(text, text.replace(said, instead))
    assert too_late(page, tried_seconds()) == [f"{section}: {instead.removeprefix('--since ')}"]


def test_it_tells_nobody_to_empty_a_queue_of_all_tenants() -> None:
    assert "purge-queue" not in PAGE
    assert "delete-message" not in PAGE


def without_refresh(page: str) -> list[str]:
    """What goes before each `pulumi up` that would change nothing: no word of a file that was edited."""
    text = " ".join(page.split())
    before = [text[: match.start()] for match in re.finditer("`pulumi up --stack S`", text)]
    # Its own clause, and the one before it.
    clauses = [" ".join(re.split(r"(?<=[.:;|]) ", each)[-2:]) for each in before]
    return [clause for clause in clauses if not re.search(r"file\b|\.yaml|status: ", clause)]


def test_an_update_that_mends_what_aws_has_looks_at_it_first() -> None:
    assert "`pulumi up --stack S`" in PAGE
    assert without_refresh(PAGE) == []


def test_every_command_of_pulumi_names_its_stack() -> None:
    told = re.findall(r"`pulumi (?:up|preview|stack|refresh)[^`]*`", PAGE)
    assert len(told) > 10
    assert [each for each in told if "--stack S" not in each] == []


def test_an_update_that_would_do_nothing_is_found() -> None:
    with_refresh = [match.start() for match in re.finditer("`pulumi up --stack S --refresh`", PAGE)]
    for place in with_refresh:
        page = PAGE[:place] + PAGE[place:].replace(" --refresh", "", 1)
        assert len(without_refresh(page)) == 1, PAGE[place - 80 : place + 40]
