"""What to do first: the text at the top, with links to where the next answer is."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from infra.alarm import runbook_url
from infra.composites import PLATFORM_DOWN
from infra.naming import Arns, Names
from infra.widget_kinds import Text

_CONSOLES: Final[Mapping[str, str]] = {
    "aws": "console.aws.amazon.com",
    "aws-us-gov": "console.amazonaws-us-gov.com",
    "aws-cn": "console.amazonaws.cn",
}
"""By AWS partition."""
FIRST_QUERY: Final = "5xx by reason"
"""The saved query that most answers begin with (`infra.log_queries`)."""
WIDTH: Final = 12
# Five steps, each of which takes two or three lines on a small screen.
HEIGHT: Final = 8


@dataclass(frozen=True)
class Place:
    """Where dashboards of a stage are, and what they link to; `runbook`: its page (an address, or a path)."""

    arns: Arns
    runbook: str

    @property
    def names(self) -> Names:
        """The stage's names."""
        return self.arns.names

    @property
    def region(self) -> str:
        """The stage's region."""
        return self.arns.location.region

    def console(self, text: str, page: str) -> str:
        """A link to a page of CloudWatch's console."""
        location = self.arns.location
        host = f"{location.region}.{_CONSOLES[location.partition]}"
        return f"[{text}](https://{host}/cloudwatch/home?region={location.region}#{page})"

    def dashboard(self, text: str, name: str) -> str:
        """A link to a dashboard."""
        return self.console(text, f"dashboards/dashboard/{name}")

    def section(self, text: str, section: str) -> str:
        """A link to a section of the runbook, or where to look for it in the repository."""
        address = runbook_url(section, self.runbook)
        return f"[{text}]({address})" if address.startswith("https://") else f"{text} (`{address}`)"


def for_the_platform(place: Place) -> Text:
    """What to do first when somebody was paged."""
    names, stage = place.names, place.names.stage
    down = names.platform(PLATFORM_DOWN)
    return _text(
        "What to do first",
        f"**`{down}` rings?** Everybody is hit: {place.section('runbook', PLATFORM_DOWN)}. "
        f"If something was released just before: `onceward rollback FUNCTION --stage {stage}`, then look.",
        "**What else rings?** On the right, the latest first. Each alarm says in its description what to do; "
        f"{place.console('all alarms', 'alarmsV2:')}.",
        '**Whom does it hit?** "Tenants" below. One of them: '
        f"{place.dashboard('that tenant', names.platform('any-tenant'))}. All: it is ours.",
        f"**Why?** The saved query `onceward/{stage}/{FIRST_QUERY}` in "
        f"{place.console('Logs Insights', 'logsV2:logs-insights')}; slow ones in "
        f"{place.console('X-Ray', 'xray:traces/query')}. "
        f"One request: `onceward receipts explain TENANT KEY --stage {stage}`.",
        f"**What waits for a person?** `onceward dlq list --stage {stage}`. What was accepted is not lost: "
        f"mend the cause, then `onceward dlq redrive QUEUE --stage {stage}`. Never purge a queue.",
    )


def for_a_tenant(place: Place, tenant_id: str) -> Text:
    """What to do first when one tenant is in trouble."""
    names, stage = place.names, place.names.stage
    return _text(
        f"Tenant {tenant_id}: what to do first",
        "**Only this one?** If others fail too, go to "
        f"{place.dashboard('the platform', names.platform('platform'))}.",
        "**It fails?** As a rule what it alone has: its provider, a destination, a secret, its entry. "
        f"`onceward tenants show {tenant_id}` says what it has; "
        f"{place.section('runbook', 'tenant-failed-requests')}.",
        "**It is throttled?** It sends more than its tier: tell it, or give it another tier. "
        "A duplicate counts as much as a new request.",
        "**Events or work are held up?** As a rule its destination or topic: "
        f"`onceward dlq list --tenant {tenant_id} --stage {stage}`.",
        f"**One request?** `onceward receipts explain {tenant_id} KEY --stage {stage}`, or the saved queries "
        f"`onceward/{stage}/...` in {place.console('Logs Insights', 'logsV2:logs-insights')}.",
    )


def _text(title: str, *steps: str) -> Text:
    numbered = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, start=1))
    return Text(f"# {title}\n{numbered}", width=WIDTH, height=HEIGHT)
