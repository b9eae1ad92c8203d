"""YAML text into nodes, without what changes the meaning of the rest: directives, and depth without end."""

import warnings
from typing import Final, NoReturn

from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer, ComposerError
from ruamel.yaml.error import MarkedYAMLError, ReusedAnchorWarning, YAMLError
from ruamel.yaml.nodes import Node
from ruamel.yaml.scanner import Scanner, ScannerError

# As of a request's body, and far more than any tenant file needs.
_MAX_DEPTH: Final = 64


class Refused(Exception):
    """The text is not YAML as we take it.

    Attributes:
        line: where, from 1.
        rule: what is wrong, in one line.
    """

    def __init__(self, line: int, rule: str) -> None:
        super().__init__(rule)
        self.line = line
        self.rule = rule


def new_yaml() -> YAML:
    """A reader of one text: of safe types only, in Python only."""
    yaml = YAML(typ="safe", pure=True)
    yaml.Composer = _Composer
    yaml.Scanner = _Scanner
    return yaml


def compose(yaml: YAML, text: str) -> Node | None:
    """The one document's root; None of an empty one. Raises Refused."""
    try:
        with warnings.catch_warnings():
            # An anchor that is there twice; who reads the nodes refuses the first one already.
            warnings.simplefilter("ignore", ReusedAnchorWarning)
            root: Node | None = yaml.compose(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise Refused(mark.line + 1 if mark else 1, _problem(error)) from error
    except YAMLError as error:  # no mark: a character that YAML does not allow
        raise Refused(1, _first_line(str(error))) from error
    except (ValueError, OverflowError) as error:
        # ruamel makes characters of escapes without asking whether Unicode has them.
        raise Refused(1, "holds an escape that is no character") from error
    return root


def _problem(error: MarkedYAMLError) -> str:
    parts = (part for part in (error.context, error.problem) if part)
    return _first_line(", ".join(parts) or "is not valid YAML")


def _first_line(problem: str) -> str:
    return problem.strip().splitlines()[0]


class _Scanner(Scanner):
    """ruamel's, without directives: below `%YAML 1.1`, yes would be true and 0777 be 511."""

    def scan_directive(self) -> NoReturn:
        """Refuse it, whatever it is."""
        mark = self.reader.get_mark()
        raise ScannerError(problem="must not hold a directive (%YAML, %TAG)", problem_mark=mark)


class _Composer(Composer):
    """ruamel's, to a depth of `_MAX_DEPTH`: deeper it would take seconds, and then all of the stack."""

    _depth = 0

    def compose_node(self, parent: Node | None, index: object) -> Node | None:
        """Read one node and all below it."""
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            mark = self.parser.peek_event().start_mark
            raise ComposerError(problem="is nested too deeply", problem_mark=mark)
        node: Node | None = super().compose_node(parent, index)
        self._depth -= 1
        return node
