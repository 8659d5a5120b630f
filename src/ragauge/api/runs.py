"""A stored run: its scorecard, its examples, and what can be written of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.api.inputs.arguments import path_of, text_of
from ragauge.api.inputs.sources import named, run_of, store_url
from ragauge.api.inputs.typed import keywords
from ragauge.api.queries.options import RunsOptions
from ragauge.data.identity import plain
from ragauge.data.response import Run
from ragauge.errors import UsageError

if TYPE_CHECKING:
    import polars as pl
    from rich.console import RenderableType

    from ragauge.analysis.judges.use import RunCost
    from ragauge.analysis.results.explanation import ExampleExplained, RunExplained
    from ragauge.analysis.results.gap_rows import Gaps
    from ragauge.analysis.results.scorecard import ExampleView
    from ragauge.api.queries.examples import ExampleRow
    from ragauge.api.results.scorecard import Scorecard
    from ragauge.data.study import Study
    from ragauge.store.open import Store

TRIAL_MEANS = 6     # of a study's trials that are listed


class OpenRun:
    """A run in the store. Nothing is held open between calls.

    Attributes:
        run: what is known about it.
        url: the store.
    """

    def __init__(self, run: Run, url: str) -> None:
        self.run = run
        self.url = url

    @contextmanager
    def _store(self) -> Iterator[Store]:
        from ragauge.store.open import open_store

        with open_store(self.url) as store:
            yield store

    def judges(self) -> list[str]:
        """Who judged it, the last one first."""
        with self._store() as store:
            return [judge for judge in store.scores.judges(self.run.run_id) if judge]

    def scorecard(self, judge: str | None = None, *, baseline: Any = None) -> Scorecard:
        """The scorecard of what is stored; nothing is judged.

        Args:
            judge: whose verdicts, by id or its beginning; None = the last judge's.
            baseline: a stored run to hold this one against: its id, its name, or what `open_run` gives.

        Raises:
            UsageError: the run has not been evaluated, or not by this judge; or the baseline was judged otherwise.
        """
        from ragauge.api.baseline import baseline_run
        from ragauge.api.cards import stored_card

        with self._store() as store:
            return stored_card(store, self.run, judge, baseline_run(baseline, store))

    def cost(self) -> RunCost:
        """What judging it has cost: calls, tokens and US dollars by judge, model, question, metric and example."""
        from ragauge.api.queries.costs import run_cost

        with self._store() as store:
            return run_cost(store, self.run)

    def example(self, query_id: str, repeat: int = 0) -> ExampleView:
        """One example with its response, evidence, scores and cause, by the last judge.

        Raises:
            UnknownName: no such example; the nearest ids are in the text.
        """
        from ragauge.api.queries.shown import view_of

        judges, query_id = self.judges(), text_of(query_id, "the query_id", "q1")
        with self._store() as store:
            return view_of(store, self.run.run_id, query_id, repeat, judges[0] if judges else None)

    def examples(
        self, limit: int | None = 50, after: object = None, sort: str = "", filter: Mapping[str, str] | None = None,
        metrics: str | Sequence[object] = (), judge: str | None = None,
    ) -> list[ExampleRow]:     # fmt: skip
        """The examples of the run, a page at a time, a row a response.

        Args:
            limit: most rows, at least 1; None = all.
            after: the row that the page before ended with, its (query_id, repeat), or its query_id; None = from the
                start.
            sort: "" = as in the eval set; a metric that was scored, the worst first (of one without a better direction
                the largest first); quality, the lowest first; or cause, the most frequent first. Rows without a value
                come last, equal ones as in the eval set.
            filter: a segment, tag, cause or status (failed, passed, unknown) -> its value; all must match. A segment
                that is itself called cause or status cannot be filtered by.
            metrics: names and presets to show; () = all that were scored.
            judge: whose verdicts; None = the last judge's.

        Raises:
            UnknownName: no such order, filter, value, scored metric or judge, or no such example in `after`; the
                nearest names are in the text.
            UsageError: a limit below 1, or no metric of a preset was scored.
        """
        from ragauge.api.cards import judged
        from ragauge.api.queries.examples import ExamplePage, examples_of

        wanted = ExamplePage(limit=limit, after=after, sort=sort, filter=filter, metrics=metrics)
        with self._store() as store:
            scored = judge is not None or store.scores.judges(self.run.run_id)
            judge_id = judged(store, self.run, judge) if scored else None
            return examples_of(store, self.run, judge_id, wanted)

    def explain(
        self, metrics: str | Sequence[object] = (), *, judge: str | None = None, baseline: Any = None
    ) -> RunExplained:
        """How the run's numbers came about: every mean with its sum and interval, every finding with its arithmetic.

        Args:
            metrics: names and presets; () = all that were scored.
            judge: whose verdicts; None = the last judge's.
            baseline: a stored run to hold this one against.

        Raises:
            UsageError: the run has not been evaluated, or the baseline otherwise.
        """
        from ragauge.api.baseline import baseline_run
        from ragauge.api.explain import explain_run

        with self._store() as store:
            return explain_run(store, self.run, named(metrics), judge, baseline_run(baseline, store))

    def explain_example(
        self, query_id: str, metrics: str | Sequence[object] = (), *, repeat: int = 0, judge: str | None = None
    ) -> ExampleExplained:
        """How the numbers of one example came about: its facts, every formula with its values, its cause.

        Raises:
            UnknownName: no such example, metric or judge.
        """
        from ragauge.api.explain import explain_example

        with self._store() as store:
            query_id = text_of(query_id, "the query_id", "q1")
            return explain_example(store, self.run, query_id, named(metrics), repeat, judge)

    def gaps(self, metrics: str | Sequence[object] = (), *, judge: str | None = None) -> Gaps:
        """What is lost to retrieval and to generation, and what the model knew by itself.

        Args:
            metrics: names and presets; () = all that speak of the answer.
            judge: whose verdicts; None = the last judge's.

        Raises:
            UsageError: the run has not been evaluated, or there is no evaluated run of the same system and set on the
                labelled passages or without passages; the commands that make them are in the text.
        """
        from ragauge.api.cards import judged
        from ragauge.api.queries.gaps import gaps_of_run

        with self._store() as store:
            return gaps_of_run(store, self.run, judged(store, self.run, judge), named(metrics))

    def export(self, path: str | Path) -> int:
        """Writes what the name says: scores.jsonl, .csv or .parquet the scores; another .jsonl the responses.

        Returns:
            How many lines were written.

        Raises:
            UsageError: another ending, or a path that cannot be written.
        """
        from ragauge.api.results import exports

        with self._store() as store:
            return exports.export(store, self.run, path_of(path, "scores.csv"))

    def delete(self) -> None:
        """Removes the run and what no other run uses."""
        with self._store() as store:
            store.runs.delete(self.run.run_id)

    def to_dict(self) -> dict[str, Any]:
        """The run as JSON types, with the names of its judges."""
        fields: dict[str, Any] = {"run_id": self.run.run_id, "name": self.run.name, **plain(self.run)}
        with self._store() as store:
            fields["responses"] = store.runs.size(self.run.run_id)
            fields["without_response"] = store.runs.absent(self.run.run_id)
        return fields | {"judges": self.judges()}

    def to_terminal(self) -> RenderableType:
        """What `ragauge show RUN` prints: the scorecard where there is one, else the facts of the run."""
        from rich.text import Text

        try:
            return self.scorecard().to_terminal()
        except UsageError as error:
            facts = "\n".join(f"{key:<16} {value}" for key, value in self.to_dict().items())
            return Text(f"{facts}\n\n{error}")

    def __repr__(self) -> str:
        return f"<run {self.run.name!r} {self.run.run_id}: {self.run.done} responses, store {self.url}>"


def open_run(which: str = "latest", *, store: str | None = None) -> OpenRun:
    """A stored run by id, name or "latest".

    Raises:
        UnknownName: no such run; the nearest names are in the text.
    """
    from ragauge.store.open import open_store

    which = text_of(which, "the run", "latest")
    url = store_url(store)
    with open_store(url) as opened:
        return OpenRun(run_of(which, opened), opened.url)


@keywords(RunsOptions)
def runs(wanted: RunsOptions) -> list[dict[str, Any]]:
    """The stored runs, newest first, each with its last means.

    Options:
        study: only the trials of this study, which are not listed otherwise.
        limit: most runs, at least 1; None = all.
        after: the run_id that the page before ended with; "" = from the start.
        sort: newest, oldest or name.
        filter: set, system, name, kind, variant or state -> its value.
        store: URL of the store.

    Raises:
        UnknownName: no such study, order or filter, or no run of the id in `after`.
        UsageError: a limit below 1.
    """
    from ragauge.store.open import open_store

    rows = []
    with open_store(store_url(wanted.store)) as opened:
        study = opened.studies.read(wanted.study) if wanted.study else None
        judged = [str(study.fixed["judge"])] if study is not None and study.fixed.get("judge") else []
        for run in opened.runs.list(
            wanted.limit, study=wanted.study or None, after=wanted.after, sort=wanted.sort, filter=wanted.filter
        ):
            judges = [judge for judge in opened.scores.judges(run.run_id) if judge] or judged
            judge = judges[0] if judges else None
            summaries = opened.summaries.read(run.run_id, judge) or opened.summaries.read(run.run_id, None)
            means = {summary.metric: summary.mean for summary in summaries}
            if study is not None:     # its trials are scored without a scorecard
                means = _means(study, opened.scores.frame(run.run_id, judge)) | means
            rows.append({
                "run_id": run.run_id, "name": run.name, "created_at": run.created_at, "set": run.set_name,
                "system": run.system, "responses": opened.runs.size(run.run_id), "judges": judges,
                "means": means,
            })  # fmt: skip
    return rows


def _means(study: Study, scores: pl.DataFrame) -> dict[str, float | None]:
    """Metric -> mean of what is scored, None where nothing is; what the study's trials are held to comes first."""
    from fnmatch import fnmatchcase

    import polars as pl

    from ragauge.analysis.studies.kinds import kind_of

    means = scores.group_by("metric", maintain_order=True).agg(pl.col("value").drop_nans().mean())
    by_metric = dict(means.iter_rows())
    patterns = (str(study.fixed.get("objective", "")), *kind_of(study.kind).decides)
    first = [name for pattern in patterns for name in by_metric if fnmatchcase(name, pattern)]
    return {name: by_metric[name] for name in dict.fromkeys([*first, *by_metric])}


def runs_table(rows: list[dict[str, Any]], *, study: str = "", studies: Sequence[str] = ()) -> RenderableType:
    """The list for a terminal: name, id, age and a few means.

    Args:
        rows: as `runs` gives them.
        study: whose trials they are, "" for other runs: of trials the means are shown that all of them have first.
        studies: stored studies, to be named where there is no run.
    """
    from ragauge.reporting.sections import ReportSection, ReportTable, columns
    from ragauge.reporting.words import safe
    from ragauge.reporting.writers.terminal import terminal
    from ragauge.text.messages import number

    if not rows:
        told = "No runs yet. Start with: ragauge evaluate FILE, or ragauge demo."
        if study:
            told = f"The study {study} has no trial with a run."
        elif studies:
            told = f"No runs but the trials of studies. List them with: ragauge runs --study {studies[0]}"
        return terminal([ReportSection(lead=(safe(told),))])
    shown = ("recall@5", "context_recall", "faithfulness", "answer_correctness")
    if study:
        held = [name for name, mean in rows[0]["means"].items() if mean is not None]
        shown = tuple(name for name in held if all(name in row["means"] for row in rows))[:TRIAL_MEANS]
    listed = []
    for row in rows:
        means = (number(row["means"].get(metric)) for metric in shown)
        when = row["created_at"][:16].replace("T", " ")
        listed.append((safe(row["name"]), row["run_id"], when, f"{row['responses']:,}", *means))
    name, *heads = columns("name", "run", "created", numbers=("responses", *shown))
    last = len(heads)
    heads = [replace(head, room=n if n > last - len(shown) else 0) for n, head in enumerate(heads)] if study else heads
    return terminal([ReportSection(table=ReportTable((replace(name, fold=True), *heads), tuple(listed)))])
