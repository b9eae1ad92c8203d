"""The peer's table under the scheduler: DynamoDB's meaning of exactly the requests that the utility sends.

A request that is not literally one of these fails an assertion: another version of the utility may mean
something else, and has to be read first. The contract test runs the same requests over moto.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError, ReadTimeoutError

from proof.peer_handler import PORT, TABLE
from proof.peer_promises import Promise, broken
from proof.peer_records import Claim, Item, Table, Window, number
from proof.ports import Applied
from proof.programs import Raised

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from proof.programs import Call

_PUT: Final[dict[str, Any]] = {
    "TableName": TABLE,
    "ConditionExpression": (
        "attribute_not_exists(#id) OR #expiry < :now OR (#status = :inprogress AND "
        "attribute_exists(#in_progress_expiry) AND #in_progress_expiry < :now_in_millis)"
    ),
    "ExpressionAttributeNames": {
        "#id": "id",
        "#expiry": "expiration",
        "#in_progress_expiry": "in_progress_expiration",
        "#status": "status",
    },
    "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
}
_UPDATE: Final[dict[str, Any]] = {
    "TableName": TABLE,
    "UpdateExpression": (
        "SET #response_data = :response_data, #expiry = :expiry, #status = :status, "
        "#validation_key = :validation_key"
    ),
    "ExpressionAttributeNames": {
        "#expiry": "expiration",
        "#response_data": "data",
        "#status": "status",
        "#validation_key": "validation",
    },
}
_SET: Final = {
    "data": ":response_data",
    "expiration": ":expiry",
    "status": ":status",
    "validation": ":validation_key",
}
_MS: Final = 1000


class TimedOut(ReadTimeoutError):
    """The SDK gave up. (A scheduler raises with arguments by position; botocore's take names.)"""

    def __init__(self, endpoint_url: str) -> None:
        super().__init__(endpoint_url=endpoint_url)


class PeerTable:
    """The port. `judged`: the promises that its steps are held to."""

    name = PORT
    resends = True

    def __init__(self, judged: frozenset[Promise] = frozenset()) -> None:
        self._judged = judged

    def initial(self) -> Table:
        """See `Port`."""
        return Table()

    def apply(self, state: Table, call: Call, now: int) -> Applied:
        """See `Port`."""
        attempt, request = call.arguments
        applied: Applied = getattr(self, f"_{call.name}")(state, attempt, request, now)
        return applied

    def _put_item(self, state: Table, attempt: str, request: dict[str, Any], now: int) -> Applied:
        item: Item = request["Item"]
        values = request["ExpressionAttributeValues"]
        assert request == _PUT | {"Item": item, "ExpressionAttributeValues": values}, request
        assert set(values) == {":now", ":now_in_millis", ":inprogress"}, values
        existing = state.item(item["id"]["S"])
        if existing is not None and not _may_replace(existing, values):
            return Applied(state, _refused(existing))
        after, said = self._claimed(state, attempt, item, now)
        return Applied(after.with_item(item["id"]["S"], item), {}, said)

    def _claimed(self, state: Table, attempt: str, item: Item, now: int) -> tuple[Table, tuple[str, ...]]:
        item_id, until = item["id"]["S"], number(item, "expiration")
        claim = Claim(attempt, number(item, "in_progress_expiration"))
        window = state.window(item_id)
        if window is None or window.until * _MS <= now:
            return state.with_window(Window(item_id, now, until, attempt, (claim,), (attempt,)), new=True), ()
        others = [one for one in window.claims if one.by != attempt and one.until >= now]
        said = [
            broken(Promise.ONE_CLAIM, f"{attempt} claims the key while {one.by} holds it") for one in others
        ]
        claims = (*(one for one in window.claims if one.by != attempt), claim)
        claimants = tuple(dict.fromkeys((*window.claimants, attempt)))
        changed = replace(
            window, until=max(until, window.until), holder=attempt, claims=claims, claimants=claimants
        )
        return state.with_window(changed, new=False), self._told(Promise.ONE_CLAIM, said)

    def _update_item(self, state: Table, attempt: str, request: dict[str, Any], now: int) -> Applied:
        key, values = request["Key"], request["ExpressionAttributeValues"]
        assert request == _UPDATE | {"Key": key, "ExpressionAttributeValues": values}, request
        assert set(values) == set(_SET.values()), values
        item_id = key["id"]["S"]
        before = state.item(item_id) or dict(key)
        item = before | {name: values[value] for name, value in _SET.items()}
        said = self._unfenced(state, attempt, item_id, "writes its answer")
        window, answer = state.window(item_id), item["data"]["S"]
        assert window is not None, "nobody completes what was never claimed"
        if window.until * _MS <= now:
            # Its window is over: what it stores opens another, of which nobody was told anything.
            until = number(item, "expiration")
            fresh = Window(item_id, now, until, attempt, (), window.claimants, (answer,))
            return Applied(state.with_item(item_id, item).with_window(fresh, new=True), {}, said)
        if window.answers and answer not in window.answers:
            text = f"{attempt} stores another answer than the one that was stored"
            said += self._told(Promise.ONE_ANSWER, [broken(Promise.ONE_ANSWER, text)])
        changed = replace(
            window,
            until=max(window.until, number(item, "expiration")),
            claims=_without(window, attempt),
            answers=tuple(dict.fromkeys((*window.answers, answer))),
        )
        return Applied(state.with_item(item_id, item).with_window(changed, new=False), {}, said)

    def _delete_item(self, state: Table, attempt: str, request: dict[str, Any], now: int) -> Applied:
        del now
        assert request == {"TableName": TABLE, "Key": {"id": request["Key"]["id"]}}, request
        item_id = request["Key"]["id"]["S"]
        said = self._unfenced(state, attempt, item_id, "deletes it")
        window = state.window(item_id)
        assert window is not None, "nobody deletes what was never claimed"
        holder = None if window.holder == attempt else window.holder
        changed = replace(window, holder=holder, claims=_without(window, attempt))
        return Applied(state.with_item(item_id, None).with_window(changed, new=False), {}, said)

    def _get_item(self, state: Table, attempt: str, request: dict[str, Any], now: int) -> Applied:
        del attempt, now
        key = request["Key"]
        assert request == {"TableName": TABLE, "Key": {"id": key["id"]}, "ConsistentRead": True}, request
        item = state.item(key["id"]["S"])
        return Applied(state, {} if item is None else {"Item": item})

    def _unfenced(self, state: Table, attempt: str, item_id: str, does: str) -> tuple[str, ...]:
        window = state.window(item_id)
        if state.item(item_id) is None or window is None or window.holder in (None, attempt):
            return ()
        text = f"{attempt} {does} although the key is {window.holder}'s by now"
        return self._told(Promise.FENCED, [broken(Promise.FENCED, text)])

    def _told(self, promise: Promise, said: list[str]) -> tuple[str, ...]:
        return tuple(said) if promise in self._judged else ()

    def unreached(self, call: Call) -> Raised:
        """See `Port`."""
        return self.unanswered(call)

    def unanswered(self, call: Call) -> Raised:
        """See `Port`."""
        del call
        return Raised(TimedOut, ("the table",))

    def instants(self, state: Table) -> Iterable[int]:
        """See `Port`. The last ms of a claim and of a record, and the first after each."""
        for _, item in state.items:
            if item["status"]["S"] == "INPROGRESS":
                until = number(item, "in_progress_expiration")
                yield from (until, until + 1)
            over = (number(item, "expiration") + 1) * _MS
            yield from (over - 1, over)

    def lapses(self, state: Table, now: int) -> Iterable[tuple[str, Table, tuple[str, ...]]]:
        """See `Port`. TTL on `expiration`, as the documentation sets it up."""
        for item_id, item in state.items:
            if number(item, "expiration") < now // _MS:
                yield "TTL deletes the record", state.with_item(item_id, None), ()


def _may_replace(existing: Item, values: Mapping[str, dict[str, str]]) -> bool:
    """What the condition of `_PUT` says of an item that exists."""
    expired = "expiration" in existing and number(existing, "expiration") < int(values[":now"]["N"])
    lapsed = (
        existing.get("status") == values[":inprogress"]
        and "in_progress_expiration" in existing
        and number(existing, "in_progress_expiration") < int(values[":now_in_millis"]["N"])
    )
    return expired or lapsed


def _refused(existing: Item) -> Raised:
    error = {"Code": "ConditionalCheckFailedException", "Message": "The conditional request failed"}
    return Raised(ClientError, ({"Error": error, "Item": existing}, "PutItem"))


def _without(window: Window, attempt: str) -> tuple[Claim, ...]:
    return tuple(one for one in window.claims if one.by != attempt)
