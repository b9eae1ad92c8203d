"""CORS headers of what the gateway answers by itself: preflights, 405s and gateway responses.

None of this is access control: there are no cookies, and a call is let in by its API key (and the key's
own origins, which the functions check). It decides which pages a browser shows the answers to.
"""

import json
from dataclasses import dataclass
from typing import Final

REQUEST_HEADERS: Final = ("Content-Type", "Idempotency-Key", "X-Api-Key", "X-Correlation-Id")
"""What a page may send."""

EXPOSED_HEADERS: Final = (
    *(
        "ETag",
        "Idempotency-Expires",
        "Idempotency-First-Seen",
        "Idempotent-Body-Omitted",
        "Idempotent-Replayed",
        "Location",
        "Retry-After",
        "X-Correlation-Id",
    ),
)
"""What a page may read, beyond the few headers that browsers always show."""

# Two hours: the longest that Chromium keeps a preflight's answer (its own cap), so more has no effect there.
_MAX_AGE_SECONDS: Final = 7200
ALLOW_ORIGIN: Final = "Access-Control-Allow-Origin"


@dataclass(frozen=True)
class Cors:
    """The origins of a stage: `("*",)`, one origin, or several.

    A static answer can hold `*` or one origin. With several, a mock picks the matching one in its response
    template; gateway responses, whose templates are not programs, answer `*`: they hold nothing but an error,
    and a page from elsewhere never gets past its preflight.
    """

    origins: tuple[str, ...]

    @property
    def static_origin(self) -> str | None:
        """The one value that fits every caller, or None where several origins are let in."""
        return self.origins[0] if len(self.origins) == 1 else None

    def on_preflight(self) -> dict[str, str]:
        """Headers of a preflight's answer but Access-Control-Allow-Methods, as integration mappings."""
        return self.on_mocks() | {
            "Access-Control-Allow-Headers": f"'{','.join(REQUEST_HEADERS)}'",
            "Access-Control-Max-Age": f"'{_MAX_AGE_SECONDS}'",
        }

    def on_mocks(self) -> dict[str, str]:
        """Headers of any mock's answer, as integration mappings."""
        return self._common() | ({ALLOW_ORIGIN: f"'{self.static_origin}'"} if self.static_origin else {})

    def on_gateway_responses(self) -> dict[str, str]:
        """Headers of a gateway response, as gateway response mappings."""
        # Not `method.request.header.Origin`: the look-up minds the case, and HTTP/2 clients send lower case.
        return self._common() | {ALLOW_ORIGIN: f"'{self.static_origin or '*'}'"}

    def with_origin(self, body: str) -> str:
        """A mock's response template: `body`, and with several origins the header that fits the caller."""
        if self.static_origin is not None:
            return body
        # Looked up under both spellings: HTTP/2 clients send lower case, and the look-up minds the case.
        asked = '#set($origin = $input.params("Origin"))'
        again = '#if($origin == "")#set($origin = $input.params("origin"))#end'
        # The constant is answered, never what was sent: nothing that a caller writes gets into a header.
        picks = "".join(
            f"#if($origin == {json.dumps(origin)})"
            f"#set($context.responseOverride.header.{ALLOW_ORIGIN} = {json.dumps(origin)})#end"
            for origin in self.origins
        )
        return f"{asked}{again}{picks}{body}"

    def _common(self) -> dict[str, str]:
        vary = {} if self.static_origin else {"Vary": "'Origin'"}
        return {"Access-Control-Expose-Headers": f"'{','.join(EXPOSED_HEADERS)}'"} | vary
