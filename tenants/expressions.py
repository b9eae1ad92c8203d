"""JMESPath in tenant files: compiled when the file is checked, so that no request meets a broken one."""

import re
from typing import Annotated, Any, Final

import jmespath
from jmespath.exceptions import JMESPathError
from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from tenants.names import is_timestamp

# Long enough for any path into a webhook's body; it is stored with every key and in every context.
_MAX_EXPRESSION: Final = 120
# What gives a list or an object, which is never one value.
_SEVERAL: Final = frozenset(
    {"projection", "value_projection", "filter_projection", "multi_select_list", "multi_select_dict"}
)
# Steps down the body, which give nothing where a part is missing. Functions, comparisons and literals make
# something of nothing (`to_string(id)` makes "null"), and unrelated requests would share a key.
_STEPS: Final = frozenset({"field", "subexpression", "index_expression", "index", "identity", "pipe"})
_PLACEHOLDER: Final = re.compile(r"\{([^{}]*)\}")


def last_names(expression: str) -> tuple[str, ...]:
    """The members whose values `expression` gives: `("submissionId",)` for `data.submissionId`."""
    tree: Any = jmespath.compile(expression).parsed
    return tuple(_ends(tree))


def _ends(node: dict[str, Any]) -> list[str]:
    if node["type"] == "field":
        return [str(node["value"])]
    children = [child for child in node["children"] if isinstance(child, dict)]
    if node["type"] in {"subexpression", "pipe", "index_expression", "projection", "value_projection"}:
        named = [names for names in map(_ends, children) if names]
        return named[-1] if named else []
    return [name for child in children for name in _ends(child)]


def compiled(expression: str) -> str:
    """Return `expression`, or refuse it if it is no JMESPath, or does not give one member of the body."""
    try:
        names = last_names(expression)
    except JMESPathError as error:
        reason = str(error).strip().splitlines()[0]
        raise PydanticCustomError("jmespath", "must be JMESPath: {reason}", {"reason": reason}) from None
    if not names:
        raise PydanticCustomError("jmespath", "must name a member of the body")
    if jmespath.compile(expression).parsed["type"] in _SEVERAL:
        raise PydanticCustomError("jmespath", "must give one value, not several")
    if not _is_path(jmespath.compile(expression).parsed):
        raise PydanticCustomError(
            "jmespath",
            "must be a path, such as data.id or items[0].id: a function, comparison or alternative gives "
            "something for a part that is missing too, and unrelated requests would be taken for one",
        )
    return expression


def _is_path(node: Any) -> bool:  # noqa: ANN401 - what jmespath parses into
    return node["type"] in _STEPS and all(
        _is_path(child) for child in node["children"] if isinstance(child, dict)
    )


def stable(expression: str) -> str:
    """Return `expression`, or refuse it if a part of it is a time."""
    for name in last_names(expression):
        if is_timestamp(name):
            raise PydanticCustomError(
                "timestamp", "must not be a timestamp ({name}): it is never an identity", {"name": name}
            )
    return expression


def placeholders(template: str) -> tuple[str, ...]:
    """The expressions in the braces of `template`."""
    return tuple(_PLACEHOLDER.findall(template))


def fillable(template: str) -> str:
    """Return `template`, or refuse it if it has no placeholder, a stray brace, or one that is no identity."""
    found = placeholders(template)
    if not found or re.search(r"[{}]", _PLACEHOLDER.sub("", template)):
        raise PydanticCustomError(
            "template",
            "must hold at least one {placeholder}, and no brace besides",
            {"placeholder": "{path}"},
        )
    # Letters, digits and % are what an escaped value is spelled with, so they separate nothing.
    between = _PLACEHOLDER.split(template)[2:-1:2]
    if not all(re.search(r"[^\w%]", text, re.ASCII) for text in between):
        raise PydanticCustomError("template", "must have a mark such as ':' between two placeholders")
    for each in found:
        stable(compiled(each))
    return template


Expression = Annotated[str, Field(min_length=1, max_length=_MAX_EXPRESSION), AfterValidator(compiled)]
"""JMESPath over a request's body."""
