"""What a lead must be, and that no fault goes unsaid."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import ConfigDict, Field, create_model

from handlers.domain.errors import InvalidBody
from handlers.operations.leads import LEADS
from handlers.operations.schema import PydanticSchema


@pytest.mark.parametrize(
    "phone",
    [
        "+420 601 123 456",
        "(020) 7946 0000",
        "+(44) 20 7946 0000",
        "202-555-0100 x12",
        "1.202.555.0100",
        "12345",
    ],
)
def test_a_phone_in_any_usual_spelling_is_taken(phone: str) -> None:
    assert LEADS.schema({"name": "A", "phone": phone}) == {"name": "A", "phone": phone}


@pytest.mark.parametrize(
    "phone", ["", "1234", "((20) 7946", "call me", "+", "()", "12345\n", "1" * 41, "٠١٢٣٤٥"]
)
def test_what_is_no_phone_is_refused(phone: str) -> None:
    with pytest.raises(InvalidBody) as refused:
        LEADS.schema({"name": "A", "phone": phone})
    assert [fault.field for fault in refused.value.faults] == ["/phone"]


def test_however_many_faults_there_are_all_are_listed() -> None:
    fields: dict[str, Any] = {f"field{number}": Annotated[int, Field()] for number in range(200)}
    wide = create_model("Wide", __config__=ConfigDict(strict=True), **fields)
    with pytest.raises(InvalidBody, match="200 faults in the body") as refused:
        PydanticSchema(wide)({"field0": "x", "field199": None})
    assert [fault.field for fault in refused.value.faults] == [f"/field{number}" for number in range(200)]
    assert [fault.rule for fault in refused.value.faults] == ["int_type", *["missing"] * 198, "int_type"]
