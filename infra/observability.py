"""What a stage's metrics, dashboards and alarms cost a month, from how many there are (docs/adr/0128)."""

from dataclasses import astuple, dataclass
from typing import Self

from infra import prices
from infra.prices import Price


@dataclass(frozen=True)
class Observability:
    """How much of it there is; adds up, and multiplies by a number of tenants.

    Attributes:
        series: metric series of our own (name and dimensions), as many as there are while everything happens.
        method_metrics: series that API Gateway keeps for each method.
        dashboards: how many.
        alarm_metrics: metrics that alarms watch by name, each alarm's own.
        analysed: metrics that alarms with a query (Metrics Insights) look through, each alarm's own.
        composites: alarms of alarms.
    """

    series: int = 0
    method_metrics: int = 0
    dashboards: int = 0
    alarm_metrics: int = 0
    analysed: int = 0
    composites: int = 0

    def __add__(self, other: Self) -> Self:
        return type(self)(*(mine + its for mine, its in zip(astuple(self), astuple(other), strict=True)))

    def times(self, number: int) -> Self:
        """So many of the same."""
        return type(self)(*(number * each for each in astuple(self)))

    @property
    def charged(self) -> dict[Price, float]:
        """The units of each price."""
        return {
            prices.METRIC: self.series + self.method_metrics,
            prices.DASHBOARD: self.dashboards,
            prices.ALARM: self.alarm_metrics,
            prices.QUERY_ALARM: self.analysed,
            prices.COMPOSITE_ALARM: self.composites,
        }

    @property
    def usd(self) -> float:
        """Dollars a month."""
        return sum(prices.by_service(self.charged).values())
