"""What can be measured, for people and machines."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.metrics.catalogue import PRESETS, parse_metric, register_object
from ragauge.metrics.catalogue_entries import get_definition, list_entries
from ragauge.metrics.docstring import DocstringParts, parse_docstring

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ragauge.metrics.base import Metric


def load_own_metrics() -> None:
    """Finds the metrics of the user's own that ragauge.yaml names, and those that packages bring."""
    from ragauge.core.config.config_loader import DEFAULT_FILE, read_config
    from ragauge.core.object_lookup import is_object_path
    from ragauge.metrics.own import load_plug_ins

    load_plug_ins(register_object)
    if not Path(DEFAULT_FILE).is_file():
        return
    config = read_config().config
    names = [rule.metric for rule in config.gate.rules if rule.metric] if config.gate else []
    names += config.sweep.metrics if config.sweep else []
    if config.monitor:
        names += [
            *config.monitor.metrics,
            *(name for schedule in config.monitor.schedules for name in schedule.metrics),
        ]
    for name in names:
        if is_object_path(name):
            parse_metric(name)


def list_metrics() -> dict[str, Any]:
    """Every metric and preset as JSON types."""
    return {"metrics": list_entries(), "presets": {name: list(metric_names) for name, metric_names in PRESETS.items()}}


def describe_metric(name: str) -> dict[str, Any]:
    """One metric as JSON types: its printed name, sentence, formula and source.

    Raises:
        UnknownName: no such metric.
    """
    metric = _find_metric(name)
    sentence, formula, source = get_definition(metric)
    return {
        "name": str(metric),
        "sentence": sentence,
        "formula": formula,
        "source": source,
        "measures": metric.measures,
        "range": [bound if isfinite(bound) else None for bound in metric.range],
        "direction": metric.direction,
        "version": metric.version,
        "needs": dict(metric.needs),
    }


def build_table() -> RenderableType:
    """Every metric with what it measures and asks, then the presets."""
    from ragauge.rendering.sections import ReportSection, ReportTable, build_columns
    from ragauge.rendering.writers.terminal import render_terminal

    rows = tuple(
        (
            entry["example"],
            entry["measures"],
            ", ".join(entry["asks"]) or "–",
            get_definition(parse_metric(entry["example"]))[0],
        )
        for entry in list_entries()
    )
    presets = ReportTable(
        build_columns("preset", "metrics"),
        tuple((name, ", ".join(metric_names)) for name, metric_names in PRESETS.items()),
    )
    metrics = ReportTable(build_columns("metric", "measures", "judge questions", "meaning"), rows)
    hint = ("For a full definition: ragauge metrics faithfulness",)
    return render_terminal([ReportSection(table=metrics), ReportSection(table=presets, notes=hint)])


def build_page(name: str) -> RenderableType:
    """One metric's definition as written in its file."""
    from rich.console import Group
    from rich.text import Text

    metric = _find_metric(name)
    facts = describe_metric(name)
    low, high = metric.range
    about = f"measures {facts['measures']} · range {low:g} to {high:g} · {facts['direction']} is better"
    asks = ", ".join(facts["needs"].values())
    head = Text(str(metric), style="bold"), Text(about, style="dim"), Text(f"needs {asks or 'nothing'}\n", style="dim")
    return Group(*head, Text(read_definition(name)))


def read_definition(name: str) -> str:
    """One metric's documentation as written in its file: sentence, formula, symbols, undefined cases, source.

    Raises:
        UnknownName: no such metric.
    """
    doc = type(_find_metric(name)).__doc__ or ""
    return "\n".join(line.removeprefix("    ") for line in doc.splitlines())


def parse_definition(name: str) -> DocstringParts:
    """The same in its parts.

    Raises:
        UnknownName: no such metric.
    """
    return parse_docstring(type(_find_metric(name)))


def _find_metric(name: str) -> Metric:
    """A metric, or the row of comparisons that has a definition though nobody can ask for it."""
    from ragauge.comparison.comparability import FailedResponse

    return FailedResponse() if name == FailedResponse.name() else parse_metric(name)
