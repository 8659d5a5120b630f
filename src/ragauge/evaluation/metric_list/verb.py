"""What can be measured, for people and machines."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.metrics.catalogue import PRESETS, describe, entries, parse, register_object
from ragauge.metrics.docstring import DocstringParts, parts

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ragauge.metrics.base import Metric


def bring_own() -> None:
    """Finds the metrics of the user's own that ragauge.yaml names, and those that packages bring."""
    from ragauge.core.config.config_loader import DEFAULT, read_config
    from ragauge.core.object_lookup import is_named
    from ragauge.metrics.own import load_plug_ins

    load_plug_ins(register_object)
    if not Path(DEFAULT).is_file():
        return
    config = read_config().config
    names = [rule.metric for rule in config.gate.rules if rule.metric] if config.gate else []
    names += config.sweep.metrics if config.sweep else []
    if config.monitor:
        names += [*config.monitor.metrics, *(name for one in config.monitor.schedules for name in one.metrics)]
    for name in names:
        if is_named(name):
            parse(name)


def listed() -> dict[str, Any]:
    """Every metric and preset as JSON types."""
    return {"metrics": entries(), "presets": {name: list(parts) for name, parts in PRESETS.items()}}


def one(name: str) -> dict[str, Any]:
    """One metric as JSON types: its printed name, sentence, formula and source.

    Raises:
        UnknownName: no such metric.
    """
    metric = _defined(name)
    sentence, formula, source = describe(metric)
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


def table() -> RenderableType:
    """Every metric with what it measures and asks, then the presets."""
    from ragauge.rendering.sections import ReportSection, ReportTable, columns
    from ragauge.rendering.writers.terminal import terminal

    rows = tuple(
        (entry["example"], entry["measures"], ", ".join(entry["asks"]) or "–", describe(parse(entry["example"]))[0])
        for entry in entries()
    )
    presets = ReportTable(columns("preset", "metrics"), tuple((name, ", ".join(of)) for name, of in PRESETS.items()))
    metrics = ReportTable(columns("metric", "measures", "asks", "what it says"), rows)
    hint = ("One in full: ragauge metrics faithfulness",)
    return terminal([ReportSection(table=metrics), ReportSection(table=presets, notes=hint)])


def page(name: str) -> RenderableType:
    """One metric's definition as written in its file."""
    from rich.console import Group
    from rich.text import Text

    metric = _defined(name)
    facts = one(name)
    low, high = metric.range
    about = f"measures {facts['measures']} · range {low:g} to {high:g} · better {facts['direction']}"
    asks = ", ".join(facts["needs"].values())
    head = Text(str(metric), style="bold"), Text(about, style="dim"), Text(f"needs {asks or 'nothing'}\n", style="dim")
    return Group(*head, Text(definition(name)))


def definition(name: str) -> str:
    """One metric's documentation as written in its file: sentence, formula, symbols, undefined cases, source.

    Raises:
        UnknownName: no such metric.
    """
    doc = type(_defined(name)).__doc__ or ""
    return "\n".join(line.removeprefix("    ") for line in doc.splitlines())


def written(name: str) -> DocstringParts:
    """The same in its parts.

    Raises:
        UnknownName: no such metric.
    """
    return parts(type(_defined(name)))


def _defined(name: str) -> Metric:
    """A metric, or the row of comparisons that has a definition though nobody can ask for it."""
    from ragauge.comparison.comparability import FailedResponse

    return FailedResponse() if name == FailedResponse.name() else parse(name)
