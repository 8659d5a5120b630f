"""The overview of stored runs, from file to scorecard."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ragauge as rg
from ragauge.evaluation.overview import response_list as listing
from ragauge.scores.results.overview import Overview

Row = dict[str, Any]


def rows(seed: int, count: int) -> list[Row]:
    """Questions about towers; the right page is among the candidates, and often handed on."""
    draw, made = random.Random(seed), []
    text = "Tower {n} is {m} metres tall. It stands in town {n}."
    pages = [{"doc_id": f"d{n}", "text": text.format(n=n, m=100 + n)} for n in range(30)]
    for n in range(count):
        page = draw.randrange(30)
        ranking = draw.sample(pages[:page] + pages[page + 1 :], 5)
        ranking.insert(draw.randint(0, 5), pages[page])
        metres = 100 + page if draw.random() < 0.8 else 990
        made.append(
            {
                "query_id": f"q{n}",
                "query": f"How tall is tower {page}, asked {n} times?",
                "answer": f"Tower {page} is {metres} metres tall.",
                "reference_answer": f"{100 + page} metres.",
                "passages": ranking[:3],
                "candidates": ranking,
                "relevant": {f"d{page}": 1},
                "answerable": True,
                "latency_ms": {"retrieval": draw.random(), "generation": 2.0},
                "tokens": {"input": 90, "output": 9},
                "segments": {"kind": draw.choice("ab")},
            }
        )
    return made


def evaluated(path: Path, name: str, made: list[Row], **more: Any) -> Any:
    file = path / f"{name}.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in made))
    return rg.evaluate(str(file), store=f"sqlite:///{path / name}.db", **more)


def test_overview_of_a_run(tmp_path: Path) -> None:
    """Everything is filled from what the file holds, and read back the same from the store."""
    made = rows(1, 60)
    card = evaluated(tmp_path, "towers", made)
    found = card.card.overview
    assert found.listed_of == len(found.listed) == 60
    assert [row.failed for row in found.listed] == sorted((row.failed for row in found.listed), reverse=True)
    asked = {row["query_id"]: row["query"] for row in made}
    assert {row.query_id: row.query for row in found.listed} == asked
    handed = sum(any(passage["doc_id"] in row["relevant"] for passage in row["passages"]) for row in made)
    stages = {stage.name: stage.recall.mean for stage in found.stages}
    assert stages["candidates"] == 1.0
    assert stages["handed on"] == stages["top n of the candidates"] == pytest.approx(handed / 60)
    assert [timing.stage for timing in found.timings] == ["total", "generation", "retrieval"]
    assert found.spending is not None
    assert (dict(found.spending.tokens), found.spending.cost) == ({"input": 5_400, "output": 540}, None)
    assert sum(band.n for band in found.lengths) == 60
    for cells in found.causes_by_segment.values():
        assert sum(sum(counts.values()) for counts in cells.values()) == card.card.failed_examples
    assert set(found.causes_by_segment) == set(card.card.segments)
    alignment = found.alignment
    assert alignment is not None
    ignored = card["ignored_top_ranked"]  # every question is answerable here: the metric's own mean and interval
    assert alignment.ignored_share.mean == pytest.approx(ignored.mean)
    assert alignment.ignored_share.interval == ignored.interval
    again = rg.open_run("towers", store=f"sqlite:///{tmp_path / 'towers.db'}").scorecard().card.overview
    assert in_order(again) == in_order(found)


def in_order(found: Overview) -> Overview:
    """With distributions by name: a stored scorecard orders metrics by who was asked."""
    return replace(found, distributions=tuple(sorted(found.distributions, key=lambda shown: shown.metric)))


@pytest.mark.prove
def test_only_the_examples_that_match(tmp_path: Path) -> None:
    """With a filter, the overview is over the examples that match, and nothing else."""
    made = rows(2, 40)
    wanted = {row["query_id"] for row in made if row["segments"]["kind"] == "a"}
    found = evaluated(tmp_path, "some", made, filter={"kind": "a"}).card.overview
    assert {row.query_id for row in found.listed} == wanted
    assert found.listed_of == len(wanted)
    assert found.timings[0].n == len(wanted)


def test_questions_that_were_not_kept_are_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run larger than the list has the questions of all its rows, wherever they stand in the file."""
    monkeypatch.setattr(listing, "MAX_LISTED", 5)
    made = rows(3, 30)
    found = evaluated(tmp_path, "large", made).card.overview
    asked = {row["query_id"]: row["query"] for row in made}
    assert {row.query_id: row.query for row in found.listed} == asked
