"""A pytest plugin for CI (`-p tests.no_skips`): a skipped test fails the run, and is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

_skipped: list[str] = []


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note a skipped test; an expected failure is not a skip, though pytest reports it as one."""
    if report.skipped and not hasattr(report, "wasxfail"):
        _skipped.append(report.nodeid)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Note a module that skipped itself while it was collected."""
    if report.skipped:
        _skipped.append(report.nodeid)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Turn a run that would pass into a failed one when anything was skipped."""
    if _skipped and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """Say which tests were skipped, since that is why the run failed."""
    if _skipped:
        terminalreporter.section("skipped tests are failures here")
        for name in sorted(set(_skipped)):
            terminalreporter.line(name)
