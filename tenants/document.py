"""YAML text into plain data that remembers its lines.

Only what a tenant file needs: mappings, lists (as tuples) and scalars. Anchors, tags, directives and a
second document are refused, because a file that a person audits should say what it means where it stands.
"""

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from tenants.errors import Fault
from tenants.strict_yaml import Refused, compose, new_yaml

Scalar = str | int | float | bool | None
Value = Scalar | tuple["Value", ...] | dict[str, "Value"]
Path = tuple[str | int, ...]

_TAG: Final = "tag:yaml.org,2002:"
# Everything else that YAML resolves on its own (a date, say) stays the text that was written.
_TYPED: Final = frozenset({"bool", "int", "float", "null"})
_CONTAINERS: Final = frozenset({f"{_TAG}map", f"{_TAG}seq"})
# Far more than any rule of a tenant file allows.
_LARGEST: Final = 10**40


def spell(path: Path) -> str:
    """`("keys", 0, "name")` as `keys[0].name`; the empty path as `file`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}"
    return text.removeprefix(".") or "file"


@dataclass(slots=True)
class Document:
    """One file's data, the line of each path in it, and what was wrong with the YAML itself."""

    file: str
    data: Value = None
    lines: dict[Path, int] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    # Values that could not be read at all: they have their fault already, and no other rule is tried.
    unread: set[Path] = field(default_factory=set)

    def line_of(self, path: Path) -> int:
        """The line of `path`, or of its nearest parent that is in the file."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def fault(self, path: Path, rule: str) -> None:
        """Note that the value at `path` breaks `rule`."""
        self.faults.append(Fault(self.file, self.line_of(path), spell(path), rule))


def parse(file: str, text: str) -> Document:
    """Read one YAML document; faults are noted in the result, never raised."""
    document = Document(file)
    yaml = new_yaml()
    try:
        root = compose(yaml, text)
    except Refused as error:
        document.faults.append(Fault(file, error.line, "yaml", error.rule))
        return document
    if root is not None:
        document.data = _Reader(yaml, document).read(root, ())
    # Nothing at all, or a document that says that it is nothing: `---`, `null`, `~`.
    if document.data is None and not document.faults:
        document.fault((), "is empty")
    return document


def _is_unicode(text: str) -> bool:
    # Half of a surrogate pair, which an escape can make, is no character: nothing could print or store it.
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


class _Reader:
    """Turns nodes into data, noting lines and faults in the document."""

    def __init__(self, yaml: YAML, document: Document) -> None:
        self._yaml = yaml
        self._document = document
        self._seen: set[int] = set()

    def read(self, node: Node, path: Path) -> Value:
        self._document.lines.setdefault(path, node.start_mark.line + 1)
        if id(node) in self._seen or node.anchor:
            self._unread(path, "must not use anchors or aliases: write the value out")
            return None
        self._seen.add(id(node))
        if self._has_tag(node):
            self._unread(path, f"must not carry a tag ({node.tag})")
            return None
        if isinstance(node, MappingNode):
            return self._mapping(node, path)
        if isinstance(node, SequenceNode):
            return tuple(self.read(child, (*path, index)) for index, child in enumerate(node.value))
        return self._scalar(node, path)

    def _mapping(self, node: MappingNode, path: Path) -> dict[str, Value]:
        result: dict[str, Value] = {}
        for name_node, value_node in node.value:
            name = self._name(name_node, path)
            if name is None:
                continue
            below = (*path, name)
            line = name_node.start_mark.line + 1
            if name in result:
                first = self._document.line_of(below)
                self._fault(line, below, f"is there twice (first in line {first})")
                continue
            self._document.lines[below] = line
            result[name] = self.read(value_node, below)
        return result

    def _name(self, node: Node, path: Path) -> str | None:
        """A member's name; None if there is none to go on with: that is a fault."""
        name = node.value if isinstance(node, ScalarNode) else None
        if name is None or not _is_unicode(name):
            self._document.fault(path, "must have plain names")
            return None
        line, below = node.start_mark.line + 1, (*path, name)
        if node.anchor:
            self._fault(line, below, "must not use anchors or aliases for a name")
        if self._has_tag(node):
            self._fault(line, below, f"must not carry a tag on its name ({node.tag})")
        return str(name)

    def _fault(self, line: int, path: Path, rule: str) -> None:
        self._document.faults.append(Fault(self._document.file, line, spell(path), rule))

    def _scalar(self, node: Node, path: Path) -> Scalar:
        if str(node.tag).removeprefix(_TAG) in _TYPED:
            return self._typed(node, path)
        text = str(node.value)
        if not _is_unicode(text):
            self._unread(path, "must not hold half of a surrogate pair")
            return None
        return text

    def _has_tag(self, node: Node) -> bool:
        """Whether a tag makes something else of it than it is by itself: `!!bool maybe`, `!!set {}`."""
        if not isinstance(node, ScalarNode):
            return str(node.tag) not in _CONTAINERS
        # A quoted or block scalar is text, whatever is in it.
        plain = (True, False) if node.style is None else (False, True)
        return str(node.tag) != str(self._yaml.resolver.resolve(ScalarNode, node.value, plain))

    def _typed(self, node: Node, path: Path) -> Scalar:
        # Python reads no more than 4,300 digits; in hexadecimal it reads any number of them, and then cannot
        # write what it has read in a fault. ruamel asks for a first digit where there is none.
        with suppress(ValueError, IndexError, OverflowError):
            value: Scalar = self._yaml.constructor.construct_object(node)
            if not isinstance(value, int) or abs(value) < _LARGEST:
                return value
        self._unread(path, "must be a number that can be read")
        return None

    def _unread(self, path: Path, rule: str) -> None:
        self._document.fault(path, rule)
        self._document.unread.add(path)
