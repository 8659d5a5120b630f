"""`ragauge label`, as it is typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Cli, Row, write

from ragauge.data.label import guideline_of, label_key

KEY = label_key("support", "Who?", ["Ada did."], "Ada.")


def test_import_says_what_came_in(cli: Cli, tmp_path: Path) -> None:
    """It counts labels and new ones, by guideline; what is wrong is told with the nearest and keeps nothing."""
    (tmp_path / "how.txt").write_text("Read it.")
    rows = [{"key": KEY, "value": "supported", "annotator": name} for name in ("a", "b")]
    (tmp_path / "l.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    typed = ("label", "import", "l.jsonl", "--guideline", "how.txt")
    assert cli(*typed).out.splitlines() == ["2 labels read, 2 new", f"people:{guideline_of('Read it.')} has 2 labels"]
    assert json.loads(cli(*typed, "--json").out)["new"] == 0
    (tmp_path / "bad.jsonl").write_text(json.dumps({"key": KEY, "value": "suported"}) + "\n")
    found = cli("label", "import", "bad.jsonl")
    assert found.code == 2
    assert "bad.jsonl line 1: value must be one of" in found.err
    assert "Nearest: supported" in found.err
    missing = cli("label", "import", "l.jsonl", "--guideline", "nowhere.txt")
    assert (missing.code, "no file of instructions 'nowhere.txt'" in missing.err) == (2, True)


def towers(n: int, wrong: int) -> list[Row]:
    """Answers of two sentences, the first `wrong` of them with a height that the passage contradicts."""
    return [
        {
            "query_id": f"q{i}", "query": f"How tall is tower {i}?",
            "answer": f"Tower {i} is {200 + i + 100 * (i >= wrong)} metres tall. It stands in Paris.",
            "passages": [{"doc_id": f"d{i}", "text": f"Tower {i} is {300 + i} metres tall and stands in Paris."}],
        }
        for i in range(n)
    ]     # fmt: skip


def labelled(tasks: Path, annotator: str = "ann") -> Path:
    """The labels that a careful person gives the towers, as another tool would write them."""
    rows = []
    for task in map(json.loads, tasks.read_text().splitlines()):
        for start, end in task["parts"]:
            said = task["answer"][start:end]
            right = "stands" in said or said.split()[3] in task["passages"][0]
            rows.append({name: task[name] for name in ("key", "question", "guideline")} | {
                "part": [start, end], "value": "supported" if right else "contradicted", "annotator": annotator,
                "at": "2026-11-24",
            })     # fmt: skip
    return write(tasks.with_name(f"{annotator}.jsonl"), rows)


def test_people_are_a_judge(cli: Cli, tmp_path: Path) -> None:
    """What is drawn and labelled is scored by people with the code of every judge, over what they labelled alone."""
    path = write(tmp_path / "towers.jsonl", towers(90, 18))
    assert cli("evaluate", path, "-m", "faithfulness", "-q").code == 0
    drawn = cli("label", "draw", "towers", "-n", "60", "-o", "tasks.jsonl", "--json").json()
    assert (drawn["answers"], drawn["parts"], drawn["of"]) == (60, 120, 90)
    none = cli("evaluate", "towers", "--judge", "people", "-m", "faithfulness", "-q")
    assert (none.code, "nobody has labelled anything" in none.err) == (2, True)
    assert cli("label", "import", labelled(tmp_path / "tasks.jsonl")).code == 0
    card = cli("evaluate", "towers", "--judge", "people", "-m", "faithfulness,contradicted", "-q", "--json").json()
    tasks = [json.loads(line) for line in (tmp_path / "tasks.jsonl").read_text().splitlines()]
    wrong = sum(int(task["query"].split()[-1][:-1]) < 18 for task in tasks)
    assert card["metrics"]["faithfulness"]["scored"] == 60
    assert card["metrics"]["contradicted"]["mean"] == pytest.approx(wrong / 2 / 60)
    assert card["judge"].startswith(f"people:{drawn['guideline']}#")
    lost = cli("evaluate", "towers", "--judge", f"people:{drawn['guideline'][:5]}", "-m", "answer_relevance", "-q")
    assert (lost.code, "people's labels do not tell of answer_relevance" in lost.err) == (2, True)
    wrong_name = cli("evaluate", "towers", "--judge", "people:zzz", "-m", "faithfulness", "-q")
    assert (wrong_name.code, "no guideline of labels 'zzz'" in wrong_name.err) == (2, True)


def test_drawing_again_draws_others(cli: Cli, tmp_path: Path) -> None:
    """A second random draw has none of the first, until nothing is left; a scheme goes by the judge's verdicts."""
    path = write(tmp_path / "towers.jsonl", towers(40, 8))
    assert cli("evaluate", path, "-m", "faithfulness", "-q").code == 0
    keys = []
    for n in range(2):
        assert cli("label", "draw", "towers", "-n", "20", "-o", f"{n}.jsonl").code == 0
        keys += [json.loads(line)["key"] for line in (tmp_path / f"{n}.jsonl").read_text().splitlines()]
    assert len(set(keys)) == 40
    empty = cli("label", "draw", "towers", "-n", "1", "-o", "2.jsonl")
    assert (empty.code, "were drawn already" in empty.err) == (2, True)
    assert cli("label", "draw", "towers", "-n", "10", "--scheme", "verdict", "-o", "3.jsonl").code == 0
    for wrong in (("--scheme", "randm"), ("--question", "suport"), ("--by", "word")):
        found = cli("label", "draw", "towers", *wrong, "-o", "4.jsonl")
        assert (found.code, "nearest" in found.err or "Known" in found.err) == (2, True), wrong
    assert cli("label", "draw", "towers", "-o", "4.txt").code == 2


def test_disagreements_are_settled(cli: Cli, tmp_path: Path) -> None:
    """Parts on which two people differ are shown again, an adjudicator decides, and nothing is left to settle."""
    path = write(tmp_path / "towers.jsonl", towers(10, 2))
    assert cli("evaluate", path, "-m", "faithfulness", "-q").code == 0
    assert cli("label", "draw", "towers", "-o", "tasks.jsonl").code == 0
    first = labelled(tmp_path / "tasks.jsonl", "a")
    second = write(tmp_path / "b.jsonl", [
        row | {"annotator": "b", "value": "not_in_context" if row["value"] == "contradicted" else row["value"]}
        for row in map(json.loads, first.read_text().splitlines())
    ])     # fmt: skip
    for labels in (first, second):
        assert cli("label", "import", labels).code == 0
    split = cli("evaluate", "towers", "--judge", "people", "-m", "contradicted", "-q", "--json").json()
    assert (split["metrics"]["contradicted"]["failed"], split["metrics"]["contradicted"]["scored"]) == (2, 8)
    drawn = cli("label", "draw", "towers", "--disagreements", "-o", "settle.jsonl", "--json").json()
    assert (drawn["answers"], drawn["parts"]) == (2, 2)
    assert cli("label", "import", labelled(tmp_path / "settle.jsonl", "adjudicator")).code == 0
    settled = cli("evaluate", "towers", "--judge", "people", "-m", "contradicted", "-q", "--json").json()
    assert settled["metrics"]["contradicted"]["mean"] == pytest.approx(0.1)
    assert "differ on nothing" in cli("label", "draw", "towers", "--disagreements", "-o", "settle.jsonl").err


def test_plan_says_how_many(cli: Cli, tmp_path: Path) -> None:
    """The plan names labels or responses needed; goals that cannot be read are refused."""
    path = write(tmp_path / "towers.jsonl", towers(90, 18))
    assert cli("evaluate", path, "-m", "faithfulness", "-q").code == 0
    found = cli("label", "plan", "towers", "--width", "0.08", "--json").json()
    assert (found["metric"], found["responses"], found["there"]) == ("faithfulness", 90, 0)
    said = cli("label", "plan", "towers", "--width", "0.08").out
    assert f"label {found['labels']:,} answers drawn at random" in said
    assert "Below 20 labels nothing is known of the judge" in said
    assert "are too few" in cli("label", "plan", "towers", "--detect", "1 points").out
    for wrong in (("--detect", "much"), ("--width", "0.1", "--detect", "3%"), ("-m", "recall")):
        assert cli("label", "plan", "towers", *wrong).code == 2


def test_judge_is_checked_on_a_runs_labels(cli: Cli, tmp_path: Path) -> None:
    """`judge check RUN` holds a judge against what people labelled of a run, and an exit code holds it to a kappa."""
    path = write(tmp_path / "towers.jsonl", towers(60, 20))
    assert cli("evaluate", path, "-m", "faithfulness", "-q").code == 0
    none = cli("judge", "check", "towers", "-q")
    assert (none.code, "nobody labelled the support" in none.err) == (2, True)
    assert cli("label", "draw", "towers", "-o", "tasks.jsonl").code == 0
    first = labelled(tmp_path / "tasks.jsonl", "a")
    for labels in (first, labelled(tmp_path / "tasks.jsonl", "b")):
        assert cli("label", "import", labels).code == 0
    found = cli("judge", "check", "towers", "-q", "--json").json()
    assert (found["rows"], found["parts"], found["ceiling"]["accuracy"]["value"]) == (60, 120, 1.0)
    assert found["judges"][0]["accuracy"]["value"] > 0.9
    assert cli("judge", "check", "towers", "-q", "--min-kappa", "0.5").code == 0
    turned = {"supported": "not_in_context", "contradicted": "supported", "at": "2026-12-01"}
    rows = map(json.loads, first.read_text().splitlines())
    wrong = [row | {"value": turned[row["value"]], "at": turned["at"]} for row in rows]
    for name in ("a", "b"):
        labels = write(tmp_path / f"{name}2.jsonl", [row | {"annotator": name} for row in wrong])
        assert cli("label", "import", labels).code == 0
    worse = cli("judge", "check", "towers", "-q", "--min-kappa", "0.5")
    assert (worse.code, "kappa is below 0.5: local [" in worse.err) == (3, True)


def test_transfer_says_what_it_takes_for_granted(cli: Cli, tmp_path: Path) -> None:
    """The corrected share is printed with its interval, the judge's own, and the assumption; JSON holds the numbers."""
    for name, n, wrong in (("old", 60, 20), ("new", 50, 10)):
        path = write(tmp_path / f"{name}.jsonl", towers(n, wrong))
        assert cli("evaluate", path, "-m", "faithfulness", "-q").code == 0
    assert cli("label", "draw", "old", "-o", "tasks.jsonl").code == 0
    assert cli("label", "import", labelled(tmp_path / "tasks.jsonl")).code == 0
    said = cli("label", "transfer", "old", "new").out
    assert "Answers of new that hold as a whole: 0.80 [" in said
    assert "takes for granted that it errs alike on both runs" in said
    found = cli("label", "transfer", "old", "new", "--json").json()
    assert (found["labels"], found["rate"]["specificity"]) == (60, 1.0)
    assert cli("label", "transfer", "new", "old").code == 2
