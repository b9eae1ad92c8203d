"""Brings one resource from what it is to what is asked for, and records that it did."""

import contextlib
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from ops.local.asked import Asked
from ops.local.clients import Clients
from ops.local.diff import Plan, Report, Step, plan
from ops.local.errors import UpdateFailedError
from ops.local.replacing import hanging_on, refuse_to_lose, refuse_to_take_its_place
from ops.local.resources.base import NOT_APPLIED_ANYWHERE, Made, Provider
from ops.local.state import Entry, State
from ops.local.urn import label_of, name_of, type_of
from ops.local.wire import UNKNOWN


class Applier:
    """Applies registrations to the local AWS, or, in a preview, only says what it would do."""

    def __init__(
        self,
        aws: Clients,
        state: State,
        providers: Mapping[str, Provider],
        report: Report,
        *,
        dry_run: bool = False,
    ) -> None:
        self._aws = aws
        self._state = state
        self._providers = providers
        self._report = report
        self._dry_run = dry_run
        self._lock = threading.Lock()
        self._taken_down: dict[str, Entry] = {}

    def apply(self, asked: Asked) -> tuple[Entry, bool]:
        """The resource as it is now, and whether its id is known (not so for one that a preview would make).

        Raises UpdateFailedError.
        """
        old = self._known(asked)
        if not asked.entry.custom:
            return self._component(old, asked.entry), True
        provider = self._provider(asked.entry.urn)
        inputs = self._inputs(provider, old, asked)
        entry = replace(asked.entry, inputs=inputs)
        todo = self._plan(provider, old, asked, inputs)
        if todo.step is Step.REPLACE and old is not None:
            self._make_room(old, asked, todo)
        if self._dry_run:
            result = self._preview(provider, old, entry, todo)
        else:
            with _explained(entry.urn):
                result = self._carry_out(provider, old, entry, todo), True
        self._report(todo.step, entry.urn, todo.changed)
        return result

    def delete(self, old: Entry) -> None:
        """Delete a resource that is no longer registered, or a replaced predecessor."""
        if old.custom and not old.retain:
            with _explained(old.urn):
                self._provider(old.urn).delete(self._aws, old)
        self._state.remove(old)

    @property
    def taken_down(self) -> set[str]:
        """URNs of what had to go because what it lived in was replaced, whether it came back or not."""
        with self._lock:
            return set(self._taken_down)

    def _known(self, asked: Asked) -> Entry | None:
        """What is recorded for it, under its URN or one that it had before."""
        urn = asked.entry.urn
        old = self._state.entries.get(urn)
        for alias in asked.aliases:
            if old is None and alias in self._state.entries:
                old = replace(self._state.entries[alias], urn=urn)
                if not self._dry_run:
                    self._state.rename(alias, old)
        return old

    def _component(self, old: Entry | None, entry: Entry) -> Entry:
        if not self._dry_run and entry != old:
            self._state.put(entry)
        self._report(Step.CREATE if old is None else Step.SAME, entry.urn, ())
        return entry

    def _provider(self, urn: str) -> Provider:
        provider = self._providers.get(type_of(urn))
        if provider is None:
            raise UpdateFailedError(f"{label_of(urn)} is of a type that the local platform does not know")
        return provider

    def _inputs(self, provider: Provider, old: Entry | None, asked: Asked) -> dict[str, Any]:
        asked.refuse_paths()
        known = provider.applied | provider.not_applied.keys() | NOT_APPLIED_ANYWHERE.keys()
        strange = sorted(asked.entry.inputs.keys() - known)
        if strange:
            raise UpdateFailedError(
                f"{label_of(asked.entry.urn)} has properties that the local platform does not apply: "
                f"{', '.join(strange)}"
            )
        before = old or self._taken_down.get(asked.entry.urn)
        return asked.inputs_over(before.inputs if before else None)

    def _plan(self, provider: Provider, old: Entry | None, asked: Asked, inputs: dict[str, Any]) -> Plan:
        todo = plan(
            old,
            inputs,
            provider.identity,
            replace_on=asked.replace_on,
            delete_before_replace=asked.delete_before_replace,
        )
        if asked.entry.urn in self._taken_down:  # in a preview it is still there
            return Plan(Step.REPLACE, todo.changed, delete_first=True)
        return todo

    def _make_room(self, old: Entry, asked: Asked, todo: Plan) -> None:
        """Take down what lives in the resource, if that is to be deleted before it comes again."""
        if old.protect:
            changed = ", ".join(todo.changed)
            raise UpdateFailedError(
                f"{label_of(old.urn)} is protected, and a change of {changed} replaces it"
            )
        if todo.same_address:
            refuse_to_take_its_place(old)
        if not todo.delete_first or old.retain:
            return
        identities = {kind: each.identity for kind, each in self._providers.items()}
        dependents = hanging_on([old.urn, *asked.aliases], self._state.present(), identities)
        refuse_to_lose(old, dependents)
        with self._lock:
            self._taken_down |= {entry.urn: entry for entry in dependents}
        if not self._dry_run:
            for entry in dependents:
                self.delete(entry)

    def _carry_out(self, provider: Provider, old: Entry | None, entry: Entry, todo: Plan) -> Entry:
        if todo.step is Step.SAME and old is not None:
            same = replace(entry, id=old.id, outputs=old.outputs)
            if same != old:  # its options or dependencies changed: nothing to call, but to remember
                self._state.put(same)
            return same
        predecessor = None
        if todo.step is Step.REPLACE and old is not None:
            if todo.delete_first:
                self.delete(old)
            else:
                predecessor = old
        if todo.step is Step.UPDATE and old is not None:
            made = provider.update(self._aws, old, entry.inputs)
        else:
            made = self._create(provider, entry)
        done = replace(entry, id=made.id, outputs=dict(made.outputs))
        self._state.put(done, condemn=predecessor)
        return done

    def _create(self, provider: Provider, entry: Entry) -> Made:
        """Make it; if an earlier attempt broke off, take away what that may have left."""
        if entry.urn in self._state.begun:
            left = provider.leftover(self._aws, entry.inputs)
            if left is not None and not self._state.owns(type_of(entry.urn), left.id):
                provider.delete(self._aws, replace(entry, id=left.id, outputs=dict(left.outputs)))
        self._state.begin(entry.urn)
        return provider.create(self._aws, name_of(entry.urn), entry.inputs)

    def _preview(self, provider: Provider, old: Entry | None, entry: Entry, todo: Plan) -> tuple[Entry, bool]:
        if old is None or todo.step is Step.REPLACE:
            return entry, False  # an output that is missing from the answer is unknown to the program
        outputs = dict(old.outputs)
        if todo.step is Step.UPDATE:
            outputs |= dict.fromkeys(provider.volatile & outputs.keys(), UNKNOWN)
        return replace(entry, id=old.id, outputs=outputs), True


@contextlib.contextmanager
def _explained(urn: str) -> Iterator[None]:
    """Turn what boto3 raises, and what a provider says of its inputs, into an error naming the resource."""
    try:
        yield
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "")
        reason = error.response.get("Error", {}).get("Message", "")
        raise UpdateFailedError(f"{label_of(urn)}: {error.operation_name}: {code}: {reason}") from error
    except (BotoCoreError, ValueError, OSError) as error:
        raise UpdateFailedError(f"{label_of(urn)}: {error}") from error
