"""What `pulumi up` runs: the program, importable from a plain virtual environment.

Pulumi runs this directory (`main: infra/`) with only the directory itself on the module path; the
packages beside it (`infra`, `tenants`) are found from the repository's root.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from infra.program import deploy

deploy()
