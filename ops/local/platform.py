"""The local platform: the emulator, the Pulumi program brought up on it, the stand-in and the lead form."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ops.local import outputs as local_outputs
from ops.local import stack_config
from ops.local.clients import Clients
from ops.local.diff import Step
from ops.local.display import step_line
from ops.local.emulator import Emulator, Endpoint
from ops.local.errors import LocalPlatformError
from ops.local.files import exclusive, own_home
from ops.local.form import Form, FormSite
from ops.local.outputs import LocalOutputs, Webhooks
from ops.local.program import run_program
from ops.local.progress import Progress
from ops.local.queued import queued, told
from ops.local.stand_in.process import StandIn
from ops.local.state import State
from ops.local.status import Status
from ops.local.streams import drop_stream_mappings
from ops.local.summary import UpdateSummary

REPOSITORY = Path(__file__).resolve().parents[2]

STAGE = "local"
"""The one stage that is brought up here; its settings are Pulumi.local.yaml."""

LOST = (
    "The local AWS was not stopped in good order: its data is lost (leads, receipts); "
    "all is made anew, with new API keys and URL."
)
"""What a killed emulator means to its user."""

Say = Callable[[str], None]


class LocalPlatform:
    """The platform in one home directory (`.onceward` in the repository by default).

    `tenants_directory` takes the place of the stage's own setting; `form` says which lead form to serve
    (None: none). `owned`: all of it ends when this process does, else only by `down`. `say` is given each
    line that a person should read, `warn` (by default `say`) those that nobody should miss.
    """

    def __init__(
        self,
        home: Path = REPOSITORY / ".onceward",
        tenants_directory: Path | None = None,
        *,
        form: FormSite | None = None,
        owned: bool = False,
        say: Say = lambda _line: None,
        warn: Say | None = None,
    ) -> None:
        self._home = home
        self._tenants_directory = tenants_directory
        self._site = form
        self._say = say
        self._warn = warn or say
        self._config = self._read_config()
        self._progress = Progress(home)
        self._emulator = Emulator(home, self._config.region, owned=owned)
        self._stand_in = StandIn(home, owned=owned, say=self._warn)
        self._form = Form(home, REPOSITORY / "web" / "lead-form", owned=owned)

    def up(self, *, fresh: bool = False) -> UpdateSummary:
        """Start what does not run and bring the program up; on a running platform, apply what changed.

        `fresh`: forget everything that was there before. Raises LocalPlatformError: UpdateFailedError if a
        resource could not be made, InvalidInputError for wrong settings or tenant files, HomeError for a
        home that cannot be made. What was made before an error stays, and the next `up` goes on from it.
        """
        with exclusive(own_home(self._home) / "lock"):
            if fresh:
                self._forget_all()
            with self._progress.of_up():
                return self._bring_up()

    def preview(self) -> UpdateSummary:
        """Say what `up` would do. Nothing is started, made or written."""
        endpoint = self._emulator.endpoint() or Endpoint(0, "none", "none")
        state = State(self._home / "state.json")
        return self._update(state, endpoint, self._stand_in.planned_url(), dry_run=True)

    def down(self) -> None:
        """Stop every process; the emulator saves its state first. Stopping what does not run is no error.

        The outputs file goes too: nobody shall take its addresses for those of something that runs.
        """
        if not self._home.is_dir():
            return
        with exclusive(self._home / "lock"):
            self.outputs_file.unlink(missing_ok=True)
            self._form.stop()
            waiting = self._waiting()
            if not self._emulator.stop():
                self._emulator.forget_state()
                self._warn("The local AWS had to be killed: its state is lost, the next `up` makes it anew.")
            elif waiting:
                self._say(told(waiting))
            self._stand_in.stop()  # after those that call it

    def status(self) -> Status:
        """How it is now."""
        running = self._emulator.running()
        endpoint = self._emulator.endpoint()
        known = self.outputs() if self.outputs_file.exists() else None
        unfinished = self._progress.unfinished()
        if known is None and unfinished is None:
            unfinished = "the last `make up` did not come to its end; run it again"
        return Status(
            running=running,
            complete=running and unfinished is None,
            unfinished=unfinished if running else None,
            endpoint_url=endpoint.url if running and endpoint else None,
            api_url=known.api_url if running and known else None,
            form_url=self._form.url(),
            stand_in_url=self._stand_in.url(),
            resources=len(State(self._home / "state.json").entries),
            tenants=tuple(sorted(known.tenants)) if known else (),
        )

    def outputs(self) -> LocalOutputs:
        """What the last `up` wrote. Raises LocalPlatformError if there was none, or a `down` since."""
        return local_outputs.read(self.outputs_file)

    @property
    def outputs_file(self) -> Path:
        """Where `up` writes them, until `down`; mode 0600."""
        return self._home / "local.json"

    def _waiting(self) -> int:
        """The pieces of work that are not done yet; 0 where nothing runs."""
        endpoint = self._emulator.endpoint() if self._emulator.running() else None
        return 0 if endpoint is None else queued(endpoint, self._config.region, STAGE)

    def _bring_up(self) -> UpdateSummary:
        state = State(self._home / "state.json")
        lost = self._forget_what_is_lost(state)
        was_running = self._emulator.running()
        endpoint = self._emulator.start()
        stand_in_url = self._stand_in.start()
        if not was_running and drop_stream_mappings(state, Clients(endpoint, self._config.region)):
            self._say("The local AWS keeps no stream while it is down: its mapping is made anew.")
        summary = self._update(state, endpoint, stand_in_url, dry_run=False)
        webhooks = self._provide_webhooks(state, Clients(endpoint, self._config.region))
        local_outputs.write(self.outputs_file, state.outputs, endpoint, stand_in_url, webhooks)
        self._serve_form()
        if lost:
            self._warn(LOST)  # again: some two hundred lines of what was made have passed since
        return summary

    def _read_config(self) -> stack_config.StackConfig:
        overrides = {}
        if self._tenants_directory is not None:
            overrides["onceward:tenantsDirectory"] = str(self._tenants_directory.resolve())
        return stack_config.read(REPOSITORY, STAGE, overrides)

    def _forget_all(self) -> None:
        """Start from nothing, whatever state there is: it may be unreadable, or of another version."""
        self._form.stop()
        self._emulator.stop()
        self._emulator.forget()
        self._stand_in.stop()
        self._stand_in.forget()
        self._progress.clear()
        for file in (self.outputs_file, self._home / "state.json", self._home / "state.journal"):
            file.unlink(missing_ok=True)

    def _forget_what_is_lost(self, state: State) -> bool:
        """Drop a record of resources that are not there: the emulator saves its state only when stopped.

        True if there was one. What was accepted since the emulator started is lost even where no resource
        has changed since then.
        """
        changed = state.changed_at()
        if changed is None or self._emulator.running():
            return False
        saved, started = self._emulator.saved_at(), self._emulator.started_at()
        if saved is not None and saved >= max(changed, started or 0.0):
            return False
        self.outputs_file.unlink(missing_ok=True)
        self._warn(LOST)
        self._emulator.forget_state()
        state.forget()
        return True

    def _update(self, state: State, endpoint: Endpoint, stand_in_url: str, *, dry_run: bool) -> UpdateSummary:
        region = state.outputs.get("region", self._config.region)
        if region != self._config.region:
            raise LocalPlatformError(
                f"aws:region: this platform is in {region}; to move it, start afresh: "
                "`onceward local up --fresh`"
            )

        def report(step: Step, urn: str, changed: tuple[str, ...]) -> None:
            line = step_line(step, urn, changed, dry_run=dry_run)
            if line is not None:
                self._say(line)

        values = {**self._config.values, f"{self._config.project}:standInUrl": stand_in_url}
        config = replace(self._config, values=values)
        return run_program(config, STAGE, state, Clients(endpoint, region), report, dry_run=dry_run)

    def _provide_webhooks(self, state: State, aws: Clients) -> dict[str, Webhooks]:
        from ops.local.webhooks import provide  # here for the same reason as in `run_program`
        from ops.tenant_secrets import TenantSecrets
        from tenants.loader import load

        tenants = load(self._tenants(), STAGE).tenants
        return provide(tenants, TenantSecrets(aws.ssm, STAGE), state.outputs["apiUrl"])

    def _tenants(self) -> Path:
        """The directory that the program reads tenant files from."""
        from infra.settings import Settings  # here for the same reason as in `run_program`

        default = str(Settings.model_fields["tenants_directory"].default)
        key = f"{self._config.project}:tenantsDirectory"
        return REPOSITORY / self._config.values.get(key, default)

    def _serve_form(self) -> None:
        if self._site is None:
            return
        outputs = self.outputs()
        if self._site.key not in getattr(outputs.tenants.get(self._site.tenant), "keys", {}):
            self._form.stop()
            self._warn(f"No lead form: tenant {self._site.tenant} has no key {self._site.key} here.")
            return
        from ops.local.origins import refusal  # here for the same reason as in `run_program`

        refused = refusal(self._site, self._tenants(), STAGE)
        if refused is not None:
            self._form.stop()
            self._warn(refused)
            return
        try:
            self._form.serve(self._site, outputs)
        except LocalPlatformError as error:
            self._warn(str(error))
