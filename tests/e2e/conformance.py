"""The running API held against an OpenAPI document, by schemathesis: few calls, the same every time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx
    from schemathesis import APIOperation, Case

Operation: TypeAlias = "APIOperation[Any, Any, Any, Any]"

# The document's own examples come first; this many made-up ones follow, of each kind. A call takes some 30 ms
# on the local AWS, and thirteen operations have to be done in well under a minute.
_EXAMPLES: Final = 5
# A cold function on a busy machine; longer than the gateway itself waits.
_TIMEOUT_SECONDS: Final = 60
_CHECKS: Final = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    response_headers_conformance,
]
# No database and no shrinking: a failure names its call, and the next run makes the same one.
_BOUNDED: Final = settings(
    max_examples=_EXAMPLES,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def operations_of(document: Mapping[str, Any]) -> dict[str, Operation]:
    """The document's operations by `POST /v1/leads`."""
    schema = schemathesis.openapi.from_dict(dict(document))
    # The key is ours: one that is made up would be refused before anything else is looked at.
    schema.config.generation.update(with_security_parameters=False)
    # None of it can be an Err: the document is valid.
    operations = [each.ok() for each in schema.get_all_operations() if isinstance(each, Ok)]
    return {f"{each.method.upper()} {each.path}": each for each in operations}


@dataclass(frozen=True)
class Conformance:
    """The API at `url`, called with `headers`."""

    url: str
    headers: Mapping[str, str]

    def exercise(self, operation: Operation) -> None:
        """Send the document's examples, calls that fit it and calls that do not.

        Raises FailureGroup: what the answers say otherwise than the document.
        """
        for strategy in operation.get_strategies_from_examples():
            self._send(strategy)
        self._send(operation.as_strategy(generation_mode=GenerationMode.POSITIVE))
        # Without parameters and body there is nothing that could be wrong.
        if list(operation.iter_parameters()) or operation.body:
            self._send(operation.as_strategy(generation_mode=GenerationMode.NEGATIVE))

    def check(self, operation: Operation, answer: httpx.Response) -> None:
        """Hold an answer that somebody else got against the document; raises like `exercise`."""
        operation.validate_response(answer)

    def _send(self, cases: Any) -> None:
        with requests.Session() as session:

            @_BOUNDED
            @given(case=cases)
            def send(case: Case[Any]) -> None:
                case.call_and_validate(
                    base_url=self.url,
                    session=session,
                    headers=dict(self.headers),
                    checks=_CHECKS,
                    timeout=_TIMEOUT_SECONDS,
                )

            send()
