"""What `evaluate`, `show` and `explain` say of answers that misread their passage and of refusals in the dark."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

from tests.cli.conftest import Cli

BRIDGE = "The Harbour Bridge in Velm was designed by Ada Brandt. It opened in 1931 after six years of work."
MILL = "The Old Mill in Velm was designed by Otto Kehl."
WHO = "Who designed the Harbour Bridge in Velm?"
WON = "Season | Wins | Place\n1997 | 9 | 4\n1998 | 10 | 3\n1999 | 12 | 1\n2000 | 11 | 2"
BUSES = "Buses run from Velm to the coast every hour."


def wrote(path: Path, *rows: dict[str, object]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def asked(query_id: str, query: str, answer: str, *texts: str, **more: object) -> dict[str, object]:
    passages = [{"doc_id": f"d{n}", "text": text} for n, text in enumerate(texts, 1)]
    return {"query_id": query_id, "query": query, "answer": answer, "passages": passages, **more}


def test_wrong_answer_from_the_gold_passage_is_no_rankings_fault(cli: Cli, tmp_path: Path) -> None:
    """A wrong name or cell of the gold passage was misread: no advice on ranking, in no command.

    The one passage handed on, the first of three, a table, and without labels; for contrast, a wrong name from a
    passage that ranks above the gold one, which is noise.
    """
    gold: dict[str, object] = {"reference": "Ada Brandt", "relevant": ["d1"]}
    both = f"{BRIDGE} {MILL}"
    found = wrote(
        tmp_path / "misread.jsonl",
        asked("one", WHO, "Otto Kehl", both, **gold),
        asked("three", WHO, "Otto Kehl", both, BUSES, "Velm.", **gold),
        asked("cell", "Which year did Ruda FC win 12 games?", "1998", WON, reference="1999", relevant=["d1"]),
        asked("bare", WHO, "Otto Kehl", both, reference="Ada Brandt"),
    )
    report = cli("evaluate", found, "--judge", "local", "-q")
    assert report.code == 0
    assert "wrong_answer" in report.out
    assert "erank" not in report.out
    for query_id in ("one", "three", "cell", "bare"):
        shown, explained = (cli(verb, "misread", query_id).out for verb in ("show", "explain"))
        assert "failed: wrong_answer" in shown
        assert "erank" not in shown + explained
        if query_id == "cell":  # whether a bare year follows the table is open
            continue
        assert "it misreads passage 1, which also contains the evidence" in " ".join(shown.split())
        row = next(line for line in explained.splitlines() if line.split()[:2] == ["no", "noise"])
        assert "misreads passage 1, which also contains the evidence" in row
    other = asked("other", WHO, "Otto Kehl", MILL, BRIDGE, reference="Ada Brandt", relevant=["d2"])
    astray = wrote(tmp_path / "astray.jsonl", other)
    cli("evaluate", astray, "--judge", "local", "-q")
    assert "failed: noise" in cli("show", "astray", "other").out


def test_refusals_with_nothing_to_hold_them_against_are_unclear(cli: Cli, tmp_path: Path) -> None:
    """Without reference and labels a refusal beside passages on its topic is unclear; the prompt is let be.

    With gold documents that were handed on, the same refusal is wrong.
    """
    no = "I cannot answer this from the given passages."
    high = "How high is the Harbour Bridge in Velm?"
    dark = wrote(tmp_path / "dark.jsonl", *(asked(f"q{n}", high, no, BRIDGE, BUSES) for n in range(3)))
    report = " ".join(cli("evaluate", dark, "--judge", "local", "-q").out.split())
    assert "3 unclear" in report
    for wrong in ("less cautious", "questions it could answer"):
        assert wrong not in report
    for verb in ("show", "explain"):
        assert "less cautious" not in " ".join(cli(verb, "dark", "q0").out.split())
    known = wrote(tmp_path / "known.jsonl", *(asked(f"q{n}", WHO, no, BRIDGE, relevant=["d1"]) for n in range(3)))
    assert "declines questions it could answer" in " ".join(
        cli("evaluate", known, "--judge", "local", "-q").out.split()
    )


def test_unclear_failures_head_the_report_with_a_command_that_works(cli: Cli, tmp_path: Path) -> None:
    """Where most failures are unclear the headline says so and names the cheapest remedy; its command is accepted."""
    no = "I cannot answer this from the given passages."
    high = "How high is the Harbour Bridge in Velm?"
    rows = [asked(f"q{n}", high, no, BRIDGE, BUSES, answerable=True) for n in range(3)]
    rows += [asked(f"a{n}", WHO, "The Harbour Bridge was designed by Ada Brandt.", BRIDGE) for n in range(2)]
    report = cli("evaluate", wrote(tmp_path / "dark run.jsonl", *rows), "--judge", "local", "-q").out
    words = " ".join(report.split())
    assert "unclear whether retrieval or generation is at fault (3 of 3 failures): gold documents or 5 labels" in words
    label = "label 5 answers, about 2 minutes, to decide their verdicts"
    assert words.index("label the gold documents") < words.index(label) < words.index("a model judge")
    command = re.search(r"ragauge (label draw .*? -o page\.html)", words)
    assert command is not None
    page = tmp_path / "page.html"
    found = cli(*(str(page) if word == "page.html" else word for word in shlex.split(command[1])))
    assert (found.code, page.exists()) == (0, True), found.err
