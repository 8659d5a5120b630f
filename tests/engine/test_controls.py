"""Control pairs: how they are drawn, what is asked about them once, and what they say of a judge."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select as select_rows
from tests.engine.tiny_judge import LOG, SLOW, SPEC, SlowJudge, notes

import ragauge as rg
from ragauge.core.errors import ConfigError
from ragauge.core.example import Example
from ragauge.core.facts import RelevanceFacts
from ragauge.core.response import Passage, Response, Run
from ragauge.engine.control_pairs import ControlPair, halve_sentence, sample_pairs, select_shipped_pairs
from ragauge.engine.controls import ControlCounts, ask_controls
from ragauge.engine.execute import execute_plan
from ragauge.engine.judge_batch import Work, drive_jobs
from ragauge.engine.judges import build_judge
from ragauge.engine.plan import Plan, Selection, build_plan
from ragauge.evaluation.evaluate.verb import build_planner
from ragauge.judges.inputs import Inputs
from ragauge.judges.judge import AskGenerator
from ragauge.judges.known_texts import list_languages
from ragauge.judges.local.judge import LocalJudge
from ragauge.metrics.catalogue import select_metrics
from ragauge.store.schema import evidence, runs
from ragauge.store.store_access import Store, open_store
from ragauge.store.verdict_schema import control_evidence
from ragauge.text.tokens import split_words
from ragauge.verbs.evaluate_options import EvaluateOptions

TOPICS = (
    ("ferry", "The ferry to Skagen leaves the harbour every morning at {n} past seven and takes two hours."),
    ("orchard", "Growers in the valley pick {n} crates of late apples before the first frost arrives."),
    ("archive", "The city archive keeps {n} maps of the old walls in a cool room below the tower."),
    ("choir", "A choir of {n} singers rehearses in the chapel on Tuesday evenings during winter."),
)


def pair_of(n: int, tenant: str = "a") -> tuple[Example, Response]:
    """A question with its answer and two passages."""
    topic, sentence = TOPICS[n % len(TOPICS)]
    text = sentence.format(n=10 + n)
    texts = [f"{text} Part {part} was written in {1900 + n}." for part in range(2)]
    passages = tuple(Passage(f"p{n}-{part}", f"d{n}-{part}", text) for part, text in enumerate(texts))
    example = Example(f"q{n}", f"What is known of {topic} {n}?", references=(text,), segments={"tenant": tenant})
    return example, Response(f"q{n}", passages=passages, answer=text)


PAIRS = [pair_of(n, "ab"[n % 2]) for n in range(24)]


class BlindJudge(LocalJudge):
    """The local judge, to which every passage is relevant."""

    @property
    def judge_id(self) -> str:
        return "blind@1"

    def ask(self, inputs: Inputs, judge_repeat: int = 0) -> AskGenerator:
        facts = yield from super().ask(inputs, judge_repeat)
        if isinstance(facts, RelevanceFacts):
            facts = replace(facts, ratings=tuple(replace(one, relevant=True, p=0.99) for one in facts.ratings))
        return facts


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store with a run."""
    return open_store(f"sqlite:///{tmp_path}/store.db")


def with_run(store: Store, pairs: list[tuple[Example, Response]] = PAIRS) -> str:
    """A run of these responses."""
    return store.runs.import_run(Run("", "r"), pairs).run_id


def planned(store: Store, run_id: str, limit: int | None = None, controls: int | None = 16) -> Plan:
    """A plan of two metrics by the local judge."""
    metrics = select_metrics(["faithfulness", "context_precision"])
    return build_plan(store, run_id, metrics, LocalJudge(), Selection(limit, controls=controls))


def seen(pairs: list[ControlPair]) -> set[tuple[str, bool, str, str | None]]:
    """What tells drawn pairs apart."""
    return {(pair.kind, pair.is_yes, pair.example.query_id, pair.response.answer) for pair in pairs}


def test_the_order_of_examples_changes_no_pair() -> None:
    """The same pairs are drawn in whatever order the examples come; no more than were asked for of a kind."""
    drawn = sample_pairs(PAIRS, 16)
    assert seen(drawn) == seen(sample_pairs(PAIRS[::-1], 16)) == seen(sample_pairs(PAIRS[7:] + PAIRS[:7], 16))
    for kind in ("passages", "address"):
        assert [sum(pair.is_yes is yes for pair in drawn if pair.kind == kind) for yes in (True, False)] == [8, 8]


def test_known_no_pairs_share_no_document_and_no_tenant() -> None:
    """Passages beside a question come from an example of the same tenant without a common document."""
    shared = replace(PAIRS[0][1], passages=PAIRS[2][1].passages)
    tenants = {
        passage.doc_id: example.segments["tenant"] for example, other in PAIRS for passage in other.passages or ()
    }
    documents = {example.query: {passage.doc_id for passage in other.passages or ()} for example, other in PAIRS}
    drawn = sample_pairs([*PAIRS, (PAIRS[0][0], shared)], 40)
    known_no = [pair for pair in drawn if pair.kind == "passages" and not pair.is_yes]
    assert known_no
    for pair in known_no:
        found = {passage.doc_id for passage in pair.response.passages or ()}
        own = next(example for example, _ in PAIRS if example.query == pair.example.query)
        assert not found & documents[own.query]
        assert {tenants[doc_id] for doc_id in found} == {own.segments["tenant"]}


def test_a_page_that_most_responses_have_hides_no_pair() -> None:
    """Without it the same known-no pairs are drawn, and it stands in none of them."""
    welcome = Passage("welcome", "welcome", "Welcome to the help desk of the city. Ask anything about its services.")
    every = [
        (example, replace(response, passages=(welcome, *(response.passages or ())))) for example, response in PAIRS
    ]
    drawn = sample_pairs(every, 16)
    assert seen(drawn) == seen(sample_pairs(PAIRS, 16))
    assert all(welcome not in (pair.response.passages or ()) for pair in drawn)


def test_known_yes_pairs_are_part_of_their_passage() -> None:
    """The query of a known yes is about half of the words of its passage's sentence, numbers included."""
    for pair in sample_pairs(PAIRS, 16):
        if pair.is_yes and pair.kind == "passages":
            (passage,) = pair.response.passages or ()
            assert set(split_words(pair.example.query)) <= set(split_words(passage.text or ""))
            assert len(split_words(pair.example.query)) >= 3
    assert split_words(halve_sentence("It fell by 12.5 in May and rose by 7 in June"))[-2:] == ["7", "june"]


@pytest.mark.parametrize("language", list_languages())
def test_shipped_pairs_of_every_language(language: str) -> None:
    """Of prose, tables and cells there are at least twenty pairs of each truth in every language."""
    for layout in ("prose", "table", "cells"):
        pairs = select_shipped_pairs("passages", language, layout)
        assert min(sum(pair.is_yes is yes for pair in pairs) for yes in (True, False)) >= 20
        assert {pair.place.language for pair in pairs} == {language}
    assert select_shipped_pairs("passages", "mixed", "prose") == []


def test_controls_are_asked_about_once(store: Store) -> None:
    """A second evaluation asks nothing, and neither a limit nor the order of the examples changes the controls."""
    with store:
        run_id = with_run(store)
        first = planned(store, run_id, limit=4)
        assert asyncio.run(execute_plan(first, store, workers=1)).done == 4
        limited = store.controls.read(run_id, LocalJudge().judge_id)
        assert asyncio.run(execute_plan(planned(store, run_id), store, workers=1)).done == 20
        again = planned(store, run_id)
        assert again.pending == 0
        assert again.controls == limited
        counts = ControlCounts()
        drive_jobs(ask_controls(again, store, Work(again.metrics, again.questions, LocalJudge()), counts), Work(()))
        assert counts.n_asked == 0 < counts.reused
        other = with_run(store, PAIRS[::-1])
        asyncio.run(execute_plan(planned(store, other), store, workers=1))
        assert store.controls.read(other, LocalJudge().judge_id) == limited


def test_evidence_of_controls_stays_while_a_run_rests_on_it(store: Store) -> None:
    """Where one of two runs with the same pairs goes, the other asks nothing again; with both all of it goes."""
    with store:
        first, other = with_run(store), store.runs.import_run(Run("", "s", system="s"), PAIRS).run_id
        for run_id in (first, other):
            asyncio.run(execute_plan(planned(store, run_id), store, workers=1))
        store.runs.delete(first)
        assert asked_again(store, other) == 0
        store.runs.delete(other)
        with store._database.read() as connection:
            assert not connection.execute(select_rows(evidence)).all()


def asked_again(store: Store, run_id: str) -> int:
    """How many questions about the controls of a run are asked once more."""
    again, counts = planned(store, run_id), ControlCounts()
    drive_jobs(ask_controls(again, store, Work(again.metrics, again.questions, LocalJudge()), counts), Work(()))
    return counts.n_asked


@pytest.mark.parametrize(
    ("written", "options", "n"),
    [
        ("controls: 6", {}, 6),
        ("controls: none", {}, 0),
        ("controls: 6", {"controls": "none"}, 0),
        ("gate: nonsense", {}, 200),
    ],
)
def test_ragauge_yaml_says_how_many_controls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str, options: dict[str, Any], n: int
) -> None:
    """`controls` of ragauge.yaml holds where no option says otherwise; mistakes of other sections do not matter."""
    (tmp_path / "ragauge.yaml").write_text(written)
    monkeypatch.chdir(tmp_path)
    with open_store(f"sqlite:///{tmp_path}/store.db") as store:
        (made,) = build_planner(EvaluateOptions(source="r", metrics="faithfulness", **options))(store, with_run(store))
        assert made.n_controls == n


def test_ragauge_yaml_takes_a_number_of_controls_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anything else is a mistake at its line."""
    (tmp_path / "ragauge.yaml").write_text("controls: some\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=r"ragauge.yaml line 1: controls: expected a number of pairs or none, got"):
        build_planner(EvaluateOptions(source="r", metrics="faithfulness"))


def control_keys(store: Store, run_id: str) -> list[str]:
    """Keys of the evidence that the controls of a run rest on."""
    query = select_rows(evidence.c.key).join_from(evidence, control_evidence).join(runs).where(runs.c.run_id == run_id)
    with store._database.read() as connection:
        return [key.hex() for key in connection.execute(query).scalars()]


def test_controls_are_the_same_with_several_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes come to the same controls and scores as one, and each pair is asked about once."""
    found = []
    for workers in (1, 2):
        log = tmp_path / f"log{workers}"
        monkeypatch.setenv(LOG, str(log))
        with open_store(f"sqlite:///{tmp_path}/{workers}.db") as store:
            run_id, metrics = with_run(store), select_metrics(["faithfulness", "context_precision"])
            made = build_plan(store, run_id, metrics, build_judge(SPEC), Selection(controls=16))
            asyncio.run(execute_plan(made, store, workers=workers))
            rows = store.scores.load_frame(run_id, "tiny@1").sort("query_id", "metric").rows()
            found.append((store.controls.read(run_id, "tiny@1"), set(control_keys(store, run_id)), rows))
        assert len(notes(log)) == len(set(notes(log)))
    assert found[0] == found[1]
    assert len(found[0][1]) > 16


KILLED = f"""
import asyncio, sys
from ragauge.engine import controls
controls.BATCH_SIZE_PAIRS = 4
from ragauge.engine.execute import execute_plan
from ragauge.engine.judges import build_judge
from ragauge.engine.plan import Selection, build_plan
from ragauge.metrics.catalogue import select_metrics
from ragauge.store.store_access import open_store
with open_store(sys.argv[1]) as store:
    metrics = select_metrics(["faithfulness", "context_precision"])
    made = build_plan(store, sys.argv[2], metrics, build_judge({SLOW!r}), Selection(controls=40))
    asyncio.run(execute_plan(made, store, workers=1))
"""


@pytest.mark.prove
def test_killed_while_controls_are_asked(tmp_path: Path) -> None:
    """Killed with -9 during controls: no stored evidence is lost or asked again, and the controls are the same."""
    log, url = tmp_path / "log", f"sqlite:///{tmp_path}/killed.db"
    with open_store(url) as store:
        run_id = with_run(store)
    words = [sys.executable, "-c", KILLED, url, run_id]
    root = Path(__file__).resolve().parents[2]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(root), str(root / "src")]), LOG: str(log)}
    process = subprocess.Popen(words, env=environment)
    while len(notes(log)) < 30:
        assert process.poll() is None
        time.sleep(0.005)
    process.kill()
    process.wait()
    before = notes(log)
    with open_store(url) as store:
        settled = {note for note in before if store.evidence.load_known([note.split()[1]])}
        assert settled
        assert store.controls.read(run_id, "slow@1") is None  # it was killed before they were complete
    subprocess.run(words, env=environment, check=True)
    assert not settled & set(notes(log)[len(before) :])
    with open_store(url) as store, open_store(f"sqlite:///{tmp_path}/whole.db") as whole:
        other = with_run(whole)
        made = build_plan(
            whole, other, select_metrics(["faithfulness", "context_precision"]), SlowJudge(), Selection(controls=40)
        )
        asyncio.run(execute_plan(made, whole, workers=1))
        assert store.controls.read(run_id, "slow@1") == whole.controls.read(other, "slow@1") is not None
        assert set(control_keys(store, run_id)) == set(control_keys(whole, other))


def test_other_controls_decide_again_without_asking(store: Store) -> None:
    """What was decided with other controls is decided again from what is stored."""
    with store:
        run_id = with_run(store)
        asyncio.run(execute_plan(planned(store, run_id), store, workers=1))
        outcome = asyncio.run(execute_plan(planned(store, run_id, controls=8), store, workers=1))
        assert (outcome.done, outcome.n_asked) == (24, 0)
        assert planned(store, run_id, controls=8).pending == 0


def test_a_judge_that_tells_nothing_apart_is_not_read(store: Store) -> None:
    """Where controls score alike the metric is not read, and other facts are; the means hold no control."""
    with store:
        run_id = with_run(store)
        metrics = select_metrics(["faithfulness", "context_precision"])
        asyncio.run(
            execute_plan(build_plan(store, run_id, metrics, BlindJudge(), Selection(controls=16)), store, workers=1)
        )
        frame = store.scores.load_frame(run_id, "blind@1")
        by_metric = {name: set(part["status"]) for (name,), part in frame.group_by("metric")}
        assert by_metric == {"faithfulness": {"scored"}, "context_precision": {"not_read"}}
        assert len(frame) == 2 * len(PAIRS)
        controls = store.controls.read(run_id, "blind@1")
        assert controls is not None
        assert not controls.scales["relevance", "en", "prose"].is_readable
        assert controls.known_no["context_precision"] == pytest.approx(0.99)
        assert controls.known_no["faithfulness"] < 0.5


OFF_TOPIC = {
    "ko": [
        ("서울 지하철은 몇 시에 끊기나요?", "고래는 바다에서 가장 큰 포유동물이다."),
        ("세탁기 보증 기간은 얼마나 됩니까?", "올해 포도 수확은 구월에 시작되었다."),
    ],
    "ar": [
        ("متى تغلق المكتبة أبوابها مساء؟", "تنمو أشجار الزيتون ببطء في التربة الصخرية."),
        ("كم تبلغ رسوم الاشتراك السنوي؟", "وصل القطار إلى الميناء قبل العاصفة."),
    ],
    "en": [
        ("When does the notice period begin?", "Penguins nest on bare rock in summer."),
        ("Who signs the purchase order?", "The glacier lost nine metres of ice."),
    ],
}


@pytest.mark.parametrize("language", OFF_TOPIC)
def test_nothing_off_topic_passes(language: str, tmp_path: Path) -> None:
    """An answer that repeats a passage which has nothing to do with the question does not pass."""
    rows = [{"query": query, "passages": [passage], "answer": passage} for query, passage in OFF_TOPIC[language]]
    card = rg.evaluate(rows, store=f"sqlite:///{tmp_path}/s.db", workers=1)
    assert card.to_dict()["passed_examples"] == 0
