"""The names of what a run leaves for `onceward dashboard` and `onceward alarms`, in its directory."""

from __future__ import annotations

from typing import Final

METRICS: Final = "metrics.sqlite"
"""The store (`ops.observing.store`)."""

DASHBOARDS: Final = "dashboards"
"""The directory of the bodies, `<name>.json`, as CloudWatch has them."""

ALARMS: Final = "alarms.json"
"""The alarms, as the program registered them (`ops.observing.alarm_definitions`)."""
