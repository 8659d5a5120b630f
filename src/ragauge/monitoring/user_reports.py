"""What users reported of production, as further questions of a set."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from ragauge.core.example import EvalSet, Example
from ragauge.core.identity import folded
from ragauge.core.messages import plural
from ragauge.core.outcomes import complained
from ragauge.core.response import REDACTED
from ragauge.testsets.add.verb import of_question

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragauge.store.store_access import Store

MOST, TAG = 200, "reported"  # questions of each source that join a set, at most; what those of users are tagged with


def with_reported(
    eval_set: EvalSet, store: Store, since: timedelta, config: str, project: str = ""
) -> tuple[EvalSet, str]:
    """A set with the questions that users reported, and those of the regression set, where it does not ask them yet.

    Args:
        eval_set: the set.
        store: with the traffic.
        since: how far back users count, from now.
        config: the file whose section `ui` may name a regression set, and whose section `monitor` a project.
        project: whose users; "" = of that one, else of the one whose traffic came first.

    Returns:
        The set, and what joined in words; "" = nothing.
    """
    from ragauge.core.config.config_loader import read_config

    known, ids = {_asked(one) for one in eval_set.examples}, {one.query_id for one in eval_set.examples}
    added: list[Example] = []
    counts: dict[str, int] = {}
    monitor = read_config(config).config.monitor
    reported = _of_users(store, since, project or ("" if monitor is None else monitor.project))
    sources = {"reported by users": reported, "of the regression set": _of_regressions(config)}
    for what, examples in sources.items():
        for example in examples:
            if counts.get(what, 0) == MOST:
                break
            query_id = example.query_id if example.query_id not in ids else f"{example.query_id} ({TAG})"
            if _asked(example) in known or query_id in ids:
                continue
            known.add(_asked(example))
            ids.add(query_id)
            added.append(replace(example, query_id=query_id))
            counts[what] = counts.get(what, 0) + 1
    if not added:
        return eval_set, ""
    said = " and ".join(f"{plural(n, 'question')} {what}" for what, n in counts.items())
    return replace(eval_set, examples=(*eval_set.examples, *added)), f" With {said}."


def _asked(example: Example) -> object:
    return folded(example.query), example.history


def _of_users(store: Store, since: timedelta, project: str) -> Iterator[Example]:
    """Questions whose answers users of a project called bad, the newest first."""
    from ragauge.engine.request_stream import traffic_runs

    day = (datetime.now(UTC) - since).date().isoformat()
    for run in reversed(traffic_runs(store, day, project=project)):
        numbers = sorted(store.runs.order(run.run_id).numbers, reverse=True)
        for start in range(0, len(numbers), MOST * 5):
            for one in store.runs.load(numbers[start : start + MOST * 5]):
                if complained(one.response.outcome) and one.example.query not in ("", REDACTED):
                    example = of_question(one.example, run)
                    yield replace(example, tags=example.tags | {TAG})


def _of_regressions(config: str) -> Iterator[Example]:
    from ragauge.core.config.config_loader import read_config
    from ragauge.testsets.set_file import read_set_file

    section = read_config(config).config.ui
    name = section.regression_set if section is not None else ""
    if name and Path(name).is_file() and Path(name).read_bytes().strip():
        yield from read_set_file(Path(name)).eval_set.examples
