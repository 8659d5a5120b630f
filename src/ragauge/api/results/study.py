"""A study as its reader sees it: every trial, which may be best, what to take."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.api.results import files
from ragauge.data.canonical import plain
from ragauge.data.study import Study
from ragauge.errors import UnknownName, UsageError

if TYPE_CHECKING:
    import polars as pl
    from rich.console import RenderableType

    from ragauge.analysis.scores.arrays import ScoreColumns
    from ragauge.analysis.studies.front import Knee
    from ragauge.analysis.studies.reading import Recommendation, StudyReading, TrialMean

FORMS = (".md", ".html", ".json", ".csv")
# kind -> metrics that decide, the first that was scored, and the measurement that trials cost
DECIDES: Mapping[str, tuple[tuple[str, ...], str]] = {
    "chunking": (
        (*(f"token_recall:budget={n}{fill}" for n in (1024, 2048, 512, 4096) for fill in ("", ":fill=whole")),
         "token_recall@5"), "index_tokens",
    ),
}     # fmt: skip


class StudyResult:
    """The trials of a study and what they say together.

    Attributes:
        study: the trials with their parameters, states and measurements.
        url: the store.
        scores: trial -> its scores, of the complete ones.
        masks: column=value -> which examples are of this segment.
        metric: what trials are held to.
        base: the trial that others are held against; "" = none.
        target: what the metric has to reach; None = as much as can be had.
        logarithmic: whether the knee is looked for on the logarithm of the cost.
    """

    def __init__(
        self, study: Study, url: str, scores: Mapping[str, ScoreColumns], names: tuple[str, ...], *,
        masks: Mapping[str, Any] | None = None, metric: str = "", base: str = "", target: float | None = None,
        logarithmic: bool = False,
    ) -> None:     # fmt: skip
        from ragauge.metrics.catalogue import parse

        self.study, self.url, self.scores, self.masks = study, url, scores, masks or {}
        self.names, self.target, self.logarithmic = names, target, logarithmic
        wanted, self.cost = DECIDES.get(study.kind, (names[:1], ""))
        chosen = str(parse(metric)) if metric else next((one for one in (*wanted, *names) if one in names), "")
        if scores and chosen not in names:
            raise UnknownName("metric of this study", chosen, names)
        if base and base not in scores:
            raise UnknownName("complete trial", base, scores)
        self.metric, self.base = chosen, base

    @cached_property
    def means(self) -> tuple[TrialMean, ...]:
        """Every metric of every complete trial over all examples, with the difference to the base."""
        from ragauge.analysis.studies.reading import trial_means
        from ragauge.metrics.catalogue import parse

        if not self.scores:
            return ()
        return tuple(one for name in self.names for one in trial_means(self.scores, parse(name), base=self.base))

    @cached_property
    def reading(self) -> StudyReading:
        """What is decided by `metric` against the cost.

        Raises:
            UsageError: no trial is complete.
        """
        from ragauge.analysis.studies.reading import read_trials
        from ragauge.metrics.catalogue import parse

        if not self.scores:
            raise UsageError(f"no trial of {self.study.name} is complete.")
        costs = {one.name: one.measured(self.cost) or 0.0 for one in self.study.trials}
        return read_trials(
            self.scores, parse(self.metric), self.cost, costs, target=self.target, logarithmic=self.logarithmic
        )

    @property
    def best_set(self) -> tuple[str, ...]:
        """The trials that may be the best, the confidence being 95 %."""
        return self.reading.best_set

    @property
    def front(self) -> tuple[str, ...]:
        """The trials that no other beats in metric and cost, the cheapest first."""
        return self.reading.front

    @property
    def knee(self) -> Knee:
        """Where more cost stops paying."""
        return self.reading.knee

    @property
    def recommendation(self) -> Recommendation:
        """Which trial to take, and why."""
        return self.reading.recommendation

    @cached_property
    def trials(self) -> pl.DataFrame:
        """A row a trial: trial, state, reason, run_id, its parameters, measurements, and the means of its metrics."""
        import polars as pl

        means = {(one.trial, one.metric): one.mean for one in self.means}
        rows = []
        for trial in self.study.trials:
            row: dict[str, Any] = {
                "trial": trial.name, "state": trial.state, "reason": trial.reason, "run_id": trial.run_id,
            }     # fmt: skip
            row |= {name: trial.parameters.get(name) for name in self.study.space}
            row |= {one.name: one.value for one in trial.measurements}
            row |= {name: means.get((trial.name, name)) for name in self.names}
            rows.append(row)
        return pl.DataFrame(rows, infer_schema_length=None, strict=False)

    @cached_property
    def segments(self) -> pl.DataFrame:
        """The metric that decides by segment: segment, trial, mean, low, high, scored, difference, p_value."""
        import polars as pl

        from ragauge.analysis.studies.reading import ALL, trial_means
        from ragauge.metrics.catalogue import parse

        kinds = {"segment": pl.String, "trial": pl.String, "mean": pl.Float64, "low": pl.Float64, "high": pl.Float64,
                 "scored": pl.Int64, "difference": pl.Float64, "p_value": pl.Float64}     # fmt: skip
        found = []
        if self.scores and self.masks:
            found = trial_means(self.scores, parse(self.metric), base=self.base, segments=self.masks)
        rows = [
            (one.segment, one.trial, one.mean, one.interval and one.interval.low, one.interval and one.interval.high,
             one.counts["scored"], one.difference, one.p_value)
            for one in found if one.segment != ALL
        ]     # fmt: skip
        return pl.DataFrame(rows, schema=kinds, orient="row")

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What else the trials show, a sentence each."""
        from ragauge.analysis.studies.chunking import chunking_notes

        return chunking_notes(self.study, self.scores, self.metric) if self.study.kind == "chunking" else ()

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON types."""
        found: dict[str, Any] = {**plain(self.study), "metric": self.metric, "base": self.base}
        found["means"] = [plain(one) for one in self.means]
        found["notes"] = list(self.notes)
        if self.scores:
            found["reading"] = plain(self.reading)
        return found

    def to_json(self) -> str:
        """As text, indented."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2) + "\n"

    def to_markdown(self) -> str:
        """The reading and a table of trials."""
        from ragauge.reporting.studies import study_sections
        from ragauge.reporting.writers.markdown import markdown

        return markdown(self.study.name, study_sections(self))

    def to_html(self) -> str:
        """The same as one page without scripts."""
        from ragauge.reporting.studies import study_html

        return study_html(self)

    def to_terminal(self) -> RenderableType:
        """The same for a terminal."""
        from ragauge.reporting.studies import study_sections
        from ragauge.reporting.writers.terminal import terminal

        return terminal(study_sections(self))

    def save(self, path: str | Path) -> Path:
        """Writes what the ending says: .md, .html, .json, or the table of trials as .csv.

        Raises:
            UsageError: another ending, or a path that cannot be written.
        """
        path = Path(path)
        files.check(path, FORMS)
        match path.suffix.lower():
            case ".csv":
                files.write_text(path, self.trials.write_csv())
            case ".json":
                files.write_text(path, self.to_json())
            case ".md":
                files.write_text(path, self.to_markdown())
            case _:
                files.write_text(path, self.to_html())
        return path

    def _repr_html_(self) -> str:
        return self.to_html()

    def __repr__(self) -> str:
        states = [trial.state for trial in self.study.trials]
        told = ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(states))
        return f"<study {self.study.name!r}, {self.study.kind}: {told or 'no trials'}, store {self.url}>"
