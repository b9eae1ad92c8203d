"""Ids in ULIDs, and addresses that may be called."""

from __future__ import annotations

from ipaddress import ip_address, ip_network

from pydantic import TypeAdapter, ValidationError

from fuzz.target import Target, require
from handlers.adapters.outbound import _host_of
from handlers.domain import addresses, ids
from tenants import addresses as of_files
from tenants.destinations import Destination

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
# What must never be called, whatever a release of Python thinks of it (RFC 6890; the metadata services).
_NEVER = [
    ip_network(each)
    for each in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4", "::/127", "fc00::/7", "fe80::/10"),
        *("ff00::/8", "::ffff:0:0/104", "::ffff:127.0.0.0/104", "2001:db8::/32"),
    )
]
_DESTINATION: TypeAdapter[Destination] = TypeAdapter(Destination)


def check_id(text: str) -> None:
    """An id is 26 letters of Crockford's alphabet and not beyond 128 bits, or none of ours."""
    found = ids.created_at_ms(text)
    ours = len(text) == 26 and text[0] in "01234567" and all(letter in _CROCKFORD for letter in text)
    require((found is not None) == ours, "an id was misjudged")
    if ours:
        number = 0
        for letter in text:
            number = number * 32 + _CROCKFORD.index(letter)
        require(found == number >> 80, "an id's time is another one")


def check_address(text: str) -> None:
    """Both copies of the rule agree, and neither lets a private address pass."""
    public = addresses.is_public(text)
    require(public == of_files.is_public(text), "files and functions judge an address differently")
    if public:
        parsed = ip_address(text)
        require(not any(parsed in network for network in _NEVER), "a private address passes")


def check_url(text: str) -> None:
    """A destination that a file may have is one that the functions call, at the same host."""
    try:
        destination = _DESTINATION.validate_python({"url": text, "method": "POST"})
    except ValidationError:
        return
    host = _host_of(destination.url).strip("[]")
    require(host.isascii() and f"//{host}" in destination.url.lower().replace("[", ""), "another host")
    if ":" in host or host.replace(".", "").isdecimal():
        require(addresses.is_public(host), "a private address passes")


def _check_id(data: bytes) -> None:
    check_id(data.decode("utf-8", "surrogateescape"))


def _check_address(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    check_address(text)
    check_url(text)
    # Every four or sixteen bytes are an address.
    if len(data) in (4, 16):
        check_address(str(ip_address(data)))


ID = Target("ids", _check_id, lambda: [ids.record_id("acme", "k", "g", 1).encode(), b"7" + b"Z" * 25, b""])
ADDRESS = Target(
    "addresses",
    _check_address,
    lambda: [
        *(b"https://api.example.com/v1/{id}", b"https://93.184.216.34/x", b"https://[2606:4700::1]:8443/x"),
        *(b"https://api.example.com:443/a;b/%2e/?q={id}", b"https://user@api.example.com/", b"127.0.0.1"),
        *(b"::ffff:10.0.0.1", b"64:ff9b::a00:1", b"2002:a00:1::", b"fe80::1%eth0", b"\xa9\xfe\xa9\xfe"),
    ],
)
