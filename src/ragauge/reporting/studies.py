"""Studies in words and tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Protocol

from ragauge.reporting.sections import ReportSection, ReportTable, columns
from ragauge.reporting.words import safe
from ragauge.text.amounts import number, signed

if TYPE_CHECKING:
    from ragauge.analysis.studies.reading import StudyReading, TrialMean
    from ragauge.data.study import Study

NONE = "No studies yet. Start with: ragauge chunking SET --corpus PATH --chunker token:size=200,400"
STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:70em;margin:2em auto;padding:0 1em}"
    "table{border-collapse:collapse;display:block;overflow-x:auto}th,td{padding:.3em .8em;text-align:left;"
    "border-bottom:1px solid #8884}"
)


class ReadStudy(Protocol):
    """What is told of a study; `api.results.study.StudyResult` is one."""

    study: Study
    metric: str
    cost: str
    base: str

    @property
    def means(self) -> Sequence[TrialMean]:
        """Every metric of every complete trial."""

    @property
    def reading(self) -> StudyReading:
        """What is decided."""

    @property
    def notes(self) -> Sequence[str]:
        """Further sentences."""


def sections(rows: Sequence[Mapping[str, Any]]) -> Iterator[ReportSection]:
    """The stored studies: name, kind, set, age and how many trials are in which state."""
    shown = []
    for row in rows:
        trials = ", ".join(f"{n} {state}" for state, n in row["trials"].items()) or "none"
        when = row["created_at"][:16].replace("T", " ")
        shown.append((safe(row["name"]), row["kind"], safe(row["set"]), when, trials))
    heads = columns("study", "kind", "set", "created", "trials")
    yield ReportSection(table=ReportTable(heads, tuple(shown))) if rows else ReportSection(lead=(NONE,))


def study_sections(found: ReadStudy) -> Iterator[ReportSection]:
    """The reading, a table of trials, and what else they show."""
    head, rows = _table(found)
    table = ReportTable(columns(*head), tuple(tuple(safe(one) for one in row) for row in rows)) if rows else None
    lead, after = (tuple(safe(line) for line in lines) for lines in (_sentences(found), _remarks(found)))
    yield ReportSection(found.study.kind, safe(found.study.name), lead, table, after)


def study_html(found: ReadStudy) -> str:
    """The same as a page that needs nothing beside it and holds no script."""
    head, rows = _table(found)
    title = escape(safe(found.study.name))
    heads = "".join(f"<th>{escape(safe(one))}</th>" for one in head)
    cells = "".join(f"<tr>{''.join(f'<td>{escape(safe(one))}</td>' for one in row)}</tr>" for row in rows)
    before, after = (
        "".join(f"<p>{escape(safe(line))}</p>" for line in lines) for lines in (_sentences(found), _remarks(found))
    )
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{STYLE}</style></head><body><h1>{title}</h1>{before}"
        f"<table><thead><tr>{heads}</tr></thead><tbody>{cells}</tbody></table>{after}</body></html>\n"
    )


def _sentences(found: ReadStudy) -> Iterator[str]:
    """What is decided."""
    if not any(trial.state == "complete" for trial in found.study.trials):
        yield "No trial is complete."
        return
    reading = found.reading
    taken = reading.recommendation
    about = f"; about {taken.examples:,} examples would decide" if taken.examples else ""
    yield f"Take {taken.trial}: {taken.reason}." if taken.trial else f"No recommendation: {taken.reason}{about}."
    yield f"May be the best by {reading.metric} (95 %): {', '.join(reading.best_set)}."
    if reading.cost:
        yield f"Not beaten at their {reading.cost}: {', '.join(reading.front)}."
        knee = reading.knee
        yield (
            f"Knee: {reading.trials[knee.trial]} ({knee.agreement:.0%} of resamples agree)."
            if knee.trial is not None else f"Knee: {knee.reason}."
        )     # fmt: skip


def _remarks(found: ReadStudy) -> Iterator[str]:
    yield from found.notes
    for trial in found.study.trials:
        if trial.state != "complete":
            yield f"{trial.name}: {trial.state}{f': {trial.reason}' if trial.reason else ''}"


def _table(found: ReadStudy) -> tuple[list[str], list[list[str]]]:
    """A row a complete trial: what decides with its interval and counts, the difference, what is lost, the costs."""
    means = {(one.trial, one.metric): one for one in found.means}
    attainable = found.metric.replace("token_recall", "attainable_recall")
    split = found.metric.startswith("token_recall") and any(one.metric == attainable for one in found.means)
    measured = list(dict.fromkeys(
        one.name for trial in found.study.trials for one in trial.measurements
        if one.name in (found.cost, "chunk_tokens", "gold_spans_cut")
    ))     # fmt: skip
    head = ["trial", found.metric, "scored", *([f"vs {found.base}"] if found.base else [])]
    head += ["lost to boundaries", "lost to ranking"] if split else []
    rows = []
    for trial in found.study.trials:
        one = means.get((trial.name, found.metric))
        if one is None:
            continue
        row = [trial.name, _with_interval(one), f"{one.counts['scored']:,} of {sum(one.counts.values()):,}"]
        if found.base:
            row.append(_difference(one))
        if split:
            most = means[trial.name, attainable].mean or 0.0
            row += [number(1 - most), number(most - (one.mean or 0.0))]
        row += [_measured(trial.measured(name)) for name in measured]
        rows.append(row)
    return [*head, *measured], rows


def _with_interval(one: TrialMean) -> str:
    ends = f" [{number(one.interval.low)}, {number(one.interval.high)}]" if one.interval else ""
    return f"{number(one.mean)}{ends}"


def _difference(one: TrialMean) -> str:
    if one.difference is None or one.difference_interval is None:
        return "–"
    ends = one.difference_interval
    told = f"{signed(one.difference)} [{signed(ends.low)}, {signed(ends.high)}]"
    return told if one.p_value is None else f"{told} p {one.p_value:.2g}"


def _measured(value: float | None) -> str:
    return "–" if value is None else number(value, "amount" if value > 1 else "mean")
