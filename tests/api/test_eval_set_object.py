"""A set of examples as a Python object: its length, its examples, its repr; and scores as a pandas frame."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import ragauge as rg

ROWS = [
    {"query_id": f"q{n}", "query": f"How deep is basin {n}?", "reference_answer": f"{n} metres", "relevant": [f"d{n}"]}
    for n in range(3)
]


def plain(frame: pd.DataFrame) -> list[dict[Hashable, Any]]:
    """The rows of a frame, what is missing as None."""
    whole = frame.astype(object)
    return whole.where(whole.notna(), None).to_dict("records")


def test_a_set_has_a_length_and_examples() -> None:
    """A set is as long as it has examples, which it gives one by one."""
    found = rg.read_set(ROWS)
    assert len(found) == 3
    assert [example.query_id for example in found] == ["q0", "q1", "q2"]


def test_the_repr_of_a_set_is_short() -> None:
    """A set shows its name, its size and what labels there are, not its examples."""
    rows = [*ROWS, {"query_id": "q9", "query": "Why?", "reference_answer": "So."}]
    assert repr(rg.read_set(rows, name="golden")) == "EvalSet('golden', 4 examples: references of all, relevant of 3)"
    assert repr(rg.read_set([{"query": "Why?"}], name="new")) == "EvalSet('new', 1 example: no labels)"


@pytest.mark.prove
def test_scores_without_pyarrow(tmp_path: Path) -> None:
    """A pandas frame needs no pyarrow, and is the one that polars makes with it."""
    rows = [{**row, "answer": "It is 2 metres.", "passages": ["Basin 2 is 2 metres deep."]} for row in ROWS]
    store = f"sqlite:///{tmp_path}/frame.db"
    card = rg.evaluate(rows, judge="local", store=store, metrics="faithfulness,recall@5,refusal_correctness")
    for wide in (False, True):
        assert plain(card.to_pandas(wide=wide)) == plain(card.to_polars(wide=wide).to_pandas())
    program = (
        f"import sys; sys.modules['pyarrow'] = None\nimport ragauge as rg\ncard = rg.evaluate({rows!r}, judge='local', "
        f"store={store!r}, metrics='recall@5')\nprint(card.to_pandas().shape, len(card.to_pandas(wide=True)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "(3, 16) 3", done.stderr
