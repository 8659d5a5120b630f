"""The pytest plugin, in projects of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from tests.engine.tiny_judge import SPEC
from tests.environment.test_imports import HEAVY

pytest_plugins = ["pytester"]
TINY = f"--ragauge-judge={SPEC}"
RECORDED = """
    import pytest

    @pytest.mark.ragauge("answers.jsonl", metrics="recall@5,faithfulness,citation_precision")
    def test_it(ragauge_example):
        ragauge_example.check({"recall@5": 1}, faithfulness=0.8)
"""
SYSTEM = """
    import json
    from pathlib import Path
    import pytest

    @pytest.mark.ragauge("golden.jsonl", system="my_app:answer")
    def test_it(ragauge_example):
        example = ragauge_example
        with Path(__file__).with_name(example.query_id + ".json").open("w") as file:
            scores = {name: one.value for name, one in example.view.scores.items() if name != "latency"}
            json.dump([example.answer, scores, example.cause], file)
        example.check()
"""


def test_an_item_for_each_example(project: pytest.Pytester) -> None:
    """Each example is a test with its query_id in brackets, so that -k and node ids choose examples."""
    project.makepyfile(test_it=RECORDED)
    listed = project.runpytest("--collect-only", "-q", "--strict-markers")
    listed.stdout.fnmatch_lines([f"test_it.py::test_it[[]q{i}[]]" for i in range(1, 7)])
    assert not (project.path / ".ragauge").exists()
    project.runpytest(TINY, "-k", "q2 or q3").assert_outcomes(passed=1, failed=1, deselected=4)
    one = project.runpytest(TINY, "test_it.py::test_it[q4]")
    one.assert_outcomes(passed=1)
    one.stdout.fnmatch_lines(["run answers (*): 1 example passed, 0 failed"])


def test_what_a_failing_example_prints(project: pytest.Pytester) -> None:
    """A failing example prints question, answer, what fell short, the cause with its facts, and what to type."""
    project.makepyfile(test_it=RECORDED)
    done = project.runpytest(TINY)
    done.assert_outcomes(passed=5, failed=1)
    done.stdout.fnmatch_lines(
        [
            "E * ExampleFailed: q3: recall@5 is 0, expected at least 1; faithfulness is 0, expected at least 0.8",
            "*  question  What is number 3?",
            "*  answer    The tower is made of cheese.",
            "*  cause     * (*): *",
            "*  fix       *",
            "*  explain   ragauge explain * q3",
            "run answers (*): 5 examples passed, 1 failed",
            "  ragauge report * -o report.html",
            "FAILED test_it.py::test_it?q3? - ExampleFailed: q3: *",
        ]
    )
    shown = done.stdout.str()
    assert "regression.py" not in shown
    command = next(line for line in shown.splitlines() if "  explain " in line).split("explain   ")[1].split()
    words = [sys.executable, "-m", *command]
    explained = subprocess.run(words, capture_output=True, text=True, check=True, cwd=project.path)
    assert "faithfulness" in explained.stdout


def test_a_plain_assert_has_the_facts_below(project: pytest.Pytester) -> None:
    """Where the test itself asserts, the example's facts stand in a section of the failure."""
    project.makepyfile(
        test_it="""
        import pytest

        @pytest.mark.ragauge("answers.jsonl", metrics="faithfulness")
        def test_it(ragauge_example):
            assert ragauge_example["faithfulness"] == 1
    """
    )
    done = project.runpytest(TINY)
    done.assert_outcomes(passed=5, failed=1)
    done.stdout.fnmatch_lines(["E * assert 0.0 == 1", "*- ragauge -*", "q3*", "  question  What is number 3?"])


def outcomes(project: pytest.Pytester, *words: str) -> tuple[dict[str, object], list[str], int]:
    """What each test wrote, the outcome of each, and how many questions the system was asked."""
    for old in [*project.path.glob("q*.json"), *project.path.glob("asked.txt")]:
        old.unlink()
    done = project.runpytest_subprocess("-rA", *words)
    done.assert_outcomes(passed=5, failed=1)
    wrote = {path.name: json.loads(path.read_text()) for path in project.path.glob("q*.json")}
    lines = [line.split(" - ")[0] for line in done.outlines if line.startswith(("PASSED ", "FAILED "))]
    return wrote, sorted(lines), len((project.path / "asked.txt").read_text().splitlines())


def test_workers_say_what_one_process_says(project: pytest.Pytester) -> None:
    """With the local judge, two workers of pytest-xdist give the serial run's answers, scores, causes and outcomes.

    The system is asked each question once a session, whichever worker tests it.
    """
    project.makepyfile(test_it=SYSTEM)
    serial, spread = outcomes(project), outcomes(project, "-n", "2")
    assert len(serial[0]) == 6
    assert spread == serial
    assert serial[2] == 6


def test_only_what_is_chosen_is_asked(project: pytest.Pytester) -> None:
    """With -k the system is asked the chosen questions alone, and the run says that it is a part."""
    project.makepyfile(test_it=SYSTEM)
    done = project.runpytest(TINY, "-k", "q2", "--ragauge-store", "sqlite:///other.db")
    done.assert_outcomes(passed=1, deselected=5)
    assert (project.path / "asked.txt").read_text().splitlines() == ["What is number 2?"]
    done.stdout.fnmatch_lines(["  ragauge report * -o report.html --store sqlite:///other.db"])
    assert (project.path / "other.db").exists()
    assert not (project.path / ".ragauge").exists()


def test_filter(project: pytest.Pytester) -> None:
    """A filter leaves the examples that match; one that nothing matches is an error of collection."""
    text = RECORDED.replace('metrics="', 'filter={"part": "even"}, metrics="')
    project.makepyfile(test_it=text)
    project.runpytest(TINY).assert_outcomes(passed=3)
    project.makepyfile(test_it=text.replace("even", "neither"))
    done = project.runpytest(TINY)
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["*no example of *answers.jsonl matches part=neither*"])


def test_evaluated_once_and_gated(project: pytest.Pytester) -> None:
    """ragauge_evaluate gives marked tests and others one scorecard; ragauge_gate passes it or fails with its text."""
    project.makepyfile(
        test_it="""
        import pytest

        @pytest.mark.ragauge("golden.jsonl", system="my_app:answer", metrics="recall@5")
        def test_example(ragauge_example, ragauge_evaluate):
            card = ragauge_evaluate("golden.jsonl", system="my_app:answer", metrics="recall@5")
            assert card is ragauge_example.card

        def rule(least):
            return {"gate": {"rules": [{"metric": "recall@5", "min": least, "decide": "point", "min_n": 2}]}}

        @pytest.mark.parametrize("least", [0.8, 0.9])
        def test_gate(least, ragauge_evaluate, ragauge_gate):
            card = ragauge_evaluate("golden.jsonl", system="my_app:answer", metrics="recall@5")
            assert ragauge_gate(card, rules=rule(least)).passed
    """
    )
    done = project.runpytest(TINY)
    done.assert_outcomes(passed=7, failed=1)
    done.stdout.fnmatch_lines(["*test_gate[[]0.9[]]*", "E * Failed: Gate failed: my_app:answer.", "E *recall@5*"])
    assert len((project.path / "asked.txt").read_text().splitlines()) == 6


def test_systems_are_told_apart(project: pytest.Pytester) -> None:
    """Functions of one name, closures and objects of one class are systems of their own."""
    project.makepyfile(
        test_it="""
        import pytest

        def made(word):
            return lambda question: word

        class App:
            def __init__(self, word):
                self.word = word

            def query(self, question):
                return self.word

        ONE, OTHER = (lambda question: "one"), (lambda question: "other")
        SYSTEMS = [ONE, OTHER, made("third"), made("fourth"), App("fifth"), App("sixth")]

        def test_it(ragauge_evaluate):
            cards = [ragauge_evaluate("golden.jsonl", system=one, metrics="exact_match") for one in SYSTEMS]
            said = [{view.response.answer for view in card.examples()} for card in cards]
            assert said == [{"one"}, {"other"}, {"third"}, {"fourth"}, {"fifth"}, {"sixth"}]
    """
    )
    project.runpytest(TINY).assert_outcomes(passed=1)


def test_runs_stand_in_junit(project: pytest.Pytester) -> None:
    """The run and the cause of each example are properties of its test in JUnit's XML."""
    project.makepyfile(test_it=RECORDED)
    project.runpytest(TINY, "--junitxml", "out.xml").assert_outcomes(passed=5, failed=1)
    cases = ElementTree.parse(project.path / "out.xml").getroot().iter("testcase")  # noqa: S314 - pytest wrote it above
    causes = {case.get("name"): {one.get("name"): one.get("value") for one in case.iter("property")} for case in cases}
    assert causes["test_it[q3]"]["ragauge_cause"]
    assert causes["test_it[q1]"]["ragauge_cause"] == ""
    assert len({found["ragauge_run"] for found in causes.values()}) == 1


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (("ragauge_example):", "):"), "is marked ragauge but has no argument ragauge_example"),
        (("answers.jsonl", "answer.jsonl"), "answer.jsonl: no such file; looked for"),
        (("metrics=", "metric="), "no argument of ragauge 'metric'; nearest: metrics"),
        (("recall@5,faithfulness", "recal@5"), "no metric or preset 'recal@5'; nearest: recall@5"),
        (('"answers.jsonl"', '"answers.jsonl", system="no_app:answer"'), "no_app"),
        (("faithfulness=0.8", "context_recall=0.8"), "context_recall was not evaluated. Add it"),
        (("faithfulness=0.8", "citation_precision=1"), "citation_precision has no value for any example"),
    ],
)
def test_mistakes_are_told(changed: tuple[str, str], said: str, project: pytest.Pytester) -> None:
    """A mistake in a marker or a check fails with what is wrong and the nearest name, and nothing passes."""
    text = RECORDED.replace("ragauge_example.check", "ragauge_example.check" if "(ragauge" else "")
    project.makepyfile(
        test_it=text.replace(*changed)
        if changed[1] != "):"
        else text.replace(*changed).replace("ragauge_example.check", "print")
    )
    done = project.runpytest(TINY)
    assert done.parseoutcomes().get("passed", 0) == 0
    assert said in " ".join(done.stdout.str().split())


def test_unmarked(project: pytest.Pytester) -> None:
    """A test that takes ragauge_example without a marker is told to be marked."""
    project.makepyfile(test_it="def test_it(ragauge_example):\n    pass\n")
    done = project.runpytest()
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["*takes ragauge_example but is not marked*"])


def test_costs_nothing_unused(project: pytest.Pytester) -> None:
    """In a project that does not use it the plugin is loaded, and of ragauge nothing but itself; no heavy library."""
    project.makepyfile(
        test_it=f"""
        import sys

        def test_it():
            ours = sorted(name for name in sys.modules if name.split(".")[0] == "ragauge")
            assert ours == ["ragauge", "ragauge.pytest_plugin", "ragauge.version"]
            assert not set({sorted(HEAVY - {"asyncio", "socket"})!r}) & sys.modules.keys()
    """
    )
    others = ("xdist", "timeout", "langsmith_plugin")  # plugins of the packages beside it
    project.runpytest_subprocess(*(word for name in others for word in ("-p", f"no:{name}"))).assert_outcomes(passed=1)


def test_an_error_is_said_once(project: pytest.Pytester) -> None:
    """A marker that cannot be followed is one message, without the exceptions that it was made of."""
    project.makepyfile(
        test_it="""
        import pytest

        @pytest.mark.ragauge("answers.jsonl", judge="coherent:x")
        def test_it(ragauge_example):
            ragauge_example.check()
    """
    )
    done = project.runpytest("-k", "q2")
    done.assert_outcomes(errors=1, deselected=5)
    done.stdout.fnmatch_lines(["no provider or module 'coherent'; nearest: *"])
    assert "During handling" not in done.stdout.str()


def test_an_open_example_skips_and_fails_where_that_is_asked(project: pytest.Pytester) -> None:
    """`check()` fails on what failed alone: an example that nobody judged is skipped with its reason, or fails.

    So it stands in JUnit's XML: a failed example is a failure, the others are skipped.
    """
    project.makepyfile(
        test_it="""
        import pytest

        @pytest.mark.ragauge("answers.jsonl", metrics="latency")
        def test_it(ragauge_example):
            ragauge_example.check()
    """
    )
    done = project.runpytest("--ragauge-judge=none", "-rs", "--junitxml", "out.xml")
    done.assert_outcomes(failed=1, skipped=5)  # labels alone show one failure
    done.stdout.fnmatch_lines(
        ["run answers (*): 0 examples passed, 1 failed, 5 skipped *", "SKIPPED *q1: not judged: *"]
    )
    cases = ElementTree.parse(project.path / "out.xml").getroot()  # noqa: S314 - pytest wrote it above
    skipped = [one.get("message", "") for one in cases.iter("skipped")]
    assert (len(skipped), len([*cases.iter("failure")]), len([*cases.iter("error")])) == (5, 1, 0)
    assert all("not judged: " in message for message in skipped)
    project.runpytest("--ragauge-judge=none", "--ragauge-strict").assert_outcomes(failed=6)
