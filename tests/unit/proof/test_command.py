"""`python -m proof`: no option is ignored, and a search of ours that finds anything fails it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from proof import __main__ as command
from proof import peer

if TYPE_CHECKING:
    from _pytest.capture import CaptureFixture


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing"], "no such part: nothing"),
        (["--only", "nothing"], "no such planted version: nothing"),
        (["search", "--only", "lease-too-long"], "--only is for planted, and alone"),
        (["--only", "lease-too-long", "--seed", "3"], "--only is for planted, and alone"),
        (["--only", "lease-too-long", "--write", "page.md"], "--only is for planted, and alone"),
        (["search", "--walks", "5"], "--walks and --seed are for deeper"),
        (["planted", "--seed", "5"], "--walks and --seed are for deeper"),
        (["deeper", "--walks", "0"], "--walks is a number of 1 or more"),
    ],
)
def test_no_option_is_ignored(arguments: list[str], said: str, capsys: CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(arguments)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_one_planted_version_is_told_move_by_move(capsys: CaptureFixture[str]) -> None:
    assert command.main(["planted", "--only", "lease-too-long"]) == 0
    assert "=> BROKEN: A claimed with a lease that is longer than it may run" in capsys.readouterr().out


def test_a_search_of_ours_that_finds_anything_is_told_and_fails_the_comparison(
    monkeypatch: pytest.MonkeyPatch, capsys: CaptureFixture[str]
) -> None:
    def unkept(*_: Any) -> NoReturn:
        raise peer.Unkept("a schedule")

    monkeypatch.setattr(peer, "table", unkept)
    assert command.main(["peer"]) == 1
    said = capsys.readouterr().out
    assert "A search of Onceward:\na schedule" in said
    assert "FAILED" in said


def test_random_walks_are_as_many_as_are_asked_for(capsys: CaptureFixture[str]) -> None:
    assert command.main(["deeper", "--walks", "8", "--seed", "3"]) == 0
    assert "8 random schedules, deeper than the searches go (seed 3)" in capsys.readouterr().out
