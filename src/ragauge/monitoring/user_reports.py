"""What users reported of production, as further questions of a set."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from ragauge.core.example import EvalSet, Example
from ragauge.core.identity import normalize_text
from ragauge.core.messages import format_count
from ragauge.core.outcomes import is_complaint
from ragauge.core.response import REDACTED
from ragauge.testsets.add.verb import strip_traffic_segments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragauge.store.store_access import Store

MAX_QUESTIONS_PER_SOURCE, REPORTED_TAG = (
    200,
    "reported",
)  # questions of each source that join a set, at most; what those of users are tagged with


def add_reported(
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

    known_questions, ids = (
        {_build_question_key(known_example) for known_example in eval_set.examples},
        {known_example.query_id for known_example in eval_set.examples},
    )
    added: list[Example] = []
    counts: dict[str, int] = {}
    monitor = read_config(config).config.monitor
    reported = _iter_user_reports(store, since, project or ("" if monitor is None else monitor.project))
    sources = {"reported by users": reported, "from the regression set": _iter_regressions(config)}
    for what, examples in sources.items():
        for example in examples:
            if counts.get(what, 0) == MAX_QUESTIONS_PER_SOURCE:
                break
            query_id = example.query_id if example.query_id not in ids else f"{example.query_id} ({REPORTED_TAG})"
            if _build_question_key(example) in known_questions or query_id in ids:
                continue
            known_questions.add(_build_question_key(example))
            ids.add(query_id)
            added.append(replace(example, query_id=query_id))
            counts[what] = counts.get(what, 0) + 1
    if not added:
        return eval_set, ""
    additions = " and ".join(f"{format_count(n, 'question')} {what}" for what, n in counts.items())
    return replace(eval_set, examples=(*eval_set.examples, *added)), f" Added {additions}."


def _build_question_key(example: Example) -> object:
    return normalize_text(example.query), example.history


def _iter_user_reports(store: Store, since: timedelta, project: str) -> Iterator[Example]:
    """Questions whose answers users of a project called bad, the newest first."""
    from ragauge.engine.request_stream import list_traffic_runs

    day = (datetime.now(UTC) - since).date().isoformat()
    for run in reversed(list_traffic_runs(store, day, project=project)):
        numbers = sorted(store.runs.load_order(run.run_id).numbers, reverse=True)
        for start in range(0, len(numbers), MAX_QUESTIONS_PER_SOURCE * 5):
            for stored in store.runs.load(numbers[start : start + MAX_QUESTIONS_PER_SOURCE * 5]):
                if is_complaint(stored.response.outcome) and stored.example.query not in ("", REDACTED):
                    example = strip_traffic_segments(stored.example, run)
                    yield replace(example, tags=example.tags | {REPORTED_TAG})


def _iter_regressions(config: str) -> Iterator[Example]:
    from ragauge.core.config.config_loader import read_config
    from ragauge.testsets.set_file import read_set_file

    section = read_config(config).config.ui
    name = section.regression_set if section is not None else ""
    if name and Path(name).is_file() and Path(name).read_bytes().strip():
        yield from read_set_file(Path(name)).eval_set.examples
