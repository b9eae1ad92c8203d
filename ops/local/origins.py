"""Whether a tenant's key lets the lead form's page in, by the tenant's file."""

from pathlib import Path

from ops.local.form import FormSite
from tenants.loader import load


def refusal(site: FormSite, directory: Path, stage: str) -> str | None:
    """Why the site's key would refuse what its form submits, and what to edit; None if it would not.

    A key without origins is let in from anywhere. Raises TenantFileError for a wrong tenant file.
    """
    for tenant in load(directory, stage).tenants:
        if tenant.id != site.tenant:
            continue
        for position, key in enumerate(tenant.keys):
            if key.name == site.key and key.origins and site.origin not in key.origins:
                file = _shown(directory / f"{site.tenant}.yaml")
                return (
                    f"No lead form: {site.origin} is not among the origins of "
                    f"{site.tenant}'s key {site.key}: "
                    "every submission would be refused (403). "
                    f"Add it to keys[{position}].origins in {file} and run this again."
                )
    return None


def _shown(file: Path) -> str:
    """As short as it can be typed where the user is."""
    here = Path.cwd()
    return str(file.relative_to(here) if file.is_relative_to(here) else file)
