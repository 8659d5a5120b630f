"""Means of a judge, rectified by human labels of a draw, in everything that prints a mean."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ragauge as rg
from ragauge.core.errors import UsageError
from ragauge.scores.arrays import SCORED, Columns, merge_repeats
from ragauge.scores.estimation import MIN_LABELS, ScoreSample, compute_mean_interval, correct_mean
from ragauge.stats.ppi_mean import LabelSample, rectified_mean
from ragauge.store.store_access import open_store

UNSEEN = 5  # of every fifth answer people see a fault that the judge does not: the passage is of another tower


def right(i: int, wrong: int) -> bool:
    """What people say of an answer."""
    return i >= wrong and i % UNSEEN > 0


def rate(n: int, wrong: int) -> float:
    """The share that people would call supported, had they labelled everything."""
    return sum(right(i, wrong) for i in range(n)) / n


def towers(n: int, wrong: int) -> list[dict[str, Any]]:
    """Answers with one sentence; of the first `wrong` the height is another one, which the judge sees."""
    rows = []
    for i in range(n):
        tall = 300 + i if i >= wrong else 700 + i
        rows.append(
            {
                "query_id": f"q{i}",
                "query": f"How tall is tower {i}?",
                "answer": f"Tower {i} is {tall} metres tall.",
                "passages": [{"doc_id": f"d{i}", "text": f"Tower {i} is {300 + i} metres tall."}],
                "segments": {"half": "first" if i < n // 2 else "second"},
            }
        )
    return rows


def label(run: str, store: str, tmp_path: Path, n: int, wrong: int, scheme: str = "random") -> set[int]:
    """Draws and labels as people who know would; the numbers of the answers drawn."""
    tasks = tmp_path / "tasks.jsonl"
    rg.label_draw(run, output=tasks, n=n, scheme=scheme, store=store)
    rows, drawn = [], set()
    for task in map(json.loads, tasks.read_text().splitlines()):
        i = int(task["query"].split()[-1][:-1])
        drawn.add(i)
        said = "supported" if right(i, wrong) else "contradicted"
        rows.append(
            {name: task[name] for name in ("key", "question", "guideline")}
            | {"part": task["parts"][0], "value": said, "annotator": "ann"}
        )
    if rows:  # what was labelled before is not asked again
        rg.label_import(rows, store=store)
    return drawn


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store of its own."""
    return f"sqlite:///{tmp_path / 'store.db'}"


def test_mean_is_rectified_everywhere(store: str, tmp_path: Path) -> None:
    """The scorecard has the mean that labels and the judge's scores give by hand, in Markdown, page and JSON."""
    rg.evaluate(towers(300, 90), metrics="faithfulness", name="new", store=store)
    before = rg.evaluate("new", metrics="faithfulness", store=store)
    assert before.card.summaries[0].rectified is None
    drawn = label("new", store, tmp_path, 150, 90)
    card = rg.evaluate("new", metrics="faithfulness", store=store)
    (found,) = card.card.summaries
    with open_store(store) as opened:
        frame = opened.scores.load_frame(card.card.run.run_id, card.card.judge.judge_id)
    scores = {int(row["query_id"][1:]): row["value"] for row in frame.to_dicts()}
    people = [float(right(i, 90)) for i in sorted(drawn)]
    sample = LabelSample(people, [scores[i] for i in sorted(drawn)], [scores[i] for i in range(300) if i not in drawn])
    expected = rectified_mean(sample, bounds=(0.0, 1.0))
    assert expected is not None
    assert found.rectified is not None
    assert found.rectified.mean == pytest.approx(expected.mean)
    assert found.rectified.interval.low == pytest.approx(expected.interval.low)
    assert (found.rectified.n, found.rectified.others) == (150, 150)
    assert (found.mean, found.interval) == (found.rectified.mean, found.rectified.interval)
    assert found.judge_mean == before.card.summaries[0].mean  # the judge's own stands beside it
    assert found.judge_interval == before.card.summaries[0].interval
    assert found.rectified.interval.low < rate(300, 90) < found.rectified.interval.high
    said = "corrected by 150 human labels (mean "
    for ending in ("md", "html", "json"):
        card.save(tmp_path / f"card.{ending}")
    assert said in (tmp_path / "card.md").read_text().replace("\\", "")
    assert said in (tmp_path / "card.html").read_text()
    entry = json.loads((tmp_path / "card.json").read_text())["metrics"]["faithfulness"]
    assert (entry["rectified"]["labels"], entry["rectified"]["people"]) == (150, pytest.approx(np.mean(people)))
    assert (entry["mean"], entry["judge_mean"]) == (pytest.approx(found.mean), pytest.approx(found.judge_mean))
    parts = {value: cells[0].rectified for value, cells in card.card.segments["half"].items()}
    assert all(part is not None and part.n >= MIN_LABELS for part in parts.values())
    with open_store(store) as opened:
        (kept,) = opened.summaries.read(card.card.run.run_id, card.card.judge.judge_id)
    assert kept.rectified == found.rectified


@pytest.mark.prove
def test_difference_is_rectified(store: str, tmp_path: Path) -> None:
    """Two runs whose same examples are labelled have a rectified difference, which holds the true one."""
    for name, wrong in (("base", 90), ("new", 45)):
        rg.evaluate(towers(300, wrong), metrics="faithfulness", name=name, store=store)
    label("base", store, tmp_path, 120, 90)
    found = rg.compare("base", "new", store=store)
    assert found.compared.runs[0].metrics[0].rectified is None  # one side alone tells nothing of a difference
    said = "The judge's own means are compared (faithfulness: 120 of base and 0 of new)"
    assert said in found.to_markdown().replace("\\", "")
    own = found.compared.runs[0].metrics[0]
    label("new", store, tmp_path, 120, 45)
    found = rg.compare("base", "new", store=store)
    (change,) = (one for one in found.compared.runs[0].metrics if one.metric == "faithfulness")
    assert change.rectified is not None
    assert change.rectified.n == 120
    assert change.rectified.interval.low < rate(300, 45) - rate(300, 90) < change.rectified.interval.high
    assert "corrected by 120 human labels (mean " in found.to_markdown().replace("\\", "")
    assert "Label-corrected means are compared. The judge's own means" in found.to_markdown().replace("\\", "")
    assert (change.judge_base, change.judge_new) == (own.base, own.new)
    reports = [rg.evaluate(name, metrics="faithfulness", store=store).card.summaries[0] for name in ("base", "new")]
    assert [change.base, change.new] == pytest.approx([report.mean for report in reports])  # as each report has them


@pytest.mark.prove
def test_rectified_difference_decides(store: str, tmp_path: Path) -> None:
    """Where the judge sees a gain and people a loss, the verdict is worse, in headline, notes and the change."""
    other_words = [row | {"answer": row["answer"].replace("tall", "tall now")} for row in towers(300, 90)]
    for name, rows, wrong in (("base", other_words, 0), ("new", towers(300, 90), 60)):
        rg.evaluate(rows, metrics="faithfulness", name=name, store=store)
        label(name, store, tmp_path, 150, wrong)
    found = rg.compare("base", "new", store=store)
    (change,) = (one for one in found.compared.runs[0].metrics if one.metric == "faithfulness")
    assert change.rectified is not None
    assert change.difference.interval is not None
    assert change.difference.interval.low > 0
    assert change.rectified.interval.high < 0
    assert (change.alone, change.verdict, found.compared.runs[0].verdict) == ("worse", "worse", "worse")
    assert change.p_value is not None
    assert change.p_value < 0.001
    said = found.to_markdown().replace("\\", "")
    assert f"Worse than base: faithfulness {change.rectified.mean:+.2f}".replace("-", "−") in said
    assert "The verdict is based on the label-corrected difference." in said


@pytest.mark.prove
def test_unclear_label_costs_its_answer(store: str, tmp_path: Path) -> None:
    """One label not_supported takes its answer from what needs the kind, and is named; mended, all count again."""
    names = ("faithfulness", "contradicted", "not_in_context")
    rg.evaluate(towers(300, 90), metrics=list(names), name="new", store=store)
    label("new", store, tmp_path, 100, 90)
    with open_store(store) as opened:
        mended = next(one for one in opened.labels.list() if one.value == "contradicted")
    counts = []
    for value, at in (("not_supported", "2030-01-01T00:00:00Z"), ("contradicted", "2030-01-02T00:00:00Z")):
        with open_store(store) as opened:
            opened.labels.add([replace(mended, value=value, at=at)])
        card = rg.evaluate("new", metrics=list(names), store=store)
        found = {one.metric: one.rectified.n if one.rectified else 0 for one in card.card.summaries}
        counts.append([found[name] for name in names])
        said = "1 of 100 labeled answers say not_supported"
        assert (said in card.to_markdown().replace("\\", "")) == (value == "not_supported")
    assert counts == [[100, 99, 99], [100, 100, 100]]
    people = rg.evaluate("new", metrics=list(names), judge="people", store=store).card.summaries
    assert [one.scored for one in people] == [100] * 3


def test_reason_of_what_labels_do_not_tell(store: str, tmp_path: Path) -> None:
    """Where labels say no more than not supported, asking people for the kind says how many do not tell which."""
    rg.evaluate(towers(60, 20), metrics="faithfulness", name="new", store=store)
    label("new", store, tmp_path, 60, 20)
    with open_store(store) as opened:
        known = [one for one in opened.labels.list() if one.value == "contradicted"]
        opened.labels.add(replace(one, value="not_supported", at="2030-01-01") for one in known)
    with pytest.raises(UsageError, match=f"{len(known)} of 60 support labels say not_supported"):
        rg.evaluate("new", metrics="not_in_context", judge="people", store=store)


@pytest.mark.prove
def test_unequal_chances_are_counted(store: str, tmp_path: Path) -> None:
    """A draw that prefers what the judge calls wrong gives the same mean; unweighted labels would be far off."""
    rg.evaluate(towers(300, 60), metrics="faithfulness", name="new", store=store)
    drawn = label("new", store, tmp_path, 80, 60, scheme="verdict")
    found = rg.evaluate("new", metrics="faithfulness", store=store).card.summaries[0].rectified
    assert found is not None
    assert found.interval.low < rate(300, 60) < found.interval.high
    assert np.mean([right(i, 60) for i in drawn]) < rate(300, 60) - 0.1


@pytest.mark.prove
def test_below_fifty_nothing_is_rectified(store: str, tmp_path: Path) -> None:
    """With 49 labels nothing is rectified, and the card says how many there are and how many it takes."""
    rg.evaluate(towers(100, 30), metrics="faithfulness", name="new", store=store)
    label("new", store, tmp_path, 49, 30)
    card = rg.evaluate("new", metrics="faithfulness", store=store).card
    assert card.summaries[0].rectified is None
    said = "49 of 49 drawn answers have a human label; with at least 50, labels correct the means. Draw more first: "
    assert f"{said}ragauge label draw new -n 1 -o page.html" in card.warnings


def test_all_labelled_is_peoples_own_mean() -> None:
    """Where people labelled everything there is no judge in the mean; weights and amounts are not rectified."""
    values, people = np.linspace(0, 1, 60), np.tile([1.0, 1.0, 0.0], 20)
    sample = ScoreSample(values, "mean", (0.0, 1.0))
    found = correct_mean(sample, people)
    assert found is not None
    assert found.mean == pytest.approx(2 / 3)
    assert found.interval == compute_mean_interval(ScoreSample(people, "mean", (0.0, 1.0)))
    assert correct_mean(ScoreSample(values, "mean", (0.0, 1.0), np.arange(60) + 1.0), people) is None
    assert correct_mean(ScoreSample(values, "amount"), people) is None
    assert correct_mean(sample, None) is None
    without = np.where(np.arange(60) < 11, np.inf, people)
    assert correct_mean(sample, without) is None  # 49 are left


def test_repeats_have_one_score_by_people() -> None:
    """Of an example that was answered twice people's score is the mean over what they labelled."""
    two = np.array([0, 0, 1, 1])
    ones, none = np.ones(4), np.full(4, np.nan)
    columns = Columns(
        np.arange(4),
        two,
        np.full(4, SCORED),
        ones,
        none,
        none,
        ones,
        ones,
        np.zeros(4, dtype=int),
        None,
        None,
        ("",),
        np.array([1.0, 0.0, np.nan, 1.0]),
        None,
    )
    found = merge_repeats(columns)
    assert found.people is not None
    assert found.people.tolist() == [0.5, 1.0]
    assert found.inclusion is None


def verdicts(run: str, store: str, *rules: dict[str, Any], baseline: str | None = None) -> list[Any]:
    """The checks of a gate with these rules, on the whole run alone."""
    given = [{"segments": "none"} | rule for rule in rules]
    return list(rg.gate(run, baseline=baseline, rules={"gate": {"rules": given}}, store=store).gated.checks)


def test_gate_decides_by_people(store: str, tmp_path: Path) -> None:
    """A judge that is too strict fails a level that people's labels meet; from 50 on they decide unless told not to."""
    rows = towers(300, 30)
    for row in rows[100:220]:
        row["answer"] = row["answer"].replace("is", "has a height of").replace(" tall.", ".")  # unclear
    rg.evaluate(rows, metrics="faithfulness", name="new", store=store)
    rule = {"metric": "faithfulness", "min": 0.6, "rectified": True}
    (before,) = (one for one in verdicts("new", store, rule) if one.kind == "min")
    assert (before.verdict, before.because, before.n, before.min_n) == ("not_enough_data", "few", 0, 50)
    label("new", store, tmp_path, 150, 30)
    checks = verdicts("new", store, rule, {"metric": "faithfulness", "min": 0.85, "rectified": True})
    good, high = (one for one in checks if one.kind == "min")
    card = rg.evaluate("new", metrics="faithfulness", store=store).card.summaries[0].rectified
    assert card is not None
    assert (good.verdict, high.verdict) == ("pass", "fail")
    assert (good.n, good.estimate) == (150, pytest.approx(card.mean))
    assert good.interval.low > card.interval.low  # 90 % for a gate
    assert "corrected by human labels" in good.asks
    plain = {"metric": "faithfulness", "min": 0.6}
    default, judge = (one for one in verdicts("new", store, plain, plain | {"rectified": False}) if one.kind == "min")
    assert (default.rectified, default.verdict, default.n) == (True, "pass", 150)
    assert (judge.rectified, judge.n) == (False, 300)


@pytest.mark.prove
def test_gate_decides_drops_by_people(store: str, tmp_path: Path) -> None:
    """A rectified drop is decided by examples labelled in both runs; a run against others of its kind needs them."""
    for name, wrong in (("base", 20), ("new", 110)):
        rg.evaluate(towers(300, wrong), metrics="faithfulness", name=name, store=store)
        label(name, store, tmp_path, 120, wrong)
    rule = {"metric": "faithfulness", "max_drop": "5 points", "rectified": True}
    (down,) = (one for one in verdicts("new", store, rule, baseline="base") if one.kind == "max_drop")
    (up,) = (one for one in verdicts("base", store, rule, baseline="new") if one.kind == "max_drop")
    assert (down.verdict, up.verdict, down.n) == ("fail", "pass", 120)
    assert down.interval.low < rate(300, 110) - rate(300, 20) < down.interval.high
    told = rg.gate("new", baseline="base", rules={"gate": {"rules": [{"segments": "none"} | rule]}}, store=store)
    assert "= –" not in told.explain()
    assert "label-corrected difference, 120 labeled pairs" in told.explain()


def test_validation_names_the_labels_that_a_rule_takes(tmp_path: Path) -> None:
    """What `validate` says a rectified rule takes is what the gate takes: 50 labelled examples, or more by min_n."""
    file = tmp_path / "ragauge.yaml"
    for least, said in ((10, 50), (80, 80)):
        rule = {"metric": "faithfulness", "min": 0.8, "rectified": True, "min_n": least}
        file.write_text(json.dumps({"gate": {"rules": [rule]}}))
        assert f"with at least {said} labeled examples" in str(rg.validate(file))


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        pytest.param({"metric": "latency", "max": 900}, "human labels cannot correct latency", marks=pytest.mark.prove),
        ({"metric": "faithfulness", "max_drop": "3%"}, "cannot be used with a drop relative to the baseline"),
        pytest.param(
            {"tag": "golden", "must_pass": True}, "cannot be combined with must_pass", marks=pytest.mark.prove
        ),
    ],
)
def test_what_cannot_be_rectified_is_refused(store: str, rule: dict[str, Any], said: str) -> None:
    """Metrics that labels do not tell of, relative drops and single examples are refused with what to write."""
    rg.evaluate(towers(20, 2), metrics="faithfulness", name="new", store=store)
    with pytest.raises(rg.ConfigError, match=said):
        rg.gate("new", rules={"gate": {"rules": [rule | {"rectified": True}]}}, store=store)


@pytest.mark.prove
def test_labels_of_another_run(store: str, tmp_path: Path) -> None:
    """A rate is corrected by labels of another run, (p + sp − 1)/(se + sp − 1) by hand, and drawn at random alone."""
    for name, n, wrong in (("base", 300, 100), ("new", 240, 80)):  # the judge errs alike on both
        rg.evaluate(towers(n, wrong), metrics="faithfulness", name=name, store=store)
    with pytest.raises(rg.UsageError, match="0 labeled answers of base"):
        rg.label_transfer("base", "new", store=store)
    label("base", store, tmp_path, 150, 100)
    found = rg.label_transfer("base", "new", store=store)
    assert (found.labels, found.n) == (150, 240)
    se, sp = found.rate.sensitivity, found.rate.specificity
    assert se == 1.0
    assert sp == pytest.approx(100 / (300 - 300 * rate(300, 100)), abs=0.1)  # it sees the wrong heights alone
    assert found.judged == pytest.approx(160 / 240)
    assert found.rate.rate == pytest.approx((found.judged + sp - 1) / (se + sp - 1))
    assert found.rate.interval.low < rate(240, 80) < found.rate.interval.high
    with pytest.raises(rg.UsageError, match="base is itself the labeled run"):
        rg.label_transfer("base", "base", store=store)
    label("base", store, tmp_path, 20, 100, scheme="verdict")
    with pytest.raises(rg.UsageError, match="were not sampled at random"):
        rg.label_transfer("base", "new", store=store)


@pytest.mark.prove
def test_a_new_draw_takes_no_labels_away(store: str, tmp_path: Path) -> None:
    """A later draw for another question, or by instructions that nobody has followed yet, leaves rectified means."""
    rg.evaluate(towers(200, 60), metrics="faithfulness", name="new", store=store)
    label("new", store, tmp_path, 80, 60)
    before = rg.evaluate("new", metrics="faithfulness", store=store).card.summaries[0].rectified
    assert before is not None
    (tmp_path / "other.txt").write_text("Be strict.")
    rg.label_draw("new", output=tmp_path / "p.html", n=60, question="relevance", store=store)
    rg.label_draw("new", output=tmp_path / "p.html", n=60, guideline=tmp_path / "other.txt", store=store)
    card = rg.evaluate("new", metrics="faithfulness", store=store).card
    assert card.summaries[0].rectified == before
    assert "0 of 60 drawn answers have a human label; with at least 50, labels correct the means." in card.warnings
