"""What `ragauge judge check` keeps, and that every interval of the judge's scores then includes its error."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Cli
from tests.loopback.answers import answer
from tests.loopback.server import FaultyServer

import ragauge as rg
from ragauge.store.store_access import open_store

ROOT = Path(__file__).resolve().parents[2]
METRICS = "faithfulness,unsupported,context_recall"


def claim(n: int) -> str:
    return f"Pump{n} carries{n} seven{n} litres{n} each{n} minute{n}."


def labelled(lines: Sequence[int], wrong: int = 4) -> str:
    """Labelled claims: the judge finds three of four in their passages, people call every so many of these wrong."""
    rows = []
    for n in lines:
        there = n % 4 > 0
        right = there and n % wrong != 1
        passage = f"{claim(n)} It stands outside." if there else f"Doors{n} are painted{n} green{n} here{n}."
        rows.append({"query": f"What of pump{n}?", "claim": claim(n), "passages": [passage], "label": right})
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """A hundred answers of one claim each, eight in ten of which stand in their passage."""
    rows = [
        {
            "query": f"What of pump{n}?",
            "answer": claim(n),
            "reference_answer": claim(n),
            "passages": [f"{claim(n)} It stands outside." if n % 5 else f"Doors{n} are painted{n} green{n} here{n}."],
        }
        for n in range(1000, 1100)
    ]
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    """A hundred and twenty labelled claims."""
    path = tmp_path / "labels.jsonl"
    path.write_text(labelled(range(120)))
    return path


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    """A judge that finds what stands in the passages by its words."""
    with FaultyServer() as serving:
        yield serving


@pytest.mark.prove
@pytest.mark.server
def test_a_model_judge_from_unknown_to_known(cli: Cli, answers: Path, labels: Path, server: FaultyServer) -> None:
    """Before a check the report says how to get the error; after it intervals, report and JSON have it, at no call."""
    judge = f"openai-chat:any@{server.url}"
    words = ["evaluate", answers, "-m", METRICS, "--judge", judge, "-q"]
    before = cli(*words)
    told = " ".join(before.out.split())
    assert f"ragauge judge check FILE --judge {judge}" in told
    assert "including judge error" not in before.out
    checked = cli("judge", "check", labels, "--judge", judge, "--modes", "fused", "-q")
    assert "human mean" in checked.out
    assert "120 labels, 120 examples" in checked.out
    asked = len(server.requests)
    card = cli(*words, "--json").json()
    assert len(server.requests) == asked
    # of 120, 90 are found; of these people call the 30 wrong whose number leaves 1 by 4
    error = card["judge_error"]["faithfulness"]
    assert (error["labels"], error["examples"], error["files"], error["public_sources"]) == (120, 120, 1, 0)
    assert (error["judge_mean"], error["people_mean"]) == pytest.approx((0.75, 0.5))
    assert error["from"] == (f"120 of your labels, none of this run (labels.jsonl), checked {error['checked'][:10]}")
    found = card["metrics"]["faithfulness"]
    assert found["mean"] == pytest.approx(0.8)
    low, high = found["judged_ci"]
    assert low < 0.55 < found["ci"][0] < high
    turned = card["metrics"]["unsupported"]["judged_ci"]
    assert turned == pytest.approx([1 - high, 1 - low])
    assert "judged_ci" not in card["metrics"]["context_recall"]
    after = " ".join(cli(*words).out.split())
    assert f"Judge error was estimated for faithfulness and unsupported from {error['from']}" in after
    assert "The judge error for context_recall is unknown" in after
    assert "ragauge judge check FILE --judge" not in after
    cli("report", "answers", "-o", "report.html")
    assert error["from"] in Path("report.html").read_text()


@pytest.mark.server
def test_lists_follow_a_check_that_comes_after_an_evaluation(
    cli: Cli, answers: Path, labels: Path, server: FaultyServer
) -> None:
    """The mean that lists show has the interval of the scorecard once the judge was checked, and without its labels."""
    judge = f"openai-chat:any@{server.url}"

    def shown() -> tuple[float | None, float | None]:
        with open_store("sqlite:///.ragauge/ragauge.db") as store:
            run = store.runs.find("answers")
            means = {one.metric: one for one in store.run_list.facts([run.run_id])[run.run_id].means}
            mean = means["faithfulness"]
        return mean.low, mean.high

    cli("evaluate", answers, "-m", METRICS, "--judge", judge, "-q")
    plain = shown()
    cli("judge", "check", labels, "--judge", judge, "--modes", "fused", "-q")
    checked = shown()
    cli("report", "answers", "-o", "card.json")
    assert checked == pytest.approx(json.loads(Path("card.json").read_text())["metrics"]["faithfulness"]["judged_ci"])
    assert checked != plain
    cli("judge", "check", labels, "--forget")
    assert shown() == pytest.approx(plain)


def of_run(lines: Sequence[int], right: int) -> str:
    """Labels of answers of `answers`, of which people call all but every so many right."""
    rows = [
        {
            "query": f"What of pump{n}?",
            "claim": claim(n),
            "label": n % right > 0,
            "passages": [f"{claim(n)} It stands outside." if n % 5 else f"Doors{n} are painted{n} green{n} here{n}."],
        }
        for n in lines
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_a_runs_own_labels_count_before_others(cli: Cli, answers: Path, labels: Path, tmp_path: Path) -> None:
    """From 50 labelled answers of a run on, other files move neither its error, nor a gate's or a comparison's.

    Below, all count, and the report names the files that the others are in.
    """
    words = ["evaluate", answers, "-m", "faithfulness", "--name", "first", "-q", "--json"]
    own = tmp_path / "own.jsonl"
    for path, lines in ((own, range(1000, 1030)), (labels, ())):
        if lines:
            path.write_text(of_run(lines, 5))
        cli("judge", "check", path, "-q")
    few = cli(*words).json()["judge_error"]["faithfulness"]
    assert (few["labels"], few["files"]) == (150, 2)
    assert "(30 answers of this run, which are used alone once there are 50; the others: labels.jsonl)" in few["from"]
    own.write_text(of_run(range(1000, 1060), 5))
    cli("judge", "check", own, "-q")
    card = cli(*words).json()
    error, ends = card["judge_error"]["faithfulness"], card["metrics"]["faithfulness"]["judged_ci"]
    assert (error["labels"], error["files"]) == (60, 1)
    assert error["from"].startswith("60 of your labels of this run, checked 20")
    rows = [json.loads(line) for line in answers.read_text().splitlines()]
    other = [{**row, "answer": claim(n) if n % 3 else row["answer"]} for n, row in enumerate(rows)]
    (tmp_path / "other.jsonl").write_text("".join(json.dumps(row) + "\n" for row in other))
    cli("evaluate", tmp_path / "other.jsonl", "-m", "faithfulness", "--name", "other", "-q")
    comparison = ["compare", "first", "other", "--json"]
    changed = cli(*comparison).json()["comparisons"]
    assert changed[0]["metrics"]["faithfulness"]["difference"] < 0
    cli("judge", "check", labels, "--forget")
    assert cli(*words).json()["metrics"]["faithfulness"]["judged_ci"] == ends
    assert cli(*comparison).json()["comparisons"] == changed


def test_files_that_disagree_are_named(cli: Cli, answers: Path, tmp_path: Path) -> None:
    """Of two files whose gaps lie far apart check and report say by how much, each by name; of two alike, nothing."""
    lenient, strict, alike = (tmp_path / f"{name}.jsonl" for name in ("lenient", "strict", "alike"))
    lenient.write_text(labelled(range(120), 4))
    alike.write_text(labelled(range(200, 320), 4))
    cli("judge", "check", lenient, "-q")
    assert "disagree" not in cli("judge", "check", alike, "-q").out
    cli("judge", "check", alike, "--forget")
    rows = [json.loads(one) for one in labelled(range(400, 520), 4).splitlines()]
    strict.write_text("".join(json.dumps({**row, "label": True}) + "\n" for row in rows))
    told = " ".join(cli("judge", "check", strict, "-q").out.split())
    first = "in lenient.jsonl (120 examples) the mean of the human labels is 0."
    assert f"2 files of labels disagree on faithfulness: {first}" in told
    assert "below the judge's and in strict.jsonl (120 examples) the mean of the human labels is 0." in told
    card = cli("evaluate", answers, "-m", "faithfulness,unsupported", "-q")
    assert " ".join(card.out.split()).count("2 files of labels disagree on faithfulness") == 1


@pytest.mark.server
def test_gates_and_comparisons_use_what_labels_say(cli: Cli, answers: Path, labels: Path, server: FaultyServer) -> None:
    """A level that passes by sampling cannot be told by a checked judge that is too lenient; thresholds show it."""
    judge = f"openai-chat:any@{server.url}"
    cli("evaluate", answers, "-m", METRICS, "--judge", judge, "-q")
    Path("ragauge.yaml").write_text("gate:\n  rules:\n    - {metric: faithfulness, min: 0.65}\n")
    assert cli("gate", "answers").code == 0
    cli("judge", "check", labels, "--judge", judge, "--modes", "fused", "-q")
    gated = cli("gate", "answers")
    assert gated.code != 0
    assert "including judge error" in " ".join(gated.out.split())
    assert "including judge error" in " ".join(cli("report", "answers", "--thresholds", "faithfulness").out.split())
    assert "120 of your labels" in " ".join(cli("explain", "answers", "-m", "faithfulness").out.split())


def test_files_add_up_and_the_same_counts_once(cli: Cli, answers: Path, labels: Path, tmp_path: Path) -> None:
    """Two files count together, one file twice or under two names once, and mended labels as they are now."""
    more, copy, mended = (tmp_path / f"{name}.jsonl" for name in ("more", "copy", "mended"))
    more.write_text(labelled(range(120, 200)))
    copy.write_text(labels.read_text())
    mended.write_text(labelled(range(40), wrong=1_000))
    cli("evaluate", answers, "-m", METRICS, "--judge", "local", "-q")

    def error(*files: Path) -> Mapping[str, Any]:
        for file in files:
            assert cli("judge", "check", file, "-q").code == 0
        found: Mapping[str, Any] = cli("report", "answers", "--json").json()["judge_error"]["faithfulness"]
        return found

    one = error(labels)
    again = error(labels, copy)
    assert "(copy.jsonl)" in again["from"]  # as it is called now
    assert {**again, "checked": one["checked"], "from": one["from"]} == one
    told = "1 check of"
    assert told in cli("judge", "check", labels, "--forget").out  # the copy that was checked too stays
    assert error()["from"] == again["from"]
    error(labels)
    assert told in cli("judge", "check", copy, "--forget").out
    left = error()
    assert "(labels.jsonl)" in left["from"]
    assert {**left, "checked": one["checked"], "from": one["from"]} == one
    two = error(more)
    assert (two["labels"], two["files"]) == (200, 2)
    assert "200 of your labels in 2 files" in two["from"]
    last = error(mended)
    assert (last["labels"], last["files"]) == (200, 3)
    assert last["people_mean"] > two["people_mean"]
    assert last["public_sources"] >= 3
    assert "1 check of" in cli("judge", "check", mended, "--forget").out
    assert "nothing to delete" in cli("judge", "check", mended, "--forget").out
    assert error(labels)["labels"] == 200


def test_the_local_judge_narrows_as_labels_come(cli: Cli, answers: Path, tmp_path: Path) -> None:
    """Labels join what public sets say: with 20 the interval gets no wider, and with 400 it is narrower."""
    cli("evaluate", answers, "-m", METRICS, "--judge", "local", "-q")

    def ends() -> tuple[float, float]:
        low, high = cli("report", "answers", "--json").json()["metrics"]["faithfulness"]["judged_ci"]
        return low, high

    widths = [ends()]
    for count in (20, 400):
        file = tmp_path / f"{count}.jsonl"
        file.write_text(labelled(range(count), wrong=1_000))
        cli("judge", "check", file, "-q")
        widths.append(ends())
    without, few, many = (high - low for low, high in widths)
    assert many < few - 0.001
    assert few <= without + 1e-9


def test_a_judge_of_ones_own_is_checked_in_python(answers: Path, labels: Path, tmp_path: Path) -> None:
    """A function that judges has its error from check_judge; before, the note says so with that very call."""
    store = f"sqlite:///{tmp_path / 'own.db'}"

    def judge(prompt: str) -> str:
        schema = json.loads(prompt[prompt.rindex("JSON Schema:") + len("JSON Schema:") :])
        return json.dumps(answer("", prompt, schema))

    asking: dict[str, Any] = {"judge": judge, "judge_name": "house-1", "store": store}
    card = rg.evaluate(str(answers), metrics="faithfulness", **asking)
    assert any('rg.check_judge(FILE, judge=model, judge_name="house-1")' in one for one in card.card.judge.limits)
    assert card["faithfulness"].judged is None
    found = rg.check_judge(str(labels), modes="fused", **asking)
    own = found.judges[0].answers.judge_id
    assert found.errors[own]["faithfulness"].labels is not None
    known = rg.evaluate(str(answers), metrics="faithfulness", **asking)["faithfulness"]
    assert known.judged is not None
    assert known.interval is not None
    assert known.judged.low < known.interval.low


@pytest.mark.server
def test_killed_in_the_midst_it_goes_on(tmp_path: Path, labels: Path) -> None:
    """By kill -9 it leaves whole texts and none in part; the same command then asks only for what is lacking."""
    url = f"sqlite:///{tmp_path / 'killed.db'}"
    with FaultyServer(latency=0.05) as server:
        judge = f"openai-chat:any@{server.url}"
        words = [
            sys.executable,
            "-m",
            "ragauge",
            "judge",
            "check",
            str(labels),
            "--judge",
            judge,
            "--store",
            url,
            "-q",
            "--modes",
            "fused",
            "--concurrency",
            "2",
            "--max-concurrency",
            "2",
        ]
        env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OPENAI_API_KEY": "sk-none"}
        process = subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 200
        while len(server.requests) < 60 and time.monotonic() < until:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        asked = len(server.requests)
        with open_store(url) as store:
            (judge_id,) = {file.judge_id for file in store.checks.files()}
            part = store.checks.scores(judge_id)
        assert 10 < len(part) < 120
        assert all(one.labels == 1 for one in part)
        subprocess.run(words, env=env, check=True, stdout=subprocess.DEVNULL)
        assert len(server.requests) - asked < 120 - len(part) + 10
    with open_store(url) as store:
        whole = {one.item: one for one in store.checks.scores(judge_id)}
    assert len(whole) == 120
    assert all(whole[one.item] == one for one in part)


def test_labels_that_contradict_the_local_judge_take_its_pass_away(cli: Cli, answers: Path, tmp_path: Path) -> None:
    """A level that passes by public sources cannot be told once inverted labels of one's own say the opposite."""
    cli("evaluate", answers, "-m", METRICS, "--judge", "local", "-q")
    Path("ragauge.yaml").write_text("gate:\n  rules:\n    - {metric: faithfulness, min: 0.5}\n")
    passed = cli("gate", "answers")
    rows = [json.loads(line) for line in labelled(range(120), wrong=1_000).splitlines()]
    file = tmp_path / "inverted.jsonl"
    file.write_text("".join(json.dumps({**row, "label": not row["label"]}) + "\n" for row in rows))
    checked = " ".join(cli("judge", "check", file, "-q").out.split())
    assert passed.code == 0
    assert "this judge does not distinguish supported from unsupported on your labels" in checked
    assert cli("gate", "answers").code != 0


def test_a_row_that_is_repeated_counts_once_as_it_says_last(cli: Cli, tmp_path: Path) -> None:
    """Equal rows and rows that contradict earlier ones leave one text each; rows without passages are named."""
    lines = labelled(range(60)).splitlines()
    turned = {**json.loads(lines[2]), "label": False}
    bare = {**json.loads(lines[3]), "passages": []}
    file = tmp_path / "repeated.jsonl"
    file.write_text("\n".join([*lines, lines[1], json.dumps(turned), json.dumps(bare)]) + "\n")
    checked = cli("judge", "check", file, "-q")
    assert checked.code == 0
    assert "61 labeled parts" in checked.out
    assert "2 rows left out" in checked.out
    assert "1 row without passages" in checked.out
