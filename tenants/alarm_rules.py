"""`alarms` of a tenant file: from when on the tenant's own alarms ring."""

from typing import Annotated, Final

from pydantic import Field

from tenants.file_model import FileModel
from tenants.tiers import MAX_INT32

# CloudWatch evaluates at most one day (86,400 s) per alarm.
MAX_ALARM_MINUTES: Final = 1_440


class AlarmRule(FileModel):
    """Alarm when at least `threshold` events were counted within `minutes`."""

    threshold: Annotated[int, Field(ge=1, le=MAX_INT32)]
    minutes: Annotated[int, Field(ge=1, le=MAX_ALARM_MINUTES)]


class ShareRule(AlarmRule):
    """An `AlarmRule` for requests, which must also be at least `sharePercent` of all within `minutes`."""

    # Five failures of a thousand requests are noise, and of fifty a fault.
    share_percent: Annotated[int, Field(ge=1, le=100)] = 1


class ThrottledShareRule(ShareRule):
    """A `ShareRule` whose `sharePercent` is 10 where it is left out."""

    # A client that runs into its limit now and then backs off, as it should; one in ten is a limit too low.
    share_percent: Annotated[int, Field(ge=1, le=100)] = 10


class Alarms(FileModel):
    """The tenant's alarms: all but `enabled` are for `dashboard: dedicated`; others share the platform's."""

    enabled: Annotated[
        bool,
        Field(description="false: neither alarms of its own, nor does it ring the alarms on all tenants."),
    ] = True
    # A handful of 5xx in five minutes is a fault, one is a hiccup that the client's retry has healed.
    failed_requests: ShareRule = ShareRule(threshold=5, minutes=5)
    throttled_requests: ThrottledShareRule = ThrottledShareRule(threshold=20, minutes=5)
    # An attempt that failed may succeed yet where the subscriber is a web server; elsewhere SNS has retried
    # by then, and a single one is an event lost to its subscriber.
    failed_deliveries: AlarmRule = AlarmRule(threshold=1, minutes=5)
    # What is parked or given up waits for its cause to go, or for a person: once is enough.
    stuck_work: AlarmRule = AlarmRule(threshold=1, minutes=5)
