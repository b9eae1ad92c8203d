"""Addresses outside AWS that the platform calls for a tenant."""

import re
from ipaddress import ip_address
from typing import Annotated, Final, Literal
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from tenants.file_model import FileModel

ID_PLACEHOLDER: Final = "{id}"
_HOST: Final = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")
# What resolvers take for an address although it is no dotted quad: 2130706433, 0x7f.1 (inet_aton).
_NUMERIC: Final = re.compile(r"(0x[0-9a-f]*|[0-9]+)")
_MAX_URL: Final = 500


def _refused(rule: str) -> PydanticCustomError:
    return PydanticCustomError("destination", "{rule}", {"rule": rule})


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise _refused("must be an https:// address") from None
    return parts


def public_https(url: str) -> str:
    """Return `url`, or refuse it unless it is https to a name or a public address, without credentials.

    What the name resolves to is checked again at every call: only then is it known.
    """
    parts = _split(url)
    if parts.scheme != "https" or not parts.hostname or re.search(r"[\s\x00-\x1f\\]", url):
        raise _refused("must be an https:// address")
    if parts.username is not None or parts.password is not None:
        raise _refused("must not hold a user or password: put the token into the stage's secrets")
    if parts.fragment or "#" in url:
        raise _refused("must not have a fragment")
    _public_host(parts.hostname)
    return url


def _public_host(host: str) -> None:
    try:
        address = ip_address(host)
    except ValueError:
        last = host.rsplit(".", 1)[-1]
        if not _HOST.fullmatch(host) or _NUMERIC.fullmatch(last):
            raise _refused("must have a host name") from None
        if last == "localhost" or "." not in host:
            raise _refused("must have a public host name") from None
        return
    if not address.is_global or address.is_multicast:
        raise _refused("must not be a private, loopback or link-local address")


def base_url(url: str) -> str:
    """Return `url`, or refuse it unless paths can be put behind it."""
    parts = _split(url)
    if parts.query or "?" in url or url.endswith("/") or re.search(r"[{}]", url):
        raise _refused("must have no query, no placeholder and no '/' at its end: paths are put behind it")
    return public_https(url)


def _destination_url(url: str) -> str:
    if not url.startswith("https://"):
        raise _refused("must be an https:// address")
    host_and_before = url.split("/", 3)[:3]
    if re.search(r"[{}]", "".join(host_and_before)) or re.search(r"[{}]", url.replace(ID_PLACEHOLDER, "")):
        raise _refused("must hold no placeholder but {id}, and that only after the host")
    return public_https(url)


BaseUrl = Annotated[str, Field(max_length=_MAX_URL), AfterValidator(base_url)]


class Destination(FileModel):
    """An upsert keyed by the event's or order's own id: repeating it changes nothing."""

    method: Annotated[
        Literal["PUT", "POST"],
        Field(description="PUT to a url with {id}; POST sends the event's id as Idempotency-Key."),
    ] = "PUT"
    url: Annotated[
        str,
        Field(max_length=_MAX_URL, description="https only; {id} stands for the id."),
        AfterValidator(_destination_url),
    ]

    @field_validator("url")
    @classmethod
    def _put_names_what_it_puts(cls, url: str, info: ValidationInfo) -> str:
        if info.data.get("method") == "PUT" and ID_PLACEHOLDER not in url:
            raise _refused("must contain {id}, since the method is PUT")
        return url
