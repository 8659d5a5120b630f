"""Criteria for a whole run: from two lines of YAML to means, verdicts, causes, gates and pages."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.own_metrics import forget_own

import ragauge as rg

YAML = "criteria:\n- {name: polite, text: Addresses the reader formally}\n"
TONE = {"name": "tone", "text": "How it sounds", "levels": ["rude", "plain", "kind"], "pass_from": 2}
ANSWERS = ("Because, Madam.", "Because.", "Because, Sir.", "Because you say so.")
ROWS = [
    {
        "query_id": f"q{n}",
        "query": "Why is it so?",
        "answer": answer,
        "kind": "ab"[n % 2],
        "passages": [{"doc_id": "d", "text": "It is so because it is."}],
    }
    for n, answer in enumerate(ANSWERS)
]


class Scripted:
    """A model that calls answers formal that say Madam or Sir, and these the kindest; it counts calls.

    Args:
        odd: what it says instead of answers that say "you".
    """

    def __init__(self, **odd: Any) -> None:
        self.calls: list[str] = []
        self.odd = odd

    def __call__(self, prompt: str) -> str:
        self.calls.append(prompt)
        answer = re.findall(r"<<<answer \w+\n(.*?)\n\w{8}>>>", prompt, re.DOTALL)[0]
        formal = re.search("Madam|Sir", answer) is not None
        met = {"reason": f"It {'names' if formal else 'does not name'} the reader.", "met": formal}
        level = {"reason": "By its words.", "level": 3 if formal else 1 if "you" in answer else 2}
        items = {letter: re.findall(rf"^\[{letter}(\d+)\]", prompt, re.MULTILINE) for letter in "CS"}
        return json.dumps(
            {
                "criteria": [{"n": int(n), **met, **(self.odd if "you" in answer else {})} for n in items["C"]],
                "scales": [{"n": int(n), **level} for n in items["S"]],
            }
        )


@pytest.fixture
def evaluate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Evaluates rows in a folder of its own by a scripted model."""
    monkeypatch.chdir(tmp_path)

    def run(model: Callable[[str], str], rows: Any = ROWS, **more: Any) -> Any:
        more = {"metrics": "polite", "name": "r", **more}
        return rg.evaluate(rows, judge=model, judge_name="m", store="sqlite:///s.db", segments="kind", **more)

    return run


def test_two_lines_of_yaml_are_a_metric(evaluate: Callable[..., Any], tmp_path: Path) -> None:
    """A run-wide criterion in two lines: mean, interval, segments and a reason an answer, one call each."""
    (tmp_path / "ragauge.yaml").write_text(YAML)
    model = Scripted()
    card = evaluate(model)
    polite = card["polite"]
    assert (polite.mean, polite.n, len(model.calls)) == (0.5, 4, 4)
    assert polite.interval.low < 0.5 < polite.interval.high
    assert card.example("q1")["reasons"]["polite"] == "It does not name the reader."
    assert "kind" in card.to_markdown()
    (example, *_) = card.examples()
    assert example.scores["polite"].reason == "It names the reader."
    assert {"polite", "recall@5"} <= {*evaluate(model, metrics="").summaries}  # it joins the default ones


def test_levels_are_shares_and_pass_from_says_which_is_met(evaluate: Callable[..., Any]) -> None:
    """Of three levels the worst is 0, the middle 0.5, the best 1; which of them is met is a verdict beside."""
    card = evaluate(Scripted(), metrics="tone", criteria=[TONE])
    assert [card.example(f"q{n}")["scores"]["tone"] for n in range(4)] == [1.0, 0.5, 1.0, 0.0]
    facts = [view.evidence["meet_criteria"].facts for view in card.examples()]
    assert [(one.verdicts[0].level, one.verdicts[0].met) for one in facts] == [
        (3, True),
        (2, True),
        (3, True),
        (1, False),
    ]


def test_a_required_criterion_fails_what_does_not_meet_it(evaluate: Callable[..., Any]) -> None:
    """An unmet required criterion fails right?, with its own cause, component and fix; one that is met passes it."""
    card = evaluate(Scripted(), criteria={"polite": {"text": "Addresses the reader formally", "required": True}})
    first, second = card.example("q0"), card.example("q1")
    assert (first["verdict"], second["verdict"], second["cause"]) == ("passed", "failed", "criterion:polite")
    assert card.causes == {"criterion:polite": 2}
    (finding,) = card.findings
    assert finding.fix.endswith("Addresses the reader formally")


def test_what_nobody_requires_fails_nothing(evaluate: Callable[..., Any]) -> None:
    """A criterion that is not required is a figure: no example fails or passes by it; what nobody judged is said."""
    card = evaluate(Scripted(), criteria={"polite": "Addresses the reader formally"})
    assert card.causes == {}
    assert card.example("q1")["verdict"] == "not_judged"
    unjudged = "4 not judged (there is no reference, label or required criterion, and its claims were not checked"
    assert f"{unjudged} against the passages)" in card.to_markdown()
    assert {view.verdicts.right for view in card.examples() if view.verdicts} == {"not_judged"}


def test_a_missing_verdict_leaves_right_unclear(evaluate: Callable[..., Any]) -> None:
    """Without a verdict, asked twice, the score failed, in the judge's words, and right? is unclear."""
    card = evaluate(Scripted(met="perhaps"), criteria={"polite": {"text": "Formal", "required": True}})
    assert (card["polite"].failed, card["polite"].scored) == (1, 3)
    assert [card.example(f"q{n}")["verdict"] for n in (0, 3)] == ["passed", "unclear"]
    assert "no verdict after two attempts" in card.example("q3")["reasons"]["polite"]


@pytest.mark.prove
def test_a_changed_text_is_scored_again_and_never_mixed(evaluate: Callable[..., Any]) -> None:
    """The same criterion asks nothing again, whoever evaluates; another text asks about every answer, and counts."""
    formal, other = ({"polite": text} for text in ("Addresses the reader formally", "Says Madam or Sir"))
    model = Scripted()
    evaluate(model, criteria=formal, limit=2)
    evaluate(model, criteria=formal)
    forget_own()
    evaluate(model, criteria=formal)
    assert len(model.calls) == 4
    card = evaluate(model, criteria=other, limit=1)
    assert (len(model.calls), card["polite"].scored) == (5, 1)
    assert evaluate(model, criteria=other)["polite"].scored == 4
    assert len(model.calls) == 8
    evaluate(model, criteria={"polite": {"text": "Says Madam or Sir", "required": True}})
    assert len(model.calls) == 8  # what is required changes no question: replies are there


@pytest.mark.prove
def test_what_is_asked_does_not_depend_on_the_metrics(evaluate: Callable[..., Any]) -> None:
    """One criterion named alone asks about all that are configured, so that another one later costs nothing."""
    model, both = Scripted(), {"polite": {"text": "Formal", "required": True}, "tone": TONE | {"name": "tone"}}
    evaluate(model, metrics="tone", criteria=both)
    card = evaluate(model, metrics="polite,tone", criteria=both)
    assert len(model.calls) == 4
    assert card.causes == {"criterion:polite": 2}


@pytest.mark.prove
def test_another_process_needs_no_yaml(evaluate: Callable[..., Any], tmp_path: Path) -> None:
    """Reports and examples of a criterion need its store alone; a gate beside the criteria names it."""
    (tmp_path / "ragauge.yaml").write_text(YAML + "- {name: tone, text: Tone, levels: [rude, plain, kind]}\n")
    evaluate(Scripted(), metrics="polite,tone")
    (tmp_path / "ragauge.yaml").unlink()
    page = tmp_path / "r.html"

    def run(*words: str) -> str:
        command = [sys.executable, "-m", "ragauge", *words, "--store", "sqlite:///s.db"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
        return f"{done.returncode} {done.stdout}{done.stderr}"

    shown = run("show", "r", "q1")
    assert "criterion polite not met: Addresses the reader formally" in shown
    assert "It does not name the reader." in shown
    assert "criterion tone not met, level 2 of 3" in shown
    assert run("report", "r", "-o", str(page)).startswith("0")
    assert "It does not name the reader." in page.read_text()
    assert "Addresses the reader formally" in page.read_text()
    rule = "gate: {rules: [{metric: polite, min: 0.9, decide: point, min_n: 2}]}\n"
    (tmp_path / "ragauge.yaml").write_text(YAML + rule)
    gated = run("gate", "r")
    assert gated.startswith("3"), gated
    assert "polite" in gated


def test_all_mistakes_are_told_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each mistake of the section has its line and what was meant; built-in names are refused."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ragauge.yaml").write_text(
        "criteria:\n- {name: polite, txt: x}\n- {name: faithfulness, text: x}\n"
        "- {name: a, text: x, sees: [anwser]}\n- {name: b, text: x, scale: levels}\n"
        "- {name: c, text: x, levels: [d, e], pass_from: 3}\n- {name: f, text: x}\n- {name: f, text: y}\n"
    )
    with pytest.raises(rg.ConfigError) as raised:
        rg.evaluate(ROWS, metrics="recall@5", store="sqlite:///s.db", segments="kind")
    told = str(raised.value)
    for part in (
        "line 2: criteria[1].text: is missing",
        "line 2: criteria[1].txt: unknown key; nearest: text",
        "line 3: criteria[2].name: faithfulness is a built-in metric",
        "nearest: answer",
        "needs a list of levels",
        "2 to 2, got 3",
        "the name f is already used by an earlier criterion",
    ):
        assert part in told
    with pytest.raises(rg.ConfigError, match="nearest: text"):
        rg.validate()


def test_the_local_judge_names_the_remedy(tmp_path: Path) -> None:
    """What the local judge cannot check has failed scores that name a model judge; what it can check is scored."""
    criteria = {"polite": "Addresses the reader formally", "brief": "is at most 3 words"}
    store = f"sqlite:///{tmp_path / 's.db'}"
    card = rg.evaluate(ROWS, metrics="polite,brief", criteria=criteria, store=store, segments="kind")
    assert (card["polite"].failed, card["brief"].mean) == (4, 0.75)
    assert "--judge PROVIDER:MODEL" in card.example("q0")["reasons"]["polite"]
