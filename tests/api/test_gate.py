"""A gate through the store: verdicts on real runs, what is refused, and what users read."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from jsonschema import Draft202012Validator
from tests.engine.tiny_judge import SPEC

import ragauge as rg
from ragauge.core.errors import NotEnoughData
from ragauge.gating.compute.decision import suggest_max_drop

SCHEMA = Path(__file__).resolve().parents[2] / "src/ragauge/core/schema/gate.schema.json"
METRICS = "recall@5,faithfulness,latency"
N = 80
KINDS = ("lookup", "compare", "howto", "multi_hop")


def rows(n: int = N, *, missed: tuple[int, ...] = (), broken: tuple[int, ...] = (), ms: float = 800.0) -> list[Any]:
    """Questions answered from their passage; some got another document, of some the judge dies."""
    found = []
    for i in range(n):
        text = "nothing at all" if i in missed else f"it is number {i}"
        found.append(
            {
                "query_id": f"q{i}",
                "query": f"what is number {i}",
                "answer": f"it is number {i}." + (" raisenow." if i in broken else ""),
                "passages": [{"doc_id": "other" if i in missed else f"d{i}", "text": text}],
                "relevant": {f"d{i}": 1},
                "reference_answer": f"it is number {i}",
                "latency_ms": ms + i,
                "segments": {"type": KINDS[i % 4]},
                "tags": ["regression"] if i < 5 else [],
            }
        )
    return found


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Runs: main, the same again but slower, one that lost a fifth of a segment, eight examples, a dying judge."""
    url = f"sqlite:///{tmp_path_factory.mktemp('gate')}/gate.db"
    runs = {
        "main": rows(missed=(6, 7)),
        "again": rows(missed=(6, 7), ms=900.0),
        "hurt": rows(missed=tuple(range(3, 80, 8))),
        "one": rows(missed=(2, 6)),
        "tiny-main": rows(8),
        "tiny": rows(8, missed=(1,)),
        "dying": rows(10, broken=(0, 1, 2, 3, 4)),
        "ten": rows(10),
    }
    for name, table in runs.items():
        rg.evaluate(table, metrics=METRICS, judge=SPEC, store=url, name=name, workers=1)
    return url


def rules(*given: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"gate": {"rules": list(given), **more}}


RECALL = {"metric": "recall@5", "max_drop": "3%"}


@pytest.mark.prove
def test_twenty_questions_tell_an_improvement_and_a_loss(tmp_path: Path) -> None:
    """By the drop that init writes for twenty questions, finding what five missed passes; missing ten more fails."""
    url = f"sqlite:///{tmp_path}/gate.db"
    for name, missed in (("before", range(5)), ("after", range(0)), ("lost", range(15))):
        rg.evaluate(rows(20, missed=tuple(missed)), metrics="recall@5", judge="none", store=url, name=name, workers=1)
    wanted = rules({"metric": "recall@5", "max_drop": f"{suggest_max_drop(20)} points"})
    found = rg.gate("after", baseline="before", rules=wanted, store=url)
    assert (found.verdict, found.exit_code) == ("pass", 0)
    assert "0.750 → 1.000" in found.to_markdown()
    assert rg.gate("lost", baseline="before", rules=wanted, store=url).exit_code == 3


@pytest.mark.parametrize("rule", [RECALL, {**RECALL, "decide": "point"}, {**RECALL, "min_n": 1}])
def test_a_run_against_itself_is_no_pass(store: str, rule: dict[str, Any]) -> None:
    """A run held against itself compares nothing: not enough data, said in every output, whatever decides the rule."""
    for name in ("main", "tiny"):
        found = rg.gate(name, baseline=name, rules=rules(rule), store=store)
        assert (found.verdict, found.exit_code, found.passed) == ("not_enough_data", 4, False)
        assert {check.because for check in found.checks if check.kind == "max_drop"} == {"itself"}
        with pytest.raises(NotEnoughData):
            found.raise_if_failed()
        assert any(
            "this run itself: nothing is compared and no drop is decided" in warning for warning in found.gated.warnings
        )
        said = (found.explain(), found.to_markdown(), " ".join(str(found).split()))
        for text in said:
            assert "the baseline is this run itself, so there is nothing to compare" in text


def test_levels_of_a_run_against_itself_are_decided(store: str) -> None:
    """What needs no baseline is decided as ever; a drop that only warns does not stop it."""
    warned, level = {**RECALL, "on_fail": "warn"}, {"metric": "recall@5", "min": 0.1, "segments": "none"}
    found = rg.gate("main", baseline="main", rules=rules(warned, level), store=store)
    assert found.exit_code == 0


def test_same_answers_again_pass(store: str) -> None:
    """A second run whose scores are the same on every example passes; the slower one fails the budget."""
    budget = {"metric": "latency", "max": 975, "segments": "none"}
    found = rg.gate("again", baseline="main", rules=rules(RECALL, budget), store=store)
    assert [(c.metric, c.verdict) for c in found.checks if c.segment is None] == [
        ("", "pass"),
        ("recall@5", "pass"),
        ("latency", "not_enough_data"),
    ]
    assert found.exit_code == 4
    strict = rg.gate("again", baseline="main", rules=rules(RECALL, {**budget, "max": 900}), store=store)
    assert strict.exit_code == 3
    assert strict.checks[-1].statistic == "p95"
    assert strict.checks[-1].estimate == pytest.approx(900 + 79 * 0.95)


def test_hurt_segment_fails(store: str) -> None:
    """Case 78 through the store: half of one segment lost its document; the gate fails there, with the examples."""
    found = rg.gate("hurt", baseline="main", rules=rules(RECALL), store=store)
    assert found.exit_code == 3
    failed: dict[tuple[str, str] | None, Any] = {c.segment: c for c in found.checks if c.verdict == "fail"}
    assert ("type", "multi_hop") in failed
    check = failed["type", "multi_hop"]
    assert check.estimate == pytest.approx(-9 / 20)  # 10 of 20 missed, of which q7 was missed before; q3, q11 …
    assert [one.query_id for one in check.examples] == ["q3", "q11", "q19", "q27", "q35"]
    with pytest.raises(rg.GateFailed, match=r"Gate failed: hurt against main(?s:.*)type=multi_hop(?s:.*)q3") as caught:
        found.raise_if_failed()
    assert caught.value.exit_code == 3


def test_coroutine(store: str) -> None:
    """`aio.gate` gives what `gate` gives, mistakes included."""
    asked: dict[str, Any] = {"baseline": "main", "rules": rules(RECALL), "store": store}
    assert asyncio.run(rg.aio.gate("hurt", **asked)).to_json() == rg.gate("hurt", **asked).to_json()
    with pytest.raises(rg.UsageError, match="needs a baseline, and none was given"):
        asyncio.run(rg.aio.gate("hurt", rules=rules(RECALL), store=store))


def test_few_examples(store: str) -> None:
    """Case 79: eight examples, one of them worse: not enough data, which is an error of its own kind unless allowed."""
    found = rg.gate("tiny", baseline="tiny-main", rules=rules({**RECALL, "min_n": 2}), store=store)
    assert (found.verdict, found.exit_code) == ("not_enough_data", 4)
    with pytest.raises(rg.NotEnoughData) as caught:
        found.raise_if_failed()
    assert caught.value.exit_code == 4
    assert found.raise_if_failed(not_enough_data=False) is found


@pytest.mark.parametrize("metrics", ["latency", "token_f1,latency"])
def test_what_nothing_could_show_does_not_pass(tmp_path: Path, metrics: str) -> None:
    """Wrong answers of which nothing was measured that shows a failure are not known to pass; once judged they fail.

    In JUnit they are skipped with the reason, and then a failure.
    """
    url, must = f"sqlite:///{tmp_path}/blind.db", rules({"tag": "regression", "must_pass": True}, min_n=1)
    wrong = [{**row, "answer": "it is nobody knows"} for row in rows(5)]
    rg.evaluate(wrong, metrics=metrics, judge=SPEC, store=url, name="wrong", workers=1)
    found = rg.gate("wrong", rules=must, store=url)
    assert (found.verdict, found.exit_code) == ("not_enough_data", 4)
    assert "q0 (not judged: it was not compared with the reference" in found.to_markdown()
    (skipped,) = ET.fromstring(found.to_junit()).iter("skipped")  # noqa: S314 - XML that ragauge wrote
    assert "q0 (not judged: it was not compared with the reference" in skipped.get("message", "")
    assert not list(ET.fromstring(found.to_junit()).iter("error"))  # noqa: S314 - XML that ragauge wrote
    rg.evaluate(rg.open_run("wrong", store=url), metrics="faithfulness", judge=SPEC, store=url, workers=1)
    judged = rg.gate("wrong", rules=must, store=url)
    assert judged.verdict == "fail"
    assert len(list(ET.fromstring(judged.to_junit()).iter("failure"))) == 1  # noqa: S314 - XML that ragauge wrote


def test_one_example_that_must_pass(store: str) -> None:
    """Case 80: means are fine, one regression example failed: exit 3, with its id and cause."""
    must = {"tag": "regression", "must_pass": True}
    found = rg.gate("one", baseline="main", rules=rules({**RECALL, "decide": "point"}, must), store=store)
    assert {c.kind: c.verdict for c in found.checks if c.segment is None} == {
        "max_failed": "pass",
        "max_drop": "pass",
        "must_pass": "fail",
    }
    assert found.exit_code == 3
    (example,) = found.checks[-1].examples
    assert example.query_id == "q2"
    assert "retrieval_miss" in example.why
    assert rg.gate("main", rules=rules(must), store=store).exit_code == 0
    scored = {**must, "metric": "recall@5", "min": 1}
    assert rg.gate("one", rules=rules(scored), store=store).exit_code == 3


def test_dying_judge_fails_on_the_share(store: str) -> None:
    """Case 41: the judge dies on 5 of 10: the mean is shown with 5 failed, and the gate fails on the failure share."""
    assert rg.open_run("dying", store=store).scorecard()["faithfulness"].failed == 5
    level = {"metric": "faithfulness", "min": 0.5, "segments": "none", "min_n": 5}
    found = rg.gate("dying", rules=rules(level), store=store)
    share, mean = found.checks
    assert (share.kind, share.verdict, share.failed, share.n) == ("max_failed", "fail", 5, 10)
    assert (mean.verdict, mean.because, mean.n, mean.failed) == ("not_enough_data", "failed", 5, 5)
    assert found.exit_code == 3
    lenient = rg.gate("dying", rules=rules(level, max_failed="60%"), store=store)
    assert lenient.exit_code == 4
    assert "--retry-failed" in lenient.to_markdown()
    must = {"tag": "regression", "must_pass": True}
    assert rg.gate("dying", rules=rules(must, max_failed="60%"), store=store).exit_code == 4


def test_stricter_gate_same_score(store: str) -> None:
    """Case 81: a stricter threshold changes the verdict and nothing of the scores."""
    before = rg.open_run("main", store=store).scorecard()["recall@5"]
    loose, strict = (
        rg.gate("main", rules=rules({"metric": "recall@5", "min": level, "segments": "none"}), store=store)
        for level in (0.5, 0.999)
    )
    assert (loose.verdict, strict.verdict) == ("pass", "fail")
    assert loose.checks[-1].estimate == strict.checks[-1].estimate == before.mean
    assert rg.open_run("main", store=store).scorecard()["recall@5"] == before


def test_what_makes_no_sense_is_a_usage_error(store: str) -> None:
    """Case 77: threshold 0, an unknown metric, a segment or tag that nothing matches, an unmeasured metric: exit 2."""
    wrong = {
        "never below 0": {"metric": "recall@5", "min": 0},
        "nearest: recall": {"metric": "recal@5", "min": 0.5},
        "nearest: type": {"metric": "recall@5", "min": 0.5, "segments": ["typ"]},
        "nearest: regression": {"tag": "regresion", "must_pass": True},
        "ragauge evaluate main -m mrr": {"metric": "mrr", "min": 0.5},
    }
    for words, rule in wrong.items():
        with pytest.raises(rg.ConfigError, match=words) as caught:
            rg.gate("main", rules=rules(rule), store=store)
        assert caught.value.exit_code == 2
    with pytest.raises(rg.UsageError, match="none was given"):
        rg.gate("main", rules=rules(RECALL), store=store)
    with pytest.raises(rg.UnknownName, match="nearest: main"):
        rg.gate("main", baseline="mian", rules=rules(RECALL), store=store)


@pytest.mark.parametrize("more", [{}, {"metric": "recall@5", "min": 1}])
def test_what_must_pass_is_yet_to_come(store: str, tmp_path: Path, more: dict[str, Any]) -> None:
    """A rule on a tag that no example has yet passes with a note in every report; a mean over it is refused."""
    url, must = f"sqlite:///{tmp_path}/gate.db", {"tag": "regression", "must_pass": True, **more}
    table = [{**row, "tags": ["reported"] if n == 0 else []} for n, row in enumerate(rows(12))]
    rg.evaluate(table, metrics="recall@5", judge="none", store=url, name="first", workers=1)
    found = rg.gate("first", rules=rules(must), store=url)
    assert (found.verdict, found.exit_code) == ("pass", 0)
    told = "no example is tagged regression yet: nothing to check."
    assert f"rule 1: {told}" in found.to_markdown()
    assert told in found.explain()
    assert found.to_dict()["warnings"] == [f"rule 1: {told}", *found.to_dict()["warnings"][1:]]
    with pytest.raises(rg.ConfigError, match="no tag 'regression'"):
        rg.gate("first", rules=rules(must, {"tag": "regression", "metric": "recall@5", "min": 0.5}), store=url)
    tagged = rg.gate("main", rules=rules({**must, "tag": "regression"}), store=store)
    assert told not in tagged.to_markdown()


def test_every_form_of_a_run(store: str, tmp_path: Path) -> None:
    """A run is an id, a name, an opened run or a scorecard; a baseline the name of a baseline too; rules a file."""
    path = tmp_path / "gates.yaml"
    path.write_text("gate:\n  rules:\n    - {metric: recall@5, max_drop: 3%}\n")
    opened = rg.open_run("hurt", store=store)
    rg.set_baseline("main", name="release", store=store)
    codes = [
        rg.gate(opened.run.run_id, baseline="main", rules=path, store=store).exit_code,
        rg.gate(opened, baseline=rg.open_run("main", store=store), rules=str(path)).exit_code,
        rg.gate(opened.scorecard(), baseline="release", rules=path).exit_code,
    ]
    assert codes == [3, 3, 3]


# element -> its attributes and children in junit-10.xsd of Jenkins' xUnit plugin, the strictest reader in use
JUNIT: dict[str, tuple[set[str], set[str]]] = {
    "testsuites": ({"name", "time", "tests", "failures", "errors"}, {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors", "group", "time", "skipped", "timestamp", "hostname", "id", "package"},
        {"testsuite", "properties", "testcase", "system-out", "system-err"},
    ),
    "properties": (set(), {"property"}),
    "property": ({"name", "value"}, set()),
    "testcase": ({"name", "time", "classname", "group"}, {"skipped", "error", "failure", "system-out", "system-err"}),
    "failure": ({"type", "message"}, set()),
    "error": ({"type", "message"}, set()),
    "skipped": ({"type", "message"}, set()),
    "system-out": (set(), set()),
}


def test_junit_is_what_strict_readers_take(store: str) -> None:
    """No element or attribute beyond the schema of Jenkins' xUnit plugin; file and line of a rule are in its text."""
    warns = {"metric": "recall@5", "min": 0.99, "on_fail": "warn", "decide": "point"}
    tree = ET.fromstring(rg.gate("hurt", baseline="main", rules=rules(RECALL, warns), store=store).to_junit())  # noqa: S314 - XML that ragauge wrote
    seen = set()
    for element in tree.iter():
        attributes, children = JUNIT[element.tag]
        seen.add(element.tag)
        assert set(element.keys()) <= attributes, element.tag
        assert {child.tag for child in element} <= children, element.tag
    assert seen >= {"testsuites", "testsuite", "properties", "property", "testcase", "system-out"}
    for suite in tree.iter("testsuite"):
        assert {"name", "tests", "failures", "errors"} <= set(suite.keys())


def test_reports_say_the_same(store: str) -> None:
    """Terminal, Markdown, JSON, JUnit and GitHub agree on verdict and counts; JSON keeps to its schema."""
    warns = {"metric": "faithfulness", "max_drop": "3%", "on_fail": "warn", "decide": "point"}
    found = rg.gate("hurt", baseline="main", rules=rules(RECALL, warns), store=store)
    plain = json.loads(found.to_json(), parse_constant=pytest.fail)
    assert not list(Draft202012Validator(json.loads(SCHEMA.read_text())).iter_errors(plain))
    assert (plain["verdict"], plain["exit_code"], len(plain["checks"])) == ("fail", 3, len(found.checks))
    stopping = [check for check in found.checks if check.stops]
    suite = ET.fromstring(found.to_junit()).find("testsuite")  # noqa: S314 - XML that ragauge wrote
    assert suite is not None
    failed = [check for check in stopping if check.verdict == "fail"]
    assert len(failed) < len(stopping)  # the whole run has not enough data for its level of the family
    unknown = [check for check in found.checks if check.verdict == "not_enough_data"]
    assert [suite.get(name) for name in ("tests", "failures", "skipped", "errors")] == [
        str(n) for n in (len(found.checks), len(failed), len(unknown), 0)
    ]
    assert len(suite.findall("testcase/failure")) == len(failed)
    text = found.to_markdown()
    assert text.startswith("## ❌ Gate failed: hurt against main")
    assert "type=multi\\_hop" in text
    lines = found.to_github()
    assert sum(line.startswith("::error ") for line in lines) == len(failed)
    assert "Gate failed" in repr(found)
    told = found.explain()
    assert "−3 % of b = −0.03 · 0.975 = −0.029" in told  # 78 of 80 found in main
    assert "Exit code 3" in told


def test_labels_that_no_rule_looks_at_are_told(store: str) -> None:
    """A gate without a rule on labelled retrieval passes, and says so with the line to add; with one it does not."""
    faithful = {"metric": "faithfulness", "min": 0.5}
    said = rg.gate("main", rules=rules(faithful), store=store)
    assert said.exit_code == 0
    (note,) = said.to_dict()["warnings"]
    assert "80 examples have relevance labels" in note
    assert note.endswith("- {metric: recall@5, max_drop: 8 points}")
    assert not rg.gate("main", rules=rules(faithful, {"metric": "recall@5", "min": 0.5}), store=store).gated.warnings
    assert not rg.gate("tiny", rules=rules({**faithful, "min_n": 5}), store=store).gated.warnings
