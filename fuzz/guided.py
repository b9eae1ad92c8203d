"""One target under atheris, in a process of its own: libFuzzer ends the process that it ran in.

usage: python -m fuzz.guided TARGET [libFuzzer's options and folders]
"""

from __future__ import annotations

import logging
import sys

import atheris


def main() -> None:
    """Fuzz until libFuzzer's options say that it is enough, or a promise is broken."""
    # Coverage is counted in what is imported here for the first time: the product, and nothing else.
    with atheris.instrument_imports(include=["handlers", "tenants"]):
        from fuzz.registry import TARGETS

    # What the functions log of a request goes nowhere; what Python's logging says of itself would go here.
    logging.raiseExceptions = False
    target = TARGETS[sys.argv[1]]
    atheris.Setup([sys.argv[0], *sys.argv[2:]], target.check)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
