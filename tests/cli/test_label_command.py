"""`ragauge label`, as it is typed."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path

import pytest
from tests.cli.conftest import Cli, Row, write

from ragauge.core.label import build_label_key, hash_guideline
from ragauge.store.store_access import open_store

KEY = build_label_key("support", "Who?", ["Ada did."], "Ada.")


def test_import_says_what_came_in(cli: Cli, tmp_path: Path) -> None:
    """It counts labels and new ones, by guideline; what is wrong is told with the nearest and keeps nothing."""
    (tmp_path / "how.txt").write_text("Read it.")
    rows = [{"key": KEY, "value": "supported", "annotator": name} for name in ("a", "b")]
    (tmp_path / "l.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    typed = ("label", "import", "l.jsonl", "--guideline", "how.txt")
    said = cli(*typed).out.splitlines()
    assert said[:2] == ["2 labels read, 2 new", f"people:{hash_guideline('Read it.')} has 2 labels"]
    assert said[2].startswith("1 of 1 key match no text of a stored run")
    assert json.loads(cli(*typed, "--json").out)["new"] == 0
    (tmp_path / "bad.jsonl").write_text(json.dumps({"key": KEY, "value": "suported"}) + "\n")
    found = cli("label", "import", "bad.jsonl")
    assert found.code == 2
    assert "bad.jsonl line 1: value must be one of" in found.err
    assert "Nearest: supported" in found.err
    missing = cli("label", "import", "l.jsonl", "--guideline", "nowhere.txt")
    assert (missing.code, "no instructions file 'nowhere.txt'" in missing.err) == (2, True)


def towers(n: int, wrong: int) -> list[Row]:
    """Answers of two sentences, the first `wrong` of them with a height that the passage contradicts."""
    return [
        {
            "query_id": f"q{i}",
            "query": f"How tall is tower {i}?",
            "answer": f"Tower {i} is {200 + i + 100 * (i >= wrong)} metres tall. It stands in Paris.",
            "passages": [{"doc_id": f"d{i}", "text": f"Tower {i} is {300 + i} metres tall and stands in Paris."}],
        }
        for i in range(n)
    ]


def labelled(tasks: Path, annotator: str = "ann") -> Path:
    """The labels that a careful person gives the towers, as another tool would write them."""
    rows = []
    for task in map(json.loads, tasks.read_text().splitlines()):
        for start, end in task["parts"]:
            said = task["answer"][start:end]
            right = "stands" in said or said.split()[3] in task["passages"][0]
            rows.append(
                {name: task[name] for name in ("key", "question", "guideline")}
                | {
                    "part": [start, end],
                    "value": "supported" if right else "contradicted",
                    "annotator": annotator,
                    "at": "2025-11-24",
                }
            )
    return write(tasks.with_name(f"{annotator}.jsonl"), rows)


def test_people_are_a_judge(cli: Cli, tmp_path: Path) -> None:
    """What is drawn and labelled is scored by people with the code of every judge, over what they labelled alone."""
    path = write(tmp_path / "towers.jsonl", towers(90, 18))
    assert cli("evaluate", path, "-m", "faithfulness", "-q").code == 0
    drawn = cli("label", "draw", "towers", "-n", "60", "-o", "tasks.jsonl", "--json").json()
    assert (drawn["answers"], drawn["parts"], drawn["of"]) == (60, 120, 90)
    none = cli("evaluate", "towers", "--judge", "people", "-m", "faithfulness", "-q")
    assert (none.code, "there are no labels" in none.err) == (2, True)
    assert cli("label", "import", labelled(tmp_path / "tasks.jsonl")).code == 0
    card = cli("evaluate", "towers", "--judge", "people", "-m", "faithfulness,contradicted", "-q", "--json").json()
    tasks = [json.loads(line) for line in (tmp_path / "tasks.jsonl").read_text().splitlines()]
    wrong = sum(int(task["query"].split()[-1][:-1]) < 18 for task in tasks)
    assert card["metrics"]["faithfulness"]["scored"] == 60
    assert card["metrics"]["contradicted"]["mean"] == pytest.approx(wrong / 2 / 60)
    assert card["judge"].startswith(f"people:{drawn['guideline']}#")
    lost = cli("evaluate", "towers", "--judge", f"people:{drawn['guideline'][:5]}", "-m", "answer_relevance", "-q")
    assert (lost.code, "human labels do not cover answer_relevance" in lost.err) == (2, True)
    wrong_name = cli("evaluate", "towers", "--judge", "people:zzz", "-m", "faithfulness", "-q")
    assert (wrong_name.code, "no guideline of labels 'zzz'" in wrong_name.err) == (2, True)


def test_one_draw_in_two_forms_is_one_draw(cli: Cli, tmp_path: Path) -> None:
    """Page and tasks of one command, --again, and the same scheme again are one draw; random again is another."""
    path = write(tmp_path / "towers.jsonl", towers(40, 8))
    assert cli("evaluate", path, "-m", "faithfulness", "-q").code == 0

    def stored() -> list[int]:
        with open_store() as store:
            run = store.runs.find("towers")
            return [len(one.drawn) for one in store.draws.list_for_run(run.run_id)]

    def keys(name: str) -> list[str]:
        return [json.loads(line)["key"] for line in (tmp_path / name).read_text().splitlines()]

    none = cli("label", "draw", "towers", "--again", "-o", "a.jsonl")
    assert (none.code, "omit --again" in none.err) == (2, True)
    both = cli("label", "draw", "towers", "-n", "15", "-o", "page.html", "-o", "a.jsonl")
    assert "wrote page.html" in both.err
    page = (tmp_path / "page.html").read_text()
    assert all(key in page for key in keys("a.jsonl"))
    again = cli("label", "draw", "towers", "--again", "-o", "b.jsonl")
    assert "its labels count once" in again.out
    assert "were asked for" not in again.out
    assert (keys("b.jsonl"), stored()) == (keys("a.jsonl"), [15])
    more = cli("label", "draw", "towers", "-n", "5", "-o", "c.jsonl")
    assert "It contains none of the 15 answers drawn before" in more.out
    assert (set(keys("c.jsonl")).isdisjoint(keys("a.jsonl")), stored()) == (True, [15, 5])
    scheme = ("label", "draw", "towers", "-n", "10", "--scheme", "verdict", "--json")
    first, second = (cli(*scheme, "-o", name).json() for name in ("d.jsonl", "e.html"))
    assert (first["again"], second["again"], stored()) == (False, True, [15, 5, 10])
    clash = cli("label", "draw", "towers", "--again", "--disagreements", "-o", "a.jsonl")
    assert (clash.code, "Give only one" in clash.err) == (2, True)


def test_drawing_again_draws_others(cli: Cli, tmp_path: Path) -> None:
    """A second random draw has none of the first, until nothing is left; a scheme goes by the judge's verdicts."""
    path = write(tmp_path / "towers.jsonl", towers(40, 8))
    assert cli("evaluate", path, "-m", "faithfulness", "-q").code == 0
    keys = []
    for n in range(2):
        assert cli("label", "draw", "towers", "-n", "20", "-o", f"{n}.jsonl").code == 0
        keys += [json.loads(line)["key"] for line in (tmp_path / f"{n}.jsonl").read_text().splitlines()]
    assert len(set(keys)) == 40
    fits = cli("label", "import", labelled(tmp_path / "1.jsonl"), "--json").json()
    assert (fits["keys"], fits["without_text"]) == (20, 0)
    empty = cli("label", "draw", "towers", "-n", "1", "-o", "2.jsonl")
    assert (empty.code, "have been drawn already" in empty.err) == (2, True)
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
    second = write(
        tmp_path / "b.jsonl",
        [
            row | {"annotator": "b", "value": "not_in_context" if row["value"] == "contradicted" else row["value"]}
            for row in map(json.loads, first.read_text().splitlines())
        ],
    )
    for labels in (first, second):
        assert cli("label", "import", labels).code == 0
    split = cli("evaluate", "towers", "--judge", "people", "-m", "contradicted", "-q", "--json").json()
    assert (split["metrics"]["contradicted"]["failed"], split["metrics"]["contradicted"]["scored"]) == (2, 8)
    drawn = cli("label", "draw", "towers", "--disagreements", "-o", "settle.jsonl", "--json").json()
    assert (drawn["answers"], drawn["parts"]) == (2, 2)
    assert cli("label", "import", labelled(tmp_path / "settle.jsonl", "adjudicator")).code == 0
    settled = cli("evaluate", "towers", "--judge", "people", "-m", "contradicted", "-q", "--json").json()
    assert settled["metrics"]["contradicted"]["mean"] == pytest.approx(0.1)
    assert (
        "annotators disagree on no part" in cli("label", "draw", "towers", "--disagreements", "-o", "settle.jsonl").err
    )


def test_parts_beyond_the_text_are_refused(cli: Cli, tmp_path: Path) -> None:
    """Characters after the answer's end and a passage after the last are refused: where, got, expected; none is kept.

    So is a span of Label Studio's beyond the answer in its own task; labels of texts in no run are taken as they are.
    """
    row = towers(1, 1)[0]
    cli("evaluate", write(tmp_path / "towers.jsonl", [row]), "-m", "faithfulness", "-q")
    texts = [one["text"] for one in row["passages"]]
    keys = {asked: build_label_key(asked, row["query"], texts, row["answer"]) for asked in ("support", "relevance")}
    end = len(row["answer"])
    good = {"key": keys["support"], "question": "support", "value": "supported", "part": [0, end], "annotator": "ann"}
    passage = {"key": keys["relevance"], "question": "relevance", "value": "relevant", "part": 1}
    long = f"expected characters within 0-{end}, the length of the answer, got 0-{end + 1}"
    beyond: list[tuple[Row, str]] = [
        (good | {"part": [0, end + 1]}, long),
        (passage | {"part": 2}, "expected a passage from 1 to 1, got 2"),
    ]
    for bad, told in beyond:
        refused = cli("label", "import", write(tmp_path / "l.jsonl", [good, bad]))
        assert (refused.code, f"l.jsonl, label 2: part: {told} (key {str(bad['key'])[:12]}" in refused.err) == (2, True)
    task = {
        "data": {"query": "Who?", "passages": ["Ada did."], "answer": "Ada."},
        "annotations": [{"result": [{"value": {"start": 0, "end": 5, "labels": ["supported"]}}]}],
    }
    studio = cli("label", "import", write(tmp_path / "studio.jsonl", [task]))
    assert studio.code == 2
    assert "end must be a range within the answer's 4 characters, got number 5" in studio.err
    kept = cli("label", "import", write(tmp_path / "l.jsonl", [good, passage, good | {"key": KEY, "part": [0, 999]}]))
    assert kept.out.splitlines()[0] == "3 labels read, 3 new"


def test_draws_from_what_was_evaluated(cli: Cli, tmp_path: Path) -> None:
    """Of a run that is evaluated in part the evaluated answers are drawn; fewer than asked for is said."""
    path = write(tmp_path / "towers.jsonl", towers(40, 8))
    assert cli("evaluate", path, "-m", "faithfulness", "--limit", "15", "-q").code == 0
    found = cli("label", "draw", "towers", "-n", "20", "-o", "0.jsonl").out
    assert "15 answers, 30 parts to label, sampled from 15 (random); 20 were requested" in found


def test_plan_says_how_many(cli: Cli, tmp_path: Path) -> None:
    """The plan names labels or responses needed; goals that cannot be read are refused."""
    path = write(tmp_path / "towers.jsonl", towers(90, 18))
    assert cli("evaluate", path, "-m", "faithfulness", "-q").code == 0
    found = cli("label", "plan", "towers", "--width", "0.12", "--json").json()
    assert (found["metric"], found["responses"], found["there"]) == ("faithfulness", 90, 0)
    said = cli("label", "plan", "towers", "--width", "0.12").out
    assert f"label {found['labels']:,} answers sampled at random" in said
    assert "With fewer than 20 labels" in said
    assert "are too few" in cli("label", "plan", "towers", "--detect", "1 points").out
    for wrong in (("--detect", "much"), ("--width", "0.1", "--detect", "3%"), ("-m", "recall")):
        assert cli("label", "plan", "towers", *wrong).code == 2


def test_judge_is_checked_on_a_runs_labels(cli: Cli, tmp_path: Path) -> None:
    """`judge check RUN` holds a judge against what people labelled of a run, and an exit code holds it to a kappa."""
    path = write(tmp_path / "towers.jsonl", towers(60, 20))
    assert cli("evaluate", path, "-m", "faithfulness", "-q").code == 0
    none = cli("judge", "check", "towers", "-q")
    assert (none.code, "no answer of this run has support labels" in none.err) == (2, True)
    assert cli("label", "draw", "towers", "-o", "tasks.jsonl").code == 0
    first = labelled(tmp_path / "tasks.jsonl", "a")
    for labels in (first, labelled(tmp_path / "tasks.jsonl", "b")):
        assert cli("label", "import", labels).code == 0
    found = cli("judge", "check", "towers", "-q", "--json").json()
    assert (found["rows"], found["parts"], found["ceiling"]["accuracy"]["value"]) == (60, 120, 1.0)
    assert found["judges"][0]["accuracy"]["value"] > 0.9
    assert cli("judge", "check", "towers", "-q", "--min-kappa", "0.5").code == 0
    turned = {"supported": "not_in_context", "contradicted": "supported", "at": "2025-12-01"}
    rows = map(json.loads, first.read_text().splitlines())
    wrong = [row | {"value": turned[row["value"]], "at": turned["at"]} for row in rows]
    for name in ("a", "b"):
        labels = write(tmp_path / f"{name}2.jsonl", [row | {"annotator": name} for row in wrong])
        assert cli("label", "import", labels).code == 0
    worse = cli("judge", "check", "towers", "-q", "--min-kappa", "0.5")
    assert (worse.code, "kappa is below 0.5: local [" in worse.err) == (3, True)


def test_weights_of_a_run_count(cli: Cli, tmp_path: Path) -> None:
    """Of 40 right and 20 wrong answers of two parts, the wrong ones thrice as heavy, 60/200 are not supported."""
    rows = [{**row, "weight": 3 if n < 20 else 1} for n, row in enumerate(towers(60, 20))]
    assert cli("evaluate", write(tmp_path / "towers.jsonl", rows), "-m", "faithfulness", "-q").code == 0
    assert cli("label", "draw", "towers", "-o", "tasks.jsonl").code == 0
    assert cli("label", "import", labelled(tmp_path / "tasks.jsonl", "a")).code == 0
    found = cli("judge", "check", "towers", "-q", "--json").json()
    assert (found["weighted"], found["human"]["contradicted"]) == (True, 20)
    assert found["judges"][0]["detection"]["base_rate"]["value"] == pytest.approx(0.3)


def test_transfer_says_what_it_takes_for_granted(cli: Cli, tmp_path: Path) -> None:
    """The corrected share is printed with its interval, the judge's own, and the assumption; JSON holds the numbers."""
    for name, n, wrong in (("old", 60, 20), ("new", 50, 10)):
        path = write(tmp_path / f"{name}.jsonl", towers(n, wrong))
        assert cli("evaluate", path, "-m", "faithfulness", "-q").code == 0
    assert cli("label", "draw", "old", "-o", "tasks.jsonl").code == 0
    assert cli("label", "import", labelled(tmp_path / "tasks.jsonl")).code == 0
    said = cli("label", "transfer", "old", "new").out
    assert "Share of answers of new that are fully supported: 0.80 [" in said
    assert "This assumes that the judge errs equally on both runs" in said
    found = cli("label", "transfer", "old", "new", "--json").json()
    assert (found["labels"], found["rate"]["specificity"]) == (60, 1.0)
    assert cli("label", "transfer", "new", "old").code == 2


def test_a_draw_without_a_file_is_labelled_in_the_dashboard(cli: Cli, tmp_path: Path) -> None:
    """Without -o a draw is kept and no file written; the command says where to label it. Disagreements need a page."""
    path = write(tmp_path / "towers.jsonl", towers(4, 1))
    assert cli("evaluate", path, "-m", "faithfulness", "-q").code == 0
    there = sorted(tmp_path.iterdir())
    found = cli("label", "draw", "towers", "-n", "2")
    assert found.code == 0
    assert "/label?draw=1" in found.out
    assert "label import" not in found.out
    assert sorted(tmp_path.iterdir()) == there
    assert cli("label", "draw", "towers", "-n", "2", "--json").json()["draw"] == 2
    lost = cli("label", "draw", "towers", "--disagreements")
    assert (lost.code, "name the page to write" in lost.err) == (2, True)


def test_people_are_told_of_in_words_of_people(cli: Cli, tmp_path: Path) -> None:
    """A tie is no failed call, what lacks labels is not waiting, and not_supported is not called in no passage."""
    path = write(tmp_path / "towers.jsonl", towers(20, 10))
    assert cli("evaluate", path, "-m", "faithfulness", "-q").code == 0
    assert cli("label", "draw", "towers", "-n", "15", "-o", "tasks.jsonl").code == 0
    rows = [json.loads(line) for line in labelled(tmp_path / "tasks.jsonl").read_text().splitlines()]
    rows = [{**row, "value": row["value"].replace("contradicted", "not_supported")} for row in rows]
    wrong = {row["key"] for row in rows if row["value"] == "not_supported"}
    tied = next(row for row in rows if row["key"] not in wrong)
    rows.append({**tied, "value": "not_supported", "annotator": "bo"})
    assert cli("label", "import", write(tmp_path / "said.jsonl", rows)).code == 0
    out = " ".join(cli("evaluate", "towers", "--judge", "people", "-m", "faithfulness", "-q").out.split())
    shown = " ".join(cli("report", "towers").out.split())
    assert "1 unclear (annotators disagree)" in out
    assert "a judge call or a score failed" not in out
    assert "5 examples are not labeled and so not scored." in shown
    assert "run the same command to resume" not in shown
    assert "labeled as not supported" in shown
    assert "claims in no passage" not in shown


def test_claims_beside_a_label_are_told_to_be_the_judges(cli: Cli, tmp_path: Path) -> None:
    """Where a person's label decides an example, terminal and page say so beside what the judge found otherwise."""
    assert cli("evaluate", write(tmp_path / "towers.jsonl", towers(3, 1)), "-m", "faithfulness", "-q").code == 0
    assert "By human labels" not in cli("show", "towers", "q1").out
    assert cli("label", "draw", "towers", "-o", "tasks.jsonl").code == 0
    lines = labelled(tmp_path / "tasks.jsonl").read_text().splitlines()
    rows = [json.loads(line) | {"value": "not_supported"} for line in lines]
    assert cli("label", "import", write(tmp_path / "said.jsonl", rows)).code == 0
    said = "By human labels, grounded: failed. The claims show what the judge found."
    assert said in cli("show", "towers", "q1").out
    assert cli("report", "towers", "-o", "page.html").code == 0
    assert said in unescape((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert cli("evaluate", "towers", "--judge", "people", "-m", "faithfulness", "-q").code == 0
    assert said not in cli("show", "towers", "q1", "--judge", "people").out
