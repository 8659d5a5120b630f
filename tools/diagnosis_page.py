"""Write the generated parts of docs/diagnosis.md: starting points, patterns, and an explained example.

python tools/diagnosis_page.py            writes them again
python tools/diagnosis_page.py --check    exit 1 when the page is stale
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from ragauge.core.score import Score
from ragauge.diagnosis.explain.explanation import explain_example
from ragauge.diagnosis.explain.tables import build_example_sections
from ragauge.diagnosis.findings.pattern_matches import PATTERNS
from ragauge.diagnosis.findings.patterns import Pattern
from ragauge.metrics.catalogue import parse_metric
from ragauge.metrics.facts import Facts
from ragauge.metrics.measure import measure_metric
from ragauge.rendering.writers.terminal import render_terminal
from ragauge.scores.indicators import STARTING_POINTS

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # tests/ is in no wheel

from tests.building import answer_facts, claim, evidence, example, passage, reference_facts, response

PAGE = Path(__file__).resolve().parents[1] / "docs/diagnosis.md"
MARKS = "<!-- {name}, written by tools/diagnosis_page.py: begin -->", "<!-- {name}: end -->"
ARROWS: Mapping[str, str] = {"low": "↓", "high": "↑"}
WIDTH = 100


def points() -> str:
    """The starting points with their source."""
    rows = [f"`{name}` | {point.value:.2f} | {point.source}" for name, point in STARTING_POINTS.items()]
    return "\n".join(["metric | starting point | from", "---|---|---", *rows])


def patterns() -> str:
    """One row a pattern, in the order in which they are looked at."""
    first = {one.name: one for one in reversed(PATTERNS)}  # oracle patterns stand there once a metric
    shown = [one for one in PATTERNS if first[one.name] is one]
    rows = [f"{_when(one)} | {_reading(one)} | {_causes(one)} | {_fix(one)}" for one in shown]
    return "\n".join(["when | reading | goes with | what to do", "---|---|---|---", *rows])


def _when(pattern: Pattern) -> str:
    own = [f"`{name}` {ARROWS[level]} {level}" for name, level in pattern.when.items()]
    if pattern.oracle:
        ((_, there),) = pattern.oracle.items()
        metrics = " or ".join(f"`{name}`" for one in PATTERNS if one.name == pattern.name for name in one.oracle)
        against = "; ↓ low against it" if pattern.when else ""
        return f"{metrics} {ARROWS[there]} {there} on oracle passages{against}"
    extra = [
        word
        for word, holds in (
            ("recall, context_recall, context_tokens or k ↑ rose", pattern.more),
            ("of answerable questions", pattern.answerable),
            ("above its starting point, baseline or not", pattern.absolute),
            ("in production traffic", pattern.traffic),
            ("against a baseline", pattern.change),
            ("against a baseline: and `context_recall` did not fall", pattern.needs_found),
            ("unless precision and recall are both below 0.20, where hardly anything is relevant", pattern.relevant),
            ("unless most failures are unclear", pattern.decided),
        )
        if holds
    ]
    return "; ".join([*own, *extra])


def _reading(pattern: Pattern) -> str:
    said = [text for text in (pattern.reading, pattern.changed) if text]
    return "; *against a baseline:* ".join(said) if len(said) > 1 else said[0]


def _causes(pattern: Pattern) -> str:
    return ", ".join(f"`{cause}`" for cause in pattern.causes) or "–"


def _fix(pattern: Pattern) -> str:
    leave = f" *Leave:* {pattern.leave}." if pattern.leave else ""
    return f"{pattern.fix}{leave} *Then:* {pattern.again}."


def explained() -> str:
    """An example by hand as the terminal shows it."""
    from rich.console import Console

    said = {
        "A hub can be returned within 30 days.": (1,),
        "Return shipping costs 12 euros.": (),
        "Keep it unused.": (2,),
    }
    answer, claims = " ".join(said), []
    for text, supporting in said.items():
        start = answer.index(text)
        claims.append(claim(*supporting, text=text, start=start, end=start + len(text)))
    facts = Facts(
        example("A hub can be returned within 30 days.", query="How long can a hub be returned?", answerable=True),
        response([passage("returns", "A hub can be returned within 30 days."), passage("terms", "Unused.")], answer),
        evidence(answer_facts(*claims), reference_facts([1])),
    )
    metric = parse_metric("faithfulness")
    score = Score("r", "q1", 0, "faithfulness", metric.version, None, 0, **asdict(measure_metric(metric, facts)))
    console = Console(width=WIDTH, color_system=None, force_terminal=False, highlight=False)
    with console.capture() as captured:
        console.print(render_terminal(build_example_sections(explain_example(facts, {"faithfulness": score}))))
    lines = [line.rstrip() for line in captured.get().splitlines()]
    shown = lines[lines.index("Generation") :]
    return "\n".join(["```text", *shown, "```"])


PARTS = {"points": points, "patterns": patterns, "example": explained}


def placed(page: str, name: str, text: str) -> str:
    """The page with a generated part replaced."""
    begin, end = (mark.format(name=name) for mark in MARKS)
    before, _, rest = page.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise SystemExit(f"{PAGE.name} lacks the marks of {name}.")
    return f"{before}{begin}\n\n{text}\n\n{end}{after}"


def stale(page: str) -> Iterator[str]:
    """Names of the parts that would change."""
    for name, make in PARTS.items():
        if placed(page, name, make()) != page:
            yield name


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes or checks the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 when the page is stale")
    asked = parser.parse_args(arguments)
    page = PAGE.read_text(encoding="utf-8")
    if asked.check:
        names = list(stale(page))
        for name in names:
            print(f"docs/diagnosis.md: {name} has changed.", file=sys.stderr)
        if names:
            print("Write it again with: python tools/diagnosis_page.py", file=sys.stderr)
        return int(bool(names))
    for name, make in PARTS.items():
        page = placed(page, name, make())
    PAGE.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
