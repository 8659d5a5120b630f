"""What a schedule does besides a run and a gate: reported failures, a heartbeat, an index, another served model."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.monitoring.test_scheduling import NIGHTLY, NOON, Server, project

import ragauge as rg
from ragauge.core.config.config_loader import read_config
from ragauge.core.example import Example
from ragauge.core.response import Passage, Response, Run
from ragauge.monitoring.drift.drift_measures import load_golden_run
from ragauge.monitoring.jobs.scheduled_run import ScheduledOutcome, ScheduledRun
from ragauge.monitoring.traffic.tables import build_status_sections
from ragauge.monitoring.traffic.verb import build_traffic_status
from ragauge.store.store_access import Store, open_store

__all__ = ["project"]
TODAY = f"{datetime.now(UTC):%Y-%m-%d}"


def outcome(folder: Path, entry: dict[str, Any]) -> ScheduledOutcome:
    """What comes of one entry."""
    monitor = read_config({"monitor": {"schedules": [entry]}}).checked().monitor
    assert monitor is not None
    url = f"sqlite:///{folder / 'store.db'}"
    return ScheduledRun(monitor.schedules[0], entry["name"], "ragauge.yaml", "local", url).outcome()


def complaints(store: Store) -> None:
    """Traffic of today: two bad answers, one of them to a golden question, and one good."""
    run = store.collecting.open_traffic(Run("t", f"shop {TODAY}", kind="traffic", created_at=f"{TODAY}T00:00:00+00:00"))
    said: dict[str, str | bool] = {"How dark is it?": "thumbs_down", "what 3?": False, "How light is it?": "thumbs_up"}
    pairs = [
        (Example(f"t{n}", query), Response(f"t{n}", passages=(), answer="Dark.", outcome={"thumbs": value}))
        for n, (query, value) in enumerate(said.items())
    ]
    store.collecting.replace_responses(run.run_id, pairs, ())


def test_what_users_reported_joins_the_set(project: Path) -> None:
    """Questions with a thumbs-down and of the regression set are asked too, each once; else they are not."""
    (project / "regressions.jsonl").write_text('{"query_id": "r1", "query": "Is it late?"}\n')
    (project / "ragauge.yaml").write_text(
        "ui: {regression_set: regressions.jsonl}\ngate: {rules: [{metric: recall@1, min: 0.5, decide: point}]}\n"
    )
    url = f"sqlite:///{project / 'store.db'}"
    with open_store(url) as store:
        complaints(store)
    entry = {**NIGHTLY, "run": "scheduled_app:answer"}
    plain, joined = outcome(project, entry), outcome(project, {**entry, "reported": "28d"})
    assert (plain.state, joined.state) == ("pass", "pass"), joined.message
    assert joined.message.endswith("Added 1 question reported by users and 1 question from the regression set.")
    with open_store(url) as store:
        asked = {one.run_id: [example for example, _ in store.runs.pairs(one.run_id)] for one in store.runs.list()}
    assert len(asked[plain.run_id]) == 12
    more = {one.query: one.tags for one in asked[joined.run_id][-2:] if len(asked[joined.run_id]) == 14}
    assert more == {"How dark is it?": {"reported"}, "Is it late?": frozenset()}


@pytest.mark.parametrize(("tag", "state"), [("reported", "pass"), ("regressions", "error")])
def test_a_tag_that_no_example_has_yet(project: Path, tag: str, state: str) -> None:
    """A rule on examples that are yet to come passes with a note; a misspelt tag ends it before anything is asked."""
    path = project / "golden.jsonl"
    path.write_text(path.read_text().replace("}}", f'}}, "tags": ["{tag}"]}}', 1))
    (project / "ragauge.yaml").write_text(
        "gate:\n  rules:\n    - {metric: recall@1, min: 0.5, decide: point}\n    - {tag: regression, must_pass: true}\n"
    )
    entry = {**NIGHTLY, "run": "scheduled_app:answer"}
    found = outcome(project, entry)
    assert found.state == state, found.message
    with open_store(f"sqlite:///{project / 'store.db'}") as store:
        assert [run.run_id for run in store.runs.list()] == ([found.run_id] if state == "pass" else [])
    if state == "pass":
        assert "no example is tagged regression yet: nothing to check." in found.message
    else:
        assert "ragauge.yaml line 4: gate.rules[2].tag: no example of the set has it" in found.message
        assert "nearest: regressions" in found.message
        with (project / "ragauge.yaml").open("a") as file:
            file.write(f"monitor: {{schedules: [{json.dumps(entry)}]}}\n")
        with pytest.raises(rg.ConfigError, match=r"line 4: .*of golden\.jsonl has it: .*nearest: regressions"):
            rg.validate("ragauge.yaml")


@pytest.mark.parametrize(("file", "alive"), [("d1.md", 1.0), ("other.md", None), ("d1.pdf", None)])
def test_the_corpus_says_which_gold_documents_are_alive(project: Path, file: str, alive: float | None) -> None:
    """A corpus that names documents as the labels do says which are there; any other says nothing."""
    (project / "docs").mkdir()
    (project / "docs" / file).write_bytes(b"%PDF-1.7 a document")
    found = outcome(project, {**NIGHTLY, "run": "scheduled_app:answer", "corpus": "docs"})
    assert found.state == "pass", found.message
    with open_store(f"sqlite:///{project / 'store.db'}") as store:
        run = load_golden_run(store, found.run_id)
    assert run is not None
    assert (run.recall, run.alive) == (1.0, alive)


@pytest.mark.parametrize("first", ["baseline", "schedule"])
def test_gold_documents_are_alive_under_another_id(project: Path, first: str) -> None:
    """Of a corpus that was indexed anew a gold document is alive by its id, else by the text that was found of it.

    The text is that of the baseline or of an earlier run; one that stands nowhere any more is dead.
    """
    texts = {"d0": "Refunds take fourteen days.", "d1": "The hub is grey and round.", "d2": "Parcels leave on Mondays."}
    rows = [{"query_id": f"q{n}", "query": f"what {n}?", "relevant": {f"d{n}": 1}} for n in range(3)]
    (project / "golden.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (project / f"renamed_{first}.py").write_text(
        f"TEXTS = {texts!r}\n\ndef answer(query):\n    doc = 'd' + query[5]\n"
        "    return {'answer': 'a', 'passages': [{'doc_id': doc, 'text': TEXTS[doc]}]}\n"
    )
    url, docs = f"sqlite:///{project / 'store.db'}", project / "docs"
    docs.mkdir()
    for name, text in (("d0", texts["d0"]), ("a7", f"On hubs.\n\nThe hub  is grey\nand round. {texts['d0']}")):
        (docs / f"{name}.md").write_text(text)
    entry = {**NIGHTLY, "run": f"renamed_{first}:answer", "corpus": "docs"}
    before = rg.run(f"renamed_{first}:answer", "golden.jsonl", name="main", store=url)
    if first == "baseline":
        entry["baseline"] = before.run.run_id
    else:
        with open_store(url) as store:
            job = store.jobs.take_job("nightly", NOON, "me", NOON)
            assert job is not None
            store.jobs.end(job, "me", NOON, "pass", run_id=before.run.run_id)
    found = outcome(project, entry)
    with open_store(url) as store:
        run, listing = load_golden_run(store, found.run_id), store.listings.read(found.run_id)
    assert run is not None
    assert listing is not None
    assert run.alive == pytest.approx(2 / 3)
    assert run.renamed == pytest.approx(1 / 3)
    assert (sorted(listing.absent), sorted(listing.renamed), listing.documents) == (["d2"], ["d1"], 2)


RAISED = "gate:\n  rules:\n    - {metric: context_recall, max_drop: 5%}\n"


@pytest.mark.slow
@pytest.mark.parametrize(("lost", "state"), [pytest.param(0, "pass", marks=pytest.mark.prove), (24, "fail")])
def test_a_monthly_suite_is_blocked_by_lost_recall(project: Path, lost: int, state: str) -> None:
    """A fifth of the passages needed that is lost does not pass a rule of 5 % of context_recall; none lost passes."""
    rows = [
        {"query_id": f"q{n}", "query": f"What is part {n} of the router?", "reference": f"Part {n} is a blue valve."}
        for n in range(120)
    ]
    (project / "suite.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (project / "monthly.yaml").write_text(RAISED)
    body = """
def answer(query):
    n = int(query.split()[3])
    text = "The canteen opens at noon on Fridays." if n < LOST else f"Part {n} is a blue valve."
    return {"answer": text, "passages": [{"doc_id": str(n), "text": text}]}
"""
    for name, count in (("kept", 0), (f"lost{lost}", lost)):
        (project / f"suite_{name}.py").write_text(f"LOST = {count}\n{body}")
    url = f"sqlite:///{project / 'store.db'}"
    base = rg.run("suite_kept:answer", "suite.jsonl", name="main", store=url)
    rg.evaluate(base, metrics="context_recall", store=url)
    entry = {**NIGHTLY, "set": "suite.jsonl", "rules": "monthly.yaml", "baseline": base.run.run_id}
    found = outcome(project, {**entry, "run": f"suite_lost{lost}:answer"})
    assert found.state == state, found.message


@pytest.mark.parametrize(("says", "state"), [("a", "pass"), ("", "fail")])
def test_a_heartbeat_asks_a_few_questions(project: Path, says: str, state: str) -> None:
    """Three questions are asked and nothing is judged; an answer that is missing is a failure that names it."""
    system = f"def answer(query):\n    return {{'answer': {says!r}, 'passages': []}}\n"
    (project / f"beats_{state}.py").write_text(system)
    found = outcome(project, {**NIGHTLY, "run": f"beats_{state}:answer", "heartbeat": 3})
    assert found.state == state, found.message
    assert found.message == "all 3 answered" if state == "pass" else "3 of 3 unanswered: q" in found.message
    with open_store(f"sqlite:///{project / 'store.db'}") as store:
        assert store.runs.count_responses(found.run_id) == 3
        assert not store.scores.find_versions(found.run_id, None)


EXACT = """
import numpy as np

class Exact:
    def build(self, vectors, metric):
        self.vectors = np.asarray(vectors)

    def search(self, query, k):
        return np.argsort(-self.vectors @ query)[:k]
"""


def test_an_index_is_checked(project: Path) -> None:
    """A study's index is built again over the vectors as they are and held to a recall; one that misses most fails."""
    draw = np.random.default_rng(0)
    for name, n in (("v", 300), ("q", 40)):
        np.save(project / f"{name}.npy", draw.normal(size=(n, 8)).astype("float32"))
    (project / "scheduled_index.py").write_text(EXACT)
    url = f"sqlite:///{project / 'store.db'}"
    for name, index in (("good", "scheduled_index:Exact"), ("poor", "null")):
        rg.ann("v.npy", index, queries="q.npy", metric="ip", k=5, name=name, rounds=1, store=url)
    entry = {"name": "recall", "cron": "0 3 * * *"}
    good, poor = (
        outcome(project, {**entry, "ann": {"study": name, "queries": "q.npy", "min": 0.9}}) for name in ("good", "poor")
    )
    assert (good.state, poor.state) == ("pass", "fail"), f"{good.message} {poor.message}"
    assert "ann_recall" in poor.message
    kept = {**entry, "baseline": good.run_id, "ann": {"study": "poor", "queries": "q.npy", "max_drop": "5 points"}}
    assert outcome(project, kept).state == "fail"


def served(store: Store, models: list[str], day: str, project: str = "") -> None:
    """A day's requests of a project, each by a model."""
    made = Run(f"{day}{project}", f"shop {day}", "traffic", system=project, created_at=f"{day}T00:00:00+00:00")
    run = store.collecting.open_traffic(made)
    asked = [Example(f"{day}{project}t{n}", "How?", segments={"model": name}) for n, name in enumerate(models)]
    pairs = [(one, Response(one.query_id, passages=(Passage("p", "p", "t"),))) for one in asked]
    store.collecting.replace_responses(run.run_id, pairs, ())


def test_another_served_model_makes_a_run(store: Store) -> None:
    """A model that is new among the newest requests makes one run; one that goes, or that few have, makes none."""
    server = Server(store, cron=None, on=["model"], monitor={"segments": {"model": "model"}})
    assert server.at(NOON) == 0
    served(store, ["m1"] * 100, "2026-01-05")
    assert (server.at(NOON + 60), server.at(NOON + 120)) == (0, 0)
    served(store, ["m1"] * 97 + ["rare"] * 3, "2026-01-06")
    assert server.at(NOON + 180) == 0
    served(store, ["m2"] * 100, "2026-01-07")
    assert (server.at(NOON + 240), server.at(NOON + 300)) == (1, 0)
    served(store, ["m2"] * 200, "2026-01-08")
    assert server.at(NOON + 360) == 0
    newest = store.jobs.newest("nightly")
    assert newest is not None
    assert newest.why == "model changed"


@pytest.mark.parametrize(
    ("watched", "whose", "runs"),
    [
        ("", "", ["model of desk changed", "model of shop changed"]),
        ("", "shop", ["model of shop changed"]),
        ("shop", "", ["model of shop changed"]),
        ("shop", "desk", ["model of desk changed"]),
    ],
)
def test_a_model_is_new_to_its_own_project(store: Store, watched: str, whose: str, runs: list[str]) -> None:
    """Another's model, and a project that is new, are no change; the run and status say whose model it was.

    A schedule looks at the project that it names, else at all, or at that which the section names. Of two servers one
    makes the run.
    """
    monitor = {"segments": {"model": "model"}, **({"project": watched} if watched else {})}
    servers = [
        Server(store, cron=None, on=["model"], monitor=monitor, **({"project": whose} if whose else {}))
        for _ in range(2)
    ]
    days = [("shop", "m1"), ("desk", "m2"), ("desk", "m1"), ("shop", "m2")]
    for n, (sender, model) in enumerate(days):
        served(store, [model] * 200, f"2026-01-0{5 + n}", sender)
        for server in servers:
            server.at(NOON + 120 * n)
    assert [job.why for job in reversed(store.jobs.list_latest(9)) if job.why] == runs
    names = [wanted.name for server in servers for wanted in server.did]
    assert sorted(name.partition("(")[2].removesuffix(")") for name in names) == runs
    (_, table) = build_status_sections(build_traffic_status(store=store.url).data)
    assert table.table is not None
    assert f"{runs[-1]}: fine" in str(table.table.rows)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"run": None}, "nightly has no run"),
        ({"project": "shop"}, "names a project, which only on: [model] and reported use"),
        ({"on": ["model"]}, "segments: {model: model}"),
        ({"heartbeat": 3, "reported": "7d"}, "judges nothing. Remove reported"),
        ({"ann": {"study": "n", "queries": "q", "min": 0.9}}, "both ann and run and set, which cannot be combined"),
        ({"run": None, "set": None, "ann": {"study": "n", "queries": "q"}}, "an ann section without a limit"),
        (
            {"run": None, "set": None, "ann": {"study": "n", "queries": "q", "max_drop": "1%"}},
            "baseline in the schedule",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(entry: dict[str, object], said: str) -> None:
    """Schedules that say two things, or too little, are refused when the configuration is read."""
    problems = read_config({"monitor": {"schedules": [{**NIGHTLY, **entry}]}}).problems
    assert said in str(problems[0])
