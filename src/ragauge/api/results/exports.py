"""A run's responses or scores as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ragauge.api.results.files import check, make_folder
from ragauge.data.response import ABSENT, Run
from ragauge.data.writers import scores_table
from ragauge.errors import UsageError

if TYPE_CHECKING:
    from ragauge.store.open import Store


def export(store: Store, run: Run, path: Path) -> int:
    """Writes the form that the path's name asks for and returns the number of lines."""
    name = path.name.lower()
    judges = [judge for judge in store.scores.judges(run.run_id) if judge]
    judge = judges[0] if judges else None
    ending = path.suffix.lower()
    if ending not in (".jsonl", ".csv", ".parquet"):
        raise UsageError(f"-o {path}: expected scores.jsonl, .csv or .parquet for scores, or .jsonl for responses.")
    check(path, (ending,))
    make_folder(path)
    if name.endswith("scores.jsonl"):
        return _scores_jsonl(store, run, judge, path)
    if ending == ".jsonl":
        return _responses(store, run, path)
    write = scores_table.write_csv if ending == ".csv" else scores_table.write_parquet
    return write(path, store.scores.frame(run.run_id, judge))


def _responses(store: Store, run: Run, path: Path) -> int:
    from ragauge.data.response import Record
    from ragauge.data.writers import jsonl

    pairs = store.runs.pairs(run.run_id)
    return jsonl.write_records(
        path,
        (
            example if response.missing.get("answer") == ABSENT else Record(example, response, run.name, n)
            for n, (example, response) in enumerate(pairs, 1)
        ),
    )


def _scores_jsonl(store: Store, run: Run, judge: str | None, path: Path) -> int:
    from ragauge.api.queries.shown import score_lines, view_of
    from ragauge.data.writers import scores_jsonl

    keys = ((response.query_id, response.repeat) for _, response in store.runs.pairs(run.run_id))
    views = (view_of(store, run.run_id, query_id, repeat, judge) for query_id, repeat in keys)
    return scores_jsonl.write_scores(path, score_lines(views))
