"""Values of the gauges in a request with metrics."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ragauge.monitoring.intake import otlp
from ragauge.monitoring.series.gauge_monitors import SignalPoint


def read_gauge_points(
    message: Any, names: frozenset[str], timestamp: float, skipped: otlp.SkippedItems
) -> Iterator[tuple[str, SignalPoint]]:
    """(name, value) of the gauges of a request that are named; the attributes of a value say which source it is of.

    Args:
        message: the request.
        names: of the gauges.
        timestamp: of arrival, seconds since 1970.
        skipped: counts the values that are no finite numbers, which are not kept.
    """
    for metric in otlp.iterate_items(otlp.METRICS, message):
        if metric.name not in names or metric.WhichOneof("data") != "gauge":
            continue
        for point in metric.gauge.data_points:
            value_kind = point.WhichOneof("value")
            value = float(getattr(point, value_kind)) if value_kind else math.nan
            if not math.isfinite(value):
                got = value if value_kind else "none"
                skipped.add(f"gauge {metric.name}: values must be finite numbers, got {got}")
                continue
            source = sorted(f"{attribute.key}={_format_attribute(attribute.value)}" for attribute in point.attributes)
            yield metric.name, SignalPoint(timestamp, ",".join(source), value)


def _format_attribute(value: Any) -> str:
    kind = value.WhichOneof("value")
    return str(getattr(value, kind)) if kind in ("string_value", "int_value", "bool_value", "double_value") else ""
