"""Schemas by pydantic: validation that lists every fault, and changes nothing of what was sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar, cast

from pydantic import BaseModel, ValidationError

from handlers.domain.errors import Fault, InvalidBody

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

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


def _fault(error: ErrorDetails) -> Fault:
    pointer = "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in error["loc"])
    return Fault(field=pointer, rule=error["type"], detail=error["msg"])


def _summary(faults: tuple[Fault, ...]) -> str:
    fields = ", ".join(dict.fromkeys(fault.field or "the body" for fault in faults))
    return f"{len(faults)} fault{'s' if len(faults) > 1 else ''} in the body: {fields}"
