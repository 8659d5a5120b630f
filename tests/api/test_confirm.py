"""`confirm` end to end, on systems of which it is known why they fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ragauge as rg
from ragauge import Confirmation, confirm
from ragauge.systems.base import ALL_VARIANTS, Question, System

SPEC = "tests.engine.tiny_judge:TinyJudge"  # a claim is a sentence; a passage supports it if it has all its words
OTHER = rg.Passage("x", "dx", "other text")
ASKED = ("mends", "refuses", "breaks", "half", "lucky", "invents", "misled", "distracted", "lost")
TRUTH = {
    "mends": ("retrieval_miss", "confirmed"),
    "refuses": ("retrieval_miss", "refuted"),
    "breaks": ("retrieval_miss", "undecided"),
    "half": ("retrieval_miss", "undecided"),
    "invents": ("hallucinated", "confirmed"),
    "misled": ("hallucinated", "refuted"),
    "distracted": ("noise", "confirmed"),
    "lost": ("noise", "refuted"),
}
CORPUS = {f"d{n}": f"number {n} and count {n}" for n in range(len(ASKED))}
GOLDEN = rg.EvalSet(
    "scripted",
    tuple(
        rg.Example(
            kind,
            f"what is number {n}",
            references=(f"number {n}.",),
            reference_claims=(f"number {n}", f"count {n}"),
            relevant=(rg.Relevant((f"d{n}",)),),
        )
        for n, kind in enumerate(ASKED)
    ),
)


class Scripted(System):
    """Fails in a known way for each question; what it does with other passages tells why."""

    def __init__(self, name: str = "scripted") -> None:
        super().__init__(name, {}, ALL_VARIANTS)
        self.handed: list[str] = []

    async def respond(self, question: Question, passages: Sequence[rg.Passage] | None = None) -> rg.Response:
        kind, n = question.query_id, question.query.split()[-1]
        gold = rg.Passage(f"d{n}", f"d{n}", CORPUS[f"d{n}"])
        if passages is not None:
            self.handed.append(kind)
            if kind == "breaks":
                raise ValueError("cannot take these")
            return rg.Response(kind, passages=tuple(passages), answer=self._again(kind, n, passages))
        whole = f"number {n}. count {n}."
        found, answer = {
            "lucky": ((rg.Passage("y", "dy", gold.text),), whole),
            "invents": ((gold, OTHER), f"{whole} something invented."),
            "misled": ((gold, OTHER), f"{whole} something invented."),
            "distracted": ((OTHER, gold), "other text."),
            "lost": ((OTHER, gold), "other text."),
        }.get(kind, ((OTHER,), "other text."))
        return rg.Response(kind, passages=found, answer=answer)

    def _again(self, kind: str, n: str, passages: Sequence[rg.Passage]) -> str:
        assert any(passage.doc_id == f"d{n}" for passage in passages)
        if kind == "invents":
            return f"number {n}. count {n}. something invented."
        if kind in ("refuses", "lost"):
            return "other text."
        if kind == "half":
            return f"number {n}."
        if kind in ("misled", "distracted"):
            assert OTHER not in passages
        return f"number {n}. count {n}."


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/s.db"


def evaluated(system: Any, url: str) -> rg.OpenRun:
    run = rg.run(system, GOLDEN, store=url)
    rg.evaluate(run, judge=SPEC, metrics="prompt,context_recall,answer_correctness", workers=1)
    return run


def verdicts(found: Confirmation) -> dict[str, tuple[str, str]]:
    return {one.experiment.query_id: (one.experiment.cause, one.verdict) for one in found.outcomes}


def test_each_known_truth_is_found(url: str) -> None:
    """Experiments find what is so: confirmed, refuted, or undecided where the new answer fails or is half right."""
    system = Scripted()
    run = evaluated(system, url)
    found = confirm(run, system, corpus=CORPUS)
    assert verdicts(found) == TRUTH
    assert sorted(system.handed) == sorted(TRUTH)
    told = {one.cause: one for one in found.causes}
    miss = told["retrieval_miss"]
    assert (miss.inferred, miss.made, miss.confirmed, miss.refuted, miss.undecided) == (5, 4, 1, 1, 2)
    assert dict(miss.without) == {"the answer was already right": 1}
    assert [told[name].share for name in ("retrieval_miss", "hallucinated", "noise")] == [0.25, 0.5, 0.5]


@pytest.mark.prove
def test_nothing_is_paid_twice(url: str) -> None:
    """The same call asks nothing again, and a higher limit asks only what is added; both keep one run."""
    system = Scripted()
    run = evaluated(system, url)
    few = confirm(run, system, corpus=CORPUS, limit=3)
    assert (few.asked, len(few.outcomes), len(system.handed)) == (3, 3, 3)
    assert len({one.experiment.cause for one in few.outcomes}) == 3
    all_of_them = confirm(run, system, corpus=CORPUS)
    assert (all_of_them.asked, len(system.handed)) == (5, 8)
    again = confirm(run, system, corpus=CORPUS)
    assert (again.asked, len(system.handed)) == (0, 8)
    assert verdicts(again) == TRUTH
    assert again.answers == all_of_them.answers
    assert few.answers is not None
    assert again.answers is not None
    assert few.answers.run_id == again.answers.run_id
    assert (again.answers.variant, again.answers.state, again.answers.done) == ("replayed", "finished", 8)
    assert again.answers.config["confirms"] == run.run.run_id


@pytest.mark.prove
def test_other_passages_are_another_run(url: str) -> None:
    """Answers from another corpus are not taken for those from this one."""
    system = Scripted()
    run = evaluated(system, url)
    first = confirm(run, system, corpus=CORPUS)
    second = confirm(run, system, corpus={doc_id: f"{text} indeed" for doc_id, text in CORPUS.items()})
    assert (first.asked, second.asked) == (8, 8)
    assert first.answers is not None
    assert second.answers is not None
    assert first.answers.run_id != second.answers.run_id


@pytest.mark.prove
def test_the_scorecard_has_what_was_confirmed(url: str) -> None:
    """The run's card reads the experiments back as `confirm` told them; before them, and with other causes, none."""
    system = Scripted()
    run = evaluated(system, url)
    assert run.scorecard().card.confirmed is None
    found = confirm(run, system, corpus=CORPUS, control=True)
    held = run.scorecard().card.confirmed
    assert held is not None
    assert found.answers is not None
    assert held.answers == found.answers.run_id
    key = {one.experiment.query_id: one for one in held.outcomes}
    assert {name: (one.verdict, one.why, one.experiment.before, one.after) for name, one in key.items()} == {
        one.experiment.query_id: (one.verdict, one.why, one.experiment.before, one.after) for one in found.outcomes
    }
    assert {one.cause: (one.inferred, one.made, one.share) for one in held.causes} == {
        one.cause: (one.inferred, one.made, one.share) for one in found.causes
    }
    mine = run.scorecard().to_dict()["confirmed"]["causes"]["retrieval_miss"]
    assert (mine["inferred"], mine["experiments"], mine["confirmed_share"]) == (5, 4, 0.25)
    assert "confirmed in 1 of 4 experiments" in run.scorecard().to_markdown()
    rg.evaluate(run, judge="local", metrics="prompt,context_recall,answer_correctness", workers=1)
    assert run.scorecard().card.confirmed is None  # another judge's causes were not tested


class Stop(BaseException):
    """What a stop of the whole process looks like from inside."""


def test_stopped_experiments_go_on(url: str) -> None:
    """A stop in the middle keeps the answers so far; the same call asks the others."""
    system = Scripted()
    run = evaluated(system, url)

    def told(progress: Any) -> None:
        if progress.done == 4:
            raise Stop

    with pytest.raises(Stop):
        confirm(run, system, corpus=CORPUS, concurrency=1, progress=told)
    found = confirm(run, system, corpus=CORPUS)
    assert (found.asked, len(system.handed)) == (4, 8)
    assert verdicts(found) == TRUTH


@pytest.mark.prove
def test_control_tells_chance_from_passages(url: str) -> None:
    """With a control, a failure that goes away by itself confirms nothing; the answers of before are kept."""
    system = Moody()
    run = evaluated(system, url)
    assert verdicts(confirm(run, system, corpus=CORPUS)) == TRUTH
    found = confirm(run, system, corpus=CORPUS, control=True)
    assert found.asked == 8
    assert verdicts(found) == TRUTH | {"distracted": ("noise", "undecided")}
    (moody,) = [one for one in found.outcomes if one.experiment.query_id == "distracted"]
    assert moody.why == "also right with the unchanged passages: the failure does not recur"


class Moody(Scripted):
    """One of its failures was chance: asked again, the answer is right from any passages."""

    async def respond(self, question: Question, passages: Sequence[rg.Passage] | None = None) -> rg.Response:
        unchanged = passages is not None and question.repeat == 1
        if unchanged and question.query_id == "distracted":
            n = question.query.split()[-1]
            return rg.Response("distracted", 1, passages=tuple(passages or ()), answer=f"number {n}. count {n}.")
        found = await super().respond(question, None if unchanged else passages)
        return replace(found, repeat=question.repeat)


def test_without_a_corpus_what_was_recorded_is_used(url: str) -> None:
    """Evidence that the run holds is handed over; what it lacks is said by cause."""
    system = Scripted()
    found = confirm(evaluated(system, url), system)
    assert verdicts(found) == {kind: TRUTH[kind] for kind in ("invents", "misled", "distracted", "lost")}
    (miss,) = [one for one in found.causes if one.cause == "retrieval_miss"]
    assert miss.without["the gold passages are not available: pass the corpus"] == 4


def test_system_that_takes_no_passages_is_refused(url: str) -> None:
    """It is said what to implement, before anything is asked or stored."""

    def answer(query: str) -> tuple[str, list[str]]:
        return "other text.", ["other text"]

    run = evaluated(answer, url)
    with pytest.raises(rg.UsageError, match=r"retrieve\(query\) and generate\(query, passages\)"):
        confirm(run, answer, corpus=CORPUS)
    assert len(rg.runs(store=url)) == 1


def test_run_without_judge_is_refused(url: str) -> None:
    """Without a judge nothing tells a right answer; a run without evaluation has no causes at all."""
    system = Scripted()
    run = rg.run(system, GOLDEN, store=url)
    with pytest.raises(rg.UsageError, match="has not been evaluated"):
        confirm(run, system, corpus=CORPUS)
    rg.evaluate(run, judge=None, metrics="recall@5")
    with pytest.raises(rg.UsageError, match="was not judged"):
        confirm(run, system, corpus=CORPUS)
