"""Public files with the shapes that people bring."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragauge.readers.source import read_source

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data" / "ragchecker_meta"

pytestmark = [
    pytest.mark.realdata,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="the public data sets are not beside the repository"),
]


@pytest.mark.parametrize("name", ["baseline_ragchecker.json", "human_labeled_data.json"])
def test_ragchecker_meta_evaluation(name: str) -> None:
    """280 questions with the answers of two systems each are 560 responses, none of them with passages."""
    path = FOLDER / name
    seen: list[str] = []
    both = [list(read_source(path, system=side, warn=seen.append)) for side in ("model1", "model2")]
    responses = [record.response for side in both for record in side]
    assert [len(side) for side in both] == [280, 280]
    assert len(responses) == 560
    assert all(one is not None and one.answer is not None for one in responses)
    assert all(one is not None and one.passages is None for one in responses)
    assert {one.missing["passages"] for one in responses if one is not None} == {"no field passages"}
    assert [record.example for record in both[0]] == [record.example for record in both[1]]
    assert len({record.example.segments["dataset"] for record in both[0]}) == 10
    assert all(record.example.references for record in both[0])
    assert sum(one is not None and one.answer == "" for one in responses) == 6  # as they stand in the file: answers
    assert not seen


def test_each_of_the_eight_systems() -> None:
    """Chosen by name, each of the eight systems has 70 answers, together all 560."""
    path = FOLDER / "baseline_ragchecker.json"
    models = ("gpt_4", "llama3_8b", "llama3_70b", "mixtral_8x7b")
    names = [f"{retriever}_{model}" for retriever in ("bm25", "e5_mistral") for model in models]
    assert [len(list(read_source(path, system=name))) for name in names] == [70] * 8
