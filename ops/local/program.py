"""Runs the Pulumi program of the repository on the local AWS."""

from ops.local.clients import Clients
from ops.local.diff import Report
from ops.local.errors import InvalidInputError
from ops.local.stack_config import StackConfig
from ops.local.state import State
from ops.local.summary import UpdateSummary


def run_program(
    config: StackConfig,
    stage: str,
    state: State,
    aws: Clients,
    report: Report,
    *,
    dry_run: bool,
) -> UpdateSummary:
    """Run the Pulumi program. Raises InvalidInputError for wrong settings or tenant files."""
    # Imported here: pulumi-aws takes two seconds to load, and `down` and `status` have no use for it.
    from infra.bundle import BundleError
    from infra.program import deploy
    from infra.settings import SettingsError
    from ops.local import update
    from ops.local.monitor import Program
    from ops.local.resources.registry import PROVIDERS
    from tenants.errors import TenantFileError

    program = Program(config.project, stage, config.directory, dry_run=dry_run)
    inputs = update.Inputs(program, config.values, deploy, PROVIDERS)
    try:
        return update.run(inputs, state, aws, report)
    except (SettingsError, TenantFileError, BundleError) as error:
        raise InvalidInputError(str(error)) from error
