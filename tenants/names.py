"""What the name of a member or header says that it holds. A time or a secret identifies no event."""

import re
from typing import Final

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

# What may stand behind the name of a time: its unit, zone or spelling (`createdAtMs`, `updated_utc`).
_UNITS: Final = frozenset(
    {
        *("ms", "msec", "msecs", "milli", "millis", "millisecond", "milliseconds"),
        *("us", "usec", "usecs", "micro", "micros", "microsecond", "microseconds"),
        *("ns", "nsec", "nsecs", "nano", "nanos", "nanosecond", "nanoseconds"),
        *("s", "sec", "secs", "second", "seconds", "utc", "gmt", "z", "tz", "zone", "local", "offset"),
        *("iso", "rfc", "str", "string", "text", "raw"),
    }
)
# Of these, what nothing but a time is measured in, whatever it is called (`eventMs`). `us` is also a country.
_ONLY_OF_TIMES: Final = frozenset({"ms", "msec", "msecs", "millis", "milliseconds", "utc", "gmt"})
# Names that are a time by themselves, such as Stripe's `created`, and last words of others (`dateCreated`),
# also where nothing separates the words (`createdat`, `unixtimestamp`, `epochms`).
_HAPPENED: Final = (
    "created|updated|modified|changed|deleted|sent|received|published|emitted|triggered|fired|occurred|"
    "delivered|submitted|completed|started|ended|finished|issued|placed|raised|logged|recorded|generated|"
    "queued|processed|expired|expires"
)
_TIME: Final = re.compile(
    rf"((date|time|last|first)?({_HAPPENED})(at|on|date|ts)?|[a-z]*(time|timestamp)|date|ts|epoch|unix|now|"
    r"iat|nbf|exp)(ms|millis|secs?|seconds|utc|gmt)?"
)
# What a secret or a signature is called, in one word or as a part of one.
_SECRET: Final = re.compile(
    r"authorization|signature|hmac|secret|password|passwd|cookie|credential|apikey|accesskey|authkey"
)
_SECRET_WORDS: Final = frozenset({"auth", "sig", "token"})


def is_timestamp(name: str) -> bool:
    """Whether a member or header of this name holds a time: two deliveries of one event may differ in it."""
    words = _words(name)
    if words and words[-1] in _ONLY_OF_TIMES:
        return True
    named = list(words)
    while named and (named[-1] in _UNITS or named[-1].isdigit()):
        named.pop()
    if not named:
        return False
    *before, last = named
    # `at` by itself may be anything, and `on` is a time only behind one: `createdOn`, and not `addOn`.
    if last == "on":
        return bool(before) and _TIME.fullmatch(before[-1]) is not None
    return _TIME.fullmatch(last) is not None or (last == "at" and len(words) > 1)


def is_secret(name: str) -> bool:
    """Whether a header of this name proves who sends; what identifies an event is stored and logged."""
    words = _words(name)
    return not _SECRET_WORDS.isdisjoint(words) or _SECRET.search("".join(words)) is not None


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]
