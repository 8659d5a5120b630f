"""Answers made of code: what stands in the passages is supported, what is changed by a letter is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ragauge as rg

PASSAGES = (
    "Set `PUMP_CA_BUNDLE_PATH` to the certificates. The variable PUMP_TIMEOUT_SECONDS is 30 unless it is set.",
    "Run `valve install --no-cache seal` to leave the cache alone. Settings are read from ~/.config/valve/keys.toml by "
    "valve.core.loader.",
    "Release v2.1.3 needs Python 3.11 or later. Call `session.close_all()` before you leave. The flag -v prints more, "
    "and --dry-run changes nothing.",
    'The method `__enter__` takes max_tries and *args.\n```python\nclient = Client(base="depot_a")\n```\n'
    "It writes to pump-server_01.log.",
)
# an answer from the passages, and what is put in the place of what
CHANGED = [
    ("PUMP_CA_BUNDLE_PATH", "BUNDLE", "CERT"),
    ("`PUMP_CA_BUNDLE_PATH`", "PUMP_CA_BUNDLE_PATH", "PUMP_CA_BUNDLE"),
    ("Set `PUMP_CA_BUNDLE_PATH` to the certificates.", "BUNDLE_PATH", "PATH_BUNDLE"),
    ("The variable PUMP_TIMEOUT_SECONDS is 30 unless it is set.", "SECONDS", "MILLIS"),
    ("--no-cache", "--no-cache", "--no-cache-dir"),
    ("`--no-cache`", "--no-cache", "--cache"),
    ("Run `valve install --no-cache seal` to leave the cache alone.", "--no-cache", "--no-cache-dir"),
    ("Settings are read from ~/.config/valve/keys.toml.", "keys.toml", "keys.yaml"),
    ("~/.config/valve/keys.toml", "~/.config", "/etc"),
    ("They are read by valve.core.loader.", "loader", "reader"),
    ("Release v2.1.3 needs Python 3.11 or later.", "v2.1.3", "v2.1.4"),
    ("Release v2.1.3 needs Python 3.11 or later.", "3.11", "3.1"),
    ("v2.1.3", "v2.1.3", "v2.1"),
    ("Call `session.close_all()` before you leave.", "close_all", "close"),
    ("The flag -v prints more.", "-v", "-q"),
    ("The `--dry-run` flag changes nothing.", "--dry-run", "--dry"),
    ("`__enter__` takes `max_tries`.", "__enter__", "__exit__"),
    ('```python\nclient = Client(base="depot_a")\n```', "depot_a", "depot_b"),
    ("It writes to pump-server_01.log.", "pump-server", "pump_server"),
]


def judged(answers: list[str], folder: Path) -> list[Any]:
    """What the local judge says of each answer, by the way of every evaluation."""
    rows = [
        {
            "query_id": f"q{n}",
            "query": "How is the valve set up?",
            "answer": answer,
            "passages": [{"doc_id": f"d{k}", "text": text} for k, text in enumerate(PASSAGES)],
        }
        for n, answer in enumerate(answers)
    ]
    card = rg.evaluate(rows, metrics="faithfulness", judge="local", store=f"sqlite:///{folder}/s.db", name="code")
    return [card.example(f"q{n}") for n in range(len(answers))]


def supported(example: Any) -> bool:
    claims = example["claims"]
    return bool(claims) and all(claim["passages"] for claim in claims)


def test_code_from_the_passages_is_supported(tmp_path: Path) -> None:
    """Identifiers, flags, paths, versions, fences, alone and in sentences: what is copied from a passage stands."""
    answers = [answer for answer, _, _ in CHANGED]
    assert [answer for answer, one in zip(answers, judged(answers, tmp_path), strict=True) if not supported(one)] == []


def test_changed_code_is_not_supported(tmp_path: Path) -> None:
    """With one identifier changed the same answer has no support, though nearly all its words are there."""
    answers = [answer.replace(old, new) for answer, old, new in CHANGED]
    assert [answer for answer, one in zip(answers, judged(answers, tmp_path), strict=True) if supported(one)] == []


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("- **Set** `PUMP_CA_BUNDLE_PATH` now.", ["Set PUMP_CA_BUNDLE_PATH now."]),
        ("`__enter__` takes *args.", ["__enter__ takes *args."]),
        ("Run `a_b --no-cache; c. D` and stop.", ["Run a_b --no-cache; c. D and stop."]),
        (
            "```python\nkeys[0] = a_b[1]  # *all*\n- pump | lid\n```\nIt ends [1].",
            ["keys[0] = a_b[1]  # *all*", "- pump | lid", "It ends."],
        ),
        ("~~~\nkeys[0] = 1", ["keys[0] = 1"]),
    ],
)
def test_claims_show_code_as_it_is_written(answer: str, shown: list[str], tmp_path: Path) -> None:
    """Nothing of an identifier or of a code span is lost on the way to a claim."""
    (one,) = judged([answer], tmp_path)
    assert [claim["text"] for claim in one["claims"]] == shown
