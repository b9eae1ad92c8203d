"""The parts of `make test`: together they are all tests, each of them once."""

from __future__ import annotations

import re
import sys
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from _pytest.mark.expression import Expression

from tests import parts
from tests.parts import ALONE, CHAOS, PARALLEL, PARTS, PLATFORM, ROOT, STORMS, Part, Run

if TYPE_CHECKING:
    from collections.abc import Iterator

MARKS = ("platform", "storm", "chaos", "alone", "browser")
FILES = [path.relative_to(ROOT) for path in sorted((ROOT / "tests").rglob("test_*.py"))]


def texts() -> Iterator[tuple[Path, str]]:
    """Every module of the tests but this one, those that only set marks too."""
    for path in (ROOT / "tests").rglob("*.py"):
        if path != Path(__file__):
            yield path.relative_to(ROOT), path.read_text(encoding="utf-8")


def chosen(part: Part, marks: set[str]) -> bool:
    def has(name: str, /, **_: object) -> bool:
        return name in marks

    return Expression.compile(part.marks).evaluate(has)


# Storms and bursts need the platform too, so no test has one of these marks without that.
@pytest.mark.parametrize(
    "marks",
    [
        {*some}
        for count in range(len(MARKS) + 1)
        for some in combinations(MARKS, count)
        if ("platform" in some or not {"storm", "alone"} & {*some})
        and ("storm" in some or "chaos" not in some)
        and not {"storm", "alone"} <= {*some}
    ],
    ids=lambda marks: "-".join(sorted(marks)) or "none",
)
def test_a_test_is_in_one_part_whatever_its_marks(marks: set[str]) -> None:
    assert len([part.name for part in PARTS if chosen(part, marks)]) == 1


def test_storms_and_bursts_are_marked_platform_as_well_and_in_their_own_files() -> None:
    marked = {path: text for path, text in texts() if re.search(r"mark\.(storm|chaos|alone)\b", text)}
    assert {*marked} == {*CHAOS.files(), *STORMS.files(), *ALONE.files()}
    assert [path for path, text in marked.items() if "mark.platform" not in text] == []


def test_what_is_not_collected_holds_no_test_of_the_part() -> None:
    with_platform = {path.parts[1] for path, text in texts() if "mark.platform" in text}
    assert {f"tests/{name}" for name in with_platform} == {*PLATFORM.below}
    for part, example in ((PARALLEL, "tests/e2e/test_contract.py"), (PLATFORM, "tests/e2e/test_chaos.py")):
        left_out = {path for path in FILES if any(map(path.is_relative_to, part.below))} - {*part.files()}
        assert Path(example) in left_out
        for path in left_out:
            marks = whole_modules_marks(path)
            assert marks, path
            assert not chosen(part, marks), path


def whole_modules_marks(path: Path) -> set[str]:
    """The marks of every test in a file."""
    text = (ROOT / path).read_text(encoding="utf-8")
    return {
        *re.findall(r"pytest\.mark\.(\w+)", "".join(re.findall(r"^pytestmark = (.*)", text, re.MULTILINE)))
    }


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty place of tests."""
    monkeypatch.setattr(parts, "ROOT", tmp_path)
    monkeypatch.setattr(parts, "LOGS", tmp_path / "logs")
    (tmp_path / "tests").mkdir()
    return tmp_path


class Said(Part):
    """A part that is a program of its own (`what`), and no pytest."""

    def command(self, options: object) -> list[str]:
        return [sys.executable, "-c", self.what]


def said(name: str, program: str) -> Part:
    return Said(name, program, marks="")


def run(monkeypatch: pytest.MonkeyPatch, *stages: tuple[tuple[Part, ...], ...]) -> int:
    monkeypatch.setattr(parts, "STAGES", stages)
    monkeypatch.setattr(parts, "PARTS", tuple(part for stage in stages for row in stage for part in row))
    return Run([]).all()


def test_every_part_is_run_and_its_closing_line_shown_and_one_failure_fails_all(
    directory: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fails = said("fails", "print('first'); print('3 failed'); raise SystemExit(1)")
    fine = said("fine", "print('2 passed')")
    crashes = said("crashes", "import os; os.kill(os.getpid(), 9)")
    assert run(monkeypatch, ((fails, fine), (crashes,))) == 1
    told = capsys.readouterr().out
    assert told.splitlines()[-4:] == [
        "== summary",
        "fails     exit 1: 3 failed",
        "fine      exit 0: 2 passed",
        "crashes   exit -9: ",
    ]
    assert "fails    | first\n" in told
    assert (directory / "logs" / "fails.log").read_text() == "first\n3 failed\n"


def test_all_is_well_when_every_part_passed(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch, ((said("a", "print('1 passed')"),), (said("b", ""),))) == 0


def test_a_stage_begins_when_the_one_before_it_has_ended_and_its_rows_at_once(
    directory: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Each of two waits for the other; what comes after them finds both to have ended.
    meets = (
        "import pathlib, time; pathlib.Path('{0}').touch()\n"
        "while not pathlib.Path('{1}').exists(): time.sleep(.01)"
    )
    one, other = said("one", meets.format("a", "b")), said("other", meets.format("b", "a"))
    after = said("after", "import pathlib; raise SystemExit(not pathlib.Path('a').exists())")
    assert run(monkeypatch, ((one,), (other,)), ((after,),)) == 0


def test_browsers_come_last() -> None:
    places = ["e2e" in path.parts for path in PARALLEL.files()]
    assert places == sorted(places)
    assert len({*places}) == 2


def test_modules_are_compiled_once_whatever_the_environment_says(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    assert run(monkeypatch, ((said("a", "import sys; raise SystemExit(sys.dont_write_bytecode)"),),)) == 0


def test_the_command_names_marks_files_and_what_else_pytest_is_told(directory: Path) -> None:
    (directory / "tests" / "e2e").mkdir()
    chaos = 'pytestmark = [pytest.mark.storm, pytest.mark.chaos, pytest.mark.xdist_group("{}")]\n'
    for name, text in (("a", chaos.format("one")), ("b", chaos.format("two")), ("c", "def test(): pass\n")):
        (directory / "tests" / "e2e" / f"test_{name}.py").write_text(text)
    assert CHAOS.command(["-x"])[1:] == [
        *("-m", "pytest", "-q", "-n", "2", "--dist", "loadgroup", "-m", "chaos", "-x"),
        *("tests/e2e/test_a.py", "tests/e2e/test_b.py"),
    ]
    assert PARALLEL.command([])[:3] == ["nice", "-n", "5"]
    assert PLATFORM.command([])[-1] == "tests/e2e/test_c.py"
    assert "--dist" not in ALONE.command([])
