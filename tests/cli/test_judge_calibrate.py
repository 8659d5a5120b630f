"""`ragauge judge calibrate`, as it is typed, and the judge that it writes."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import Cli, Row, write
from tests.cli.test_judge_check import TABLE, item, scripted, spec
from tests.cli.test_label_command import towers
from tests.loopback.server import FaultyServer

import ragauge as rg

N = 60


def strict(tasks: Path, *, turned: bool = False, guideline: str = "") -> list[Row]:
    """Labels of people who call no sentence supported that says where a tower stands; or the other way round."""
    rows: list[Row] = []
    for task in map(json.loads, tasks.read_text().splitlines()):
        for start, end in task["parts"]:
            said = task["answer"][start:end]
            right = ("stands" not in said and said.split()[3] in task["passages"][0]) != turned
            rows.append(
                {
                    "key": task["key"],
                    "question": task["question"],
                    "guideline": guideline or task["guideline"],
                    "part": [start, end],
                    "value": "supported" if right else "not_in_context",
                    "annotator": "ann",
                    "at": "2026-11-24",
                }
            )
    return rows


@pytest.fixture
def run(cli: Cli, tmp_path: Path) -> Path:
    """A run whose answers strict people labelled; the tasks that they saw."""
    source = write(tmp_path / "towers.jsonl", towers(N, 20))
    assert cli("evaluate", source.name, "--name", "towers", "-m", "faithfulness", "-q").code == 0
    assert cli("label", "draw", "towers", "-n", str(N), "-o", "tasks.jsonl").code == 0
    tasks = tmp_path / "tasks.jsonl"
    assert cli("label", "import", write(tmp_path / "l.jsonl", strict(tasks)).name).code == 0
    return tasks


def test_a_calibrated_judge_learns_what_people_mean(cli: Cli, run: Path, tmp_path: Path) -> None:
    """Where the local judge finds most supported, and people call half of it so, the calibrated judge follows them."""
    found = cli("judge", "calibrate", "towers", "-o", "judge.json", "-q")
    assert found.code == 0, found.err
    assert "Chosen: ridge" in found.out
    assert "wrote judge.json" in found.err
    (use,) = (line.split() for line in found.out.splitlines() if line.strip().startswith("ragauge evaluate"))
    assert use[1:] == ["evaluate", "towers", "--judge", "calibrated:judge.json"]
    assert cli(*use[1:], "-q").code == 0
    file = json.loads((tmp_path / "judge.json").read_text())
    assert (file["learned_from"]["labels"], file["learned_from"]["answers"]) == (2 * N, N)
    assert file["figures"]["brier_after"] < file["figures"]["brier_before"] / 2
    people = sum(row["value"] == "supported" for row in strict(run)) / (2 * N)
    card = json.loads(
        cli("evaluate", "towers", "--judge", "calibrated:judge.json", "-m", "faithfulness", "-q", "--json").out
    )
    assert card["judge"].startswith("calibrated:local:overlap-")
    calibrated = rg.evaluate("towers", judge="calibrated:judge.json", metrics="faithfulness")["faithfulness"].mean
    local = rg.evaluate("towers", judge="local", metrics="faithfulness")["faithfulness"].judge_mean
    assert calibrated is not None
    assert local is not None
    assert abs(calibrated - people) < 0.05 < abs(local - people)
    cli("report", "towers", "--judge", "calibrated:judge.json", "-o", "report.json")  # local was last
    report = json.loads((tmp_path / "report.json").read_text())
    assert (report["judge"], report["metrics"]["faithfulness"]["mean"]) == (card["judge"], pytest.approx(calibrated))
    unknown = cli("report", "towers", "--judge", "calibrated:other.json", "-o", "report.json")
    assert unknown.code == 2
    assert f"{card['judge']} (--judge calibrated:judge.json)" in unknown.err
    shown = cli("evaluate", "towers", "--judge", "calibrated:judge.json", "-m", "faithfulness", "-q").out
    assert "cross-fitted" in " ".join(shown.split())


def test_python_gives_the_same_in_every_form(cli: Cli, run: Path, tmp_path: Path) -> None:
    """The verb takes a path as text, writes the file that the command writes, and tells it on a page and as JSON."""
    assert run.exists()
    assert cli("judge", "calibrate", "towers", "-o", "one.json", "-q").code == 0
    found = rg.calibrate_judge("towers", output="two.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    assert found.judge == "calibrated:two.json"
    assert f"local on {2 * N} labels of sentences or claims" in found.to_html()
    assert found.to_dict()["chosen"] == found.data.chosen
    assert "Reliability (after)" in found.to_markdown()


def test_checks_by_the_labels_that_trained_it_are_cross_fitted(cli: Cli, run: Path, tmp_path: Path) -> None:
    """`judge check` on the same labels gives the Brier score that calibrating told as after, not a better one."""
    assert run.exists()
    assert cli("judge", "calibrate", "towers", "-o", "judge.json", "-q").code == 0
    after = json.loads((tmp_path / "judge.json").read_text())["figures"]["brier_after"]
    typed = ("judge", "check", "towers", "--judge", "calibrated:judge.json", "-q")
    assert f"was calibrated on {N} of these texts" in " ".join(cli(*typed).out.split())
    checked = cli(*typed, "--json")
    assert list(json.loads(checked.out)["cross_fitted"].values()) == [N]
    by_name = {judge["judge"]: judge for judge in json.loads(checked.out)["judges"]}
    brier = by_name["calibrated:judge.json"]["probabilities"]["brier"]
    assert brier["value"] == pytest.approx(after, abs=1e-6)


def test_a_calibrated_judge_knows_its_error(cli: Cli, run: Path, tmp_path: Path) -> None:
    """Calibrating leaves how far the judge errs, by fits without the label: means of other runs have its interval."""
    assert run.exists()
    assert cli("judge", "calibrate", "towers", "-o", "judge.json", "-q").code == 0
    other = write(tmp_path / "other.jsonl", towers(N, 40))
    assert cli("evaluate", other.name, "-m", "faithfulness", "--judge", "calibrated:judge.json", "-q").code == 0
    card = rg.open_run("other").scorecard().card
    (summary,) = card.summaries
    assert summary.judged is not None
    assert summary.interval is not None
    assert summary.judged.low <= summary.interval.low < summary.interval.high <= summary.judged.high
    assert f"{2 * N} of your labels" in card.judge.observed
    local = rg.evaluate("towers", judge="local", metrics="faithfulness").card  # another judge has none of it
    assert "of your labels" not in local.judge.observed


def tossed() -> Iterator[tuple[list[str], list[str], list[str]]]:
    """Per answer its passages, its sentences, of which some words are others, and labels by tossed coins."""
    rng = random.Random(6)  # coins that the final model fits well: AUROC 0.65 on them
    kinds = (
        ("mill", "river", "stone", "bridge", "flood", "wheel", "tower", "garden", "market", "church", "road", "school"),
        ("Paris", "Leeds", "Turin", "Bergen", "Porto", "Graz", "Lyon", "Malmo"),
        ("built", "sold", "burnt", "moved", "repaired", "painted", "measured", "closed"),
        range(1500, 2000),
    )
    for _ in range(50):
        held, said = [], []
        for _ in range(3):
            told = [rng.choice(kind) for kind in (*kinds, kinds[0])]
            held.append("The {} of {} was {} in {} beside the {}.".format(*told))
            for at in rng.choices(range(4), k=rng.randrange(3)):
                told[at] = rng.choice(kinds[at])
            said.append("The {} of {} was {} in {} beside the {}.".format(*told))
        yield held, said, [rng.choice(("supported", "not_in_context")) for _ in said]


def test_noise_stays_noise_in_the_other_form(cli: Cli, tmp_path: Path) -> None:
    """Labels by tossed coins that came as a file of claims do not flatter a check of the run, nor the other way round.

    The final model's AUROC on them, which neither may show, lies above one half with its whole interval.
    """
    answers = list(tossed())
    write(
        tmp_path / "claims.jsonl",
        [
            {
                "passages": held,
                "claims": [{"claim": one, "label": label} for one, label in zip(said, labels, strict=True)],
            }
            for held, said, labels in answers
        ],
    )
    write(
        tmp_path / "answers.jsonl",
        [
            {
                "query_id": f"q{n}",
                "query": "Sum it up.",
                "answer": " ".join(said),
                "passages": [{"doc_id": f"{n}-{m}", "text": text} for m, text in enumerate(held)],
            }
            for n, (held, said, _) in enumerate(answers)
        ],
    )
    assert cli("evaluate", "answers.jsonl", "--name", "noise", "-m", "faithfulness", "-q").code == 0
    assert cli("label", "draw", "noise", "-n", "50", "-o", "tasks.jsonl").code == 0
    by_answer = {" ".join(said): labels for _, said, labels in answers}
    write(
        tmp_path / "labels.jsonl",
        [
            {name: task[name] for name in ("key", "question", "guideline")}
            | {"part": part, "value": label, "annotator": "ann", "at": "2026-11-24"}
            for task in map(json.loads, (tmp_path / "tasks.jsonl").read_text().splitlines())
            for part, label in zip(task["parts"], by_answer[task["answer"]], strict=True)
        ],
    )
    assert cli("label", "import", "labels.jsonl").code == 0
    for source, checked in (("claims.jsonl", "noise"), ("noise", "claims.jsonl")):
        made = rg.calibrate_judge(source, output="judge.json").data
        assert made.chosen.startswith("ridge")
        known = json.loads((tmp_path / "judge.json").read_text())
        (tmp_path / "blind.json").write_text(json.dumps(known | {"marks": {}}))
        judges = ("--judge", "calibrated:judge.json", "--judge", "calibrated:blind.json")
        typed = ("judge", "check", checked, *judges, "-q")
        told = " ".join(cli(*typed).out.split())
        assert "calibrated:judge.json was calibrated on 50 of these texts" in told
        assert "calibrated:blind.json was calibrated" not in told
        mine, blind, _ = (one["probabilities"]["auroc"] for one in json.loads(cli(*typed, "--json").out)["judges"])
        assert mine["low"] < 0.5 < mine["high"]
        assert blind["low"] > 0.5


def test_labels_by_another_guideline_change_nothing(cli: Cli, run: Path, tmp_path: Path) -> None:
    """Opposite labels by other instructions are not pooled: the same file is written, unless they are asked for."""
    assert cli("judge", "calibrate", "towers", "-o", "one.json", "-q").code == 0
    other = "0123456789ab"
    write(tmp_path / "other.jsonl", strict(run, turned=True, guideline=other))
    assert cli("label", "import", "other.jsonl").code == 0
    assert cli("judge", "calibrate", "towers", "-o", "two.json", "-q").code == 0
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    assert cli("judge", "calibrate", "towers", "--guideline", other, "-o", "three.json", "-q").code == 0
    third = json.loads((tmp_path / "three.json").read_text())["learned_from"]
    assert (third["guideline"], third["labels"]) == (other, 2 * N)
    assert third["supported"] == 2 * N - json.loads((tmp_path / "one.json").read_text())["learned_from"]["supported"]


def test_refusals_say_what_to_do(cli: Cli, tmp_path: Path) -> None:
    """Too few labels are exit 4; another ending, a calibrated base and a file that is none of a judge are exit 2."""
    rows = [{"claim": f"Thing {n}.", "passages": [f"Thing {n}."], "label": n % 2} for n in range(49)]
    write(tmp_path / "few.jsonl", rows)
    few = cli("judge", "calibrate", "few.jsonl", "-q")
    assert (few.code, "at least 50 labels" in few.err) == (4, True)
    assert not (tmp_path / "judge.json").exists()
    for typed, told in (
        (("judge", "calibrate", "few.jsonl", "-o", "judge.yaml"), "expected .json, got .yaml"),
        (("judge", "calibrate", "few.jsonl", "--judge", "calibrated:judge.json"), "calibrated needs a judge that"),
        (("judge", "check", "few.jsonl", "--judge", "calibrated:few.jsonl"), "is not valid JSON"),
        (("judge", "check", "few.jsonl", "--judge", "calibrated:no.json"), "there is no such file"),
        (("judge", "calibrate", "few.jsonl", "--guideline", "0123456789ab"), "guideline selects among a run"),
    ):
        found = cli(*typed, "-q")
        assert (found.code, told in " ".join(found.err.split())) == (2, True), found.err


def test_too_few_labels_are_refused_before_a_model_is_asked(cli: Cli, tmp_path: Path) -> None:
    """With 49 labels no request is sent: nothing is paid for a refusal that the labels alone decide."""
    write(tmp_path / "few.jsonl", [item(n, human, model) for n, (human, model) in enumerate([*TABLE] * 25)][:49])
    with FaultyServer(reply=scripted) as server:
        found = cli("judge", "calibrate", "few.jsonl", "--judge", spec(server), "-q")
        assert (found.code, "there are 49" in found.err) == (4, True), found.err
        assert not server.requests


def test_what_would_be_asked_is_said_beforehand(cli: Cli, tmp_path: Path) -> None:
    """A dry run says rows, parts and calls, and writes nothing."""
    write(tmp_path / "some.jsonl", [{"claim": "A thing.", "passages": ["A thing."], "label": n % 2} for n in range(3)])
    found = cli("judge", "calibrate", "some.jsonl", "--dry-run", "--json")
    assert json.loads(found.out)["parts"] == 1
    assert not (tmp_path / "judge.json").exists()


def test_a_model_is_calibrated_by_its_verdicts_and_paid_once(cli: Cli, tmp_path: Path) -> None:
    """A model's yes and no become probabilities; replies are kept, and the same labels give the same file."""
    rows = [item(n, human, model) for n, (human, model) in enumerate([*TABLE] * 25)]
    write(tmp_path / "some.jsonl", rows[:100])
    with FaultyServer(reply=scripted) as server:
        typed = ("judge", "calibrate", "some.jsonl", "--judge", f"{spec(server)},mode=fused", "-q")
        first = cli(*typed, "-o", "one.json")
        assert first.code == 0, first.err
        asked = len(server.requests)
        assert asked >= 100
        assert cli(*typed, "-o", "two.json").code == 0
        assert len(server.requests) == asked
        assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
        file = json.loads((tmp_path / "one.json").read_text())
        assert "verdict" in file["model"]["weights"] or file["chosen"] == "Platt"
        assert file["figures"]["brier_after"] < file["figures"]["brier_before"]
        checked = cli("judge", "check", "some.jsonl", "--judge", "calibrated:one.json", "-q", "--json")
        assert len(server.requests) == asked
        assert json.loads(checked.out)["judges"][0]["judge_id"].startswith("calibrated:openai-chat:any#")
        file["base"]["spec"] = f"{spec(server)},mode=per_claim"
        (tmp_path / "other.json").write_text(json.dumps(file))
        refused = cli("judge", "check", "some.jsonl", "--judge", "calibrated:other.json", "-q")
        assert (refused.code, "was made for the judge openai-chat:any#" in refused.err) == (2, True)
