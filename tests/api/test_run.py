"""The verb `run`: every kind of system, variants, what is continued, what goes on to evaluate."""

from __future__ import annotations

import asyncio
import json
import random
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.loopback.service import FlakyService

import ragauge as rg

METRICS = ("recall@5", "mrr", "exact_match", "token_f1", "faithfulness", "answer_correctness")
TOWERS = ("Aster", "Birch", "Cedar", "Dahlia", "Elm", "Fern", "Gorse", "Hazel", "Iris", "Juniper")
DOCUMENTS = {
    f"d{n}": f"The {name} tower is {100 + 7 * n} metres tall. It was opened in {1900 + n}."
    for n, name in enumerate(TOWERS)
}
GOLDEN = rg.EvalSet(
    "towers",
    tuple(
        rg.Example(
            f"q{n}",
            f"How tall is the {name} tower?",
            references=(f"The {name} tower is {100 + 7 * n} metres tall.",),
            relevant=(rg.Relevant((f"d{n}",)),),
            segments={"half": "first" if n < 5 else "second"},
            tags=frozenset({"even"} if n % 2 == 0 else set()),
        )
        for n, name in enumerate(TOWERS)
    ),
)
MODULE = """
import asyncio
DOCUMENTS = {documents!r}

def retrieve(query):
    name = query.split()[4]
    ranked = sorted(DOCUMENTS.items(), key=lambda one: (name not in one[1], one[0]))
    if name == "Cedar":
        ranked = ranked[1:]
    return [{{"doc_id": doc_id, "text": text, "score": 1 / (n + 1)}} for n, (doc_id, text) in enumerate(ranked[:3])]

def generate(query, passages):
    return passages[0]["text"].split(". ")[0] + "." if passages else "I do not know."

def answer(query):
    passages = retrieve(query)
    return {{"answer": generate(query, passages), "passages": passages}}

async def answer_async(query):
    await asyncio.sleep(0)
    return answer(query)

class Rag:
    def __init__(self, k=3):
        self.k = k
    def retrieve(self, query):
        return retrieve(query)[: self.k]
    def generate(self, query, passages):
        return generate(query, passages)

class Query:
    def query(self, query):
        return generate(query, retrieve(query)), retrieve(query)

made = Rag()
"""


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A module of systems in the working directory."""
    (tmp_path / "towers_app.py").write_text(MODULE.format(documents=DOCUMENTS))
    monkeypatch.chdir(tmp_path)
    path = list(sys.path)
    yield tmp_path
    sys.path[:] = path
    sys.modules.pop("towers_app", None)


def url(folder: Path, name: str = "s") -> str:
    return f"sqlite:///{folder}/{name}.db"


def function(name: str) -> Callable[..., Any]:
    """A function of the application, imported as a user imports it."""
    namespace: dict[str, Any] = {}
    exec(MODULE.format(documents=DOCUMENTS), namespace)  # noqa: S102 - the same source
    found: Callable[..., Any] = namespace[name]
    return found


def test_every_adapter_gives_the_same_scores(app: Path) -> None:
    """Function, coroutine, class, object, HTTP service and recorded file over one index score alike, every example."""
    answer = function("answer")
    systems = {name: (f"towers_app:{name}", None) for name in ("answer", "answer_async", "Rag", "Query", "made")} | {
        "function": (answer, None)
    }
    found = {}
    with FlakyService(respond=lambda body: {"data": _as_service(answer(str(body["question"])))}) as service:
        settings = {
            "body": {"question": "{{query}}"},
            "answer": "$.data.text",
            "passages": "$.data.hits",
            "passage": {"doc_id": "$.id", "text": "$.body", "score": "$.similarity"},
        }
        for name, (system, given) in {**systems, "http": (service.url, settings)}.items():
            run = rg.run(system, GOLDEN, name=name, settings=given, store=url(app, name))
            assert run.counts.answered == 10
            found[name] = rg.evaluate(run, metrics=METRICS).to_polars()
    first = rg.open_run(store=url(app, "answer"))
    first.export(app / "recorded.jsonl")
    run = rg.run("recorded.jsonl", GOLDEN, store=url(app, "file"))
    found["recorded"] = rg.evaluate(run, metrics=METRICS).to_polars()
    for name, scores in found.items():
        assert scores.equals(found["answer"]), name
    recall = found["answer"].filter(metric="recall@5")["value"]
    assert recall.to_list() == [1, 1, 0, *[1] * 7]  # Cedar's document is not found


def _as_service(answer: Mapping[str, Any]) -> dict[str, Any]:
    hits = [{"id": one["doc_id"], "body": one["text"], "similarity": one["score"]} for one in answer["passages"]]
    return {"text": answer["answer"], "hits": hits}


def test_what_runs_returns_goes_into_evaluate(app: Path) -> None:
    """`rg.evaluate(rg.run(...))` finds the run in the store that it was kept in, whichever that is."""
    run = rg.run("towers_app:answer", GOLDEN, name="k=3", store=url(app, "elsewhere"))
    card = rg.evaluate(run, metrics="recall@5")
    assert card["recall@5"].mean == 0.9
    assert (run.run.name, run.run.system, run.run.state) == ("k=3", "towers_app:answer", "finished")
    assert (run.run.set_name, run.run.planned, run.run.done) == ("towers", 10, 10)
    assert repr(run).startswith("<run 'k=3'")
    assert {timing.stage for timing in run.counts.timings} == {"total"}


def test_stages_are_timed_apart(app: Path) -> None:
    """Of retrieve and generate each has its latency, and the total is no less than both."""
    run = rg.run("towers_app:Rag", GOLDEN, store=url(app))
    (_, response) = next(iter(_pairs(run)))
    assert response.latency_ms.keys() == {"retrieval", "generation", "total"}
    assert response.latency_ms["total"] >= response.latency_ms["retrieval"] + response.latency_ms["generation"]
    assert run.counts.timings[0].stage == "total"


def _pairs(run: rg.OpenRun) -> list[tuple[rg.Example, rg.Response]]:
    from ragauge.store.store_access import open_store

    with open_store(run.url) as store:
        return list(store.runs.pairs(run.run.run_id))


class Stop(BaseException):
    """What a stop of the whole process looks like from inside."""


def stopped(system: Any, store: str, after: int) -> None:
    """Runs a system until so many responses are there."""

    def told(progress: Any) -> None:
        if progress.done == after:
            raise Stop

    with pytest.raises(Stop):
        rg.run(system, GOLDEN, store=store, concurrency=1, progress=told)


def test_stopped_run_is_continued_and_a_finished_one_is_not(app: Path) -> None:
    """A run that broke off goes on under its id with what it lacks; once it is complete, another begins."""
    asked: list[str] = []

    async def answer(query: str) -> str:
        asked.append(query)
        return query

    stopped(answer, url(app), after=4)
    (before,) = rg.runs(store=url(app))
    assert rg.open_run(store=url(app)).run.state == "interrupted"
    notes: list[str] = []
    run = rg.run(answer, GOLDEN, store=url(app), concurrency=1, warn=notes.append)
    assert (run.run.run_id, run.continued, run.run.state) == (before.run_id, True, "finished")
    assert "resuming run" in notes[0]
    assert "4 responses are stored" in notes[0]
    assert (sorted(asked), run.asked) == (sorted(example.query for example in GOLDEN.examples), 6)
    assert [example.query_id for example, _ in _pairs(run)] == [f"q{n}" for n in range(10)]
    again = rg.run(answer, GOLDEN, store=url(app))
    assert again.run.run_id != run.run.run_id
    assert not again.continued


def test_part_of_a_run_can_be_evaluated_and_says_so(app: Path) -> None:
    """An interrupted run is evaluated as far as it is, with a word about it; going on adds the rest."""

    async def answer(query: str) -> str:
        return query

    stopped(answer, url(app), after=4)
    part = rg.open_run(store=url(app))
    card = rg.evaluate(part, metrics="exact_match", judge=None)
    assert card["exact_match"].n == 4
    assert "The run is not complete: 4 of 10 responses, a random sample of them." in card.card.warnings
    whole = rg.evaluate(rg.run(answer, GOLDEN, store=url(app)), metrics="exact_match", judge=None)
    assert (whole.run.run_id, whole["exact_match"].n) == (part.run.run_id, 10)
    assert not [warning for warning in whole.card.warnings if "not complete" in warning]


def test_another_configuration_or_fresh_is_another_run(app: Path) -> None:
    """With other settings, another selection or with fresh, an unfinished run is left alone."""

    async def answer(query: str) -> str:
        return query

    stopped(answer, url(app), after=3)
    (first,) = rg.runs(store=url(app))
    for more in ({"fresh": True}, {"settings": {"config": {"k": 8}}}, {"limit": 5}, {"repeat": 2}):
        run = rg.run(answer, GOLDEN, store=url(app), **more)
        assert run.run.run_id != first.run_id, more
    assert rg.open_run(first.run_id, store=url(app)).run.done == 3
    assert rg.run(answer, GOLDEN, store=url(app)).run.run_id == first.run_id


def test_retry_failed_asks_only_those(app: Path) -> None:
    """Only the failures of the newest run are asked again; what was answered keeps its answer."""
    down, asked = {"Elm", "Iris"}, []

    def answer(query: str) -> str:
        asked.append(query.split()[4])
        if query.split()[4] in down:
            raise ValueError("the index is down")
        return query

    run = rg.run(answer, GOLDEN, store=url(app))
    assert run.counts.failed == {"exception": 2}
    rg.evaluate(run, metrics="exact_match")
    asked.clear()
    down.remove("Elm")
    again = rg.run(answer, GOLDEN, store=url(app), retry_failed=True)
    assert again.run.run_id == run.run.run_id
    assert sorted(asked) == ["Elm", "Iris"]
    assert (again.counts.answered, again.counts.failed, again.asked) == (9, {"exception": 1}, 2)
    card = rg.evaluate(again, metrics="exact_match")
    assert (card["exact_match"].scored, card["exact_match"].failed) == (9, 1)
    with pytest.raises(rg.UsageError, match=r"no run of .* to retry"):
        rg.run(lambda query: query, GOLDEN, store=url(app), retry_failed=True)


def test_limit_filter_and_repeat(app: Path) -> None:
    """A limit draws the same questions for every system, a filter keeps what matches, repeats are asked apart."""
    first = rg.run("towers_app:answer", GOLDEN, limit=4, store=url(app))
    other = rg.run("towers_app:Rag", GOLDEN, limit=4, store=url(app))
    ids = [[example.query_id for example, _ in _pairs(run)] for run in (first, other)]
    assert ids[0] == ids[1]
    assert len(ids[0]) == 4
    assert first.run.config["selection"] == {"limit": 4}
    even = rg.run("towers_app:answer", GOLDEN, filter={"tag": "even", "half": "first"}, repeat=2, store=url(app))
    got = [(example.query_id, response.repeat) for example, response in _pairs(even)]
    assert got == [("q0", 0), ("q0", 1), ("q2", 0), ("q2", 1), ("q4", 0), ("q4", 1)]
    with pytest.raises(rg.UnknownName, match="no value of segment half 'third'"):
        rg.run("towers_app:answer", GOLDEN, filter={"half": "third"}, store=url(app))


@pytest.mark.parametrize(
    ("system", "said"),
    [
        ("towers_app:anwser", "nearest: answer"),
        ("tower_app:answer", "Nearest here: towers_app"),
        ("towers_app", "Write towers_app:NAME"),
        ("missing.jsonl", "no such file"),
        (lambda: "x", "must be callable with only the question"),
        (lambda query, k: "x", "Give a default to: k"),
        (object(), "expected a Python object as module:name"),
    ],
)
def test_wrong_system_is_said_before_the_first_question(app: Path, system: Any, said: str) -> None:
    """A wrong name, module or signature is a usage error with the nearest name, and leaves no run."""
    with pytest.raises(rg.UsageError, match=said):
        rg.run(system, GOLDEN, store=url(app))
    assert rg.runs(store=url(app)) == []


def test_system_that_returns_something_else_ends_the_run(app: Path) -> None:
    """A function whose first results are no responses is one error that says what to return, and leaves no run."""
    with pytest.raises(rg.RagaugeError, match=r"builtins:len cannot be called: unreadable: it returned number \d+"):
        rg.run(len, GOLDEN, store=url(app))
    assert rg.runs(store=url(app)) == []


def test_module_that_breaks_is_named_with_its_error(app: Path) -> None:
    """An exception while the user's module is imported is told as what it is."""
    (app / "broken_app.py").write_text("import no_such_library_at_all\n")
    with pytest.raises(rg.UsageError, match="importing broken_app failed: ModuleNotFoundError: No module named"):
        rg.run("broken_app:answer", GOLDEN, store=url(app))


def test_oracle_closed_book_and_replayed(app: Path) -> None:
    """The generator answers from labelled passages, from none, and from another run's; each run says which."""
    own = rg.run("towers_app:Rag", GOLDEN, store=url(app))
    oracle = rg.run("towers_app:Rag", GOLDEN, variant="oracle", corpus=DOCUMENTS, store=url(app))
    alone = rg.run("towers_app:Rag", GOLDEN, variant="closed_book", store=url(app))
    replayed = rg.run("towers_app:made", GOLDEN, context_from=own, store=url(app))
    assert [one.run.variant for one in (own, oracle, alone, replayed)] == ["own", "oracle", "closed_book", "replayed"]
    assert oracle.run.name == "towers_app:Rag-oracle"
    assert replayed.run.config["context_from"] == own.run.run_id
    for n, (_, response) in enumerate(_pairs(oracle)):
        assert [one.doc_id for one in response.passages or ()] == [f"d{n}"]
        assert response.answer == f"The {TOWERS[n]} tower is {100 + 7 * n} metres tall."
    assert {response.answer for _, response in _pairs(alone)} == {"I do not know."}
    assert {response.passages for _, response in _pairs(alone)} == {()}
    for (_, mine), (_, theirs) in zip(_pairs(replayed), _pairs(own), strict=True):
        assert (mine.passages, mine.answer) == (theirs.passages, theirs.answer)


def test_variant_that_a_system_cannot_do(app: Path) -> None:
    """A system that takes no passages is refused with what to implement, before the first question; so is no corpus."""
    with pytest.raises(rg.UsageError, match=r"cannot run with no passages \(closed_book\).*generate\(query, pass"):
        rg.run("towers_app:answer", GOLDEN, variant="closed_book", store=url(app))
    with pytest.raises(rg.UsageError, match="Give the corpus"):
        rg.run("towers_app:Rag", GOLDEN, variant="oracle", store=url(app))
    with pytest.raises(rg.UsageError, match="no label whose text is in the corpus"):
        rg.run("towers_app:Rag", GOLDEN, variant="oracle", corpus={"x": "y"}, store=url(app))
    with pytest.raises(rg.UsageError, match="with_passages"):
        rg.run("http://127.0.0.1:9/ask", GOLDEN, variant="closed_book", store=url(app))
    assert rg.runs(store=url(app)) == []


def test_coroutine_verb_runs_on_the_callers_loop(app: Path) -> None:
    """`rg.aio.run` calls a coroutine function on the caller's own loop, where its clients live."""
    loops = set()

    async def answer(query: str) -> str:
        loops.add(asyncio.get_running_loop())
        return query

    async def main() -> asyncio.AbstractEventLoop:
        run = await rg.aio.run(answer, GOLDEN, store=url(app))
        assert run.counts.answered == 10
        return asyncio.get_running_loop()

    assert {asyncio.run(main())} == loops


@pytest.mark.prove
def test_gaps_of_a_system_with_planted_losses(app: Path) -> None:
    """End to end: what was planted in retrieval and generation lies in the gaps' intervals, per segment too."""
    draw = random.Random(8)
    n = 240
    questions = rg.EvalSet(
        "planted",
        tuple(
            rg.Example(
                f"q{i}",
                f"question {i}",
                references=(f"answer {i}",),
                relevant=(rg.Relevant((f"d{i}",)),),
                segments={"kind": "hard" if i % 2 else "easy"},
            )
            for i in range(n)
        ),
    )
    lost = {i for i in range(n) if draw.random() < (0.5 if i % 2 else 0.1)}  # retrieval: hard 50 %, easy 10 %
    spoiled = {i for i in range(n) if draw.random() < 0.2}  # generation: 20 %
    known = {i for i in range(n) if draw.random() < 0.25}  # by heart: 25 %

    class Planted:
        def retrieve(self, query: str) -> list[dict[str, str]]:
            i = int(query.split()[1])
            return [{"doc_id": "other", "text": "nothing"}] if i in lost else [{"doc_id": f"d{i}", "text": f"text {i}"}]

        def generate(self, query: str, passages: list[str]) -> str:
            i = int(query.split()[1])
            able = any(f"text {i}" in str(one) for one in passages) or i in known
            return f"answer {i}" if able and i not in spoiled else "something else"

    system, corpus = Planted(), {f"d{i}": f"text {i}" for i in range(n)}
    own = rg.run(system, questions, store=url(app))
    for run in (
        own,
        rg.run(system, questions, variant="oracle", corpus=corpus, store=url(app)),
        rg.run(system, questions, variant="closed_book", store=url(app)),
    ):
        rg.evaluate(run, metrics="exact_match", judge=None)
    gaps = own.gaps()
    (found,) = gaps.metrics
    assert (gaps.oracle, gaps.closed_book) == (f"{own.run.name}-oracle", f"{own.run.name}-closed_book")
    truth = {"gap": 0.3 * 0.75 * 0.8, "rest": 0.2}
    assert found.oracle is not None
    assert found.closed_book is not None
    _within(found.oracle.gap, truth["gap"])
    _within(found.oracle.rest, truth["rest"])
    _within(found.closed_book.alone, 0.25 * 0.8)
    _within(found.closed_book.gap, 0.7 * 0.75 * 0.8)
    parts = {kind: one[0].oracle for kind, one in gaps.segments["kind"].items()}
    assert parts["hard"] is not None
    assert parts["easy"] is not None
    _within(parts["hard"].gap, 0.5 * 0.75 * 0.8)
    _within(parts["easy"].gap, 0.1 * 0.75 * 0.8)
    alone = {kind: one[0].closed_book for kind, one in gaps.segments["kind"].items()}
    assert alone["hard"] is not None
    assert alone["easy"] is not None
    _within(alone["hard"].gap, 0.5 * 0.75 * 0.8)
    _within(alone["easy"].gap, 0.9 * 0.75 * 0.8)
    assert rg.open_run(own.run.run_id, store=url(app)).scorecard().card.gaps == gaps
    assert rg.open_run(gaps.oracle, store=url(app)).scorecard().card.gaps is None
    with pytest.raises(rg.UsageError, match="gaps need a run with its own retrieval"):
        rg.open_run(gaps.oracle, store=url(app)).gaps()


def _within(found: Any, truth: float) -> None:
    assert found.interval.low <= truth <= found.interval.high
    assert found.interval.high - found.interval.low < 0.3


@pytest.mark.prove
def test_gaps_say_that_settings_differ(app: Path) -> None:
    """A run with other settings is held against only where there is none with the same, and then that is said."""
    docs = app / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("The tower opens at nine. It closes at five.")
    asked = rg.EvalSet("one", (rg.Example("q", "When does the tower open?", references=("At nine.",)),))
    own = rg.run(f"reference:{docs}", asked, settings={"k": 2}, store=url(app))
    other = rg.run(f"reference:{docs}", asked, settings={"k": 1}, variant="closed_book", store=url(app))
    for run in (own, other):
        rg.evaluate(run, metrics="token_f1", judge=None)
    assert any("have different settings" in note and "(k)" in note for note in own.gaps().notes)
    same = rg.run(f"reference:{docs}", asked, settings={"k": 2}, variant="closed_book", store=url(app))
    rg.evaluate(same, metrics="token_f1", judge=None)
    assert not any("have different settings" in note for note in own.gaps().notes)


def test_gaps_say_how_to_get_them(app: Path) -> None:
    """Without runs to hold against, a sentence for each says what is not there, and the command that makes it."""
    run = rg.run("towers_app:Rag", GOLDEN, store=url(app))
    rg.evaluate(run, metrics="exact_match", judge=None)
    with pytest.raises(rg.UsageError) as refused:
        run.gaps()
    told = re.sub(r" --store [^`]+", "", str(refused.value))
    make = "`ragauge run SYSTEM SET {} --evaluate` creates one."
    none = f"No run of the same system and set with {{}} to compare with; {make}"
    oracle = none.format("the gold passages", "--oracle --corpus FILE")
    assert told == f"{run.run.name}: {oracle} {none.format('no passages', '--closed-book')}"


def test_stored_set_by_name(app: Path) -> None:
    """A set that the store has is named without its file."""
    rg.run("towers_app:answer", GOLDEN, store=url(app))
    run = rg.run("towers_app:Rag", "towers", store=url(app))
    assert run.counts.answered == 10
    (app / "empty.jsonl").write_text(json.dumps({"query": " "}) + "\n")
    with pytest.raises(rg.DataError):
        rg.run("towers_app:Rag", "empty.jsonl", store=url(app))


def test_failed_calls_keep_what_they_took(app: Path) -> None:
    """A failed call has the time of its attempt, and the tokens and cost that its reply carried; metrics count them."""

    def answer(query: str) -> Any:
        time.sleep(0.05)
        if "Aster" in query:
            raise ValueError("the model is gone")
        if "Birch" in query:
            return {"error": "over the limit", "tokens": {"input": 70, "output": 0}, "cost": 0.02}
        return {"answer": "100 metres", "passages": [], "tokens": {"input": 70, "output": 5}, "cost": 0.01}

    run = rg.run(answer, GOLDEN, store=url(app))
    raised, reported, answered = (run.example(one).response for one in ("q0", "q1", "q2"))
    assert (raised.error or "").startswith("exception: ValueError: the model is gone")
    assert (raised.tokens, raised.cost) == ({}, None)
    assert reported.error == "reported: over the limit"
    assert (reported.tokens, reported.cost) == ({"input": 70, "output": 0}, 0.02)
    assert all(50 <= one.latency_ms["total"] < 5_000 for one in (raised, reported, answered))
    card = rg.evaluate(run, metrics="latency,tokens,cost", judge=None)
    assert [card[name].scored for name in ("latency", "tokens", "cost")] == [10, 9, 9]
    assert card["cost"].mean == pytest.approx((0.02 + 8 * 0.01) / 9)


def test_a_retriever_alone_is_not_said_to_have_answered_nothing(app: Path) -> None:
    """A run of retrieval alone is counted as such wherever it is shown; 0 answered is said where all calls failed."""
    run = rg.run(lambda query: [{"doc_id": "d0", "text": query}], GOLDEN, store=url(app))
    assert "10 with retrieval only, store" in repr(run)
    assert " answered" not in repr(run)

    def failing(query: str) -> str:
        raise ValueError(query)

    assert ": 0 answered, 10 failed (exception 10), store" in repr(rg.run(failing, GOLDEN, store=url(app)))


@pytest.mark.prove
def test_an_example_without_a_response_is_exported_as_such(app: Path) -> None:
    """What has no response, failed, or is retrieval alone reads back from an export with the same content."""
    rows: list[dict[str, Any]] = [
        {"query_id": "q0", "answer": "107 metres", "passages": [{"doc_id": "d0", "text": "107 metres"}]},
        {"query_id": "q1", "error": "timeout: none", "latency_ms": {"total": 60.0}},
        {"query_id": "q2", "passages": [{"doc_id": "d2", "text": "121 metres"}]},
        {"query_id": "q3", "answer": ""},
    ]
    asked: dict[str, Any] = {"metrics": "recall@5,empty_result_rate,token_f1,latency", "judge": None}
    first = rg.evaluate(rows, set=GOLDEN, name="first", store=url(app, "one"), **asked)
    run = rg.open_run("first", store=url(app, "one"))
    assert run.export(str(app / "first.jsonl")) == 10
    again = rg.evaluate(str(app / "first.jsonl"), name="again", store=url(app, "two"), **asked)
    back = rg.open_run("again", store=url(app, "two"))
    assert (back.to_dict()["without_response"], run.to_dict()["without_response"]) == (6, 6)
    for n in range(10):
        assert back.example(f"q{n}").response == run.example(f"q{n}").response, n
    for name in ("recall@5", "empty_result_rate", "token_f1", "latency"):
        assert replace(again[name], reasons={}) == replace(first[name], reasons={})
        assert dict(again[name].reasons) == dict(first[name].reasons)
    rg.evaluate(str(app / "first.jsonl"), set=GOLDEN, name="joined", store=url(app, "three"), **asked)
    joined = rg.open_run("joined", store=url(app, "three"))
    assert joined.to_dict()["without_response"] == 6
    assert all(joined.example(f"q{n}").response == run.example(f"q{n}").response for n in range(10))


def test_second_caller_waits(tmp_path: Path) -> None:
    """Who asks a run that another is asking waits, and then asks nothing twice."""
    asked, warned = list[str](), list[str]()

    async def answer(query: str) -> str:
        asked.append(query)
        await asyncio.sleep(0.05)
        return query

    async def later(store: str) -> Any:
        while not asked:  # the other has begun
            await asyncio.sleep(0.01)
        return await rg.aio.run(answer, GOLDEN, name="a", store=store, concurrency=1, warn=warned.append)

    async def both() -> tuple[Any, Any]:
        store = f"sqlite:///{tmp_path / 's.db'}"
        first = rg.aio.run(answer, GOLDEN, name="a", store=store, concurrency=1)
        return await asyncio.gather(first, later(store))

    one, two = asyncio.run(both())
    assert one.run.run_id == two.run.run_id
    assert sorted(asked) == sorted(example.query for example in GOLDEN.examples)
    assert (one.asked, two.asked, two.run.state, two.run.done) == (10, 0, "finished", 10)
    assert any("by another process or thread" in said for said in warned)
