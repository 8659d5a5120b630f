"""A study as its reader sees it: every trial, which may be best, what to take."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from ragauge.core.identity import to_json_value
from ragauge.core.score import STATUSES
from ragauge.verbs.result_base import PageResult

if TYPE_CHECKING:
    import polars as pl

    from ragauge.core.study import Study
    from ragauge.rendering.sections import ReportSection
    from ragauge.studies.figures import StudySummary
    from ragauge.studies.front import Knee
    from ragauge.studies.means import TrialMean
    from ragauge.studies.recommendation import Recommendation
    from ragauge.studies.trial_summary import StudyReading


class StudyResult(PageResult):
    """The trials of a study and what they say together. In a notebook it shows itself; .csv is the table of trials.

    Attributes:
        figures: every number as plain values.
        url: the store.
    """

    FORMS: ClassVar = {".md": "to_markdown", ".html": "to_html", ".json": "to_json", ".csv": "_format_trials"}
    _file = "study.html"
    _what = "study"

    def __init__(self, figures: StudySummary, url: str) -> None:
        self.figures, self.url = figures, url

    @property
    def study(self) -> Study:
        """The trials with their parameters, states and measurements."""
        return self.figures.study

    @property
    def exit_code(self) -> int:
        """Of the command that made it: 0, or 1 where no trial is complete."""
        return 0 if self.figures.complete else 1

    @property
    def metric(self) -> str:
        """What trials are held to."""
        return self.figures.metric

    @property
    def names(self) -> tuple[str, ...]:
        """The metrics that every complete trial has."""
        return self.figures.names

    @property
    def means(self) -> tuple[TrialMean, ...]:
        """Every metric of every complete trial over all examples, with the difference to the base."""
        return self.figures.means

    @property
    def reading(self) -> StudyReading:
        """What is decided by `metric` against the cost that decides.

        Raises:
            UsageError: no trial is complete, or nothing in them decides.
        """
        return self.figures.reading

    @property
    def best_set(self) -> tuple[str, ...]:
        """The trials that may be the best, the confidence being 95 %."""
        return self.reading.best_set

    @property
    def front(self) -> tuple[str, ...]:
        """The trials that no other beats in metric and the cost that decides, the cheapest first."""
        return self.reading.front

    @property
    def fronts(self) -> dict[str, tuple[str, ...]]:
        """The front of each cost, the one that decides first."""
        return {cost: reading.front for cost, reading in self.figures.readings.items()}

    @property
    def knee(self) -> Knee:
        """Where more cost stops paying."""
        return self.reading.knee

    @property
    def recommendation(self) -> Recommendation:
        """Which trial to take, and why."""
        return self.reading.recommendation

    @property
    def notes(self) -> tuple[str, ...]:
        """What else the trials show, a sentence each."""
        return tuple(note for note in self.figures.contents if isinstance(note, str))

    @cached_property
    def trials(self) -> pl.DataFrame:
        """A row a trial: trial, state, reason, run_id, its parameters, measurements, and the means of its metrics.

        Of what decides also low, high, the four counts, difference, its ends, and p_value; null where there is none.
        A parameter of the name of another column is called parameter.NAME; one with values of several types has texts.
        """
        import polars as pl

        means = {(entry.trial, entry.metric): entry for entry in self.means}
        rows = []
        for trial in self.study.trials:
            row: dict[str, Any] = {
                "trial": trial.name,
                "state": trial.state,
                "reason": trial.reason,
                "run_id": trial.run_id,
            }
            row |= {
                f"parameter.{name}" if name in row else name: _format_cell(trial.parameters.get(name))
                for name in self.study.parameter_values
            }
            row |= {entry.name: entry.value for entry in trial.measurements}
            trial_mean = means.get((trial.name, self.metric))
            row |= {} if trial_mean is None else _build_estimate_cells(trial_mean)
            row |= {name: entry.mean for name in self.names if (entry := means.get((trial.name, name))) is not None}
            rows.append(row)
        headers = list(dict.fromkeys(name for row in rows for name in row))
        full_rows = [{name: row.get(name) for name in headers} for row in rows]
        for name in headers:  # a parameter of several types, such as 5 and auto, is a column of texts
            kinds = {float if type(row[name]) is int else type(row[name]) for row in full_rows} - {type(None)}
            if len(kinds) > 1:
                for row in full_rows:
                    row[name] = None if row[name] is None else str(row[name])
        return pl.DataFrame(full_rows, infer_schema_length=None, strict=False)

    @cached_property
    def segments(self) -> pl.DataFrame:
        """What decides, by segment: segment, trial, mean, low, high, the four counts, difference and p_value."""
        from ragauge.rendering.sections import Col, build_frame

        numbers = (
            Col("mean", form="number"),
            Col("low", "interval.low", "number"),
            Col("high", "interval.high", "number"),
            *(Col(status, f"counts.{status}", "count") for status in STATUSES[:4]),
            Col("difference", form="number"),
            Col("low", "difference_interval.low", "number", key="difference_low"),
            Col("high", "difference_interval.high", "number", key="difference_high"),
            Col("p_value", form="number"),
        )
        return build_frame(self.figures.segment_means, Col("segment"), Col("trial"), *numbers)

    @property
    def _value(self) -> dict[str, Any]:
        """Study, trials, means by trial and segment, what is decided, what the kind tells."""
        from ragauge.studies.tables import build_study_charts

        figures = self.figures
        values: dict[str, Any] = {
            **to_json_value(self.study),
            "metric": figures.metric,
            "base": figures.base,
            "cost": figures.cost,
        }
        values["means"] = [to_json_value(item) for item in figures.means]
        values["segments"] = [to_json_value(item) for item in figures.segment_means]
        values["notes"] = list(self.notes)
        values["tables"] = [
            to_json_value(item) for item in figures.contents if not isinstance(item, str) and hasattr(item, "rows")
        ]
        values["charts"] = [to_json_value(item) for item in build_study_charts(figures)]
        if figures.complete and figures.metric:
            values["reading"] = to_json_value(self.reading)
            values["fronts"] = {cost: list(front) for cost, front in self.fronts.items()}
        return values

    def _build_sections(self) -> Iterator[ReportSection]:
        from ragauge.studies.tables import build_study_sections

        return build_study_sections(self.figures)

    def _build_page(self, *, framed: bool) -> str:
        from ragauge.studies.tables import render_study

        return render_study(self.figures, framed=framed)

    def _format_trials(self) -> str:
        from ragauge.rendering.plain_csv import format_csv

        return format_csv(self.trials)

    def to_markdown(self) -> str:
        """The reading, the trials, segments, and what the kind adds."""
        from ragauge.rendering.writers.markdown import render_markdown

        return render_markdown(self.study.name, self._build_sections())

    def __repr__(self) -> str:
        states = [trial.state for trial in self.study.trials]
        state_counts = ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(states))
        return f"<study {self.study.name!r}, {self.study.kind}: {state_counts or 'no trials'}, store {self.url}>"


def _format_cell(value: Any) -> Any:
    """A parameter as a cell; lists and mappings as JSON."""
    return value if value is None or isinstance(value, str | int | float) else json.dumps(value, ensure_ascii=False)


def _build_estimate_cells(mean: TrialMean) -> dict[str, Any]:
    """The ends of a mean, the four counts, and the difference, as cells."""
    bounds, gap = mean.interval, mean.difference_interval
    return {
        "low": bounds and bounds.low,
        "high": bounds and bounds.high,
        **mean.counts,
        "difference": mean.difference,
        "difference_low": gap and gap.low,
        "difference_high": gap and gap.high,
        "p_value": mean.p_value,
    }
