"""Addresses outside AWS that the platform calls for a tenant."""

import re
from ipaddress import ip_address
from typing import Annotated, Final, Literal
from urllib.parse import SplitResult, unquote, urlsplit

from pydantic import AfterValidator, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from tenants.addresses import is_public
from tenants.file_model import FileModel

ID_PLACEHOLDER: Final = "{id}"
# RFC 1123 section 2.1; DNS holds names of 253 characters at most (RFC 1035 section 2.3.4, less its framing).
_LABEL: Final = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_MAX_HOST: Final = 253
# What resolvers take for an address although it is no dotted quad: 2130706433, 0x7f.1 (inet_aton).
_NUMERIC: Final = re.compile(r"(0x[0-9a-f]*|[0-9]+)")
# Last labels of names that mean something inside a network only, or nothing at all: RFC 6761, 6762, 7686 and
# 8375, ICANN's reservation of `internal` (2024), and what routers and companies use by themselves.
_NOT_PUBLIC: Final = frozenset(
    {
        *("localhost", "local", "internal", "invalid", "onion", "arpa"),
        *("localdomain", "lan", "home", "corp", "intranet", "private"),
    }
)
_MAX_URL: Final = 500
_BRACKETED: Final = re.compile(r"\[[^\]]*\](:[0-9]+)?")


def _refused(rule: str) -> PydanticCustomError:
    return PydanticCustomError("destination", "{rule}", {"rule": rule})


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise _refused("must be an https:// address") from None
    if port == 0 or parts.netloc.endswith(":"):
        raise _refused("must have a port of 1 to 65535, or none")
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
    if "[" in parts.netloc and not _BRACKETED.fullmatch(parts.netloc):
        # Python overlooks what stands between the bracket and the port; the functions call no such address.
        raise _refused("must be an https:// address")
    if "[" in parts.netloc or _is_address(parts.hostname):
        if not is_public(parts.hostname):
            raise _refused("must not be a private, loopback or link-local address, or any that is not public")
    else:
        _public_name(parts.hostname)
    _no_dots(parts.path)
    return url


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _public_name(host: str) -> None:
    labels = host.split(".")
    if len(host) > _MAX_HOST or not all(map(_LABEL.fullmatch, labels)) or _NUMERIC.fullmatch(labels[-1]):
        raise _refused("its host must be a public DNS name in ASCII")
    if labels[-1] in _NOT_PUBLIC or len(labels) == 1:
        raise _refused("must have a public host name")


def _no_dots(path: str) -> None:
    """Refuse `.` and `..` as a part of the path: who resolves them calls another path than the file says."""
    # Escapes are undone until none is left, and what servers cut off behind `;` too, since any of them may.
    while (plain := unquote(path)) != path:
        path = plain
    if any(part.partition(";")[0] in {".", ".."} for part in re.split(r"[/\\]", path)):
        raise _refused("must have no '.' or '..' in its path")


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
