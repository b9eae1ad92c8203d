"""Schemas by pydantic: validation that lists every fault, and changes nothing of what was sent."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Final, Generic, TypeVar, cast

from pydantic import AfterValidator, BaseModel, Field, ValidationError
from pydantic_core import PydanticCustomError

from handlers.domain.errors import Fault, InvalidBody
from handlers.operations.currencies import CURRENCIES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema, ErrorDetails

    from handlers.domain.json_text import JsonValue
    from handlers.domain.operation import Document

Model = TypeVar("Model", bound=BaseModel)


class PydanticSchema(Generic[Model]):
    """`Schema` by a pydantic model. The body is returned as it was sent, unknown fields and all.

    All faults are listed, so a model bounds its lists (`max_length`): a fault takes about 150 bytes of an
    answer, and Lambda takes answers of 6 MB.
    """

    def __init__(self, model: type[Model]) -> None:
        self._model = model

    @property
    def model(self) -> type[Model]:
        """The model, for whoever describes it."""
        return self._model

    def __call__(self, body: JsonValue, /) -> Document:
        """Return `body` when it fits.

        Raises:
            InvalidBody: with a `Fault` for everything that does not.
        """
        try:
            self._model.model_validate(body)
        except ValidationError as error:
            # Never the input: it would echo a payload into answers and logs.
            faults = tuple(_fault(each) for each in error.errors(include_url=False, include_input=False))
            raise InvalidBody(_summary(faults), faults) from None
        return cast("Document", body)


@dataclass(frozen=True)
class Described(AfterValidator):
    """A rule that Python checks, with what JSON Schema can say of it (`words`) for the API's document."""

    words: Mapping[str, JsonValue] = field(default_factory=dict, hash=False)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Add the words to the schema (pydantic calls it)."""
        return {**handler(schema), **self.words}


def matching(pattern: str, message: str) -> Described:
    """A text that must match `pattern` as a whole; a text that does not is refused with `message`.

    The pattern means the same in ECMA-262, which is what JSON Schema knows.
    """
    compiled = re.compile(pattern)

    def check(text: str) -> str:
        if not compiled.fullmatch(text):
            raise PydanticCustomError("string_pattern_mismatch", "{message}", {"message": message})
        return text

    return Described(check, {"pattern": f"^(?:{pattern})$"})


Line = Annotated[
    str, Field(min_length=1, max_length=200), matching(r"[\s\S]*\S[\s\S]*", "must hold more than white space")
]
"""A line of text that says something."""

Name = Annotated[
    str,
    Field(min_length=1, max_length=200),
    matching(r"\S(?:[\s\S]*\S)?", "must not begin or end with white space"),
]
"""What somebody or something is called: two that look alike must be one."""


def _known_currency(code: str) -> str:
    if code not in CURRENCIES:
        message = "must be the three letters of a currency (ISO 4217), such as EUR"
        raise PydanticCustomError("currency", "{message}", {"message": message})
    return code


Currency = Annotated[str, Described(_known_currency, {"enum": sorted(CURRENCIES)})]
"""The alphabetic code of a currency that things are paid in."""

# A million million minor units: more than anyone is charged at once, and exact in a double, as the programs
# behind us may take it.
MAX_AMOUNT: Final = 999_999_999_999

# What callers are told, in the words of JSON; a rule that is not here keeps pydantic's own words.
_IN_WORDS: Final = {
    "model_type": "must be a JSON object",
    "missing": "is required",
    "string_type": "must be text",
    "float_type": "must be a number",
    "int_type": "must be a whole number",
    "bool_type": "must be true or false",
    "finite_number": "must be a number that a double can hold",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} characters",
    "greater_than_equal": "must be {ge:g} or more",
    "less_than_equal": "must be {le} or less",
    "list_type": "must be a list",
    "too_short": "must have at least {min_length} entries",
    "too_long": "must have at most {max_length} entries",
}


def _fault(error: ErrorDetails) -> Fault:
    pointer = "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in error["loc"])
    words = _IN_WORDS.get(error["type"])
    detail = error["msg"] if words is None else words.format(**error.get("ctx", {}))
    return Fault(field=pointer, rule=error["type"], detail=detail)


def _summary(faults: tuple[Fault, ...]) -> str:
    fields = ", ".join(dict.fromkeys(fault.field or "the body" for fault in faults))
    return f"{len(faults)} fault{'s' if len(faults) > 1 else ''} in the body: {fields}"
