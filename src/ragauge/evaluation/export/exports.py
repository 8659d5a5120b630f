"""A run's responses or scores as files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from ragauge.core.errors import UsageError
from ragauge.core.response import NO_RESPONSE_REASON, Run
from ragauge.rendering import plain_csv
from ragauge.verbs.files import make_folder, validate_report_path

if TYPE_CHECKING:
    from ragauge.store.store_access import Store

CONTENTS = ("responses", "scores")


def export_run(store: Store, run: Run, path: Path, content: str = "") -> int:
    """Writes responses or scores to a file and returns the number of lines.

    Args:
        store: with the run.
        run: whose.
        path: .jsonl, .csv or .parquet; the latter two hold scores.
        content: "responses" or "scores"; "" = scores where the file's name has that word or the ending needs it.
    """
    ending = path.suffix.lower()
    if ending not in (".jsonl", ".csv", ".parquet"):
        raise UsageError(f"-o {path}: expected a file that ends in .jsonl, .csv or .parquet.")
    if content not in ("", *CONTENTS):
        raise UsageError(f"expected responses or scores, got {content!r}.")
    content = content or derive_content(path)
    if content == "responses" and ending != ".jsonl":
        raise UsageError(f"-o {path}: responses are written as .jsonl; {ending} holds scores.")
    validate_report_path(path, (ending,))
    make_folder(path)
    if content == "responses":
        return _export_responses(store, run, path)
    from ragauge.verbs.example_views import ScoreTables

    judges = [judge for judge in store.scores.judges(run.run_id) if judge]
    judge = judges[0] if judges else None
    if ending == ".jsonl":
        return _export_scores_jsonl(store, run, judge, path)
    write = plain_csv.write_csv if ending == ".csv" else plain_csv.write_parquet
    metrics = tuple(store.scores.metrics(run.run_id, judge))
    return write(path, ScoreTables(store.url, run.run_id, judge, metrics).scores())


def derive_content(path: Path) -> str:
    """What a file holds by its name.

    >>> derive_content(Path("scores_a.jsonl")), derive_content(Path("a.csv")), derive_content(Path("run.jsonl"))
    ('scores', 'scores', 'responses')
    """
    has_scores_word = "scores" in re.split(r"[^a-z0-9]+", path.name.lower())
    return "scores" if has_scores_word or path.suffix.lower() != ".jsonl" else "responses"


def _export_responses(store: Store, run: Run, path: Path) -> int:
    from ragauge.core import jsonl_files as jsonl
    from ragauge.core.response import Record

    pairs = store.runs.pairs(run.run_id)
    return jsonl.write_records(
        path,
        (
            example if response.missing.get("answer") == NO_RESPONSE_REASON else Record(example, response, run.name, n)
            for n, (example, response) in enumerate(pairs, 1)
        ),
    )


def _export_scores_jsonl(store: Store, run: Run, judge: str | None, path: Path) -> int:
    from ragauge.rendering.writers import scores_jsonl
    from ragauge.verbs.example_views import build_score_rows, load_example_view

    keys = ((response.query_id, response.repeat) for _, response in store.runs.pairs(run.run_id))
    views = (load_example_view(store, run.run_id, query_id, repeat, judge) for query_id, repeat in keys)
    return scores_jsonl.write_scores(path, build_score_rows(views))
