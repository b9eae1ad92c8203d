"""Asking the operator before something is done that cannot be undone."""

from __future__ import annotations

import sys

import typer


def confirmed(question: str, *, agreed: bool, scripted: bool, otherwise: str) -> bool:
    """Whether to go on: agreed beforehand (`--yes`), or answered so at the terminal.

    In a script (`scripted`, or no terminal) nobody is asked: `otherwise` says how to agree, and it is a no.
    """
    if agreed:
        return True
    if scripted or not at_a_terminal():
        typer.echo(otherwise, err=True)
        return False
    return typer.confirm(question)


def at_a_terminal() -> bool:
    """Whether somebody can answer."""
    return sys.stdin.isatty()
