"""Stored runs held against a baseline, in Python."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.api.test_baseline import OTHER
from tests.engine.tiny_judge import SPEC

import ragauge as rg

METRICS = "recall@5,context_recall,faithfulness,answer_correctness,latency"
Row = dict[str, Any]


def rows(numbers: Any, *, missed: Any = (), invented: Any = (), slow: float = 0.0, query: str = "") -> list[Row]:
    """Questions answered from their passage; `missed` got another one, `invented` answers say too much."""
    found = []
    for i in numbers:
        there = "nothing at all" if i in missed else f"it is number {i}"
        answer = f"it is number {i}. " + (f"something unheard {i}." if i in invented else "")
        found.append(
            {
                "query_id": f"q{i}",
                "query": query or f"what is number {i}",
                "answer": answer,
                "passages": [{"doc_id": "other" if i in missed else f"d{i}", "text": there}],
                "reference_answer": f"it is number {i}",
                "relevant": {f"d{i}": 1},
                "segments": {"type": "rare" if i % 5 == 0 else "usual"},
                "latency_ms": {"total": 10.0 + i % 7 + slow},
            }
        )
    return found


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/runs.db"


def evaluated(store: str, name: str, made: list[Row], **more: Any) -> rg.Scorecard:
    asked = {"metrics": METRICS, "judge": SPEC, "store": store, "name": name, "workers": 1, "config": {"is": name}}
    return rg.evaluate(made, **{**asked, **more})


def test_what_changed(store: str) -> None:
    """60 of 200 lost their document, 40 of them of one segment: by hand, per metric and segment, and all beside it."""
    every, missed, prompt = range(200), {*range(0, 200, 5), *range(1, 101, 5)}, {"name": "a"}
    evaluated(store, "main", rows(every), config={"k": 5, "prompt": prompt})
    changed = {"k": 3, "prompt": prompt, "seed": 1}
    evaluated(store, "changed", rows(every, missed=missed, slow=5.0), config=changed)
    found = rg.compare("main", "changed", store=store)
    assert isinstance(found, rg.ComparisonResult)
    recall = found["recall@5"]
    assert (recall.base, recall.new, recall.difference.mean) == pytest.approx((1.0, 0.7, -0.3))
    assert (recall.wins, recall.ties, recall.losses, recall.verdict) == (0, 140, 60, "worse")
    assert recall.corrected is not None
    assert recall.corrected < 0.001
    assert len(recall.moved) == 20
    segments = {(part.value, part.change.metric): part.change for part in found.runs[0].segments}
    assert segments["rare", "recall@5"].difference.mean == -1.0
    assert segments["usual", "recall@5"].difference.mean == pytest.approx(-20 / 160)
    assert {part.value for part in found.worse_segments} == {"rare", "usual"}
    (amount,) = found.runs[0].amounts
    assert amount.new[0.5].mean == pytest.approx((amount.base[0.5].mean or 0) + 5)
    assert amount.base[0.95].interval is not None
    flips = found.runs[0].flips
    assert (flips.lost, flips.gained, flips.newly_failed, flips.mended) == (60, 0, 60, 0)
    first = flips.shown[0]
    assert (first.base.failed, first.new.failed, first.new.cause) == (False, True, "retrieval_miss")
    assert first.base.answer is not None
    assert first.base.answer.startswith("it is number")
    assert ("recall@5", 1.0, 0.0) in {(one.metric, one.base, one.new) for one in first.scores}
    settings = found.runs[0].settings
    assert [(one.path, one.base, one.new) for one in settings.changed] == [("k", 5, 3)]
    assert [one.path for one in settings.added] == ["seed"]
    assert found.runs[0].failures.new == {"retrieval_miss": 60}
    assert {one.against for one in found.runs[0].findings} == {"baseline"}
    assert any(reading.metric == "context_recall" for one in found.runs[0].findings for reading in one.readings)
    worse = "context_recall −0.30, recall@5 −0.30, faithfulness −0.30 and latency +39%"  # 5 ms on each of 200
    assert repr(found).splitlines()[1].startswith(f"Worse than main: {worse} (200 examples in both)")


def test_a_run_against_itself(store: str) -> None:
    """Case 75: every difference is 0, nothing flips, and the reader is told; no change is seen, amounts included.

    Of fewer than ten examples that would say too much.
    """
    card = evaluated(store, "main", rows(range(40), missed=range(5)))
    for base, new in (("main", "main"), (card, card), (rg.open_run("main", store=store), "latest")):
        found = rg.compare(base, new, store=store)
        changes = [*found.metrics.values(), *(part.change for part in found.runs[0].segments)]
        assert {change.difference.mean for change in changes} == {0.0}
        assert {change.verdict for change in changes if change.difference.n >= 10} == {"no change seen"}
        assert {change.verdict for change in changes if change.difference.n < 10} <= {"not enough data"}
        assert found.verdict == "no change seen"
        assert (found.runs[0].flips.lost, found.runs[0].flips.gained) == (0, 0)
        assert any("this run itself" in warning for warning in found.runs[0].warnings)


@pytest.mark.prove
def test_what_few_examples_or_failures_hide_is_not_called_well(store: str) -> None:
    """A fall by half of two examples is not enough data; five answers that the system failed to give are a change.

    In neither case does the diagnosis say that nothing fell.
    """
    evaluated(store, "two", rows(range(2)))
    evaluated(store, "two again", rows(range(2), missed=[1]))
    evaluated(store, "main", rows(range(40)))
    failed = [{**row, "error": "time-out after 30 s"} if at < 5 else row for at, row in enumerate(rows(range(40)))]
    for row in failed[:5]:
        del row["answer"], row["passages"]
    evaluated(store, "failing", failed)
    few, some = rg.compare("two", "two again", store=store), rg.compare("main", "failing", store=store)
    assert few.verdict == "not enough data"
    assert "40 examples in both, scores failed on 5 of them" in repr(some)
    assert any("5 of 40 examples" in warning for warning in some.runs[0].warnings)
    assert [finding.cause for finding in few.runs[0].findings] == []
    assert some.verdict == "worse"
    assert (some["system_failed"].base, some["system_failed"].new) == (0, 5 / 40)
    assert some.runs[0].newly_unanswered == 5
    assert [finding.cause for finding in some.runs[0].findings] == ["system_failed"]
    alike = rg.compare("main", "main", store=store)
    assert [finding.cause for finding in alike.runs[0].findings] == ["working"]


@pytest.mark.parametrize(
    ("clusters", "verdict", "words"),
    [
        (4, "not enough data", "The 40 examples form 4 clusters, which count as 4 observations: with fewer than 6"),
        pytest.param(8, "worse", "Only 8 clusters of examples in both", marks=pytest.mark.prove),
        pytest.param(40, "worse", None, marks=pytest.mark.prove),
    ],
)
def test_few_clusters_are_said(store: str, clusters: int, verdict: str, words: str | None) -> None:
    """Thirty of 40 questions lost their document: four clusters can tell nothing, eight can, and both are said."""
    of = {i: {"cluster": f"c{i % clusters}"} for i in range(40)}
    evaluated(store, "main", [{**row, **of[i]} for i, row in enumerate(rows(range(40)))])
    lost = [i for i in range(40) if i % 8 > 1 or i < 8]
    evaluated(store, "changed", [{**row, **of[i]} for i, row in enumerate(rows(range(40), missed=lost))])
    found = rg.compare("main", "changed", store=store)
    assert found.verdict == verdict
    said = [warning for warning in found.runs[0].warnings if f"{clusters} cluster" in warning]
    assert [words is not None and words in warning for warning in said] == [True] * (words is not None)


@pytest.mark.prove
def test_examples_are_matched_by_id(store: str) -> None:
    """Case 74: of 100 and 100 examples the 90 in both are paired, ten of each listed; one question twice stays two."""
    evaluated(store, "main", rows(range(100), query="the same question"))
    evaluated(store, "changed", rows(range(10, 110), query="the same question"))
    found = rg.compare("main", "changed", store=store)
    matched = found.runs[0].matched
    assert (matched.n, matched.only_new, matched.only_base) == (90, 10, 10)
    assert matched.ids_new == tuple(f"q{i}" for i in range(100, 110))
    assert matched.ids_base == tuple(f"q{i}" for i in range(10))
    assert {change.difference.n for change in found.metrics.values()} == {90}
    assert any("different versions of the eval set" in warning for warning in found.runs[0].warnings)
    evaluated(store, "apart", rows(range(500, 510)))
    with pytest.raises(rg.UsageError, match="no example in common"):
        rg.compare("main", "apart", store=store)


def test_a_segment_that_got_worse_under_a_better_mean(store: str) -> None:
    """Case 78: overall recall rises, one segment loses half of its documents: the first words say where."""
    every = range(400)
    evaluated(store, "main", rows(every, missed=[i for i in every if i % 5 and i % 4 == 0]))
    evaluated(store, "changed", rows(every, missed=[i for i in every if i % 10 == 0]))
    found = rg.compare("main", "changed", store=store, metrics=["recall@5"])
    assert found["recall@5"].verdict == "better"
    (part,) = found.worse_segments
    assert (part.column, part.value, part.is_hidden) == ("type", "rare", True)
    assert part.change.difference.mean == pytest.approx(-0.5)
    assert found.verdict == "mixed"
    assert "worse where type=rare (recall@5 −0.50), though overall recall@5 +0.10" in repr(found).replace("\n", " ")


@pytest.mark.prove
def test_runs_judged_otherwise_are_refused(store: str) -> None:
    """Case 98: another judge is refused without numbers, with the command that judges alike; labels are compared."""
    evaluated(store, "main", rows(range(20)))
    evaluated(store, "changed", rows(range(20), missed=range(5)), judge=OTHER)
    with pytest.raises(rg.UsageError, match=r"judged by other@1, main by tiny@1.*ragauge evaluate main -m") as raised:
        rg.compare("main", "changed", store=store)
    assert raised.value.exit_code == 2
    labels = rg.compare("main", "changed", store=store, metrics="recall@5,latency")
    assert list(labels.metrics) == ["recall@5", "latency"]
    evaluated(store, "main", rows(range(20)), judge=OTHER)  # as the message says
    assert len(rg.compare("main", "changed", store=store).metrics) == 5
    evaluated(store, "changed", rows(range(20), missed=range(5)))
    both = rg.compare("main", "changed", store=store, judge="other")
    assert both.compared.judge_id == "other@1"
    with pytest.raises(rg.UnknownName, match="no judge of this run 'nobody'"):
        rg.compare("main", "changed", store=store, judge="nobody")


def test_what_only_the_baseline_was_measured_on_is_said(store: str) -> None:
    """Metrics that the new run lacks are named as not compared, unless the ones compared were asked for by name."""
    evaluated(store, "main", rows(range(40)))
    evaluated(store, "by nobody", rows(range(40)), metrics="recall@5,latency", judge="none")
    found = rg.compare("main", "by nobody", store=store)
    assert set(found.metrics) == {"recall@5", "latency"}
    (said,) = (text for text in found.runs[0].warnings if text.startswith("Not in both runs"))
    assert said == "Not in both runs, so not compared: context_recall, faithfulness, answer_correctness."
    named = rg.compare("main", "by nobody", metrics="recall@5", store=store)
    assert not any(text.startswith("Not in both runs") for text in named.runs[0].warnings)
    with pytest.raises(rg.UsageError, match=r"by nobody by nobody: .* cannot be compared\. Judge the stored"):
        rg.compare("by nobody", "main", store=store)


@pytest.mark.prove
def test_the_judge_that_all_runs_share_is_taken(store: str) -> None:
    """Where the last judge of the new run never saw the baseline, the last one that saw both is compared."""
    evaluated(store, "main", rows(range(20)))
    evaluated(store, "changed", rows(range(20), missed=range(5)))
    evaluated(store, "changed", rows(range(20), missed=range(5)), judge=OTHER)
    assert rg.compare("main", "changed", store=store).compared.judge_id == "tiny@1"


@pytest.mark.prove
def test_several_runs_are_one_family(store: str) -> None:
    """Two runs against one baseline: a comparison each, and p-values corrected over both together."""
    every = range(60)
    evaluated(store, "main", rows(every))
    evaluated(store, "one", rows(every, missed=range(12)))
    evaluated(store, "two", rows(every, invented=range(12)))
    found = rg.compare("main", "one", "two", store=store)
    assert [comparison.run.name for comparison in found.runs] == ["one", "two"]
    alone = rg.compare("main", "one", store=store)
    assert found.compared.tests > alone.compared.tests
    mine, theirs = found["recall@5"], alone["recall@5"]
    assert mine.p_value == theirs.p_value
    assert mine.corrected is not None
    assert theirs.corrected is not None
    assert mine.corrected >= theirs.corrected
    assert {change.metric for change in found.runs[1].metrics if change.verdict == "worse"} >= {"faithfulness"}


@pytest.mark.prove
def test_filter_level_and_metrics(store: str) -> None:
    """A filter keeps its examples, a higher level widens intervals, an unshared metric is named, errors say why."""
    evaluated(store, "main", rows(range(50)), metrics="recall@5")
    evaluated(store, "changed", rows(range(50), missed=range(20)))
    rare = rg.compare("main", "changed", store=store, metrics="recall@5,mrr", filter={"type": "rare"})
    assert (rare["recall@5"].difference.n, rare.runs[0].matched.only_base) == (10, None)
    assert any("not compared: mrr" in warning for warning in rare.runs[0].warnings)
    wide, usual = (
        rg.compare("main", "changed", store=store, metrics="recall@5", level=level) for level in (0.99, 0.95)
    )
    one, other = wide["recall@5"].difference.interval, usual["recall@5"].difference.interval
    assert one is not None
    assert other is not None
    assert one.low < other.low < other.high < one.high
    assert rg.compare("main", "changed", store=store, metrics="recall@5", segments=False).runs[0].segments == ()
    wrong: tuple[tuple[Row, str], ...] = (
        ({"level": 95}, "level must be between 0 and 1"),
        ({"filter": {"typ": "rare"}}, "no segment 'typ'"),
        ({"metrics": "recal@5"}, "nearest: recall"),
    )
    for more, said in wrong:
        with pytest.raises(rg.UsageError, match=said):
            rg.compare("main", "changed", store=store, **{"metrics": "recall@5", **more})
    for base, said in (("mian", "nearest: main"), (3, "compare takes stored runs"), ("", "compare takes stored runs")):
        with pytest.raises(rg.UsageError, match=said):
            rg.compare(base, "changed", store=store)
    with pytest.raises(rg.UnknownName, match="metric of this comparison"):
        usual["faithfulness"]


@pytest.mark.prove
def test_traffic_is_compared_as_two_samples(store: str) -> None:
    """Two weeks that share no request are compared by their means, with intervals and tests, and nothing is paired."""
    evaluated(store, "week 1", rows(range(60)), traffic=True)
    evaluated(store, "week 2", rows(range(100, 160), invented=range(100, 140)), traffic=True)
    found = rg.compare("week 1", "week 2", store=store)
    assert not found.runs[0].matched.paired
    assert found["faithfulness"].verdict == "worse"
    assert found["faithfulness"].p_value is not None
    assert found["recall@5"].verdict == "no change seen"
    assert (found.runs[0].segments, found.runs[0].flips.shown) == ((), ())
    assert "two samples of traffic: 60 examples now, 60 before" in repr(found).replace("\n", " ")
    evaluated(store, "week 3", rows(range(157, 217)), traffic=True)  # three requests came again
    again = rg.compare("week 2", "week 3", store=store).runs[0]
    assert (again.matched.n, again.matched.paired, again.warnings) == (3, False, ())


def test_clusters_are_those_of_the_examples_in_both(store: str) -> None:
    """Of ten clusters eight have an example in both runs: the comparison speaks of eight, not of ten."""
    made = [{**row, "cluster": f"c{i % 10}"} for i, row in enumerate(rows(range(40)))]
    evaluated(store, "main", [row for i, row in enumerate(made) if i % 10 < 8])
    evaluated(store, "changed", made)
    assert rg.compare("main", "changed", store=store).runs[0].matched.clusters == 8


@pytest.mark.prove
def test_other_passages_under_a_generation_difference_are_told(store: str) -> None:
    """Where generation changed and passages did too, it is said with the way to hold them fixed; else nothing is."""
    evaluated(store, "main", rows(range(40)))
    evaluated(store, "writes worse", rows(range(40), invented=range(25)))
    evaluated(store, "reads less", rows(range(40), missed=range(10), invented=range(25)))
    alone, both = (
        [text for text in rg.compare("main", name, store=store).runs[0].warnings if "examples checked" in text]
        for name in ("writes worse", "reads less")
    )
    assert alone == []
    assert len(both) == 1
    assert "the passages of 10 of 40 examples checked" in both[0]
    assert "--context-from main" in both[0]


@pytest.mark.prove
def test_replayed_passages_that_differ_are_told(store: str) -> None:
    """A run meant to replay the baseline's passages is warned about where they are others, and its variant named."""
    evaluated(store, "main", rows(range(40)))
    evaluated(store, "same", rows(range(40), invented=range(9)), variant="replayed")
    evaluated(store, "other", rows(range(40), missed=range(4)), variant="replayed")
    same, other = (rg.compare("main", name, store=store).runs[0].warnings for name in ("same", "other"))
    assert not any("passages of" in warning for warning in same)
    assert any("The passages of 4 of 40 examples differ" in warning for warning in other)
    assert any("uses replayed passages" in warning for warning in same)


@pytest.mark.prove
def test_a_replay_of_the_baseline_is_expected_to_be_one(store: str) -> None:
    """A replay of the other run, or of one that both replay, warns of nothing; a replay of another run does."""
    main = evaluated(store, "main", rows(range(40)))
    evaluated(store, "stranger", rows(range(40), missed=range(4)))
    replay = {"variant": "replayed", "config": {"context_from": main.run.run_id}}
    first = evaluated(store, "first", rows(range(40), invented=range(9)), **replay)
    evaluated(store, "second", rows(range(40), invented=range(3)), **replay)
    again = {"variant": "replayed", "config": {"context_from": first.run.run_id}}
    evaluated(store, "of the first", rows(range(40), invented=range(5)), **again)
    for base, new in (("main", "first"), ("first", "main"), ("first", "second"), ("main", "of the first")):
        assert rg.compare(base, new, store=store).runs[0].warnings == (), (base, new)
    (told,) = rg.compare("stranger", "first", store=store).runs[0].warnings
    assert "first uses replayed passages and stranger uses its own retrieval" in told
    other = evaluated(store, "not as replayed", rows(range(40), missed=range(4)), **replay)
    (differ,) = rg.compare("main", other, store=store).runs[0].warnings
    assert "The passages of 4 of 40 examples differ" in differ
    said = rg.compare("main", "first", store=store).to_markdown()
    assert "replayed with the passages of main, so its latency excludes retrieval" in said


@pytest.mark.prove
def test_every_form(store: str, tmp_path: Path) -> None:
    """The comparison shows itself, is a table, and is saved as what its file's ending says."""
    evaluated(store, "main", rows(range(30)))
    evaluated(store, "changed", rows(range(30), missed=range(9)))
    found = rg.compare("main", "changed", store=store)
    assert found._repr_html_().startswith("<iframe srcdoc=")
    assert found.to_markdown().startswith("## main → changed (")
    table = found.to_polars()
    whole = table.filter(pl.col("segment").is_null())
    assert dict(zip(whole["metric"], whole["difference"], strict=True))["recall@5"] == pytest.approx(-0.3)
    assert table.height == 5 * 3  # over all, and two segments
    for ending in (".html", ".md", ".json", ".csv"):
        assert found.save(tmp_path / f"new/change{ending}").stat().st_size > 200
    assert json.loads((tmp_path / "new/change.json").read_text()) == found.to_dict() == json.loads(found.to_json())
    assert pl.read_csv(tmp_path / "new/change.csv").height == table.height
    with pytest.raises(rg.UsageError, match=r"expected .html, .md, .json, .csv, got .jsonl"):
        found.save(tmp_path / "change.jsonl")
    assert found.to_json() == rg.compare("main", "changed", store=store).to_json()


def test_runs_of_different_stores_are_refused(store: str, tmp_path: Path) -> None:
    """A scorecard and an opened run know their store; two of them have no common one."""
    main = evaluated(store, "main", rows(range(5)))
    other = evaluated(f"sqlite:///{tmp_path}/other.db", "changed", rows(range(5)))
    with pytest.raises(rg.UsageError, match="different stores"):
        rg.compare(main, other)
    changed = evaluated(store, "changed", rows(range(5), missed=range(2)))
    assert rg.compare(main, changed)["recall@5"].difference.mean == pytest.approx(-0.4)
    assert any("Only 5 examples in both" in warning for warning in rg.compare(main, changed).runs[0].warnings)


def test_coroutine(store: str) -> None:
    """`aio.compare` gives what `compare` gives; `compare` works inside a running loop too."""
    main = evaluated(store, "main", rows(range(10)))
    changed = evaluated(store, "changed", rows(range(10), missed=range(4)))

    async def both() -> tuple[rg.ComparisonResult, rg.ComparisonResult]:
        return await rg.aio.compare(main, changed), rg.compare(main, changed)

    one, other = asyncio.run(both())
    assert one.to_dict() == other.to_dict()
