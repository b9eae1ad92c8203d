"""AWS clients, and the one table that says what an AWS error means.

Every call of the bundle goes through `translated`, so that no botocore error leaves the adapters.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, ParamValidationError

from handlers.domain.errors import Refused, Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

# API Gateway gives up after 29 s and callers long before: fail while the caller still listens. DynamoDB
# answers in single-digit milliseconds; a second is an outage.
_CONNECT_SECONDS = 1.0
_READ_SECONDS = 2.0
# A lost answer is asked for once more (and the write recognises itself). With the pause between, the worst
# call takes 7 s. Every function's timeout has room for it (tests/unit/handlers/test_timeouts.py), since a
# function that is stopped in the middle answers nothing at all.
_ATTEMPTS = 2

CLIENT_CONFIG = Config(
    connect_timeout=_CONNECT_SECONDS,
    read_timeout=_READ_SECONDS,
    retries={"mode": "standard", "total_max_attempts": _ATTEMPTS},
)

# Error codes that say "not now" whatever the service. Anything else that the service answers is a refusal,
# but for answers of 500 and above. Sources: the common errors of each service's API reference, and botocore's
# own list of throttling codes (botocore.retries.standard.ThrottledRetryableChecker).
_NOT_NOW = frozenset(
    {
        "InternalError",
        "InternalFailure",
        "InternalServerError",
        "KMS.ThrottlingException",  # SQS
        "KMSThrottling",  # SNS
        "KMSThrottlingException",
        "KmsThrottled",  # SQS
        "LimitExceededException",
        "PriorRequestNotComplete",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestThrottledException",
        "ServiceUnavailable",
        "SlowDown",
        "Throttled",  # SNS
        "ThrottledException",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
        "TransactionInProgressException",
    }
)
_FIRST_SERVER_ERROR = 500


def code_of(error: ClientError) -> str:
    """The error code that the service gave, such as ``ThrottlingException``."""
    return str(error.response.get("Error", {}).get("Code", "Unknown"))


def is_not_now(error: ClientError) -> bool:
    """Whether the service could not answer: throttled or failing, so that the outcome is unknown."""
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return code_of(error) in _NOT_NOW or status >= _FIRST_SERVER_ERROR


@contextmanager
def translated(service: str) -> Iterator[None]:
    """Turn botocore's errors into ours.

    Raises:
        Unavailable: not reached, no answer in time, throttled, or the service failed.
        Refused: the service answered, and its answer is no; or botocore saw that what we ask is not in the
            service's model.
    """
    try:
        yield
    except ClientError as error:
        if is_not_now(error):
            raise Unavailable(service, code_of(error)) from error
        raise Refused(service, code_of(error)) from error
    except ParamValidationError as error:
        # Our own mistake and no outage: the same call can never succeed. (Its message quotes the parameters.)
        raise Refused(service, type(error).__name__) from error
    except BotoCoreError as error:
        raise Unavailable(service, type(error).__name__) from error
