"""Every route of the API that a function answers."""

import re
from dataclasses import dataclass
from typing import Final

from infra.settings import FunctionName


@dataclass(frozen=True)
class Route:
    """One method of one path that a function answers.

    `open`: no authorizer and no key stand before the function, which checks its caller itself.
    """

    method: str
    path: str
    function: FunctionName
    open: bool = False

    @property
    def name(self) -> str:
        """`POST /v1/leads`."""
        return f"{self.method} {self.path}"

    @property
    def slug(self) -> str:
        """`post-v1-leads`: the route in names that take no space, slash or brace."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")

    @property
    def source(self) -> str:
        """The route in an execute-api ARN, after the REST stage: `GET/v1/leads/*`."""
        return self.method + re.sub(r"\{[^}]*\}", "*", self.path)

    @property
    def settings_path(self) -> str:
        """The route as a method setting names it: `v1/leads/POST`."""
        return f"{self.path.removeprefix('/')}/{self.method}"


ROUTES: Final = (
    Route("POST", "/v1/leads", "ingest"),
    Route("POST", "/v1/orders", "ingest"),
    Route("POST", "/v1/payments", "execute"),
    Route("POST", "/v1/appointments", "execute"),
    # Senders of webhooks cannot send an API key, and their proof may need the raw body (DESIGN section 3).
    Route("POST", "/v1/webhooks/{tenant}/{source}", "webhooks", open=True),
    Route("GET", "/v1/leads/{id}", "read"),
    Route("GET", "/v1/orders/{id}", "read"),
    Route("GET", "/v1/payments/{id}", "read"),
    Route("GET", "/v1/appointments/{id}", "read"),
    Route("GET", "/v1/webhook-events/{id}", "read"),
    Route("GET", "/v1/receipts/{key+}", "read"),
)
"""Every route of the product; a new operation adds its lines here."""
