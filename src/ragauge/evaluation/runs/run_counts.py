"""What became of a run's questions, in a few lines."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping

from ragauge.core.messages import command, plural
from ragauge.core.response import Run
from ragauge.evaluation.overview.run_counts import MOST_KINDS, RunCounts
from ragauge.rendering.judge_usage import money
from ragauge.rendering.words import line


def run_text(run: Run, counts: RunCounts, asked: int, again: Mapping[str, int]) -> str:
    """The same in a few lines."""
    return "\n".join(_lines(run, counts, asked, again))


def next_command(run: Run) -> str:
    """What to do with a run: evaluate it, by its name where that needs no quotes."""
    quoted = shlex.quote(run.name)
    return command("evaluate", run.name if quoted == run.name else run.run_id)


def _lines(run: Run, counts: RunCounts, asked: int, again: Mapping[str, int]) -> Iterator[str]:
    variant = "" if run.variant == "own" else f", {run.variant.replace('_', ' ')}"
    yield f"run {line(run.name)} ({run.run_id}{variant}) on {line(run.set_name)}"
    parts = counts.words()
    if counts.empty and run.variant == "own":
        parts.insert(len(parts) - bool(counts.n_failed), f"{counts.empty:,} of them with nothing retrieved")
    there = counts.responses - asked
    yield f"{counts.responses:,} of {run.planned:,} questions: {', '.join(parts)}" + (
        f"; {there:,} were there" if there > 0 else ""
    )
    for kind in list(counts.failed)[:MOST_KINDS]:
        if kind in counts.such_as:
            query_id, error = counts.such_as[kind]
            yield f"  {kind}, such as {line(query_id)}: {line(error)}"
    if again:
        yield "tried again: " + ", ".join(
            f"{kind} {n:,}" for kind, n in sorted(again.items(), key=lambda entry: -entry[1])
        )
    for timing in counts.timings:
        stage = "latency" if timing.stage == "total" else f"  {line(timing.stage)}"
        times = f"median {_time(timing.p50)}, 95 % {_time(timing.p95)}, 99 % {_time(timing.p99)}"
        yield f"{stage}: {times} ({plural(timing.n, 'response')}{', failed ones included' if counts.n_failed else ''})"
    spending = counts.spending
    if spending is not None:
        tokens = ", ".join(f"{line(kind)} {int(n):,}" for kind, n in spending.tokens.items())
        cost = "" if spending.cost is None else f"cost {money(spending.cost)}"
        yield "; ".join(filter(None, (f"tokens: {tokens}" if tokens else "", cost)))
    if counts.derived_ids:
        rules = "; ".join(f"{rule} ({plural(n, 'response')})" for rule, n in counts.derived_ids.items())
        yield f"passages without a doc_id are named {rules}: labels must name documents the same way"


def _time(milliseconds: float) -> str:
    """Milliseconds below a second, else seconds.

    >>> _time(12.34), _time(2345.6)
    ('12 ms', '2.3 s')
    """
    return f"{milliseconds:.0f} ms" if milliseconds < 1_000 else f"{milliseconds / 1_000:.1f} s"
