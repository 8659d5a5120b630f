"""Run: ask a system the questions of a set, and keep what it returned."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.comparison.baselines.baseline import find_baseline_run
from ragauge.core.errors import SystemFailed, UnknownName, UsageError
from ragauge.core.json_keys import Key, json_keys
from ragauge.core.messages import format_count
from ragauge.core.response import Run
from ragauge.engine.waiting import wait_for_turn
from ragauge.evaluation.runs.costs import count_responses
from ragauge.evaluation.runs.verb import OpenRun
from ragauge.verbs.coroutines import make_sync
from ragauge.verbs.evaluate_options import RunOptions
from ragauge.verbs.option_specs import expand_options
from ragauge.verbs.sources import parse_names, resolve_store_url

if TYPE_CHECKING:
    from ragauge.core.example import EvalSet, Example
    from ragauge.engine.collect import CollectionResult
    from ragauge.engine.system_caller import SystemRequest
    from ragauge.engine.systems import System
    from ragauge.evaluation.overview.run_counts import RunCounts
    from ragauge.store.store_access import Store


@json_keys(
    "run counts asked tried_again spent seconds",
    run=Key(at="run_id name system config variant set_name set_version state planned"),
    counts=Key(spread=True),
    tried_again="again",
    spent=Key("counts", view="spent", spread=True),
)
class SystemRun(OpenRun):
    """A run that a system was asked for: what `open_run` gives, and what became of its questions.

    Attributes:
        asked: questions asked now; the others were there.
        again: what went wrong now and was tried again: kind -> how often.
        continued: it goes on with a run that was there.
    """

    counts: RunCounts  #: answered, empty, failed by kind, latency, tokens and cost, over the whole run.

    def __init__(self, run: Run, url: str, counts: RunCounts, collected: CollectionResult, *, continued: bool) -> None:
        super().__init__(run, url)
        self.counts = counts
        self.asked, self.again = collected.n_asked, collected.again
        self.seconds, self.continued = round(collected.seconds, 2), continued

    def __repr__(self) -> str:
        return f"<run {self.run.name!r} {self.run.run_id}: {', '.join(self.counts.words())}, store {self.url}>"


@dataclass(frozen=True)
class RunJob:
    """A run that is begun, and what is left to ask."""

    system: System  #: what is asked.
    run: Run  #: as it is stored.
    askings: tuple[SystemRequest, ...]  #: what is left, in order.
    continued: bool  #: the run was there before.


async def run_system(options: RunOptions) -> SystemRun:
    """Asks what is not answered yet, and returns the run.

    Raises:
        UsageError: the system or the set cannot be had, or not in this variant; said before the first question.
        SystemFailed: the system is not there, or does not let us in.
    """
    from ragauge.store.store_access import open_store
    from ragauge.verbs.sources import match_run_documents

    with open_store(resolve_store_url(options.store)) as opened_store:
        job = await begin_run(options, opened_store)
        try:
            async with wait_for_turn(opened_store, job.run, "asked", options.warn or _ignore_warning) as waited:
                if waited:
                    job = replace(job, askings=_list_remaining(job.askings, job.run, options, opened_store))
                    opened_store.collecting.mark_state(job.run.run_id, "running", planned=job.run.planned)
                collected = await _collect_responses(job, options, opened_store)
        finally:
            await job.system.close()
        match_run_documents(opened_store, job.run.run_id, options.warn or _ignore_warning)
        run = opened_store.runs.find(job.run.run_id)
        return SystemRun(
            run, opened_store.url, count_responses(opened_store, run.run_id), collected, continued=job.continued
        )


async def _collect_responses(job: RunJob, options: RunOptions, store: Store) -> CollectionResult:
    """Asks what is left of a run, and says in the store how that ended."""
    from ragauge.engine.collect import Pace, RunToFill, collect_responses

    run_id, state = job.run.run_id, store.collecting
    target = RunToFill(store, run_id, total=job.run.planned, again=options.retry_failed)
    pace = Pace.of(options.concurrency, options.timeout)
    try:
        collected = await collect_responses(job.system, job.askings, target, pace, progress=options.progress)
    except BaseException as end:
        if isinstance(end, SystemFailed) and not job.continued and not state.list_response_keys(run_id):
            store.runs.delete(run_id)  # there was nothing to keep
        else:
            state.mark_state(run_id, "interrupted")
        raise
    state.finish_run(run_id)
    return collected


async def begin_run(options: RunOptions, store: Store) -> RunJob:
    """The run, begun or found, and what it lacks. Everything that can be wrong with a system's name is said here."""
    from ragauge.engine.collect import order_queries
    from ragauge.engine.system_caller import SystemRequest
    from ragauge.engine.systems import build_system, find_variant_passages, select_set_columns

    warn = options.warn or _ignore_warning
    columns = select_set_columns(options.system, options.columns or {})
    eval_set = load_set(options.set, store, options.warn, columns, parse_names(options.segments))
    selected = _select_examples(eval_set, options.filter or {})
    context = find_baseline_run(options.context_from, store)
    system = build_system(options.system, options.settings, eval_set, options.columns or {})
    system.check_variant(options.of)
    subset, other = replace(eval_set, examples=selected), context.run_id if context is not None else ""
    passages, skip_note = find_variant_passages(options.of, subset, store, corpus=options.corpus, run_id=other)
    if skip_note:
        warn(skip_note)
    by_id = {example.query_id: example for example in selected if passages is None or example.query_id in passages}
    order = order_queries(list(by_id), eval_set.version)[: options.limit]
    run, continued = _resolve_run(options, store, system, eval_set, context, planned=len(order) * options.repeat)
    askings = tuple(
        SystemRequest(by_id[query_id], repeat, None if passages is None else passages[query_id])
        for repeat in range(options.repeat)
        for query_id in order
    )
    if continued:
        askings, n_stored = (
            _list_remaining(askings, run, options, store),
            len(store.collecting.list_response_keys(run.run_id)),
        )
        begun_at = run.created_at[:16].replace("T", " ")
        stored_text = format_count(n_stored, "response is", "responses are")
        warn(
            f"resuming run {run.name} ({run.run_id}, started {begun_at}): {stored_text} stored. --fresh starts "
            "a new run."
        )
    return RunJob(system, run, askings, continued)


def _list_remaining(
    askings: Sequence[SystemRequest], run: Run, options: RunOptions, store: Store
) -> tuple[SystemRequest, ...]:
    """Of some questions those without a response in the run, and those that failed where these are asked again."""
    answered = store.collecting.list_response_keys(run.run_id)
    if options.retry_failed:
        answered -= set(store.collecting.failed(run.run_id))
    return tuple(asking for asking in askings if (asking.example.query_id, asking.repeat) not in answered)


def _resolve_run(
    options: RunOptions, store: Store, system: System, eval_set: EvalSet, context: Run | None, planned: int
) -> tuple[Run, bool]:
    """The run to go on with, or a new one; and whether it was there."""
    from ragauge.verbs import git

    run = Run(
        "",
        options.name or _derive_name(options, system),
        set_name=eval_set.name,
        set_version=eval_set.version,
        system=system.name,
        config=_build_config(options, system, context),
        variant=options.of,
        git=git.find_commit(),
        planned=planned,
    )
    unfinished = None if options.fresh else store.collecting.newest(run, unfinished=not options.retry_failed)
    if unfinished is None:
        if options.retry_failed:
            raise UsageError(f"there is no run of {system.name} on {eval_set.name} to retry. Remove --retry-failed.")
        return store.collecting.begin_run(run, eval_set), False
    store.collecting.mark_state(unfinished.run_id, "running", planned=planned)
    return replace(unfinished, planned=planned, state="running"), True


def _build_config(options: RunOptions, system: System, context: Run | None) -> dict[str, Any]:
    """The settings for the record: all that tells one run from another, so that the same ones go on."""
    repeat = options.repeat if options.repeat > 1 else None
    selection = {"limit": options.limit, "filter": dict(options.filter or {}), "repeat": repeat}
    given_selection = {name: value for name, value in selection.items() if value}
    return {
        **system.config,
        **({"selection": given_selection} if given_selection else {}),
        **({"context_from": context.run_id} if context is not None else {}),
    }


def _derive_name(options: RunOptions, system: System) -> str:
    """The system's name, a file's without its ending, and the variant."""
    recorded = isinstance(options.system, str | Path) and Path(options.system).is_file()
    name = Path(system.name).stem if recorded else system.name
    return name if options.of == "own" else f"{name}-{options.of}"


def load_set(
    source: Any,
    store: Store,
    warn: Callable[[str], None] | None = None,
    columns: Mapping[str, str] | None = None,
    segments: Sequence[str] = (),
) -> EvalSet:
    """The questions: an EvalSet, what `read_set` reads, or a stored set by name.

    Args:
        source: where they are.
        store: where a set may be.
        warn: receives what is worth knowing about a file; None = a Python warning.
        columns: our field -> the source's column.
        segments: columns of the source to report by.

    Raises:
        UsageError: no question at all, or columns of a set that has none.
        DataError: what cannot be read.
    """
    from ragauge.core.example import EvalSet
    from ragauge.readers.options import warn_user
    from ragauge.readers.source import read_set

    eval_set: EvalSet | None = source if isinstance(source, EvalSet) else None
    if isinstance(source, str) and not Path(source).exists() and not Path(source).suffix:
        eval_set = store.sets.get(source)
    if eval_set is not None and (columns or segments):
        problem = f"{eval_set.name} is a stored set: its columns are chosen when its file is read"
        raise UsageError(f"{problem}. Give the file, or remove --map and --segments.")
    eval_set = eval_set or read_set(source, columns=columns, segments=segments, warn=warn or warn_user)
    if not eval_set.examples:
        raise UsageError(f"the set {eval_set.name} has no questions.")
    return eval_set


def _select_examples(eval_set: EvalSet, keep: Mapping[str, str]) -> tuple[Example, ...]:
    """The examples that match every column; a column or value that no example has is an error."""
    for column, value in keep.items():
        valid_values = {value for example in eval_set.examples for value in _list_values(example, column)}
        if not valid_values:
            columns = {name for example in eval_set.examples for name in example.segments} | {"tag"}
            raise UnknownName("segment", column, columns)
        if value not in valid_values:
            raise UnknownName("tag" if column == "tag" else f"value of segment {column}", value, valid_values)
    examples = tuple(
        example
        for example in eval_set.examples
        if all(value in _list_values(example, column) for column, value in keep.items())
    )
    if not examples:
        raise UsageError(f"{eval_set.name}: no example matches {', '.join(f'{k}={v}' for k, v in keep.items())}.")
    return examples


def _list_values(example: Example, column: str) -> Sequence[str]:
    if column in example.segments:
        return [example.segments[column]]
    return sorted(example.tags) if column == "tag" else []


def _ignore_warning(_: str) -> None:
    """Says nothing."""


@expand_options(RunOptions)
async def run_async(options: RunOptions) -> SystemRun:
    """Asks a system every question of a set and keeps what it returns; hand the result to `evaluate`.

    Responses are durable as they arrive: the same call continues a run that was stopped, and asks nothing twice.
    Failures are kept as such, one an example.

    Options:
        system: a function or coroutine function of the question, an object with `query`, or with `retrieve` and
            `generate`, "module:name", a URL, a path of recorded responses, or a System.
        set: the questions: an EvalSet, a path, a table, the name of a stored set.
        name: of the run; the system's name by default.
        settings: of the system: a mapping, or a YAML file with a section `system`; see ragauge docs systems.
        repeat: ask every question so many times.
        concurrency: questions under way, at most; 1 for a system that is not safe to call from several threads.
        timeout: seconds for one attempt at a question, slow drips included.
        limit: ask this many questions, drawn at random: the same ones of a set for every system.
        filter: segment column (or "tag") -> value; only the examples that match.
        variant: "own" retrieval, "oracle" (the generator on the labelled passages) or "closed_book" (on none).
        context_from: a stored run whose passages the generator is to answer from.
        corpus: the texts of the documents, for oracle passages: a path, a table, or {doc_id: text}.
        fresh: start another run, where an unfinished one would be continued.
        retry_failed: ask again what failed in the newest run of this system on this set.
        store: URL of the store; RAGAUGE_STORE or sqlite:///.ragauge/ragauge.db by default.
        progress: called with what is done, the rate and the time left.
        warn: receives what is worth knowing, such as that a run is continued.
        columns: our field -> column, for names of the set's file that are not known: {"query": "frage"}.
        segments: columns of the set to report by.

    Raises:
        UsageError: a system that cannot be had, or cannot do the variant: said before the first question.
        SystemFailed: nothing was answered, and the system is not there or does not let us in.
    """
    return await run_system(options)


run = make_sync(run_async)
