"""What the reported judge never judged is neither failed nor passed, in whatever order a run was evaluated."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Cli, write

GOOD, MISSED, INVENTED = "good", "missed", "invented"
STEPS = {
    "judge on a": ("--filter", "part=a", "-m", "recall@5,faithfulness"),
    "judge on b": ("--filter", "part=b", "-m", "recall@5,faithfulness"),
    "labels": ("-m", "recall@5"),
    "judge on all": ("-m", "recall@5,faithfulness"),
}
GATE = "gate:\n  rules:\n    - {tag: TAG, must_pass: true}\n"
LEVEL = "gate:\n  rules:\n    - {metric: faithfulness, min: 0.6, min_n: 1, decide: point}\n"


def row(part: str, kind: str) -> dict[str, Any]:
    """An example that its labels, the judge alone, or nobody finds at fault."""
    name = f"{part}-{kind}"
    text = f"The {name} lamp burns for forty hours on one charge."
    return {
        "query_id": name,
        "query": f"How long does the {name} lamp burn?",
        "relevant": {f"d-{name}": 1},
        "part": part,
        "answer": "It was designed by a Norwegian sculptor named Halvorsen." if kind == INVENTED else text,
        "passages": [{"doc_id": "elsewhere" if kind == MISSED else f"d-{name}", "text": text}],
        "tags": [name],
    }


ROWS = [row(part, kind) for part in "ab" for kind in (GOOD, MISSED, INVENTED)]


def expected(steps: Iterable[str]) -> dict[str, set[str]]:
    """What is known after some steps, whatever their order: by hand, from who looked at what."""
    done = set(steps)
    judged = {name for name in "ab" if done & {f"judge on {name}", "judge on all"}}
    found: dict[str, set[str]] = {"failed": set(), "passed": set(), "not_judged": set()}
    for one in ROWS:
        name, kind, mine = one["query_id"], one["query_id"].partition("-")[2], one["part"] in judged
        if not mine and "labels" not in done:
            continue  # not evaluated
        if kind == MISSED or (kind == INVENTED and mine):
            found["failed"].add(name)
        else:
            found["passed" if mine else "not_judged"].add(name)  # labels of documents alone pass no answer
    return found


def even(order: tuple[int, ...]) -> bool:
    """Whether an even number of swaps leads to it from ascending order."""
    return sum(b < a for a, b in combinations(order, 2)) % 2 == 0


@pytest.mark.parametrize("order", [order for order in permutations(range(len(STEPS))) if even(order)], ids=str)
def test_the_order_of_partial_evaluations_changes_nothing(cli: Cli, tmp_path: Path, order: tuple[int, ...]) -> None:
    """After every step the counts are those of the evidence there is, whoever gave it first; unjudged never passes.

    Even orders lead from every set of steps to each that has one more, as all orders do.
    """
    names = [list(STEPS)[n] for n in order]
    path = write(tmp_path / "lamps.jsonl", ROWS)
    for done, step in enumerate(names, 1):
        assert cli("evaluate", path, "--segments", "part", "--workers", "1", "-q", *STEPS[step]).code == 0
        wanted, card = expected(names[:done]), cli("report", "latest", "--json").json()
        counts = {name: card[f"{name}_examples"] for name in wanted}
        assert counts == {name: len(ids) for name, ids in wanted.items()}
        assert sum(counts.values()) == card["n"]
        assert sum(card["not_judged"].values()) == card["not_judged_examples"]
        assert (card["unclear"], card["unclear_examples"]) == ({}, 0)
        assert sum(card["failed_by"].values()) == card["failed_examples"]
        assert card["failed_by"].get("labels", 0) == sum(MISSED in one for one in wanted["failed"])
        for tag in ("b-good", "b-invented"):
            verdict = next((name for name, ids in wanted.items() if tag in ids), "not_judged")
            (tmp_path / "gate.yaml").write_text(GATE.replace("TAG", tag))
            code = cli("gate", "latest", "--config", str(tmp_path / "gate.yaml")).code
            assert code == {"passed": 0, "failed": 3, "not_judged": 4}[verdict]
    last = cli("report", "latest", "--json").json()
    assert (last["failed_examples"], last["passed_examples"], last["not_judged_examples"]) == (4, 2, 0)


def test_labels_over_a_half_judged_run_do_not_hide_its_failures(cli: Cli, tmp_path: Path) -> None:
    """A gold document missed is a failure though no judge saw it; the rest is said to be unknown, in every form."""
    path = write(tmp_path / "lamps.jsonl", ROWS)
    cli("evaluate", path, "--segments", "part", "--filter", "part=a", "-q")
    cli("evaluate", path, "--segments", "part", "-m", "recall@5", "-q")
    text = cli("report", "latest").out
    assert "3 of 6 examples failed, 2 not judged" in text
    assert "3 failed (2 by labels, 1 only by the judge) · 1 passed · 2 not judged (not judged by local" in text
    for form in ("md", "html"):
        cli("report", "latest", "-o", str(tmp_path / f"out.{form}"))
        assert "2 not judged" in (tmp_path / f"out.{form}").read_text()
    assert "not judged: not judged by local" in cli("show", "latest", "b-good").out
    assert "The example is not judged: not judged by local" in cli("explain", "latest", "b-good").out
    assert "The example passed." in cli("explain", "latest", "a-good").out


def test_no_headline_says_that_nothing_failed_while_anything_is_unknown(cli: Cli, tmp_path: Path) -> None:
    """With good answers alone: the unjudged are named first, then the pending, then what labels cannot see."""
    path = write(tmp_path / "good.jsonl", [one for one in ROWS if one["query_id"].endswith(GOOD)])
    say = ("evaluate", path, "--segments", "part", "-q")
    assert "No failed example among 1." in cli(*say, "--filter", "part=a").out
    assert "1 example passed; 1 more is not evaluated yet." in cli("report", "latest").out
    by_labels = " ".join(cli(*say, "-m", "recall@5").out.split())
    assert (
        "None of 2 examples failed or passed: 2 not judged (there is no reference, label or required criterion, "
        "and its claims were not checked against the passages)."
    ) in by_labels
    assert "1 of 2 examples passed, none failed, 1 not judged (not judged by local" in cli("report", "latest").out
    assert "No failed example among 2." in cli(*say).out


def test_another_question_asked_of_a_part_leaves_the_rest_unknown(cli: Cli, tmp_path: Path) -> None:
    """Where the report holds a question that only some examples were asked, the others could have failed by it."""
    rows = [{**one, "reference_answer": one["passages"][0]["text"]} for one in ROWS if GOOD in one["query_id"]]
    path = write(tmp_path / "good.jsonl", rows)
    cli("evaluate", path, "--segments", "part", "-m", "faithfulness", "-q")
    cli("evaluate", path, "--segments", "part", "-m", "context_recall", "--filter", "part=a", "-q")
    card = cli("report", "latest", "--json").json()
    assert card["not_judged"] == {"its reference was not looked for in the passages": 1}
    assert (card["passed_examples"], card["failed_examples"]) == (1, 0)


@pytest.mark.parametrize("metric", ["context_recall", "context_precision", "recall@5,context_recall"])
def test_verdicts_on_passages_pass_no_answer(cli: Cli, tmp_path: Path, metric: str) -> None:
    """Invented answers beside good passages: what looks at passages alone neither passes them nor their gate."""
    rows = [{**one, "reference_answer": one["passages"][0]["text"]} for one in ROWS if INVENTED in one["query_id"]]
    path = write(tmp_path / "invented.jsonl", [{**one, "tags": ["TAG"]} for one in rows])
    (tmp_path / "gate.yaml").write_text(GATE)
    gate = ("gate", "latest", "--config", str(tmp_path / "gate.yaml"))
    said = cli("evaluate", path, "-m", metric, "-q").out
    assert "No failed example" not in said
    assert "2 not judged" in said
    assert cli(*gate).code == 4
    cli("evaluate", path, "-m", "faithfulness", "-q")
    assert cli(*gate).code == 3


def test_a_gate_on_a_mean_takes_the_unjudged_for_what_they_could_be(cli: Cli, tmp_path: Path) -> None:
    """A level met by the judged half alone is not enough data, and met by all it passes."""
    path = write(tmp_path / "good.jsonl", [one for one in ROWS if one["query_id"].endswith(GOOD)])
    (tmp_path / "gate.yaml").write_text(LEVEL)
    gate = ("gate", "latest", "--config", str(tmp_path / "gate.yaml"))
    cli("evaluate", path, "--segments", "part", "--filter", "part=a", "-q")
    cli("evaluate", path, "--segments", "part", "-m", "recall@5", "-q")
    found = cli(*gate)
    assert found.code == 4
    assert "1 + 1 not judged" in found.out
    assert "never judged" in found.out
    cli("evaluate", path, "--segments", "part", "-q")
    assert cli(*gate).code == 0


def test_an_unjudged_example_does_not_change_sides(cli: Cli, tmp_path: Path) -> None:
    """A failure against an example that nobody judged is no flip; the comparison says how many it left out."""
    for name, judged in (("before", "part=a"), ("after", "")):
        path = write(tmp_path / f"{name}.jsonl", ROWS)
        keep = ("--filter", judged) if judged else ()
        cli("evaluate", path, "--segments", "part", "--name", name, *keep, "-q")
        cli("evaluate", path, "--segments", "part", "--name", name, "-m", "recall@5", "-q")
    found = cli("compare", "before", "after", "--json").json()
    (run,) = found["comparisons"] if "comparisons" in found else found["runs"]
    assert (run["flips"]["newly_failed"], run["flips"]["mended"]) == (0, 0)
    assert any("2 examples are left out of failures" in one for one in run["warnings"])
