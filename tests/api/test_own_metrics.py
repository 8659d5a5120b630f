"""Metrics of the user's own have what built-in ones have, and scores of changed ones are never mixed."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.own_metrics import forget_own
from typer.testing import CliRunner

import ragauge as rg
from ragauge.cli.main import app
from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.object_lookup import load_object
from ragauge.engine import execute, pool
from ragauge.metrics.catalogue import parse_metric

STORE = "sqlite:///own.db"
MANNERS = '''
"""Manners of answers."""

import asyncio

import ragauge as rg

WORDS = ("please", "thanks")


@rg.metric(range=(0, 1))
def polite(answer: str) -> rg.Value:
    """Share of the polite words that the answer says."""
    said = [word for word in WORDS if word in answer]
    return rg.Value(len(said) / len(WORDS), reason=f"says {len(said)} of {len(WORDS)}")


@rg.metric(direction="lower", range=(0, 1))
async def shouting(answer: str) -> float:
    """Share of capital letters."""
    await asyncio.sleep(0)
    return sum(letter.isupper() for letter in answer) / len(answer)


class SaysMuch(rg.Metric):
    """Whether the answer has many words."""

    least: int = 3

    def value(self, answer: str) -> bool:
        return len(answer.split()) >= self.least
'''
NAMES = ("polite", "shouting", "says_much:least=2")
ANSWERS = ("please wait", "NO", "thanks, please come again", "wait")


@pytest.fixture(autouse=True)
def manners(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a module of metrics, from which everything is started."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delenv("RAGAUGE_STORE", raising=False)
    path = tmp_path / "manners.py"
    path.write_text(MANNERS)
    yield path
    sys.modules.pop("manners", None)


def rows(shift: int = 0, n: int = 40) -> list[dict[str, Any]]:
    """Answers of several manners, in two segments."""
    answers = [ANSWERS[(i + shift * (i % 3)) % 4] for i in range(n)]
    return [
        {"query_id": f"q{i}", "query": f"Question {i}?", "answer": answer, "kind": "ab"[i % 2]}
        for i, answer in enumerate(answers)
    ]


def evaluated(name: str = "run", shift: int = 0, metrics: Any = "", **options: Any) -> Any:
    """An evaluation with all three kinds of metrics."""
    metrics = metrics or ["manners:polite", "manners:shouting", "manners:SaysMuch", "says_much:least=2"]
    given = {"judge": "none", "segments": "kind", "store": STORE, "name": name, **options}
    return rg.evaluate(rows(shift), metrics=metrics, **given)


def in_another_process() -> None:
    """What this process knows of the user's code is forgotten, as where another reads the store."""
    forget_own()
    sys.modules.pop("manners", None)
    Path("manners.py").unlink()


def write_anew(module: Path, text: str) -> None:
    """What a module says from now on, as another process finds it."""
    forget_own()
    sys.modules.pop(module.stem, None)
    shutil.rmtree(module.parent / "__pycache__", ignore_errors=True)
    module.write_text(text)


def n_evaluated(card: Any) -> int:
    """How many responses an evaluation looked at."""
    return int(card.card.took["evaluated"])


def printed(*command: str) -> str:
    """What a command prints."""
    found = CliRunner().invoke(app, [*command, "--store", STORE])
    assert found.exit_code == 0, found.output
    return found.output


@pytest.mark.parametrize("name", [NAMES[0], *(pytest.param(name, marks=pytest.mark.prove) for name in NAMES[1:])])
def test_own_metrics_have_what_built_in_ones_have(name: str) -> None:
    """Interval, segments, comparison, gate, pages, exports and history, where the code is not loaded any more."""
    evaluated("base")
    card = evaluated("new", shift=1, baseline="base")
    assert card[name].scored == 40
    assert card[name].interval is not None
    in_another_process()
    with pytest.raises(UnknownName):
        parse_metric(name)
    run = rg.open_run("new", store=STORE)
    assert run.scorecard()[name].mean == card[name].mean
    compared = rg.compare("base", "new", metrics=[name], store=STORE)
    assert name in str(compared)
    assert set(run.scorecard().card.segments) == {"kind"}
    limit = {"max": 0.99} if name == "shouting" else {"min": 0.01}
    rules = {"gate": {"min_n": 10, "rules": [{"metric": name, **limit}, {"metric": name, "max_drop": "90 points"}]}}
    assert rg.gate("new", rules=rules, baseline="base", store=STORE).passed
    assert name in printed("show", "new", "q0")
    assert name in printed("report", "new", "-o", "page.html") + Path("page.html").read_text()
    assert name in printed("compare", "base", "new", "-o", "change.html") + Path("change.html").read_text()
    assert name in printed("runs", "log", "-m", name, "--json")
    frame = run.scorecard().to_polars()
    assert set(NAMES) <= set(frame["metric"])
    with pytest.raises(UsageError, match=r"the code that computes it is not loaded. Use -m manners:"):
        evaluated("third", shift=2, metrics=[name])


def test_reason_of_a_score_is_shown() -> None:
    """What a metric says of a score stands in the frame, the JSON, and what `ragauge show` prints."""
    card = evaluated()
    assert card.to_polars().filter(query_id="q0", metric="polite")["reason"].to_list() == ["says 1 of 2"]
    assert card.example("q0")["reasons"]["polite"] == "says 1 of 2"
    assert "polite: says 1 of 2" in printed("show", "latest", "q0")


@pytest.mark.prove
def test_changed_function_is_scored_again_and_never_mixed(manners: Path) -> None:
    """Scores of a changed function are not read, compared or counted as done; the old code finds its own again."""
    evaluated("before", metrics="manners:polite")
    again = evaluated("before", metrics="manners:polite")
    assert n_evaluated(again) == 0
    first = again["polite"].mean
    for text, scored_again in (
        (MANNERS.replace("    said = ", "    # all of them\n    said = "), 0),
        (MANNERS.replace('"thanks")', '"thanks", "sorry")'), 40),
    ):
        write_anew(manners, text)
        assert n_evaluated(evaluated("before", metrics="manners:polite")) == scored_again
    changed = rg.open_run("before", store=STORE).scorecard()["polite"]
    assert changed.scored == 40
    assert changed.mean == pytest.approx(first * 2 / 3)
    card = evaluated("after", shift=1, metrics="manners:polite", limit=10)
    assert card["polite"].scored == 10
    write_anew(manners, MANNERS)
    evaluated("old code", shift=2, metrics="manners:polite")
    with pytest.raises(UsageError, match=r"polite is version .* its meaning changed.*after -m manners:polite "):
        rg.compare("after", "old code", store=STORE)
    with pytest.raises(UsageError, match=r"polite is version .* its meaning changed"):
        evaluated("old code", shift=2, metrics="manners:polite", baseline="after")
    assert evaluated("before", metrics="manners:polite")["polite"].mean == first


@pytest.mark.prove
def test_every_changed_metric_is_named(manners: Path) -> None:
    """A comparison, a gate and a report beside a baseline name all metrics of one's own that changed since."""
    names = ["manners:polite", "manners:shouting"]
    evaluated("before", metrics=names)
    later = MANNERS.replace('"thanks")', '"thanks", "sorry")').replace("/ len(answer)", "/ 2 / len(answer)")
    write_anew(manners, later)
    evaluated("after", shift=1, metrics=names)
    both = r"polite is version .*; shouting is version .*: their meanings changed.* before -m manners:polite,manners:sh"
    rules = {"gate": {"rules": [{"metric": name, "max_drop": "5 points"} for name in ("polite", "shouting")]}}
    with pytest.raises(UsageError, match=both):
        rg.compare("before", "after", store=STORE)
    with pytest.raises(UsageError, match=both):
        rg.gate("after", rules=rules, baseline="before", store=STORE)
    report = CliRunner().invoke(app, ["report", "after", "--baseline", "before", "--store", STORE])
    assert isinstance(report.exception, UsageError)
    assert re.search(both, str(report.exception))


@pytest.mark.prove
def test_where_the_old_version_alone_is_stored() -> None:
    """A run that was scored by the old code only keeps its scores; with the new code it is scored anew."""

    def lengths(factor: int) -> Any:
        @rg.metric(name="words", version=factor)
        def words(answer: str) -> float:
            return factor * len(answer.split())

        return words

    old = evaluated("one", metrics=[lengths(1)])["words"].mean
    assert evaluated("two", shift=1, metrics=[lengths(2)])["words"].scored == 40
    assert rg.open_run("one", store=STORE).scorecard()["words"].mean == old
    with pytest.raises(UsageError, match="its meaning changed"):
        rg.compare("one", "two", store=STORE)


def test_workers_import_what_they_can(monkeypatch: pytest.MonkeyPatch) -> None:
    """Metrics of a module are computed in worker processes, those that exist only here in this one."""
    monkeypatch.setattr(execute, "MIN_RESPONSES_COUNTING", 1)
    started: list[pool.Worker] = []
    made = pool.Worker.__init__

    def counted(self: pool.Worker) -> None:
        started.append(self)
        made(self)

    monkeypatch.setattr(pool.Worker, "__init__", counted)
    here = evaluated("here", workers=1)
    assert not started
    there = evaluated("there", workers=2, store="sqlite:///there.db")
    assert len(started) == 2
    assert [there[name].mean for name in NAMES] == [here[name].mean for name in NAMES]

    def local(answer: str) -> float:
        return len(answer)

    assert evaluated("local", workers=2, metrics=[local], store="sqlite:///local.db")["local"].scored == 40
    assert len(started) == 2


class Point:
    """An entry point of a package."""

    dist = None

    def __init__(self, name: str, load: Callable[[], object]) -> None:
        self.name, self.value, self.load = name, f"package:{name}", load


def test_packages_bring_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    """A metric of a package is found by its name; a broken one is a warning, and the rest works."""

    def kind_words(answer: str) -> float:
        return answer.count("please")

    def broken() -> object:
        raise ImportError("no module named spacy")

    points = [Point("kind_words", lambda: kind_words), Point("unkind", broken)]
    monkeypatch.setattr("ragauge.metrics.own.list_entry_points", lambda group: {point.name: point for point in points})
    assert evaluated(metrics="kind_words")["kind_words"].scored == 40
    forget_own()
    with (
        pytest.warns(
            UserWarning, match="unkind of package:unkind cannot be loaded: ImportError: no module named spacy"
        ),
        pytest.raises(UnknownName, match="no metric"),
    ):
        evaluated(metrics="unkind")
    with pytest.warns(UserWarning, match="unkind"):
        listed = CliRunner().invoke(app, ["metrics"]).output
    assert "kind_words" in listed


def test_configuration_names_them(tmp_path: Path) -> None:
    """ragauge.yaml names metrics by module:function; the list of metrics and the gate know them from it."""
    (tmp_path / "ragauge.yaml").write_text(
        "gate:\n  min_n: 10\n  rules: [{metric: 'manners:polite', min: 0.01}]\n"
        "monitor:\n  metrics: ['manners:shouting']\n  monitors: [{metric: shouting, max: 0.4}]\n"
    )
    found = CliRunner().invoke(app, ["doctor", "ragauge.yaml"])
    assert found.exit_code == 0, found.output
    assert "polite must be at least 0.01" in found.output
    listed = CliRunner().invoke(app, ["metrics", "--json"]).output
    assert {"polite", "shouting"} <= {entry["name"] for entry in json.loads(listed)["metrics"]}
    assert "Share of capital letters." in CliRunner().invoke(app, ["metrics", "manners:shouting"]).output


@pytest.mark.prove
def test_drop_without_a_range_is_in_own_units() -> None:
    """A gate's drop in points is one in the metric's own units where it has no range, of a column as of a function."""

    def words(answer: str) -> float:
        return len(answer.split())

    for name, stars in (("base", 9), ("new", 6)):
        given = [{**row, "answer": "very " * stars, "stars": stars} for row in rows()]
        rg.evaluate(given, metrics=[words], scores="stars", segments="kind", judge="none", name=name, store=STORE)
    for points, passed in (("2 points", False), ("4 points", True)):
        rules = {"gate": {"rules": [{"metric": one, "max_drop": points} for one in ("words", "stars")]}}
        gated = rg.gate("new", rules=rules, baseline="base", store=STORE)
        assert {check.verdict == "pass" for check in gated.checks if check.kind == "max_drop"} == {passed}


def test_interval_of_yes_and_no_stays_within_0_and_1() -> None:
    """Where nothing is declared and all values are 0 or 1, the interval is that of a rate."""

    def starts_low(answer: str) -> Any:
        return answer[0].islower()

    given = [{**row, "thumbs": n % 2} for n, row in enumerate(rows(n=4))]
    card = rg.evaluate(given, metrics=[starts_low], scores="thumbs", segments="kind", judge="none", store=STORE)
    for name in ("starts_low", "thumbs"):
        found = card[name].interval
        assert found is not None
        assert 0 <= found.low < found.high <= 1


def test_explanation_rests_on_what_is_stored() -> None:
    """`ragauge explain` tells value, reason, range and version of an example's score without the code."""
    evaluated()
    version = parse_metric("polite").version
    in_another_process()
    told = " ".join(printed("explain", "run", "q0").split())
    assert "polite = 0.5" in told
    assert "says 1 of 2" in told
    assert f"as stored: version {version}, range 0 to 1; its code does not run in explanations" in told


def test_what_a_metric_prints_goes_to_stderr(tmp_path: Path) -> None:
    """Neither a module that prints nor a function that does breaks the JSON on stdout."""
    (tmp_path / "loud.py").write_text("print('imported')\ndef loud(answer):\n    print('called')\n    return 1.0\n")
    (tmp_path / "a.jsonl").write_text('{"query": "Who?", "answer": "me"}\n')
    command = ["evaluate", "a.jsonl", "-m", "loud:loud", "--judge", "none", "--store", STORE, "--json"]
    found = CliRunner().invoke(app, command)
    assert json.loads(found.stdout)
    assert {"imported", "called"} <= set(found.stderr.split())


@pytest.mark.prove
def test_advice_names_the_run_and_the_code_so_that_the_command_does_it() -> None:
    """Of two runs with one name the older one is called by its id, and an own metric by module:name."""
    older = evaluated("wild", metrics=["manners:shouting"]).run.run_id
    evaluated("wild", shift=1, metrics=["manners:polite"])
    rules = {"gate": {"rules": [{"metric": "polite", "min": 0.1}]}}
    with pytest.raises(rg.ConfigError, match=f"Measure it with: ragauge evaluate {older} -m manners:polite"):
        rg.gate(older, rules=rules, store=STORE)
    with pytest.raises(UsageError, match=f"ragauge evaluate {older} -m manners:polite"):
        rg.compare(older, "wild", metrics=["polite"], store=STORE)


SAME = """
def same(answer: str) -> float:
    return {}
"""


@pytest.mark.prove
def test_two_metrics_of_one_name_are_refused_together_and_told_apart_later(tmp_path: Path) -> None:
    """Functions, criteria and columns of one name are never mixed; in a later evaluation the one asked for counts."""
    (tmp_path / "mod1.py").write_text(SAME.format("1.0"))
    (tmp_path / "mod2.py").write_text(SAME.format("0.25"))
    one, two = load_object("mod1:same"), load_object("mod2:same")
    for metrics in ("mod1:same,mod2:same", [one, two], ["mod2:same", one], [one, "mod2:same"]):
        with pytest.raises(UsageError, match=r"mod[12]:same and mod[12]:same are both named same.*rg.metric\(name="):
            evaluated(metrics=metrics)
    with pytest.raises(UsageError, match="mod1:same and the criterion same are both named same"):
        evaluated(metrics=[one], criteria={"same": "The answer is the same."})
    with pytest.raises(UsageError, match="mod1:same and the column same are both named same"):
        rg.evaluate([{**row, "same": 1} for row in rows()], metrics=[one], scores="same", judge="none")
    means = [evaluated(metrics=asked)["same"].mean for asked in ([one], [two], "mod1:same", [two], [one])]
    assert means == [1.0, 0.25, 1.0, 0.25, 1.0]
