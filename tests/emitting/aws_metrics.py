"""The metrics of AWS's own that Onceward reads, as AWS publishes them: namespace, dimensions, names.

Each from the service's own page of its metrics and dimensions, as of 2026-11-30:

- API Gateway: https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-metrics-and-dimensions.html
- DynamoDB: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html
- EventBridge: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-monitoring.html
- Lambda: https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html
- CloudWatch Logs: https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CloudWatch-Logs-Monitoring-CloudWatch-Metrics.html
- SNS: https://docs.aws.amazon.com/sns/latest/dg/sns-monitoring-using-cloudwatch.html
- SQS: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_OF_A_RULE: Final = frozenset(
    {
        *("TriggeredRules", "Invocations", "FailedInvocations"),
        *("InvocationsSentToDlq", "InvocationsFailedToBeSentToDlq"),
    }
)
_OF_A_TABLE: Final = frozenset(
    {
        *("ReadThrottleEvents", "WriteThrottleEvents"),
        *("ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits"),
    }
)

PUBLISHED: Final[Mapping[tuple[str, frozenset[str]], frozenset[str]]] = {
    ("AWS/ApiGateway", frozenset({"ApiName", "Stage"})): frozenset(
        {"Count", "4XXError", "5XXError", "Latency", "IntegrationLatency"}
    ),
    ("AWS/DynamoDB", frozenset({"TableName"})): _OF_A_TABLE,
    # Of a rule on a bus of one's own, and of one on the default bus.
    ("AWS/Events", frozenset({"EventBusName", "RuleName"})): _OF_A_RULE,
    ("AWS/Events", frozenset({"RuleName"})): _OF_A_RULE,
    ("AWS/Lambda", frozenset({"FunctionName"})): frozenset(
        {
            *("Invocations", "Errors", "Throttles", "Duration", "ConcurrentExecutions"),
            *("IteratorAge", "DestinationDeliveryFailures", "DeadLetterErrors", "AsyncEventsDropped"),
        }
    ),
    ("AWS/Lambda", frozenset({"EventSourceMappingUUID"})): frozenset(
        {"OnFailureDestinationDeliveredEventCount"}
    ),
    ("AWS/Logs", frozenset({"LogGroupName"})): frozenset({"IncomingBytes", "IncomingLogEvents"}),
    ("AWS/SNS", frozenset({"TopicName"})): frozenset(
        {"NumberOfMessagesPublished", "NumberOfNotificationsDelivered", "NumberOfNotificationsFailed"}
    ),
    ("AWS/SQS", frozenset({"QueueName"})): frozenset(
        {
            *("ApproximateNumberOfMessagesVisible", "ApproximateNumberOfMessagesNotVisible"),
            *("ApproximateAgeOfOldestMessage", "NumberOfMessagesSent", "NumberOfMessagesDeleted"),
        }
    ),
}
"""By namespace and the names of all dimensions: the names of the metrics that are there under them."""
