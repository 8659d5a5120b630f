"""Files that were read before are not read again, and whatever might change what is read from them is noticed."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import cast

import pytest

import ragauge as rg
from ragauge.readers import source as readers
from ragauge.verbs import imports

ROWS = [
    {
        "query_id": f"q{n}",
        "query": f"{n}?",
        "answer": "30 days.",
        "relevant": ["d1"],
        "passages": [{"doc_id": f"d{n % 3}", "text": "The trial lasts 30 days."}],
    }
    for n in range(6)
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


@pytest.fixture
def evaluated(tmp_path: Path) -> Callable[..., rg.Scorecard]:
    return partial(rg.evaluate, metrics="hit@1", store=f"sqlite:///{tmp_path / 's.db'}")


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """One entry for each time that a source was read."""
    found: list[str] = []
    for name in ("read_records", "join_records"):
        real = getattr(readers, name)

        def counted(*args: object, real: Callable[..., object] = real, name: str = name, **more: object) -> object:
            found.append(name)
            return real(*args, **more)

        monkeypatch.setattr(readers, name, counted)
    return found


Evaluated = Callable[..., rg.Scorecard]


def test_a_file_is_read_once(evaluated: Evaluated, file: Path, reads: list[str]) -> None:
    """The second time the run is found by the file's bytes, with the same scores, under both names."""
    first = evaluated(file, name="monday")
    with pytest.warns(UserWarning, match=r"stored as run monday .* tuesday is now another name for that run"):
        again = evaluated(file, name="tuesday")
    assert reads == ["read_records"]
    assert again.run.run_id == first.run.run_id
    assert again["hit@1"] == first["hit@1"]
    store = f"sqlite:///{file.parent / 's.db'}"
    assert rg.open_run("tuesday", store=store).run.run_id == first.run.run_id


def test_two_files_are_read_once(evaluated: Evaluated, file: Path, reads: list[str]) -> None:
    """A set and its responses in two files are known again together; another set is another run."""
    golden, other = file.parent / "golden.jsonl", file.parent / "other.jsonl"
    for path, relevant in ((golden, "d1"), (other, "d2")):
        rows = [{"query_id": row["query_id"], "query": row["query"], "relevant": [relevant]} for row in ROWS]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    answers = file.parent / "given.jsonl"
    rows = [{name: row[name] for name in ("query_id", "answer", "passages")} for row in ROWS]
    answers.write_text("".join(json.dumps(row) + "\n" for row in rows))
    first = evaluated(answers, set=golden)
    assert evaluated(answers, set=golden).run.run_id == first.run.run_id
    second = evaluated(answers, set=other)
    assert reads == ["join_records"] * 2
    assert second.run.run_id != first.run.run_id
    assert (first["hit@1"].mean, second["hit@1"].mean) == (1 / 3, 1 / 3)  # d1 and d2 stand first in two of six each


@pytest.mark.parametrize("change", ["bytes", "columns", "segments", "config", "code", "deleted"])
def test_what_may_change_the_run_is_read_again(
    change: str, evaluated: Evaluated, file: Path, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another byte, another way of reading it, another version of the reader, and a run that was deleted."""
    first = evaluated(file)
    more: dict[str, object] = {}
    if change == "bytes":
        file.write_text(file.read_text().replace('"d0"', '"d1"'))
    elif change == "columns":
        more = {"columns": {"references": "answer"}}
    elif change == "segments":
        more = {"segments": ["answer"]}
    elif change == "config":
        more = {"config": {"k": 9}}
    elif change == "code":
        monkeypatch.setattr(imports, "_hash_readers", lambda: b"another")
    else:
        rg.open_run(first.run.run_id, store=f"sqlite:///{file.parent / 's.db'}").delete()
    again = evaluated(file, **more)
    assert len(reads) == 2
    assert (again.run.run_id == first.run.run_id) == (change == "code")  # equal content is the same run
    assert again.card.n == 6


def test_warnings_come_every_time(evaluated: Evaluated, file: Path, reads: list[str]) -> None:
    """What is to be told of a file is told again when it is not read again."""
    file.write_text("".join(json.dumps(row | {"relevant": ["nowhere"], "mood": "good"}) + "\n" for row in ROWS))
    told = []
    for _ in range(2):
        with pytest.warns(UserWarning, match="answers.jsonl") as warned:
            evaluated(file)
        told.append([str(one.message) for one in warned])
    assert told[0] == told[1]
    assert any("mood" in message for message in told[0])
    assert reads == ["read_records"]


def test_a_file_that_changes_while_it_is_read_is_not_kept(
    evaluated: Evaluated, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bytes that came after the hash was taken do not pass for those before."""
    before, real = file.read_text(), cast("Callable[..., object]", readers.read_records)

    def changing(*args: object, **more: object) -> object:
        file.write_text(before.replace('"d0"', '"d1"'))
        return real(*args, **more)

    with monkeypatch.context() as patched:
        patched.setattr(readers, "read_records", changing)
        mixed = evaluated(file)
    file.write_text(before)
    assert evaluated(file).run.run_id != mixed.run.run_id
