"""The verbs `evaluate` and `read_set`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragauge.evaluation.evaluate.verb import evaluate_source
from ragauge.verbs.coroutines import make_sync
from ragauge.verbs.evaluate_options import EvaluateOptions
from ragauge.verbs.option_specs import expand_options
from ragauge.verbs.sources import parse_names

if TYPE_CHECKING:
    from ragauge.core.example import EvalSet
    from ragauge.evaluation.scorecard.result import Scorecard


def read_set(
    source: Any,
    *,
    name: str | None = None,
    columns: Mapping[str, str] | None = None,
    segments: str | Sequence[str] = (),
    split: str | None = None,
    context_marker: str = "",
) -> EvalSet:
    """An eval set from a file, a folder or a table in memory; responses beside the examples are left aside.

    Args:
        source: a path (.jsonl, .json, .csv, .tsv, .parquet, a BEIR folder), a polars or pandas frame, an Arrow table,
            a list of dicts, a Hugging Face data set.
        name: of the set; the file's name by default.
        columns: our field -> the source's column, for names that are not known: {"query": "frage"}.
        segments: columns to report by, such as ["kind", "tenant"] or "kind,tenant".
        split: of a BEIR folder or Hugging Face data set; None = test.
        context_marker: how questions are built that are whole prompts: "Context: {context} Question: {query}", or the
            text that the context stands behind.

    Raises:
        DataError: what cannot be read as it is: file, line, field, expected, found.
    """
    from ragauge.readers import source as readers

    how: Mapping[str, Any] = {"split": split, "context_marker": context_marker}
    return readers.read_set(source, name=name, columns=columns, segments=parse_names(segments), **how)


@expand_options(EvaluateOptions)
async def evaluate_async(options: EvaluateOptions) -> Scorecard:
    """How good retrieval and generation each are, with what certainty, and what to do.

    Results are durable as they arrive: the same call continues where a stopped one ended, and asks nothing twice.

    Options:
        source: a stored run (id, name, "latest", what `open_run` gives), or questions with responses: a path, a table;
            a tuple of two paths is the eval set and the responses.
        set: the eval set, where the questions are apart: an EvalSet, a path or a table; joined on query_id.
        metrics: names and presets, such as ["recall@5", "prompt"] or "recall@5,prompt"; the default preset when empty.
        judge: "local", "openai:gpt-5-mini" (ragauge docs model-judges), a function or object (text in, text out), None.
        judge_name: what identifies such a function or object in reports and stored replies.
        prompts: a model judge's own wording: {prompt: template}, or a YAML file of them (ragauge docs model-judges).
        judge_repeats: ask the judge so many times and say how far the means lie apart; the first asking is scored.
        store: URL of the store; RAGAUGE_STORE or sqlite:///.ragauge/ragauge.db by default.
        name: of the run; the file's name by default.
        columns: our field -> the source's column.
        segments: columns of the source to report by, such as ["kind", "tenant"] or "kind,tenant".
        context_marker: how questions are built that are whole prompts with the retrieved passages in them, such as
            "Context: {context} Question: {query}"; or the text that the context stands behind.
        scores: columns of numbers that become metrics of their names: "rating", ["rating", "minutes:lower"]; higher is
            better unless it says :lower or :neither. A stored run has those that were read with it, and its outcomes.
        without_retrieval: of a file of traces, read answers before which nothing was searched too (ragauge docs data).
        config: the system's settings, shown in reports; a run of other settings is another run.
        limit: evaluate this many examples, drawn at random.
        filter: segment column (or "tag") -> value; only the examples that match.
        workers: processes of the local judge; None = all cores.
        controls: ask the judge first about so many pairs of the run whose truth is known; they show what it can read.
            "none" asks the local judge about pairs that come with the package alone, and a model about none. By
            default 200 for the local judge and none for models.
        criteria: what each answer is held against, such as {"polite": "Addresses the reader formally"}; each is a
            metric (ragauge docs criteria). None = what ragauge.yaml says.
        retry_failed: evaluate again what failed before.
        index: ids, table or path: what the system's index holds. Tells what was never ingested from what search misses.
        baseline: a stored run to hold this one against, its id or name; it must have been judged alike.
        variant: which passages the answers rest on: "own", "oracle" (labelled), "closed_book" (none) or "replayed".
        traffic: the responses are production traffic, not an eval set's.
        progress: called with what is done, the rate and the time left.
        warn: receives what is worth knowing about the data; None = a Python warning.
        concurrency: calls to a model in flight to begin with; with max_concurrency, max_cost and timeout as in
            `ModelCallOptions`.

    Returns:
        The scorecard: shows itself in a notebook; `card["recall@5"]`, `card.failures`, `card.save("report.html")`.

    Raises:
        DataError: a file or table that cannot be read as it is.
        UsageError: an unknown name, with the nearest; a baseline that was judged otherwise.
    """
    return await evaluate_source(options)


evaluate = make_sync(evaluate_async)
