"""Examples of a run in a set: which are taken, what stays as it was, and samples that weigh as the run does."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

import ragauge as rg
from ragauge.core.errors import DataError, StoreError, UnknownName, UsageError
from ragauge.store.exclusive import lock_file, lock_for_change
from ragauge.testsets.add.compute import sample_strata
from ragauge.testsets.set_file import read_set_file

ROWS: list[dict[str, Any]] = [
    {
        "query_id": f"q{n}",
        "query": f"What is thing {n}?",
        "answer": f"Thing {n}.",
        "reference_answer": f"Thing {n}.",
        "passages": [{"doc_id": "d" if n % 4 else "e", "text": f"Thing {n}."}],
        "relevant": {"d": 1},
        "segments": {"kind": "rare" if n % 10 == 0 else "common"},
        "weight": 1 + n % 3,
    }
    for n in range(40)
]


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store with one run of forty answers, of which every fourth found no labelled document."""
    url = f"sqlite:///{tmp_path}/store.db"
    rg.evaluate(ROWS, name="forty", metrics="recall@5", judge=None, store=url)
    return url


def test_what_answered_in_traffic_is_no_segment_of_a_question(tmp_path: Path) -> None:
    """An example of traffic joins a set without the model and version that answered; others of its segments stay."""
    segments = {"model": "broken-1", "Version": "2", "k": "3", "tenant": "acme"}
    rows = [{key: value for key, value in {**row, "segments": segments}.items() if key != "relevant"} for row in ROWS]
    url, path = f"sqlite:///{tmp_path}/store.db", tmp_path / "golden.jsonl"
    rg.evaluate(rows, name="day", traffic=True, judge=None, metrics="empty_result_rate", store=url)
    rg.add_examples("day", ids="q3", to=path, store=url)
    (line,) = read_set_file(path).lines
    assert line.example.segments == {"tenant": "acme"}
    assert rg.open_run("day", store=url).example("q3").example.segments == segments


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]


def test_failed_examples_are_taken_with_labels_tags_and_where_from(store: str, tmp_path: Path) -> None:
    """Those with a cause and no others, equal to the run's but for the tag; the meta names run and cause."""
    path = tmp_path / "golden.jsonl"
    found = rg.add_examples("forty", failed=True, to=path, tag="regression", by_name="Ann", store=store)
    run = rg.open_run("forty", store=store)
    failed = [row.query_id for row in run.examples(limit=None, filter={"status": "failed"})]
    assert failed == [f"q{n}" for n in range(0, 40, 4)]
    lines = read_set_file(path).lines
    assert [line.example.query_id for line in lines] == failed
    for line in lines:
        own = run.example(line.example.query_id)
        assert line.example.tags == {"regression"}
        assert line.example.relevant == own.example.relevant
        assert line.example.segments == own.example.segments
        assert line.curation.state == "draft"
        assert line.curation.by == "Ann"
        assert own.cause is not None
        assert line.curation.note == f"run forty: failed, {own.cause.name}"
        assert line.curation.origin is not None
        assert line.curation.origin.run == run.run.run_id
    assert found.to_dict()["unlabelled"] == []


@pytest.mark.parametrize(
    "before",
    [
        b'{"query_id": "a", "query": "One?",   "x": 1}\n\n{"query_id": "b", "query": "Two?"}',
        b'{"query_id": "a", "query": "One?"}\r\n\r\n{"query_id": "b", "query": "Two?"}\r\n',
        b'\xef\xbb\xbf{"query_id": "a", "query": "Eins \xc3\xbc?"}\n',
    ],
    ids=["no end of the last line", "CRLF", "byte order mark"],
)
@pytest.mark.filterwarnings("ignore:.*columns not read")
def test_the_rest_of_the_file_keeps_its_bytes(store: str, tmp_path: Path, before: bytes) -> None:
    """What was in the file is the beginning of the new one, byte for byte, and the new lines end as the others."""
    path = tmp_path / "set.jsonl"
    path.write_bytes(before)
    rg.add_examples("forty", ["q1", "q2"], to=path, store=store)
    after = path.read_bytes()
    assert after.startswith(before)
    assert after.endswith(b"}\r\n" if b"\r\n" in before else b"}\n")
    assert [row["query_id"] for row in _rows(path)][-2:] == ["q1", "q2"]


def test_what_the_set_asks_already_is_not_added_again(store: str, tmp_path: Path) -> None:
    """Neither under its id nor under another, even when rejected; it is said, and so is a tag that it lacks."""
    path = tmp_path / "set.jsonl"
    rejected = {"query_id": "q2", "query": "What is thing 2?", "tags": ["t"], "meta": {"state": "rejected"}}
    other = {"query_id": "mine", "query": "What is  thing 3?"}
    path.write_text("".join(json.dumps(row) + "\n" for row in (rejected, other)), encoding="utf-8")
    before = path.read_bytes()
    value = rg.add_examples("forty", ["q2", "q3"], to=path, tag="t", store=store).to_dict()
    assert value["added"] == []
    assert value["there"] == {"q2": "q2", "q3": "mine"}
    assert value["untagged"] == ["mine"]
    assert path.read_bytes() == before
    path.write_text(json.dumps({"query_id": "q4", "query": "Another question?"}) + "\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"'q4' asks 'Another question\?' in the set, but in the run 'What is thing 4"):
        rg.add_examples("forty", ["q4", "q5"], to=path, store=store)
    assert len(_rows(path)) == 1


def test_a_set_that_another_process_changes_is_waited_for(store: str, tmp_path: Path) -> None:
    """While another has the set nothing is read of it: what that wrote is kept, and the examples stand after it."""
    path = tmp_path / "set.jsonl"
    words = [sys.executable, "-m", "ragauge", "testset", "add", "forty", "q1", "--to", str(path), "--store", store]
    with lock_for_change(path):
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=4)
        path.write_text(json.dumps({"query_id": "mine", "query": "Mine?"}) + "\n", encoding="utf-8")
    assert process.wait(timeout=200) == 0
    assert [row["query_id"] for row in _rows(path)] == ["mine", "q1"]
    with (
        lock_file(tmp_path / "lock"),
        pytest.raises(StoreError, match="Check whether another ragauge is writing the same file"),
        lock_file(tmp_path / "lock", 0.05),
    ):
        pass


QUOTED: list[dict[str, Any]] = [
    {
        "query_id": f"q{n}",
        "query": f"What is {n}?",
        "gold_spans": [{"doc_id": "d", "start": n, "end": n + 8}],
        "segments": {"type": "temporal"},
        "meta": {
            "state": state,
            "origin": {"method": "model", "model": "any", "type": "temporal", "seed": 7},
            "anchors": [{"doc_id": "d", "start": n, "end": n + 8, "quote": f"a quote {n}"}],
        },
    }
    for n, state in enumerate(("draft", "golden", "draft"))
]


@pytest.fixture
def quoted(tmp_path: Path) -> tuple[Path, str]:
    """A set with quotes, and a store with a run over it."""
    file, url = tmp_path / "asked.jsonl", f"sqlite:///{tmp_path}/store.db"
    file.write_text("".join(json.dumps(row) + "\n" for row in QUOTED), encoding="utf-8")
    rg.run(lambda query: f"Said of {query}", file, name="over", store=url)
    return file, url


@pytest.mark.parametrize("where", ["beside", "named"])
def test_quotes_and_origin_are_kept(quoted: tuple[Path, str], tmp_path: Path, where: str) -> None:
    """From the set of the run, found by its name beside the new one or by --from; who wrote a question stays known."""
    file, url = quoted
    if where == "named":
        file = file.rename(tmp_path / "other.jsonl")
    path = tmp_path / "golden.jsonl"
    found = rg.add_examples("over", ["q0", "q1"], to=path, from_set=None if where == "beside" else file, store=url)
    for line, row in zip(read_set_file(path).lines, QUOTED, strict=False):
        assert [one.quote for one in line.curation.anchors] == [row["meta"]["anchors"][0]["quote"]]
        origin = line.curation.origin
        assert origin is not None
        assert (origin.method, origin.model, origin.type, bool(origin.run)) == ("run", "any", "temporal", True)
        assert line.curation.state == "draft"
    assert found.to_dict()["unquoted"] == []
    assert found.to_dict()["states"] == {"q0": "draft", "q1": "golden"}
    told = found.to_markdown()
    assert "added as drafts" in told
    assert "not reviewed yet: q0." in told
    assert f"ragauge testset mark {path} --to golden --by NAME --ids q0,q1" in told


def test_quotes_of_other_labels_are_not_taken(quoted: tuple[Path, str], tmp_path: Path) -> None:
    """Where the set's labels changed since the run, or its file is broken, quotes are missing, which is said."""
    file, url = quoted
    rows = [QUOTED[0] | {"gold_spans": [{"doc_id": "d", "start": 3, "end": 9}]}, *QUOTED[1:]]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    first = rg.add_examples("over", ["q0", "q1"], to=tmp_path / "one.jsonl", store=url)
    assert first.to_dict()["unquoted"] == ["q0"]
    assert "use --from SET to copy them: q0." in first.to_markdown()
    file.write_text("no set", encoding="utf-8")
    assert rg.add_examples("over", ["q2"], to=tmp_path / "two.jsonl", store=url).to_dict()["unquoted"] == ["q2"]
    with pytest.raises(DataError, match="asked"):
        rg.add_examples("over", ["q2"], to=tmp_path / "three.jsonl", from_set=file, store=url)


def test_a_sample_gives_each_segment_its_share(store: str, tmp_path: Path) -> None:
    """By weight, told with the sizes; the same seed draws the same; what is too light for a place is said."""
    path = tmp_path / "sample.jsonl"
    found = rg.add_examples("forty", sample=10, by="kind", to=path, store=store)
    weights = {row["query_id"]: row["weight"] for row in ROWS}
    rare = sum(weights[f"q{n}"] for n in range(0, 40, 10))
    strata = found.to_dict()["strata"]
    assert strata["rare"]["weight"] == rare
    assert strata["common"]["weight"] == sum(weights.values()) - rare
    assert {name: one["drawn"] for name, one in strata.items()} == {"rare": 1, "common": 9}
    again = rg.add_examples("forty", sample=10, by="kind", to=tmp_path / "again.jsonl", store=store)
    assert [one["query_id"] for one in again.to_dict()["added"]] == [row["query_id"] for row in _rows(path)]
    few = rg.add_examples("forty", sample=1, by="kind", to=tmp_path / "few.jsonl", store=store)
    assert "1 value too small for the sample" in few.to_markdown()


def test_plain_means_of_samples_estimate_the_weighted_mean() -> None:
    """Over 2,000 seeds the mean of plain means is the weighted mean within four standard errors, as is ΣwY/Σw."""
    strata = {
        name: {f"{name}{n}": (1.0, 2.0, 5.0)[n % 3] for n in range(size)}
        for name, size in (("a", 60), ("b", 30), ("c", 12))
    }  # of 34 places 20, 10 and 4: no rounding
    weights = {one: weight for members in strata.values() for one, weight in members.items()}
    score = {one: weight / 10 + (one[0] == "b") for one, weight in weights.items()}  # goes with weight and stratum
    whole = sum(weights[one] * score[one] for one in weights) / sum(weights.values())
    plain, weighted = [], []
    for seed in range(2_000):
        drawn = sample_strata(strata, 34, seed)
        assert len(drawn.weights) == 34
        plain.append(fmean(score[one] for one in drawn.weights))
        weighted.append(sum(drawn.weights[one] * score[one] for one in drawn.weights) / sum(weights.values()))
    naive = fmean(score.values())
    for found in (plain, weighted):
        error = (fmean((value - fmean(found)) ** 2 for value in found) / len(found)) ** 0.5
        assert abs(fmean(found) - whole) < 4 * error
    assert abs(naive - whole) > 0.02


def test_no_stratum_gives_more_than_it_has() -> None:
    """A stratum of few heavy examples gives them all, and its other places go to the rest; all where n is enough."""
    drawn = sample_strata({"heavy": {"h1": 90.0, "h2": 90.0}, "light": dict.fromkeys("abcdefgh", 1.0)}, 6)
    assert {name: one.drawn for name, one in drawn.strata.items()} == {"heavy": 2, "light": 4}
    assert drawn.weights["h1"] == 90.0
    assert sum(weight for name, weight in drawn.weights.items() if name in "abcdefgh") == pytest.approx(8)
    assert len(sample_strata({"a": {"q": 1.0, "r": 1.0}, "b": {}}, 9).weights) == 2
    with pytest.raises(UsageError, match="must be at least 1, got 3 of 0"):
        sample_strata({"a": {}}, 3)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "ids, --failed and --sample N"),
        ({"ids": ["q1"], "failed": True}, "exactly one of"),
        ({"failed": True, "by": "kind"}, "needs --sample"),
        ({"ids": ["q77"]}, "no query_id in this run 'q77'; nearest: q7"),
        ({"sample": 3, "by": "kin"}, "no segment of this run 'kin'; nearest: kind"),
        ({"failed": True, "to": "set.csv"}, "ends in .jsonl"),
    ],
)
def test_what_cannot_be_taken_is_refused(store: str, tmp_path: Path, given: dict[str, Any], told: str) -> None:
    """Nothing or too much said, unknown ids and segments, another ending: refused, and no file is made."""
    given = {"to": "set.jsonl", **given}
    path = tmp_path / given.pop("to")
    with pytest.raises((UsageError, UnknownName), match=told):
        rg.add_examples("forty", to=path, store=store, **given)
    assert not path.exists()


def test_failed_needs_an_evaluated_run(tmp_path: Path) -> None:
    """Of a run that nobody evaluated it is not known what failed; named examples can be taken all the same."""
    url = f"sqlite:///{tmp_path}/store.db"
    rg.run(lambda query: "Yes.", [{"query_id": "a", "query": "One?"}], name="bare", store=url)
    with pytest.raises(UsageError, match="has not been evaluated"):
        rg.add_examples("bare", failed=True, to=tmp_path / "set.jsonl", store=url)
    found = rg.add_examples("bare", "a", to=tmp_path / "set.jsonl", store=url)
    assert found.to_dict()["unlabelled"] == ["a"]
