"""Text in Markdown as HTML. Whatever the text has, no script comes of it, and no address but a web page's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.token import Token

RUNBOOK_PAGE: Final = "/runbook"
"""Where this site shows the runbook."""

_SCHEME: Final = re.compile(r"\s*([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_SCHEMES: Final = ("http", "https", "mailto")
_RUNBOOK: Final = re.compile(r"(?:docs/)?runbook\.md(#[\w-]*)?")
_CONSOLE: Final = re.compile(
    r"https://[\w.-]+/cloudwatch/home\?region=[\w-]+#(?:dashboards/dashboard/(?P<name>[\w-]+))?.*"
)
_BUTTON: Final = re.compile(r"button:(primary:)?")


class _Parser(MarkdownIt):
    """CommonMark and tables; HTML in the text is shown as text, pictures are not loaded."""

    def __init__(self) -> None:
        super().__init__("commonmark", {"html": False})
        self.enable("table").disable("image")
        self.add_render_rule("link_open", _link)
        self.add_render_rule("heading_open", _heading)
        self.add_render_rule("code_inline", _code)

    def validateLink(self, url: str) -> bool:  # noqa: N802 (markdown-it's)
        """Addresses of web pages and of mail, and relative ones, of which `_link` keeps the runbook's."""
        scheme = _SCHEME.match(url)
        return scheme is None or scheme[1].lower() in _SCHEMES


def _link(renderer: Any, tokens: Sequence[Token], at: int, options: Any, _environment: Any) -> str:  # noqa: ANN401 (markdown-it's)
    """A link opens beside the dashboard, and tells nobody where it was followed.

    What this site shows too is linked to here: the runbook, CloudWatch's dashboards. What it does not show
    (other files of the repository, other pages of CloudWatch) is only its text. `[button:Text](address)` is
    CloudWatch's own way to write a link that looks like a button.
    """
    link, text = tokens[at], tokens[at + 1]
    address = str(link.attrGet("href"))
    here = _here(address)
    if here is not None:
        link.attrSet("href", here)
    elif _SCHEME.match(address) and not _CONSOLE.match(address):
        link.attrs |= {"target": "_blank", "rel": "noopener noreferrer"}
    else:
        link.attrs.pop("href")
        link.attrSet("title", "Not a page of this site")
    button = _BUTTON.match(text.content)
    if button:
        link.attrSet("class", "button primary" if button[1] else "button")
        text.content = text.content[button.end() :]
    return str(renderer.renderToken(tokens, at, options, {}))


def _here(address: str) -> str | None:
    """Where this site shows what is at an address; None if it does not."""
    if address.startswith("#"):
        return address
    runbook, console = _RUNBOOK.fullmatch(address), _CONSOLE.match(address)
    if runbook:
        return RUNBOOK_PAGE + (runbook[1] or "")
    return f"/?name={console['name']}" if console and console["name"] else None


def _code(renderer: Any, tokens: Sequence[Token], at: int, options: Any, environment: Any) -> str:  # noqa: ANN401 (markdown-it's)
    """A section of the runbook that is named by its place in the repository is a link, too."""
    code = str(renderer.code_inline(tokens, at, options, environment))
    runbook = _RUNBOOK.fullmatch(tokens[at].content)
    return f'<a href="{RUNBOOK_PAGE}{runbook[1] or ""}">{code}</a>' if runbook else code


def _heading(renderer: Any, tokens: Sequence[Token], at: int, options: Any, _environment: Any) -> str:  # noqa: ANN401 (markdown-it's)
    """A heading can be linked to by its words, as where the repository is read."""
    words = tokens[at + 1].content.strip().lower()
    tokens[at].attrSet("id", re.sub(r"[^\w\- ]", "", words).replace(" ", "-"))
    return str(renderer.renderToken(tokens, at, options, {}))


def render(text: str) -> str:
    """HTML of a text in Markdown, safe to put into a page."""
    return str(_Parser().render(text))
