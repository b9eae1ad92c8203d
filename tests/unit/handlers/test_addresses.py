"""Which addresses a destination may have."""

from __future__ import annotations

import pytest

from handlers.domain.addresses import is_public


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.215.14", True),
        ("2606:2800:21f:cb07:6820:80da:af6b:8b2c", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("172.16.0.1", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),  # a machine's credentials
        ("169.254.170.2", False),  # a container's
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("240.0.0.1", False),
        ("255.255.255.255", False),
        ("192.0.2.1", False),
        ("192.0.0.1", False),
        ("192.0.0.9", False),  # global by some releases of Python
        ("192.0.0.10", False),
        ("192.0.1.1", True),
        ("192.88.99.1", False),
        ("192.88.98.1", True),
        ("168.63.129.16", False),  # Azure's host
        ("168.63.129.17", True),
        ("3fff::1", False),
        ("3fff:fff:ffff::1", False),
        ("2002:c058:6301::", False),  # 192.88.99.1 by 6to4
        ("::ffff:168.63.129.16", False),
        ("::1", False),
        ("::", False),
        ("fe80::1", False),
        ("fe80::1%eth0", False),
        ("fd00:ec2::254", False),  # a machine's credentials, by IPv6
        ("fc00::1", False),
        ("fec0::1", False),
        ("ff02::1", False),
        ("::ffff:127.0.0.1", False),
        ("::ffff:10.0.0.1", False),
        ("::ffff:169.254.169.254", False),
        ("64:ff9b::a00:1", False),  # 10.0.0.1 behind NAT64
        ("64:ff9b:1::a00:1", False),
        ("2002:a00:1::", False),  # 10.0.0.1 by 6to4
        ("2001:0:4136:e378:8000:63bf:3fff:fdd2", False),  # Teredo
        ("2001:db8::1", False),
        ("not an address", False),
        ("", False),
    ],
)
def test_only_addresses_of_the_internet_are_public(address: str, public: bool) -> None:
    assert is_public(address) is public
