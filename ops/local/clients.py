"""The boto3 clients of the local platform: one a service, built at its first use."""

import threading
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config

if TYPE_CHECKING:
    from mypy_boto3_apigateway import APIGatewayClient
    from mypy_boto3_cloudwatch import CloudWatchClient
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_events import EventBridgeClient
    from mypy_boto3_iam import IAMClient
    from mypy_boto3_kms import KMSClient
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_logs import CloudWatchLogsClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sns import SNSClient
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_ssm import SSMClient

    from ops.local.emulator import Endpoint

ACCOUNT = "000000000000"
"""The emulator's account (MINISTACK_ACCOUNT_ID, which it is not told otherwise)."""

_CONFIG = Config(
    connect_timeout=5,
    read_timeout=60,  # publishing a function version unpacks its bundle
    retries={"mode": "standard", "max_attempts": 2},
    s3={"addressing_style": "path"},  # bucket names are no host names on a loopback address
)


class Clients:
    """AWS clients of the emulator's administrator. Safe to use from several threads."""

    def __init__(self, endpoint: "Endpoint", region: str) -> None:
        self.region = region
        self.account = ACCOUNT
        self._lock = threading.Lock()
        self._built: dict[str, Any] = {}
        self._endpoint = endpoint
        self.endpoint_url = endpoint.url
        self._session = boto3.session.Session(
            aws_access_key_id=endpoint.access_key_id,
            aws_secret_access_key=endpoint.secret_access_key,
            region_name=region,
        )

    def _client(self, service: str) -> Any:  # noqa: ANN401 (each property below says which client)
        with self._lock:  # a boto3 session may be used by one thread at a time
            if service not in self._built:
                self._built[service] = self._session.client(
                    service,
                    endpoint_url=self._endpoint.url,
                    config=_CONFIG,
                )
            return self._built[service]

    def arn(self, service: str, resource: str) -> str:
        """The ARN of a resource of this account and region."""
        return f"arn:aws:{service}:{self.region}:{self.account}:{resource}"

    @property
    def apigateway(self) -> "APIGatewayClient":
        """API Gateway's REST APIs."""
        return self._client("apigateway")  # type: ignore[no-any-return]

    @property
    def cloudwatch(self) -> "CloudWatchClient":
        """CloudWatch metrics, alarms and dashboards."""
        return self._client("cloudwatch")  # type: ignore[no-any-return]

    @property
    def dynamodb(self) -> "DynamoDBClient":
        """DynamoDB."""
        return self._client("dynamodb")  # type: ignore[no-any-return]

    @property
    def events(self) -> "EventBridgeClient":
        """EventBridge."""
        return self._client("events")  # type: ignore[no-any-return]

    @property
    def iam(self) -> "IAMClient":
        """IAM."""
        return self._client("iam")  # type: ignore[no-any-return]

    @property
    def kms(self) -> "KMSClient":
        """KMS."""
        return self._client("kms")  # type: ignore[no-any-return]

    @property
    def functions(self) -> "LambdaClient":
        """Lambda."""
        return self._client("lambda")  # type: ignore[no-any-return]

    @property
    def logs(self) -> "CloudWatchLogsClient":
        """CloudWatch Logs."""
        return self._client("logs")  # type: ignore[no-any-return]

    @property
    def s3(self) -> "S3Client":
        """S3."""
        return self._client("s3")  # type: ignore[no-any-return]

    @property
    def sns(self) -> "SNSClient":
        """SNS."""
        return self._client("sns")  # type: ignore[no-any-return]

    @property
    def sqs(self) -> "SQSClient":
        """SQS."""
        return self._client("sqs")  # type: ignore[no-any-return]

    @property
    def ssm(self) -> "SSMClient":
        """Systems Manager's parameters."""
        return self._client("ssm")  # type: ignore[no-any-return]
