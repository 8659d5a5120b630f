"""What became of a run's questions, in a few lines."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping

from ragauge.core.messages import format_command, format_count
from ragauge.core.response import Run
from ragauge.evaluation.overview.run_counts import MAX_KINDS, RunCounts
from ragauge.rendering.judge_usage import format_money
from ragauge.rendering.words import to_line


def format_run(run: Run, counts: RunCounts, n_asked: int, retried: Mapping[str, int]) -> str:
    """The same in a few lines."""
    return "\n".join(_list_lines(run, counts, n_asked, retried))


def format_next_command(run: Run) -> str:
    """What to do with a run: evaluate it, by its name where that needs no quotes."""
    quoted = shlex.quote(run.name)
    return format_command("evaluate", run.name if quoted == run.name else run.run_id)


def _list_lines(run: Run, counts: RunCounts, n_asked: int, retried: Mapping[str, int]) -> Iterator[str]:
    variant = "" if run.variant == "own" else f", {run.variant.replace('_', ' ')}"
    yield f"run {to_line(run.name)} ({run.run_id}{variant}) on {to_line(run.set_name)}"
    count_texts = counts.words()
    if counts.empty and run.variant == "own":
        count_texts.insert(len(count_texts) - bool(counts.n_failed), f"{counts.empty:,} of them with nothing retrieved")
    n_existing = counts.responses - n_asked
    yield f"{counts.responses:,} of {run.planned:,} questions: {', '.join(count_texts)}" + (
        f"; {n_existing:,} were already stored" if n_existing > 0 else ""
    )
    for kind in list(counts.failed)[:MAX_KINDS]:
        if kind in counts.such_as:
            query_id, error = counts.such_as[kind]
            yield f"  {kind}, such as {to_line(query_id)}: {to_line(error)}"
    if retried:
        yield "tried again: " + ", ".join(
            f"{kind} {n:,}" for kind, n in sorted(retried.items(), key=lambda entry: -entry[1])
        )
    for timing in counts.timings:
        stage = "latency" if timing.stage == "total" else f"  {to_line(timing.stage)}"
        times = f"median {_format_time(timing.p50)}, 95 % {_format_time(timing.p95)}, 99 % {_format_time(timing.p99)}"
        yield (
            f"{stage}: {times} ({format_count(timing.n, 'response')}{', including failed' if counts.n_failed else ''})"
        )
    spending = counts.spending
    if spending is not None:
        tokens = ", ".join(f"{to_line(kind)} {int(n):,}" for kind, n in spending.tokens.items())
        cost = "" if spending.cost is None else f"cost {format_money(spending.cost)}"
        yield "; ".join(filter(None, (f"tokens: {tokens}" if tokens else "", cost)))
    if counts.derived_ids:
        rules = "; ".join(f"{rule} ({format_count(n, 'response')})" for rule, n in counts.derived_ids.items())
        yield f"passages without a doc_id are named {rules}: labels must name documents the same way"


def _format_time(milliseconds: float) -> str:
    """Milliseconds below a second, else seconds.

    >>> _format_time(12.34), _format_time(2345.6)
    ('12 ms', '2.3 s')
    """
    return f"{milliseconds:.0f} ms" if milliseconds < 1_000 else f"{milliseconds / 1_000:.1f} s"
