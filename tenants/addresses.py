"""Which addresses a destination may have: the rule of `handlers/domain/addresses.py`, word for word.

Files are read without the functions' code; a test keeps the two the same.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final

# RFC 6052: the last 32 bits are an IPv4 address, which a NAT64 gateway (a VPC may have one) would call.
_NAT64: Final = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))

# What `ipaddress` knows as special in some releases of Python and not in others (IANA's registries of special
# addresses), and one that is nobody's but answers inside a cloud.
_NEVER: Final = (
    IPv4Network("192.0.0.0/24"),  # IETF protocol assignments
    IPv4Network("192.88.99.0/24"),  # relays of 6to4 (RFC 7526)
    IPv4Network("168.63.129.16/32"),  # Azure's host, to each of its machines
    IPv6Network("3fff::/20"),  # documentation (RFC 9637)
)


def is_public(address: str) -> bool:
    """Whether `address` (an IP address as text) is nobody's private one.

    Loopback, private, link-local (169.254.169.254 hands out a machine's credentials), shared (100.64/10),
    multicast, reserved and unspecified addresses are not public; nor is an IPv6 address that stands for such
    an IPv4 address. Text that is no address is not public either.
    """
    try:
        # A scope (`fe80::1%eth0`) names an interface of ours, so it is no address of the internet.
        parsed = ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, IPv6Address):
        return _is_public_v6(parsed)
    return _is_global(parsed)


def _is_public_v6(address: IPv6Address) -> bool:
    if address.scope_id is not None or any(address in network for network in _NAT64):
        return False
    if address.ipv4_mapped is not None:
        return _is_global(address.ipv4_mapped)
    if address.sixtofour is not None and not _is_global(address.sixtofour):
        return False
    return address.teredo is None and not address.is_site_local and _is_global(address)


def _is_global(address: IPv4Address | IPv6Address) -> bool:
    # `is_global` follows IANA's registries of special addresses, of which multicast is none, and differs a
    # little between the releases of Python; what must never pass is asked for by name as well.
    special = (
        address.is_private
        or address.is_loopback
        or address.is_link_local
        or address.is_multicast
        or address.is_reserved
        or address.is_unspecified
    )
    return address.is_global and not special and not any(address in network for network in _NEVER)
