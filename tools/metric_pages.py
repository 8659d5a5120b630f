"""Write docs/metrics.md from the docstrings of the metrics; --check fails when the page is stale.

python tools/metric_pages.py            writes it again
python tools/metric_pages.py --check    exit 1, with the first lines that differ, when it would change
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Callable, Hashable, Iterator, Sequence
from inspect import cleandoc
from pathlib import Path
from typing import Any

from ragauge.metrics import ann, answer, composite, context, retrieval, spans
from ragauge.metrics.base import Metric, format_parameter
from ragauge.metrics.catalogue import BUILT_IN, PRESETS, list_family, list_questions
from ragauge.metrics.catalogue_entries import list_entries, list_samples
from ragauge.metrics.docstring import parse_docstring

PAGE = Path(__file__).resolve().parents[1] / "docs/metrics.md"
ABOUT = {
    "retrieval": retrieval,
    "spans": spans,
    "ann": ann,
    "context": context,
    "answer": answer,
    "composite": composite,
}
BETTER = {"higher": "higher is better", "lower": "lower is better", "neither": "neither direction is better"}
INTRO = """\
# Metrics

<!-- Generated from the docstrings of the metrics by tools/metric_pages.py. Change the docstring, then run it. -->

Every metric is a function of facts about one answer. *Asks* names the questions that a judge is asked for these facts;
a metric that asks nothing is free. Metrics that ask the same question share its answer.

A metric is written `name[:parameter=value]…[@k]`, such as `recall@5` or `context_precision:by=reference:ranked=true`.
The same spelling is used in Python, on the command line, in a gate file and in every report.

A score has a value, or one of three other statuses; none of them counts as 0, and none is dropped silently.

| status | when |
|---|---|
| scored | the facts are there and the denominator is not 0 |
| undefined | the facts are there, but what the system did leaves 0/0 |
| not_applicable | the example or the run lacks an input, such as a label |
| failed | a fact could not be had and could change the value; `low` and `high` say what it could have been |
"""


def page() -> str:
    """The whole page."""
    lines = [INTRO, *_presets()]
    listed = {entry["name"]: entry for entry in list_entries()}
    for name in BUILT_IN:
        lines += [f"## {name.capitalize()}", "", cleandoc(ABOUT[name].__doc__ or ""), ""]
        lines += [line for cls in list_family(name) for line in _metric(cls, listed[cls.name()])]
    return "\n".join(lines).rstrip() + "\n"


def _presets() -> Iterator[str]:
    yield from ("Presets are selections that can stand where a name can (`-m NAME`).", "", "| preset | metrics |")
    yield "|---|---|"
    for name, chosen in PRESETS.items():
        yield f"| {name} | {', '.join(f'`{each}`' for each in chosen)} |"
    yield ""


def _metric(cls: type[Metric], entry: dict[str, Any]) -> Iterator[str]:
    said = parse_docstring(cls)
    variants = [metric for metric in list_samples() if type(metric) is cls]
    yield from (f"### {cls.name()}", "", said.sentence, "", "```text", said.formula, "```", "")
    yield from (f"- `{symbol}`: {meaning}" for symbol, meaning in said.symbols)
    yield ""
    if entry["parameters"]:
        yield from ("Parameters:", "", *(_parameter(part, said.parameters) for part in entry["parameters"]), "")
    yield from (line for note in (*said.notes, said.cases) if note for line in (note, ""))
    facts = [
        ("asks", _by_variant(variants, lambda metric: ", ".join(list_questions([metric])) or "nothing")),
        ("range", _by_variant(variants, lambda metric: "{:g} to {:g}".format(*metric.range).replace("inf", "any"))),
        ("direction", _by_variant(variants, lambda metric: BETTER[metric.direction])),
        ("measures", _by_variant(variants, lambda metric: metric.measures.replace("_", " "))),
        ("also called", ", ".join(_alias(alias, name, cls) for alias, name in entry["aliases"].items())),
        ("source", said.source.rstrip(".")),
    ]
    yield from (f"- {label}: {text}" for label, text in facts if text)
    yield ""


def _parameter(parameter: dict[str, Any], statements: Sequence[str]) -> str:
    """One parameter: what it takes, its default, and what the docstring says of its values."""
    name, default = parameter["name"], parameter["default"]
    if name == "k":
        return "- `@k`: a whole number of at least 1; everything returned where it is left out"
    values = ", ".join(f"`{format_parameter(value)}`" for value in parameter["values"] or ())
    takes = values or {"int": "a whole number", "float": "a number", "str": "a name"}[parameter["kind"]]
    usual = "not set by default" if default is None else f"`{format_parameter(default)}` by default"
    unless = "required" if parameter["required"] else usual
    said = [statement.partition(" ") for statement in statements if statement.startswith(f"{name}=")]
    return "\n".join([f"- `{name}`: {takes}; {unless}", *(f"  - `{option}` {text}" for option, _, text in said)])


def _alias(alias: str, name: str, cls: type[Metric]) -> str:
    return f"`{alias}`" + ("" if name == cls.name() else f" (`{name}`)")


def _by_variant(variants: Sequence[Metric], fact: Callable[[Metric], Hashable]) -> str:
    """A fact of a metric, once where all variants share it, else with the first variant of each value."""
    first: dict[Hashable, Metric] = {}
    for metric in variants:
        first.setdefault(fact(metric), metric)
    if len(first) == 1:
        return str(*first)
    return "; ".join(f"{found} (`{metric}`)" for found, metric in first.items())


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes or checks the page; the exit code."""
    parser = argparse.ArgumentParser(description="Write the metrics page from the docstrings.")
    parser.add_argument("--check", action="store_true", help="only say whether the page is stale")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page; docs/metrics.md when left out")
    given = parser.parse_args(arguments)
    new = page()
    old = given.page.read_text(encoding="utf-8") if given.page.exists() else ""
    if not given.check:
        given.page.write_text(new, encoding="utf-8")
        return 0
    if old == new:
        return 0
    print(f"{given.page.name} is stale. Run: python tools/metric_pages.py", file=sys.stderr)
    differing = difflib.unified_diff(old.splitlines(), new.splitlines(), "page", "docstrings", lineterm="", n=0)
    print("\n".join(list(differing)[:20]), file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
