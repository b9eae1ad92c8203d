"""The runbook: a section for each alarm, and an alarm for each section."""

import re

import pytest

from infra.program import REPOSITORY
from tests.infra.engine import Run
from tests.infra.stages import run_stage, tenant, updated, with_tenants

PAGE = (REPOSITORY / "docs/runbook.md").read_text()
KINDS = {
    "aws:cloudwatch/metricAlarm:MetricAlarm": "name",
    "aws:cloudwatch/compositeAlarm:CompositeAlarm": "alarmName",
}
# Sections that are no alarm's.
ALSO = {"first", "restoring-a-table-drill"}


def alarms(run: Run) -> dict[str, str]:
    """The description of every alarm, by its name as the runbook spells it: without stage, TENANT for any."""
    return {
        spelt(each.inputs[name]): each.inputs["alarmDescription"]
        for kind, name in KINDS.items()
        for each in run.of_type(kind)
    }


def spelt(name: str) -> str:
    own = re.fullmatch(r"onceward-[a-z]+-[a-z0-9-]+_(.+)", name)
    return f"TENANT_{own[1]}" if own else re.sub(r"^onceward-[a-z]+_", "", name)


def sections(page: str) -> dict[str, str]:
    """The text of each section, by what a link to it says (as GitHub makes it of a heading)."""
    parts = re.split(r"^## (.+)$", page, flags=re.MULTILINE)[1:]
    return {anchor(heading): text for heading, text in zip(parts[::2], parts[1::2], strict=True)}


def anchor(heading: str) -> str:
    return re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-")


def listed(text: str) -> set[str]:
    """The alarms that a section says it is for."""
    match = re.search(r"^Alarms: (.*?)\.$", text, flags=re.MULTILINE | re.DOTALL)
    return set() if match is None else set(re.findall(r"`([^`]+)`", match[1]))


def faults(run: Run, page: str) -> list[str]:
    """What does not fit between the alarms of a run and a runbook."""
    found = []
    of = {name: section for section, text in sections(page).items() for name in listed(text)}
    for name, description in alarms(run).items():
        section = description.rpartition(" Runbook: docs/runbook.md#")[2]
        if section not in sections(page):
            found.append(f"{name}: no section {section}")
        elif of.get(name) != section:
            found.append(f"{name}: not listed in {section}")
    found += [f"{name}: no such alarm" for name in of if name not in alarms(run)]
    found += [
        f"{section}: of no alarm"
        for section, text in sections(page).items()
        if section not in ALSO and not listed(text)
    ]
    return found


def test_every_alarm_has_its_section_and_every_section_its_alarms() -> None:
    assert faults(updated("prod"), PAGE) == []


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("## several-charges", "## many-charges", "several-charges: no section several-charges"),
        ("`orders-age`, ", "", "orders-age: not listed in work-age"),
        ("`orders-age`, ", "`orders-age`, `refunds-age`, ", "refunds-age: no such alarm"),
        ("Alarms: `several-charges`.", "", "several-charges: of no alarm"),
    ],
)
def test_an_alarm_without_its_section_or_a_section_without_its_alarm_is_found(
    old: str, new: str, fault: str
) -> None:
    assert old in PAGE
    assert fault in faults(updated("prod"), PAGE.replace(old, new, 1))


def test_every_section_says_what_it_means_how_to_see_and_what_to_do() -> None:
    for section, text in sections(PAGE).items():
        if section not in ALSO:
            assert all(word in text for word in ("**Means**", "**See**", "**Do**")), section


def test_links_within_the_runbook_lead_somewhere() -> None:
    links = set(re.findall(r"\]\(#([^)]+)\)", PAGE))
    assert links
    assert links <= set(sections(PAGE))
    for file in set(re.findall(r"\]\(([^)#]+)\)", PAGE)):
        assert (REPOSITORY / "docs" / file).is_file(), file


def test_a_stage_says_where_its_people_read_it() -> None:
    page = "https://git.example.com/onceward/docs/runbook.md"
    run = run_stage("dev", with_tenants([tenant("bee")]), runbookUrl=page)
    for description in alarms(run).values():
        assert f" Runbook: {page}#" in description


def test_a_description_with_its_link_is_no_longer_than_cloudwatch_takes() -> None:
    # The longest address that the settings take.
    page = "https://" + "x" * 300
    for description in alarms(run_stage("prod", runbookUrl=page)).values():
        assert len(description) <= 1_024
