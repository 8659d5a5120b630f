"""Wrong arguments in Python end in our errors, which say what came and what to write."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.engine.tiny_judge import SPEC

import ragauge as rg

ROWS = [
    {
        "query_id": f"q{n}",
        "query": f"how long is rope {n}",
        "answer": f"{n} metres",
        "reference_answer": f"{n} metres",
        "passages": [{"doc_id": f"d{n}", "text": f"rope {n} is {n} metres long"}],
    }
    for n in range(1, 4)
]


class Ropes:
    """A system that takes passages."""

    def retrieve(self, query: str) -> list[str]:
        return [query]

    def generate(self, query: str, passages: list[str]) -> str:
        return f"{query}: {len(passages)}"


Do = Callable[[rg.Scorecard, rg.OpenRun, Any], Any]
WRITTEN: dict[str, Do] = {
    "scorecard": lambda card, _, path: card.save(path),
    "run": lambda _, run, path: run.export(path),
    "comparison": lambda _, run, path: rg.compare(run, run).save(path),
    "log": lambda _, run, path: rg.log(store=run.url).save(path),
}
JUDGED: dict[str, Do] = {
    "scorecard": lambda _, run, judge: run.scorecard(judge),
    "compare": lambda _, run, judge: rg.compare(run, run, judge=judge),
    "explain": lambda _, run, judge: run.explain(judge=judge),
    "one example": lambda _, run, judge: run.explain_example("q1", judge=judge),
    "gaps": lambda _, run, judge: run.gaps(judge=judge),
    "evaluate": lambda _, run, judge: rg.evaluate(ROWS, judge=judge, store=run.url),
    "confirm": lambda _, run, judge: rg.confirm(run, Ropes(), judge=judge),
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[rg.Scorecard, rg.OpenRun]:
    """A small run that the tiny judge has judged."""
    store = f"sqlite:///{tmp_path_factory.mktemp('store')}/runs.db"
    card = rg.evaluate(ROWS, store=store, name="ropes", judge=SPEC, metrics="faithfulness", workers=1)
    return card, rg.open_run("ropes", store=store)


@pytest.mark.parametrize("do", WRITTEN.values(), ids=WRITTEN)
@pytest.mark.parametrize(("path", "said"), [(5, "int"), (None, "None"), ("", "''"), (b"x.csv", "bytes")])
def test_what_is_no_path_is_refused(found: tuple[rg.Scorecard, rg.OpenRun], do: Do, path: Any, said: str) -> None:
    """Whatever is written, something that is no path is refused with what came and a path to write."""
    with pytest.raises(rg.UsageError, match=rf"^the file must be a path, got {said}\. Write '\w+\.\w+'\.$"):
        do(*found, path)


def test_a_run_is_exported_to_a_path_as_text(found: tuple[rg.Scorecard, rg.OpenRun], tmp_path: Path) -> None:
    """Export takes a text as it takes a Path, makes the folder, and says which endings there are."""
    for name in ("new/scores.csv", "new/answers.jsonl"):
        assert found[1].export(f"{tmp_path}/{name}") == found[1].export(tmp_path / name) > 0
    for wrong, said in (("scores", "ends in .jsonl, .csv or .parquet"), ("new/scores.csv/x.csv", "is not a folder")):
        with pytest.raises(rg.UsageError, match=said):
            found[1].export(f"{tmp_path}/{wrong}")


@pytest.mark.parametrize("do", JUDGED.values(), ids=JUDGED)
@pytest.mark.parametrize("judge", [5, ["local"], {"judge": "local"}, True, object()], ids=lambda it: type(it).__name__)
def test_what_is_no_judge_is_refused(found: tuple[rg.Scorecard, rg.OpenRun], do: Do, judge: Any) -> None:
    """Wherever a judge is named, what is neither a text nor can be asked is refused with what came."""
    mapping = "|judge: expected model: provider:model" if isinstance(judge, dict) else ""
    with pytest.raises(rg.UsageError, match=rf"judge must be .*got {type(judge).__name__}\.{mapping}"):
        do(*found, judge)


@pytest.mark.parametrize("do", JUDGED.values(), ids=JUDGED)
def test_a_misspelt_judge_names_the_nearest(found: tuple[rg.Scorecard, rg.OpenRun], do: Do) -> None:
    """A misspelt judge is told with the nearest name, of those that judged where verdicts are only read."""
    with pytest.raises(rg.UnknownName) as told:
        do(*found, "locl" if do in (JUDGED["evaluate"], JUDGED["confirm"]) else found[1].judges()[0][1:])
    assert told.value.nearest[0] in ("local", found[1].judges()[0])


def test_other_arguments(found: tuple[rg.Scorecard, rg.OpenRun]) -> None:
    """Runs, examples, stores, names and metrics of a wrong type are refused likewise."""
    _, run = found
    five: Any = 5
    wrong: list[tuple[Callable[[], Any], str]] = [
        (lambda: rg.open_run(five, store=run.url), "the run must be a text, got int. Write 'latest'"),
        (lambda: rg.open_run("ropes", store=five), "the store must be a text, got int"),
        (lambda: run.example(five), "the query_id must be a text, got int"),
        (lambda: run.explain_example(five), "the query_id must be a text, got int"),
        (lambda: rg.evaluate(ROWS, metrics=five, store=run.url), "a comma-separated string or a list, got int"),
        (lambda: rg.evaluate(ROWS, name=five, store=run.url), "the name of the run must be a text, got int"),
    ]
    for call, said in wrong:
        with pytest.raises(rg.UsageError, match=said):
            call()
