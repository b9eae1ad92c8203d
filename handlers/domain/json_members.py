"""Stored JSON, read strictly: a member that is missing or has another shape names itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

from handlers.domain.errors import CorruptItem
from handlers.domain.json_text import parsed

if TYPE_CHECKING:
    from collections.abc import Mapping

Word = TypeVar("Word", bound=str)


@dataclass(frozen=True, slots=True)
class Members:
    """The members of one object in what the platform stored.

    Attributes:
        place: what errors say of where it stands, such as `tenant acme is malformed: webhooks`.

    Every method raises CorruptItem, with the place and the member's name and never its value.
    """

    place: str
    values: Mapping[str, Any]

    @classmethod
    def of_text(cls, text: str, place: str) -> Members:
        """The object in a JSON text."""
        try:
            values = parsed(text)
        except ValueError:
            raise CorruptItem(f"{place}: not JSON") from None
        if not isinstance(values, dict):
            raise CorruptItem(f"{place}: not an object")
        return cls(place, values)

    def text(self, name: str) -> str:
        """A text that is not empty."""
        value = self.values.get(name)
        if not isinstance(value, str) or not value:
            raise self.corrupt(name)
        return value

    def text_or_none(self, name: str) -> str | None:
        """A text that is not empty; None when it is null or not there."""
        return None if self.values.get(name) is None else self.text(name)

    def word(self, name: str, words: tuple[Word, ...]) -> Word:
        """One of `words`."""
        if self.values.get(name) not in words:
            raise self.corrupt(name)
        return cast("Word", self.values[name])

    def whole(self, name: str, least: int) -> int:
        """A whole number, `least` or more."""
        value = self.values.get(name)
        # bool is an int in Python; `true` is no number.
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise self.corrupt(name)
        return value

    def members(self, name: str) -> Members:
        """An object."""
        value = self.values.get(name)
        if not isinstance(value, dict):
            raise self.corrupt(name)
        return Members(f"{self.place}.{name}", value)

    def members_or_none(self, name: str) -> Members | None:
        """An object; None when it is null or not there."""
        return None if self.values.get(name) is None else self.members(name)

    def corrupt(self, name: str) -> CorruptItem:
        """The error that names a member."""
        return CorruptItem(f"{self.place}.{name}")
