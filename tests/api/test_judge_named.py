"""Which judge of a run a text means: what `evaluate --judge` was given, an id, or how one begins."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ragauge.core.errors import UnknownName, UsageError
from ragauge.store.store_access import Store, open_store
from ragauge.verbs.judge_lookup import match_judges, resolve_judge_id

FUSED, CLAIMS = "openai:gpt-5-mini#1a", "openai:gpt-5-mini#2b"
OLD, NEW = "calibrated:local:overlap-1#3c", "calibrated:local:overlap-1#4d"
SPECS = {
    FUSED: "openai:gpt-5-mini",
    CLAIMS: "openai:gpt-5-mini,mode=per_claim",
    OLD: "calibrated:judge.json",
    NEW: "calibrated:judge.json",
    "openai:gpt-5#5e": "openai:gpt-5",
}
PEOPLE = ("people:4be01c92a7d3#7f", "people:4be01c92a7d3#6e")
JUDGES = (*SPECS, *PEOPLE)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store that knows the specs."""
    with open_store(f"sqlite:///{tmp_path / 'store.db'}") as opened:
        for judge_id, spec in SPECS.items():
            opened.judges.save_spec(judge_id, spec)
        yield opened


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (FUSED, FUSED),
        (SPECS[FUSED], FUSED),
        (SPECS[CLAIMS], CLAIMS),
        ("openai:gpt-5-mini#2", CLAIMS),
        ("people", PEOPLE[0]),
        ("openai:gpt-5", "openai:gpt-5#5e"),
    ],
)
def test_spec_id_and_beginning_name_a_judge(store: Store, text: str, found: str) -> None:
    """A spec names its judge alone though other ids begin so, an id and a unique beginning too; of people the last."""
    assert resolve_judge_id(store, text, JUDGES, "this run") == found


def test_several_and_none_are_told_with_all_there_are(store: Store) -> None:
    """What may be two judges, and what is none, is an error that names ids, and specs where they are other texts."""
    with pytest.raises(UsageError, match=rf"may mean 2 judges of this run: {OLD} \(--judge calibrated:judge.json\), "):
        resolve_judge_id(store, "calibrated:judge.json", JUDGES, "this run")
    with pytest.raises(UsageError, match="'openai' may mean 3 judges of this run"):
        resolve_judge_id(store, "openai", JUDGES, "this run")
    with pytest.raises(UnknownName, match=r"run 'calibrated:juge\.json'; nearest: calibrated:judge\.json"):
        resolve_judge_id(store, "calibrated:juge.json", JUDGES, "this run")
    assert match_judges(store, "nobody", JUDGES) == []
