"""A report whose judge is not sure leads to labels, with a command that works as it is printed."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from tests.cli.conftest import Cli

import ragauge as rg
from ragauge.diagnosis.findings.cause_texts import MAX_WIDTH, advise_labels
from ragauge.scores.results.scorecard import ScorecardData
from ragauge.stats.weighted import Interval

N = 50
COMMAND = re.compile(  # a terminal prints it after the sentence, a page within
    r"abel \d+ answers, about \d+ minutes(?:, to decide their verdicts)?(?:; or use a model judge \(--judge\)\.|:)? "
    r"\(?ragauge (label draw .*? -o page\.html)"
)


def write_towers(path: Path, *, gold: bool = True, n: int = N) -> Path:
    """Answers of which the local judge finds half supported, so that its error leaves the mean open."""
    rows = [
        {
            "query_id": f"q{i}",
            "query": f"How tall is tower {i}?",
            "answer": f"Tower {i} is {300 + i + 9 * (i % 2)} metres tall.",
            "passages": [{"doc_id": f"d{i}", "text": f"Tower {i} is {300 + i} metres tall."}],
            **({"relevant": [f"d{i}"]} if gold else {}),
        }
        for i in range(n)
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize(("name", "gold"), [("plain", True), ("two words", False), ("it's", True)])
def test_printed_command_is_accepted(cli: Cli, tmp_path: Path, name: str, *, gold: bool) -> None:
    """Terminal and page print one line with the run's name; its command draws that run, and then the line is gone.

    Without gold documents the failures are unclear, and the first thing to do names the command.
    """
    page, file = tmp_path / "report.html", write_towers(tmp_path / f"{name}.jsonl", gold=gold)
    out = " ".join(cli("evaluate", file, "--judge", "local", "-q", "-o", page).out.split())
    assert len(COMMAND.findall(out.partition("What to do")[0])) == 1, out
    assert COMMAND.search(unescape(re.sub("<[^>]*>", "", page.read_text(encoding="utf-8"))))
    assert not re.search(r"\bRUN\b", out)
    sheet, found = tmp_path / "page.html", COMMAND.search(out)
    assert found is not None
    words = [str(sheet) if word == "page.html" else word for word in shlex.split(found[1])]
    assert words[2] == name
    drawn = cli(*words)
    assert (drawn.code, sheet.exists()) == (0, True), drawn.err
    assert bool(COMMAND.search(" ".join(cli("show", name).out.split()))) is not gold


def made_card(tmp_path: Path) -> ScorecardData:
    """The card of a run that the local judge judged."""
    file = write_towers(tmp_path / "towers.jsonl")
    return rg.evaluate(file, metrics="faithfulness", store=f"sqlite:///{tmp_path / 'store.db'}").card


def test_when_labels_are_advised(tmp_path: Path) -> None:
    """Labels are advised for a wide interval with judge error and for unclear failures, of a local judge alone."""
    card = made_card(tmp_path)
    (summary,) = card.summaries

    def card_with(width: float, *, failed: int = 0, unclear: int = 0) -> ScorecardData:
        wide = replace(summary, judged=Interval(0.5 - width / 2, 0.5 + width / 2, "t", 0.95))
        causes = {"": unclear, "hallucinated": failed - unclear}
        return replace(card, summaries=(wide,), failed_examples=failed, causes=causes, unclear={})

    assert not advise_labels(card_with(MAX_WIDTH / 2))
    assert not advise_labels(card_with(MAX_WIDTH / 2, failed=10, unclear=5))
    for unsure in (card_with(2 * MAX_WIDTH), card_with(MAX_WIDTH / 2, failed=10, unclear=6)):
        assert COMMAND.search(advise_labels(unsure))
        other = replace(unsure, judge=replace(unsure.judge, judge_id="openai:gpt-5-mini#1"))
        assert not advise_labels(other)


def test_never_more_labels_than_a_run_has(cli: Cli, tmp_path: Path) -> None:
    """A wide mean of 5 answers, which their labels cannot correct, asks for none; a draw says what they decide."""
    wide = write_towers(tmp_path / "wide.jsonl", n=5)
    assert "label draw" not in cli("evaluate", wide, "-q").out
    cli("label", "draw", "wide", "-n", "2")
    shown = " ".join(cli("show", "wide").out.split())
    assert "with at least 50, labels correct the means. The run has only 5: its labels decide verdicts." in shown
    assert "label draw" not in shown
