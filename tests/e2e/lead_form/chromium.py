"""Find the browser that the form's tests drive: the system's, since no browser comes with the lock file."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

# Debian's name first (what `make chromium` installs), then those of other systems' packages.
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find() -> Path | None:
    """Return the path of the first browser of NAMES on the PATH, or None."""
    for name in NAMES:
        path = shutil.which(name)
        if path is not None:
            return Path(path)
    return None


if __name__ == "__main__":  # what the Makefile asks: exit 0 when there is one
    sys.exit(find() is None)
