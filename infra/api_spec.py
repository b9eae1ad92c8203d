"""The REST API as data: routes, methods and what the gateway itself answers.

`infra.components.api` turns this into resources. It is pure so that the deployment's trigger can hash
the content, which is known at preview, rather than ids, which are not.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final

from infra.cors import ALLOW_ORIGIN, Cors
from infra.gateway_responses import GATEWAY_RESPONSES, METHOD_NOT_ALLOWED, problem
from infra.openapi import PATH as OPENAPI_PATH
from infra.openapi import template
from infra.routes import ROUTES, Route

API_KEY_SOURCE: Final = "method.request.header.x-api-key"
"""What the authorizer's cache is keyed by, and what makes a request without a key a 401."""

BINARY_MEDIA_TYPES: Final = ("*/*",)
"""Bodies reach the functions as the bytes that were sent (base64), whatever their type claims."""

# A mock answers only if a request template matches the media type. These are what browsers and common
# clients send; with passthrough NEVER any other type gets our 415 rather than the mock's bare 500.
MOCK_MEDIA_TYPES: Final = (
    *("application/json", "application/octet-stream", "application/problem+json", "application/xml"),
    *("application/x-www-form-urlencoded", "multipart/form-data", "text/plain", "text/xml"),
)


@dataclass(frozen=True)
class MethodConstants:
    """What all methods have alike, in API Gateway's words: resources and digest both read it here."""

    route_authorization: str = "CUSTOM"
    route_needs_key: bool = True
    route_integration: str = "AWS_PROXY"
    # Lambda's own API is always called by POST, whatever the route's method.
    route_calls_by: str = "POST"
    mock_authorization: str = "NONE"
    # With binary media types */* the body is bytes, and a template takes only text.
    mock_content: str = "CONVERT_TO_TEXT"
    mock_passthrough: str = "NEVER"


METHODS: Final = MethodConstants()


@dataclass(frozen=True)
class Mock:
    """A method that the gateway answers by itself.

    `headers` are response headers as integration mappings (`'text'` or `context.x`); `template` is the
    response template, which makes the body and, with several CORS origins, one more header.
    """

    method: str
    path: str
    status: int
    headers: Mapping[str, str]
    template: str

    @property
    def name(self) -> str:
        """`OPTIONS /v1/leads`."""
        return f"{self.method} {self.path}"

    @property
    def declared_headers(self) -> tuple[str, ...]:
        """Every header that the answer can have, also the one that only the template sets."""
        return tuple(sorted({*self.headers, ALLOW_ORIGIN}))


@dataclass(frozen=True)
class ApiSpec:
    """The whole API: paths (parents first), routes, mocks and gateway responses."""

    cors: Cors
    routes: tuple[Route, ...] = ROUTES
    openapi: str = "{}"
    """The OpenAPI document (JSON text) that the gateway answers with at `/v1/openapi.json`."""

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path that has to exist, parents before children."""
        found: dict[str, None] = {}
        for path in (*(route.path for route in self.routes), OPENAPI_PATH):
            parts = path.strip("/").split("/")
            for depth in range(1, len(parts) + 1):
                found["/" + "/".join(parts[:depth])] = None
        return tuple(found)

    @property
    def mocks(self) -> tuple[Mock, ...]:
        """The OpenAPI document; OPTIONS (CORS preflight) and ANY (405) of every path that has methods."""
        answered = (*dict.fromkeys(route.path for route in self.routes), OPENAPI_PATH)
        gateways = (mock for path in answered for mock in (self._preflight(path), self._not_allowed(path)))
        return (self._document(), *gateways)

    def allowed(self, path: str) -> str:
        """The `Allow` header of a path: its methods and OPTIONS, in alphabetical order."""
        methods = {route.method for route in self.routes if route.path == path}
        return ", ".join(sorted({"OPTIONS", *methods, *(["GET"] if path == OPENAPI_PATH else [])}))

    def gateway_response(self, response_type: str) -> tuple[str, dict[str, str], str]:
        """Status, response parameters and template of a gateway response; KeyError for an unknown type."""
        response = GATEWAY_RESPONSES[response_type]
        headers = {
            "Content-Type": "'application/problem+json'",
            "X-Correlation-Id": "context.requestId",
            **self.cors.on_gateway_responses(),
        }
        if response.retry_after is not None:
            headers["Retry-After"] = f"'{response.retry_after}'"
        parameters = {f"gatewayresponse.header.{name}": value for name, value in headers.items()}
        return str(response.status), parameters, problem(response)

    def digest(self, **wiring: str) -> str:
        """SHA-256 (hex) over everything that a deployment freezes: this spec and the `wiring`.

        `wiring` is what the resources add to the spec (the authorizer's settings, say), as text that is
        known at preview.
        """
        content = {
            "paths": self.paths,
            "routes": [asdict(route) for route in self.routes],
            "mocks": [asdict(mock) for mock in self.mocks],
            "gatewayResponses": {name: self.gateway_response(name) for name in GATEWAY_RESPONSES},
            "mediaTypes": [BINARY_MEDIA_TYPES, MOCK_MEDIA_TYPES],
            "identity": API_KEY_SOURCE,
            "methods": asdict(METHODS),
            "wiring": wiring,
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def _document(self) -> Mock:
        headers = {"Content-Type": "'application/json'", **self.cors.on_mocks()}
        return Mock("GET", OPENAPI_PATH, 200, headers, self.cors.with_origin(template(self.openapi)))

    def _preflight(self, path: str) -> Mock:
        headers = self.cors.on_preflight() | {"Access-Control-Allow-Methods": f"'{self.allowed(path)}'"}
        # 200 and an empty object, not 204: browsers take both, and a mock cannot leave its body out.
        return Mock("OPTIONS", path, 200, headers, self.cors.with_origin("{}"))

    def _not_allowed(self, path: str) -> Mock:
        allowed = self.allowed(path)
        headers = {
            "Content-Type": "'application/problem+json'",
            "Allow": f"'{allowed}'",
            "X-Correlation-Id": "context.requestId",
            **self.cors.on_mocks(),
        }
        return Mock("ANY", path, 405, headers, self.cors.with_origin(problem(METHOD_NOT_ALLOWED)))
