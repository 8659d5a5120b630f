"""Scores as lines, as a table, as files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from jsonschema import Draft202012Validator

from ragauge.core.errors import DataError
from ragauge.core.example import Example
from ragauge.core.facts import AnswerFacts, Claim, Evidence
from ragauge.core.jsonl_files import write_records
from ragauge.core.response import Passage, Response
from ragauge.core.score import COLUMNS, Score, build_score_table
from ragauge.core.verdict import ExampleVerdict
from ragauge.rendering import plain_csv
from ragauge.rendering.writers.scores_jsonl import View, scores_to_dict, write_scores

SCHEMA = Path(__file__).resolve().parents[2] / "src/ragauge/core/schema/scores.schema.json"
SCORED = Score("r", "q1", 0, "faithfulness", 1, "local", 0, "scored", 0.5, 1, 2, 0.5, 0.5)
EMPTY = Score("r", "q1", 1, "recall@5", 1, None, 0, "not_applicable", reason="no relevance labels")
CLAIMS = (
    Claim(1, "It is tall.", supporting=(2, 1), p=0.9),
    Claim(2, "It is green.", contradicting=(1,), p=0.1),
    Claim(3, None, status="failed"),
)

VERDICTS = ExampleVerdict("failed", "passed", "failed", "a passage contradicts claim 2")


def view(repeat: int = 0) -> View:
    """One example with two passages and three claims."""
    response = Response("q1", repeat, passages=(Passage("d#1", "d", "a"), Passage("e", "e", "b")), answer="x")
    facts = AnswerFacts(CLAIMS, "fully", False)
    evidence = {"verify_answer": Evidence("k", "verify_answer", 1, "local", "ok", facts)}
    return Example("q1", "?"), response, evidence, {"faithfulness": SCORED, "recall@5": EMPTY}, "contradicted", VERDICTS


def test_a_line_of_scores() -> None:
    """A line holds each score with its status, each claim with the passages' ids, and the cause."""
    assert scores_to_dict(*view()) == {
        "query_id": "q1",
        "scores": {
            "faithfulness": {"value": 0.5, "status": "scored", "reason": ""},
            "recall@5": {"value": None, "status": "not_applicable", "reason": "no relevance labels"},
        },
        "claims": [
            {"text": "It is tall.", "label": "supported", "p": 0.9, "supporting": ["e", "d#1"], "contradicting": []},
            {"text": "It is green.", "label": "contradicted", "p": 0.1, "supporting": [], "contradicting": ["d#1"]},
            {"text": None, "label": None, "p": None, "supporting": [], "contradicting": []},
        ],
        "cause": "contradicted",
        "verdict": "failed",
        "verdicts": {"right": "passed", "grounded": "failed"},
        "reason": "a passage contradicts claim 2",
    }


def test_an_example_that_nobody_judged() -> None:
    """Without evidence there are no claims, without a cause it is null; a second answer says so."""
    example, response, *_ = view(repeat=1)
    assert scores_to_dict(example, response, {}, {}) == {
        "query_id": "q1",
        "repeat": 1,
        "scores": {},
        "claims": [],
        "cause": None,
    }


def test_lines_keep_to_their_schema(tmp_path: Path) -> None:
    """What is written is what the schema says."""
    validator = Draft202012Validator(json.loads(SCHEMA.read_text()))
    validator.check_schema(validator.schema)
    assert write_scores(tmp_path / "scores.jsonl", [view(), view(1)]) == 2
    lines = (tmp_path / "scores.jsonl").read_text().splitlines()
    assert [list(validator.iter_errors(json.loads(line))) for line in lines] == [[], []]
    assert list(validator.iter_errors({"query_id": "q1", "scores": {"a": {"value": 1, "status": "nan"}}}))


def test_a_table_of_scores() -> None:
    """Every score is a row; a missing value is null, never 0 or NaN."""
    assert build_score_table([SCORED, EMPTY]).to_dicts() == [
        {
            "query_id": "q1",
            "repeat": 0,
            "metric": "faithfulness",
            "status": "scored",
            "value": 0.5,
            "numerator": 1.0,
            "denominator": 2.0,
            "low": 0.5,
            "high": 0.5,
            "reason": "",
            "judge_id": "local",
        },
        {
            "query_id": "q1",
            "repeat": 1,
            "metric": "recall@5",
            "status": "not_applicable",
            "value": None,
            "numerator": None,
            "denominator": None,
            "low": None,
            "high": None,
            "reason": "no relevance labels",
            "judge_id": None,
        },
    ]


def test_an_empty_table_has_the_same_columns() -> None:
    """No scores: the same columns of the same types."""
    empty = build_score_table([])
    assert (tuple(empty.columns), empty.height) == (COLUMNS, 0)
    assert empty.schema == build_score_table([SCORED]).schema


def test_table_files(tmp_path: Path) -> None:
    """CSV and Parquet hold the table."""
    table = build_score_table([SCORED, EMPTY])
    assert plain_csv.write_parquet(tmp_path / "s.parquet", table) == 2
    assert plain_csv.write_csv(tmp_path / "s.csv", table) == 2
    assert pl.read_parquet(tmp_path / "s.parquet").equals(table)
    read = pl.read_csv(tmp_path / "s.csv", schema=table.schema)
    numbers = ["value", "numerator", "denominator", "low", "high"]
    assert read.select("query_id", "repeat", "metric", "status", *numbers).equals(
        table.select("query_id", "repeat", "metric", "status", *numbers)
    )


def test_a_file_is_whole_or_absent(tmp_path: Path) -> None:
    """When writing breaks off, the old file stays and nothing else is left behind."""
    path = tmp_path / "a.jsonl"
    write_records(path, [Example("1", "old")])
    before = path.read_text()

    def broken() -> Iterator[Example]:
        yield Example("1", "new")
        raise DataError("stop")

    with pytest.raises(DataError, match="stop"):
        write_records(path, broken())
    assert path.read_text() == before
    assert [one.name for one in tmp_path.iterdir()] == ["a.jsonl"]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    """Writing where nothing can be written is one clear sentence."""
    path = tmp_path / "no" / "a.jsonl"
    with pytest.raises(DataError) as error:
        write_records(path, [Example("1", "q")])
    assert str(error.value) == (
        f"{path}: cannot be written: No such file or directory. Check that the folder exists and is writable."
    )


def test_an_error_of_what_is_read_stays_its_own(tmp_path: Path) -> None:
    """A file that cannot be read while another is written is not taken for the one being written."""

    def rows() -> Iterator[Example]:
        (tmp_path / "absent").read_text()
        yield Example("1", "q")

    with pytest.raises(FileNotFoundError, match="absent"):
        write_records(tmp_path / "a.jsonl", rows())
