"""Labels and runs read from every format, in trec_eval's order, and refused by name where they are wrong."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragauge.core.errors import DataError, UsageError
from ragauge.core.ranking import find_query_starts
from ragauge.readers.rankings import read_qrels, read_run
from ragauge.readers.trec import ScoreBits, compute_ranks

DATA = Path(__file__).resolve().parents[3] / "shared/data"
RUN = "q1 Q0 b 1 2.5 tag\nq1 Q0 a 2 3.5 tag\nq2 Q0 c 1 1e-3 tag\n"
RANKED = [("q1", "b", 2), ("q1", "a", 1), ("q2", "c", 1)]
QRELS = "q1 0 a 1\nq1 0 b 0\nq2 0 c 2\n"
JUDGED = [("q1", 0, "a", 1.0), ("q1", 1, "b", 0.0), ("q2", 2, "c", 2.0)]
Write = Callable[[str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a file without a telling name, so that only its content can say what it is."""

    def written(content: str | bytes) -> Path:
        path = tmp_path / "file"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return written


def ranked(path: Path, score_bits: ScoreBits = 64) -> list[tuple[str, str, int]]:
    return read_run(path, score_bits).select("query_id", "doc_id", "rank").rows()


@pytest.mark.parametrize(
    "text",
    [
        RUN,
        RUN.replace(" ", "\t"),
        RUN.replace("\n", "\r\n"),
        RUN.rstrip("\n"),
        RUN.replace(" ", "   "),
        RUN.replace(" Q0 ", "\tQ0  "),
        "\n  \n" + RUN.replace("\n", "\n\n"),
        "# made by hand\n" + RUN + "# the end\n",
        RUN.replace("tag", "tag and more words"),
        " " + RUN.replace("\n", "  \n "),
        "\ufeff" + RUN,
    ],
    ids=[
        "plain",
        "tabs",
        "crlf",
        "no last newline",
        "wide",
        "mixed",
        "blank lines",
        "comments",
        "long tags",
        "padded",
        "byte order mark",
    ],
)
def test_run_is_read_however_it_is_laid_out(write: Write, text: str) -> None:
    """A TREC run is the same run whatever blanks, comments and line ends it is written with."""
    assert ranked(write(text)) == RANKED
    assert ranked(write(gzip.compress(text.encode()))) == RANKED


@pytest.mark.parametrize(
    "text",
    [
        QRELS,
        QRELS.replace(" ", "\t"),
        QRELS.replace(" ", "  ").replace("\n", " \r\n"),
        "#query\n\n" + QRELS,
        "query-id\tcorpus-id\tscore\nq1\ta\t1\nq1\tb\t0\nq2\tc\t2\n",
        "score\tcorpus-id\tquery-id\r\n1\ta\tq1\r\n0\tb\tq1\r\n2\tc\tq2\r\n",
        '{"query_id": "q1", "doc_id": "a", "grade": 1}\n{"query_id": "q1", "doc_id": "b", "grade": 0}\n'
        '{"query_id": "q2", "doc_id": "c", "grade": 2}\n',
        '\n{"qid": "q1", "docno": "a", "rel": "1"}\n\n{"qid": "q1", "docno": "b", "rel": 0.0, "note": [1]}\n'
        '{"qid": "q2", "docno": "c", "rel": 2}',
    ],
    ids=["plain", "tabs", "wide", "comments", "BEIR", "BEIR turned round", "JSON lines", "JSON lines, mixed"],
)
def test_qrels_are_read_in_every_format(write: Write, text: str) -> None:
    """Labels are the same whether TREC, BEIR or JSON lines, gzip or not: the content says what they are."""
    assert read_qrels(write(text)).rows() == JUDGED
    assert read_qrels(write(gzip.compress(text.encode()))).rows() == JUDGED


def test_an_object_of_objects_is_labels_or_a_run(write: Write) -> None:
    """{query: {document: number}}, as pytrec_eval, BEIR and ranx hold it, on one line or on several."""
    for indent in (None, 2):
        path = write(json.dumps({"q1": {"b": 0, "a": 1.5}, "q2": {"c": 2}}, indent=indent))
        assert read_qrels(path).select("query_id", "doc_id", "grade").rows() == [
            ("q1", "b", 0.0),
            ("q1", "a", 1.5),
            ("q2", "c", 2.0),
        ]
        assert ranked(path) == [("q1", "b", 2), ("q1", "a", 1), ("q2", "c", 1)]
    with pytest.raises(DataError, match="grade of document 'a' of query 'q1' must be a number, found \"yes\""):
        read_qrels(write('{"q1": {"a": "yes"}}'))
    with pytest.raises(DataError, match="query 'q2' must contain an object of document and score, found 3"):
        read_run(write('{"q1": {"a": 1}, "q2": 3}'))


@pytest.mark.parametrize(
    "names",
    [
        ("query_id", "doc_id", "score"),
        ("qid", "docno", "score"),
        ("query-id", "corpus-id", "sim"),
        ("Qid", "pid", "Score"),
    ],
)
def test_parquet_and_json_lines_under_usual_names(tmp_path: Path, names: tuple[str, str, str]) -> None:
    """Columns are found under the names that the field's tools give them; others are left aside."""
    frame = pl.DataFrame([["q1", "b", 2.5], ["q1", "a", 3.5], ["q2", "c", 0.001]], list(names), orient="row")
    frame = frame.with_columns(rank=pl.Series([9, 9, 9]), text=pl.lit("ignored"))
    frame.write_parquet(tmp_path / "run.bin")
    frame.write_ndjson(tmp_path / "run.txt")
    assert ranked(tmp_path / "run.bin") == ranked(tmp_path / "run.txt") == RANKED
    labels = pl.DataFrame({names[0]: ["q1", "q1", "q2"], names[1]: ["a", "b", "c"], "relevance": [1, 0, 2]})
    labels.write_parquet(tmp_path / "qrels.bin")
    assert read_qrels(tmp_path / "qrels.bin").rows() == JUDGED


def test_whole_numbers_are_ids(tmp_path: Path) -> None:
    """Ids that are numbers in Parquet or JSON are the same text as in a TREC file."""
    frame = pl.DataFrame({"query_id": [1, 1], "doc_id": [20, 3], "score": [1, 2]})
    frame.write_parquet(tmp_path / "run")
    lines = '{"query_id": 1, "doc_id": 20, "score": 1}\n{"query_id": "1", "doc_id": 3, "score": 2}\n'
    (tmp_path / "run.jsonl").write_text(lines)
    (tmp_path / "run.txt").write_text("1 Q0 20 1 1 t\n1 Q0 3 2 2 t\n")
    expected = [("1", "20", 2), ("1", "3", 1)]
    assert [ranked(tmp_path / name) for name in ("run", "run.jsonl", "run.txt")] == [expected] * 3
    frame.cast({"query_id": pl.String}).cast({"query_id": pl.Categorical}).write_parquet(tmp_path / "run")
    assert ranked(tmp_path / "run") == expected


def test_run_without_scores_keeps_its_ranks(tmp_path: Path) -> None:
    """Where there are only ranks, they are the order; where there are scores, the rank column is ignored."""
    frame = pl.DataFrame({"query_id": ["q"] * 3, "doc_id": ["a", "b", "c"], "rank": [30, 10, 20]})
    frame.write_parquet(tmp_path / "run")
    assert ranked(tmp_path / "run") == [("q", "a", 3), ("q", "b", 1), ("q", "c", 2)]
    frame.with_columns(score=pl.Series([3.0, 2.0, 1.0])).write_parquet(tmp_path / "run")
    assert ranked(tmp_path / "run") == [("q", "a", 1), ("q", "b", 2), ("q", "c", 3)]


def test_ties_fall_in_descending_byte_order(write: Write) -> None:
    """Equal scores are ordered as C's strcmp orders document ids, backwards: é before z before a before 9 before 10."""
    docs = ["10", "9", "Z", "a", "z", "é", "\U0001f600", "\uff21"]
    text = "".join(f"q Q0 {doc} 1 7 t\n" for doc in docs)
    found = sorted(ranked(write(text)), key=lambda row: row[2])
    assert [doc for _, doc, _ in found] == sorted(docs, key=str.encode, reverse=True)


def test_near_ties_depend_on_the_precision(write: Write) -> None:
    """Scores that differ in the 9th digit tie in 32 bits, as in trec_eval 9 and pytrec_eval, and not in 64."""
    path = write("q Q0 a 1 10.00000002 t\nq Q0 b 2 10.00000001 t\n")
    assert ranked(path) == [("q", "a", 1), ("q", "b", 2)]
    assert ranked(path, 32) == [("q", "a", 2), ("q", "b", 1)]
    with pytest.raises(UsageError, match="score_bits must be 64 or 32, got 16"):
        read_run(path, 16)  # type: ignore[arg-type]


queries, documents = st.sampled_from(["q1", "q2", "q3"]), st.text("abAé19", min_size=1, max_size=2)
rows = st.lists(st.tuples(queries, documents, st.sampled_from([0.0, -0.0, 1.5, -2.0])), min_size=1, max_size=30)


@settings(deadline=None)
@given(rows, st.integers(0, 30), st.booleans())
def test_order_equals_sorting(found: list[tuple[str, str, float]], cut: int, tidy: bool) -> None:
    """Ranks are places in the list sorted by score, then document id, both descending.

    Rows may stand anyhow, tidily even, and be stored in pieces.
    """
    if tidy:
        found = sorted(found, key=lambda one: (one[0], -one[2]))
    columns = [pl.Series(column) for column in zip(*found, strict=True)]
    query, doc, score = (pl.concat([one[:cut], one[cut:]], rechunk=False) for one in columns)
    given_ranks = compute_ranks(query, doc, score).to_list()
    for name in set(query):
        own = [(found[n][2], found[n][1].encode(), n) for n in range(len(found)) if found[n][0] == name]
        expected = sorted(own, key=lambda one: one[:2], reverse=True)
        places = sorted((given_ranks[n], found[n][2], found[n][1].encode()) for _, _, n in own)
        assert [place for place, *_ in places] == list(range(1, len(own) + 1))
        assert [tuple(rest) for _, *rest in places] == [one[:2] for one in expected]


def test_many_queries_in_any_order() -> None:
    """More queries than 16 bits can number are ordered too, when no query's rows stand together."""
    n = 70_000
    rng = random.Random(3)
    query = pl.Series([str(i % n) for i in range(2 * n)])
    score = pl.Series([rng.random() for _ in range(2 * n)])
    found = compute_ranks(query, pl.Series(["d"] * (2 * n)), score)
    first_better = score[:n] > score[n:]
    assert (found[:n] == pl.select(pl.when(first_better).then(1).otherwise(2)).to_series()).all()
    assert (found[:n] + found[n:] == 3).all()


def test_duplicates_are_kept(write: Write) -> None:
    """A document that a run returns twice keeps both places."""
    assert ranked(write("q Q0 a 1 3 t\nq Q0 b 2 2 t\nq Q0 a 3 1 t\n")) == [("q", "a", 1), ("q", "b", 2), ("q", "a", 3)]


def test_repeated_label_is_read_once(write: Write) -> None:
    """The same label on two lines is one label."""
    assert read_qrels(write("q 0 a 1\nq 0 b 0\nq 7 a 1\n")).rows() == [("q", 0, "a", 1.0), ("q", 1, "b", 0.0)]


SIX = "expected six fields (query, Q0, document, rank, score, tag), found"
NO_ID = "pid must be text or a whole number, found"
WRONG_RUNS: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", "file: the file is empty."),
    "blank": ("\n  \n", "file: the file is empty."),
    "only a comment": ("# nothing\n", "file: the file has no lines."),
    "five fields": (RUN + "q3 Q0 d 1 0.5\n", f"file line 4: {SIX} 5."),
    "empty field": ("q1\tQ0\t\t1\t0.5\tt\n", f"file line 1: {SIX} 5."),
    "qrels": (QRELS, f"file line 1: {SIX} 4. This looks like qrels. Give the labels first, then the run."),
    "score is a word": (RUN + "q3 Q0 d 1 high t\n", "file line 4: score must be a finite number, found 'high'."),
    "score is NaN": (RUN + "q3 Q0 d 1 nan t\n", "file line 4: score must be a finite number, found"),
    "score is infinite": ("# x\nq3 Q0 d 1 -inf t\n", "file line 2: score must be a finite number, found '-inf'."),
    "decimal comma": ("q3 Q0 d 1 0,5 t\n", "file line 1: score must be a finite number, found '0,5'."),
    "Latin-1": (RUN.encode() + b"q3 Q0 caf\xe9 1 1 t\n", "file line 4: byte 0xE9 at position 10 is not UTF-8"),
    "UTF-16": (RUN.encode("utf-16-le"), "file line 1: expected UTF-8 text (or gzip, or Parquet), found binary data"),
    "cut gzip": (gzip.compress(RUN.encode() * 50)[:-20], "file: the compressed data is corrupt or truncated"),
    "header": ("query_id\tdoc_id\tscore\nq\td\t1\n", "found a table with a header."),
    "JSON array": ('[{"query_id": "q", "doc_id": "d", "score": 1}]', "line 1: expected a JSON object, found list."),
    "broken JSON": ('{"qid": "q", "pid": "d", "score": 1}\n{"qid": "q"\n', "line 2: expected one JSON object per line"),
    "field missing": ('{"qid": "q", "pid": "d", "score": 1}\n{"qid": "q", "score": 1}\n', f"line 2: {NO_ID} nothing."),
    "null score": ('{"qid": "q", "pid": "d", "score": null}\n', "line 1: score must be a number, found nothing."),
    "score is true": ('{"qid": "q", "pid": "d", "score": true}\n', "line 1: score must be a number, found true."),
    "id is a list": (
        '{"qid": "q", "pid": "c", "score": 1}\n{"qid": "q", "pid": ["d"], "score": 1}\n',
        f'line 2: {NO_ID} ["d"].',
    ),
    "no document": ('{"qid": "q", "score": 1}\n', "no column 'doc_id' (found: qid, score). Accepted names: doc_id"),
    "no score": ('{"qid": "q", "pid": "d"}\n', "no column 'score' (found: qid, pid). Accepted names: score, sim."),
}
WRONG_QRELS: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", "file: the file is empty."),
    "three fields": (
        QRELS + "q3 d 1\n",
        "file line 4: expected four fields (query, iteration, document, grade), found 3.",
    ),
    "run": (RUN, "found 6. This looks like a run. Give the labels first, then the run."),
    "grade is a word": (QRELS + "q3 0 d yes\n", "file line 4: grade must be a finite number, found 'yes'."),
    "grade is NaN": (QRELS + "q3 0 d NaN\n", "file line 4: grade must be a finite number, found 'NaN'."),
    "two grades": (
        QRELS + "q1 0 b 2\n",
        "file line 4: document 'b' of query 'q1' has grade 2, but grade 0 on line 2. Keep one grade.",
    ),
    "BEIR without score": ("query-id\tcorpus-id\nq\td\n", "no column 'grade' (found: query-id, corpus-id)."),
    "BEIR row": (
        "query-id\tcorpus-id\tscore\nq\td\t1\nq\td2\n",
        "line 3: expected 3 fields separated by tabs (query-id, corpus-id, score), found 2.",
    ),
    "BEIR empty id": ("query-id\tcorpus-id\tscore\nq\t\t1\n", "line 2: doc_id is missing."),
    "BEIR no rows": ("query-id\tcorpus-id\tscore\n", "the file has no lines."),
    "two grades in JSON": (
        '{"qid": "q", "pid": "d", "rel": 1}\n\n{"qid": "q", "pid": "d", "rel": 2}\n',
        "line 3: document 'd' of query 'q' has grade 2, but grade 1 on line 1.",
    ),
}


@pytest.mark.parametrize("case", WRONG_RUNS)
def test_wrong_run_is_refused(write: Write, case: str) -> None:
    """What is wrong with a run is said once, with file, line, what was expected and what was found."""
    content, message = WRONG_RUNS[case]
    with pytest.raises(DataError) as caught:
        read_run(write(content))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("case", WRONG_QRELS)
def test_wrong_qrels_are_refused(write: Write, case: str) -> None:
    """What is wrong with labels is said once, with file, line, what was expected and what was found."""
    content, message = WRONG_QRELS[case]
    with pytest.raises(DataError) as caught:
        read_qrels(write(content))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    """A directory and a name that does not exist are refused as what they are."""
    with pytest.raises(DataError, match="expected a file, found a directory"):
        read_run(tmp_path)
    with pytest.raises(DataError, match="no such file"):
        read_qrels(tmp_path / "absent")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"query_id": ["q", None]}, "row 2: query_id is missing."),
        ({"score": [1.0, None]}, "row 2: score must be a finite number, found nothing."),
        ({"score": [1.0, float("nan")]}, "row 2: score must be a finite number, found nan."),
        ({"query_id": [1.0, 2.0]}, "query_id must be text or whole numbers, found Float64."),
        ({"score": [True, False]}, "score must be a number, found Boolean."),
        ({"score": None}, "no column 'score' (found: query_id, doc_id)."),
        ({"query_id": [], "doc_id": [], "score": []}, "the file has no rows."),
    ],
)
def test_wrong_parquet_is_refused(tmp_path: Path, columns: dict[str, list[object] | None], message: str) -> None:
    """What is wrong in Parquet is said with the row."""
    table = {"query_id": ["q", "q"], "doc_id": ["a", "b"], "score": [1.0, 2.0], **columns}
    pl.DataFrame({name: column for name, column in table.items() if column is not None}).write_parquet(tmp_path / "run")
    with pytest.raises(DataError) as caught:
        read_run(tmp_path / "run")
    assert message in str(caught.value)


def test_damaged_parquet_is_refused(tmp_path: Path) -> None:
    """A Parquet file that was cut short is refused, not half read."""
    path = tmp_path / "run"
    pl.DataFrame({"query_id": ["q"] * 999, "doc_id": ["d"] * 999, "score": [1.0] * 999}).write_parquet(path)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(DataError, match="is not a readable Parquet file"):
        read_run(path)


def test_fast_and_patient_way_agree(write: Write) -> None:
    """A large run is read alike whether regular or not: one comment sends the same lines the slow way."""
    rng = random.Random(11)
    text = "".join(
        f"{query} Q0 d{rng.randrange(10**6)} 1 {rng.choice([rng.random(), 0.5])!r} t\n"
        for query in range(30)
        for _ in range(100)
    )
    quick, patient = read_run(write(text)), read_run(write(text + "# end\n"))
    assert quick.equals(patient.cast({"score": pl.Float64}))
    assert quick["score"].to_list() == [float(line.split()[4]) for line in text.splitlines()]


def test_irregular_line_far_down_is_read_right(write: Write) -> None:
    """A line with two blanks, a long tag or a field too few is seen wherever it stands, not only at the top."""
    text = "".join(f"q Q0 d{n} 1 {n} t\n" for n in range(2_000))
    run = read_run(write(text + "q Q0 wide  1 5000 t\nq Q0 long 1 6000 t and more\n"))
    assert run.filter(pl.col("rank") <= 2).rows() == [("q", "wide", 5000.0, 2), ("q", "long", 6000.0, 1)]
    with pytest.raises(DataError, match="line 2001: expected six fields"):
        read_run(write(text + "q Q0 short 1 5000\n"))


@pytest.mark.parametrize("cuts", [[1], [2], [3, 3], [2, 5], [1, 2, 3, 4, 5]])
def test_starts_do_not_depend_on_how_the_column_is_stored(cuts: list[int]) -> None:
    """Blocks of rows are the same however many chunks the column comes in, empty ones too."""
    whole = pl.Series(["a", "a", "b", "b", "b", "a"])
    parts = [whole[start:end] for start, end in pairwise([0, *cuts, len(whole)])]
    stored = pl.concat(parts, rechunk=False)
    assert stored.n_chunks() > 1
    assert find_query_starts(stored).tolist() == find_query_starts(whole).tolist() == [0, 2, 5]
    assert find_query_starts(whole.clear()).tolist() == []


@pytest.mark.realdata
@pytest.mark.skipif(not DATA.is_dir(), reason="the public data sets are not beside the repository")
def test_real_run_keeps_every_line() -> None:
    """A real run with ties has each query's ranks from 1 to its length, in the order of its scores."""
    run = read_run(DATA / "robust03/input.MU03rob01.gz")
    by_rank = run.sort("query_id", "rank")
    places = pl.int_range(1, pl.len() + 1).over("query_id")
    assert by_rank.select((pl.col("rank") == places).all()).item()
    falls = by_rank.with_columns(step=pl.col("score").diff().over("query_id"))["step"].drop_nulls()
    assert (falls <= 0).all()
    assert (falls == 0).any()
    assert (run.height, run["query_id"].n_unique()) == (100_000, 100)
