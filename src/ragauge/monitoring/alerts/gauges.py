"""Values of the gauges in a request with metrics."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ragauge.monitoring.intake import otlp
from ragauge.monitoring.series.gauge_monitors import SignalPoint


def gauge_points(message: Any, names: frozenset[str], at: float, left: otlp.Left) -> Iterator[tuple[str, SignalPoint]]:
    """(name, value) of the gauges of a request that are named; the attributes of a value say which source it is of.

    Args:
        message: the request.
        names: of the gauges.
        at: of arrival, seconds since 1970.
        left: counts the values that are no finite numbers, which are not kept.
    """
    for metric in otlp.items(otlp.METRICS, message):
        if metric.name not in names or metric.WhichOneof("data") != "gauge":
            continue
        for point in metric.gauge.data_points:
            given = point.WhichOneof("value")
            value = float(getattr(point, given)) if given else math.nan
            if not math.isfinite(value):
                got = value if given else "none"
                left.add(f"a value of the gauge {metric.name} must be a finite number, got {got}")
                continue
            source = sorted(f"{one.key}={_said(one.value)}" for one in point.attributes)
            yield metric.name, SignalPoint(at, ",".join(source), value)


def _said(value: Any) -> str:
    kind = value.WhichOneof("value")
    return str(getattr(value, kind)) if kind in ("string_value", "int_value", "bool_value", "double_value") else ""
