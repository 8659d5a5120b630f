"""A stored run: its scorecard, its examples, and what can be written of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import UsageError
from ragauge.core.identity import to_json_value
from ragauge.core.response import Run
from ragauge.verbs.arguments import validate_path, validate_text
from ragauge.verbs.option_specs import expand_options
from ragauge.verbs.options import RunsOptions
from ragauge.verbs.sources import find_run, parse_names, resolve_store_url

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ragauge.diagnosis.examples.example_views import ExamplePageOptions, ExamplePosition, ExampleRow, ListedExamples
    from ragauge.evaluation.runs.run_rows import RunPaces, RunProgress, RunRow
    from ragauge.evaluation.scorecard.result import Scorecard
    from ragauge.scores.judge_usage import RunCost
    from ragauge.scores.results.explanation import ExampleExplained, RunExplained
    from ragauge.scores.results.overview import Gaps
    from ragauge.scores.results.scorecard import ExampleView
    from ragauge.store.question_runs import QuestionInRun
    from ragauge.store.store_access import Store
    from ragauge.verbs.example_views import JudgeReply


class OpenRun:
    """A run in the store. Nothing is held open between calls."""

    run: Run  #: what is known about it.
    url: str  #: the store.

    def __init__(self, run: Run, url: str) -> None:
        self.run = run
        self.url = url

    @contextmanager
    def _open_store(self) -> Iterator[Store]:
        from ragauge.store.store_access import open_store

        with open_store(self.url) as store:
            yield store

    def row(self) -> RunRow:
        """The run as lists show it, as it is now."""
        from ragauge.evaluation.runs.run_rows import build_run_row

        with self._open_store() as store:
            return build_run_row(store, store.runs.find(self.run.run_id))

    def progress(self, paces: RunPaces) -> RunProgress:
        """How far it is now, with the time left by the pace at which it was seen to move, and its means so far."""
        from ragauge.evaluation.runs.run_rows import build_run_progress

        with self._open_store() as store:
            return build_run_progress(store, store.runs.find(self.run.run_id), paces)

    def judges(self) -> list[str]:
        """Who judged it, the last one first."""
        with self._open_store() as store:
            return [judge for judge in store.scores.judges(self.run.run_id) if judge]

    def scorecard(self, judge: str | None = None, *, baseline: Any = None) -> Scorecard:
        """The scorecard of what is stored; nothing is judged.

        Args:
            judge: whose verdicts, by id or its beginning; None = the last judge's.
            baseline: a stored run to hold this one against: its id, its name, or what `open_run` gives.

        Raises:
            UsageError: the run has not been evaluated, or not by this judge; or the baseline was judged otherwise.
        """
        from ragauge.comparison.baselines.baseline import find_baseline_run
        from ragauge.evaluation.scorecard.cards import load_card

        with self._open_store() as store:
            return load_card(store, self.run, judge, find_baseline_run(baseline, store))

    def cost(self) -> RunCost:
        """What judging it has cost: calls, tokens and US dollars by judge, model, question, metric and example."""
        from ragauge.evaluation.runs.costs import compute_run_cost

        with self._open_store() as store:
            return compute_run_cost(store, self.run)

    def example(self, query_id: str, repeat: int = 0, *, judge: str | None = None) -> ExampleView:
        """One example with its response, evidence, scores and cause.

        Args:
            query_id: of the example.
            repeat: which of the system's answers.
            judge: whose verdicts; None = the last judge's.

        Raises:
            UnknownName: no such example or judge; the nearest ids are in the text.
        """
        from ragauge.verbs.example_views import load_example_view

        query_id = validate_text(query_id, "the query_id", "q1")
        with self._open_store() as store:
            return load_example_view(store, self.run.run_id, query_id, repeat, self._resolve_judge(store, judge))

    def examples(
        self,
        limit: int | None = 50,
        after: object = None,
        sort: str = "",
        filter: Mapping[str, str] | None = None,
        metrics: str | Sequence[object] = (),
        judge: str | None = None,
    ) -> list[ExampleRow]:
        """The examples of the run, a page at a time, a row a response.

        Args:
            limit: most rows, at least 1; None = all.
            after: the row that the page before ended with, its (query_id, repeat), or its query_id; None = from the
                start.
            sort: "" = as in the eval set; a metric that was scored, the worst first (of one without a better direction
                the largest first); quality, the lowest first; or cause, the most frequent first. Rows without a value
                come last, equal ones as in the eval set.
            filter: a segment, tag, cause or status (failed, unclear, passed, not_judged) -> its value; q -> words of
                question or answer; metric.NAME.lt, .lte, .gt or .gte -> what its score is held to; status.NAME ->
                status of its score. All must match. segment.NAME names a segment that is called as another filter is.
            metrics: names and presets to show; () = all that were scored.
            judge: whose verdicts; None = the last judge's.

        Raises:
            UnknownName: no such order, filter, value, scored metric or judge, or no such example in `after`; the
                nearest names are in the text.
            UsageError: a limit below 1, or no metric of a preset was scored.
        """
        from ragauge.diagnosis.examples.example_views import ExamplePageOptions, list_examples

        options = ExamplePageOptions(limit=limit, after=after, sort=sort, filter=filter, metrics=metrics)
        with self._open_store() as store:
            return list_examples(store, self.run, self._resolve_judge(store, judge), options)

    def listed(self, options: ExamplePageOptions, judge: str | None = None) -> ListedExamples:
        """A page of `examples` with how many there are, and what they can be filtered and sorted by.

        Raises:
            UnknownName: as `examples` does.
        """
        from ragauge.diagnosis.examples.example_views import build_example_list

        with self._open_store() as store:
            return build_example_list(store, self.run, self._resolve_judge(store, judge), options)

    def place(
        self, query_id: str, repeat: int, options: ExamplePageOptions, judge: str | None = None
    ) -> ExamplePosition | None:
        """Where an example stands in a list, and what stands beside it; None where the list does not hold it.

        Raises:
            UnknownName: as `examples` does.
        """
        from ragauge.diagnosis.examples.example_views import find_place

        with self._open_store() as store:
            return find_place(store, self.run, self._resolve_judge(store, judge), (query_id, repeat), options)

    def _resolve_judge(self, store: Store, judge: str | None) -> str | None:
        """Whose verdicts; None where nobody judged and none was asked for."""
        from ragauge.evaluation.scorecard.cards import resolve_scored_judge

        return (
            resolve_scored_judge(store, self.run, judge)
            if judge is not None or store.scores.judges(self.run.run_id)
            else None
        )

    def replies(self, view: ExampleView) -> tuple[JudgeReply, ...]:
        """What models replied for one example, as `example` gives it; () where no model was asked."""
        from ragauge.verbs.example_views import load_replies

        with self._open_store() as store:
            return load_replies(store, view)

    def explain_view(self, view: ExampleView) -> ExampleExplained:
        """How the numbers of one example came about, as `example` gives it."""
        from ragauge.diagnosis.explain.verb import explain_view

        with self._open_store() as store:
            return explain_view(store, self.run, view)

    def question_in_runs(
        self, query_id: str, metrics: str | Sequence[object] = (), *, limit: int | None = 50, after: str = ""
    ) -> list[QuestionInRun]:
        """A question of this run in all runs that asked the same, the newest run first: a row an answer.

        The same is what has the same query_id and the same text. Trials of studies are left out.

        Args:
            query_id: of the question.
            metrics: names and presets to show; () = all that were scored.
            limit: most rows, at least 1, but all answers of a run together; None = all.
            after: the run_id that the page before ended with; "" = from the start.

        Raises:
            UnknownName: no such question or metric, or no run of the id in `after`; the nearest are in the text.
            UsageError: a limit below 1.
        """
        from ragauge.metrics.catalogue import select_metrics

        if limit is not None and limit < 1:
            raise UsageError(f"question_in_runs: limit must be at least 1, got {limit}. None lists all.")
        names = [str(metric) for metric in select_metrics(requested)] if (requested := parse_names(metrics)) else []
        query_id = validate_text(query_id, "the query_id", "q1")
        with self._open_store() as store:
            return store.question_runs.read(self.run.run_id, query_id, names, limit=limit, after=after)

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
        from ragauge.comparison.baselines.baseline import find_baseline_run
        from ragauge.diagnosis.explain.verb import explain_run

        with self._open_store() as store:
            return explain_run(store, self.run, parse_names(metrics), judge, find_baseline_run(baseline, store))

    def explain_example(
        self, query_id: str, metrics: str | Sequence[object] = (), *, repeat: int = 0, judge: str | None = None
    ) -> ExampleExplained:
        """How the numbers of one example came about: its facts, every formula with its values, its cause.

        Raises:
            UnknownName: no such example, metric or judge.
        """
        from ragauge.diagnosis.explain.verb import explain_example

        with self._open_store() as store:
            query_id = validate_text(query_id, "the query_id", "q1")
            return explain_example(store, self.run, query_id, parse_names(metrics), repeat, judge)

    def gaps(self, metrics: str | Sequence[object] = (), *, judge: str | None = None) -> Gaps:
        """What is lost to retrieval and to generation, and what the model knew by itself.

        Args:
            metrics: names and presets; () = all that speak of the answer.
            judge: whose verdicts; None = the last judge's.

        Raises:
            UsageError: the run has not been evaluated, or there is no evaluated run of the same system and set on the
                labelled passages or without passages; the commands that make them are in the text.
        """
        from ragauge.comparison.gaps.gap_queries import compute_gaps
        from ragauge.evaluation.scorecard.cards import resolve_scored_judge

        with self._open_store() as store:
            return compute_gaps(store, self.run, resolve_scored_judge(store, self.run, judge), parse_names(metrics))

    def export(self, path: str | Path, content: str = "") -> int:
        """Writes responses, or scores; with no content given scores where the name says so, or is .csv or .parquet.

        Returns:
            How many lines were written.

        Raises:
            UsageError: another ending, or a path that cannot be written.
        """
        from ragauge.evaluation.export import exports

        with self._open_store() as store:
            return exports.export_run(store, self.run, validate_path(path, "scores.csv"), content)

    def delete(self) -> dict[str, int]:
        """Removes the run and what no other run uses, replies too; returns what went, and how many replies stay."""
        with self._open_store() as store:
            return store.runs.delete(self.run.run_id, replies=True)

    def to_dict(self) -> dict[str, Any]:
        """The run as JSON types, with the names of its judges."""
        fields: dict[str, Any] = {"run_id": self.run.run_id, "name": self.run.name, **to_json_value(self.run)}
        with self._open_store() as store:
            fields["responses"] = store.runs.count_responses(self.run.run_id)
            fields["without_response"] = store.runs.count_absent(self.run.run_id)
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
    from ragauge.store.store_access import open_store

    which = validate_text(which, "the run", "latest")
    url = resolve_store_url(store)
    with open_store(url) as opened_store:
        return OpenRun(find_run(which, opened_store), opened_store.url)


def find_oldest_run(names: Sequence[str], *, store: str | None = None) -> OpenRun:
    """The stored run among some that was kept first.

    Args:
        names: ids or names, at least one.
        store: URL of the store.

    Raises:
        UnknownName: no such run; the nearest names are in the text.
    """
    from ragauge.store.store_access import open_store

    url = resolve_store_url(store)
    with open_store(url) as opened_store:
        runs_by_id = {run.run_id: run for run in (find_run(name, opened_store) for name in names)}
        return OpenRun(runs_by_id[opened_store.run_list.find_oldest([*runs_by_id])], opened_store.url)


@expand_options(RunsOptions)
def runs(options: RunsOptions) -> list[RunRow]:
    """The stored runs, a page at a time, each with its last means, state, tags and what it has cost.

    Options:
        study: only the trials of this study, which are not listed otherwise.
        limit: most runs, at least 1; None = all.
        after: the run_id that the page before ended with; "" = from the start.
        sort: newest, oldest, name, or a metric: the lowest mean first, -METRIC the highest; runs without a mean come
            last, the newest first.
        filter: set, version (of the set), system, name, kind, variant, tag or state (in flight, stopped, finished,
            failed) -> its value; metric.NAME.lt and metric.NAME.gt -> what the mean is below or above. All must match.
        store: URL of the store.

    Raises:
        UnknownName: no such study, order, filter or metric, no run has the value, or the id in `after`.
        UsageError: a limit below 1, or a bound that is no number.
    """
    from ragauge.evaluation.runs.run_rows import list_run_rows
    from ragauge.store.store_access import open_store

    with open_store(resolve_store_url(options.store)) as opened_store:
        return list_run_rows(opened_store, options)
