"""The public verbs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from ragauge.api.evaluate import EvaluateOptions, evaluate_source
from ragauge.api.inputs.calls import CallOptions, ModelCallOptions
from ragauge.api.inputs.sources import InputSource, named
from ragauge.api.threads import plain

if TYPE_CHECKING:
    from ragauge.api.results.scorecard import Scorecard
    from ragauge.data.example import EvalSet
    from ragauge.engine.execute import Progress


def read_set(
    source: Any,
    *,
    name: str | None = None,
    columns: Mapping[str, str] | None = None,
    segments: str | Sequence[str] = (),
    split: str | None = None,
) -> EvalSet:
    """An eval set from a file, a folder or a table in memory; responses beside the examples are left aside.

    Args:
        source: a path (.jsonl, .json, .csv, .tsv, .parquet, a BEIR folder), a polars or pandas frame, an Arrow table,
            a list of dicts, a Hugging Face data set.
        name: of the set; the file's name by default.
        columns: our field -> the source's column, for names that are not known: {"query": "frage"}.
        segments: columns to report by, such as ["kind", "tenant"] or "kind,tenant".
        split: of a BEIR folder or Hugging Face data set; None = test.

    Raises:
        DataError: what cannot be read as it is: file, line, field, expected, found.
    """
    from ragauge.data.readers import source as readers

    return readers.read_set(source, name=name, columns=columns, segments=named(segments), split=split)


async def evaluate_async(
    source: Any, *, set: Any = None, metrics: str | Sequence[str] = (), store: str | None = None,
    judge: Any = "local", judge_name: str = "", judge_repeats: int = 1, prompts: Any = None,
    name: str = "", columns: Mapping[str, str] | None = None, segments: str | Sequence[str] = (),
    config: Mapping[str, Any] | None = None, variant: str = "own", traffic: bool = False,
    limit: int | None = None, filter: Mapping[str, str] | None = None, workers: int | None = None,
    retry_failed: bool = False, index: Any = None, baseline: Any = None,
    progress: Callable[[Progress], None] | None = None,
    **calls: Unpack[CallOptions],
) -> Scorecard:     # fmt: skip
    """How good retrieval and generation each are, with what certainty, and what to do.

    Results are durable as they arrive: the same call continues where a stopped one ended, and asks nothing twice.

    Args:
        source: a stored run (id, name, "latest", what `open_run` gives), or questions with responses: a path, a table.
        set: the eval set, where the questions are apart: an EvalSet, a path or a table; joined on query_id.
        metrics: names and presets, such as ["recall@5", "prompt"] or "recall@5,prompt"; the default preset when empty.
        judge: "local", "openai:gpt-5-mini" (docs/model-judges.md), a function or object (text in, text out), None.
        judge_name: what identifies such a function or object in reports and stored replies.
        prompts: a model judge's own wording: {prompt: template}, or a YAML file of them (docs/model-judges.md).
        judge_repeats: ask the judge so many times and say how far the means lie apart; the first asking is scored.
        store: URL of the store; RAGAUGE_STORE or sqlite:///.ragauge/ragauge.db by default.
        name: of the run; the file's name by default.
        columns: our field -> the source's column.
        segments: columns of the source to report by, such as ["kind", "tenant"] or "kind,tenant".
        config: the system's settings, shown in reports; a run of other settings is another run.
        limit: evaluate this many examples, drawn at random.
        filter: segment column (or "tag") -> value; only the examples that match.
        workers: processes of the local judge; None = all cores.
        retry_failed: evaluate again what failed before.
        index: ids, table or path: what the system's index holds. Tells what was never ingested from what search misses.
        baseline: a stored run to hold this one against, its id or name; it must have been judged alike.
        variant: which passages the answers rest on: "own", "oracle" (labelled), "closed_book" (none) or "replayed".
        traffic: the responses are production traffic, not an eval set's.
        progress: called with what is done, the rate and the time left.
        calls: concurrency, max_concurrency, max_cost and timeout of calls to a model, as in `ModelCallOptions`.

    Returns:
        The scorecard: shows itself in a notebook; `card["recall@5"]`, `card.failures`, `card.save("report.html")`.

    Raises:
        DataError: a file or table that cannot be read as it is.
        UsageError: an unknown name, with the nearest; a baseline that was judged otherwise.
    """
    how = (source,) if set is None else (set, source), columns or {}, named(segments), name
    more = limit, filter or {}, workers, index, None, baseline, retry_failed, judge_repeats
    asked = named(metrics), _judge(judge, judge_name, prompts), *more, ModelCallOptions.given("evaluate", calls)
    found = InputSource(*how, config=config or {}, variant=variant, traffic=traffic)
    return await evaluate_source(found, EvaluateOptions(*asked), store, progress)


def _judge(judge: Any, name: str, prompts: Any) -> str:
    from ragauge.engine.judges import given_judge

    return given_judge(judge, name, prompts)


evaluate = plain(evaluate_async)
