"""`ragauge evaluate` on a small file with everything in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.cli.conftest import Cli, Done, ten, write

FREE = ("-q", "--judge", "none")  # nothing is asked: fast


def means(done: Done) -> dict[str, Any]:
    assert done.code == 0, done.err
    return {name: found["mean"] for name, found in done.json()["metrics"].items()}


def listed(cli: Cli) -> list[str]:
    return [run["name"] for run in cli("runs", "--json").json()]


def test_small_file_end_to_end(cli: Cli, small: Path) -> None:
    """Every layer has the values worked out by hand, and nothing that is lacking became a 0."""
    done = cli("evaluate", small, "-q", "--json")
    card, found = done.json(), done.json()["metrics"]
    assert (card["n"], card["pending"], card["name"]) == (10, 0, "ten")
    # labelled with passages recorded: q1 q2 q3 q6 q7 q8 q9 q10; all but q3 (empty) have the document
    assert found["recall@5"]["mean"] == pytest.approx(7 / 8)
    # first relevant at rank 1 except q3 (none) and q10 (rank 2)
    assert found["mrr"]["mean"] == pytest.approx((6 + 0 + 1 / 2) / 8)
    assert found["empty_result_rate"]["mean"] == pytest.approx(1 / 9)
    assert found["refusal_correctness"]["mean"] == 1
    for name, one in found.items():
        assert one["scored"] + one["undefined"] + one["not_applicable"] + one["failed"] + one["not_read"] == 10, name
        assert one["failed"] == 0, name
    assert found["faithfulness"]["undefined"] == 1  # the refusal claims nothing
    assert found["faithfulness"]["not_applicable"] == 1  # passages not recorded
    assert found["context_recall"]["not_applicable"] == 3  # no reference, or no passages
    assert found["cost"]["mean"] is None
    assert card["failures"]["empty_retrieval"] == 1
    assert card["took"]["asked"] > 0


def test_terminal_output_is_the_result_only(cli: Cli, small: Path) -> None:
    """On stdout is the scorecard, on stderr the progress, and markup in the data stays text."""
    done = cli("evaluate", small)
    assert done.code == 0
    assert "recall@5" in done.out
    assert "evaluated" not in done.out
    assert "evaluated 10 of 10" in done.err
    assert "\x1b[31m" not in done.out
    assert cli("evaluate", small, "-q").err == ""


def test_second_time_asks_nothing(cli: Cli, small: Path) -> None:
    """The same command again finds everything done; the numbers are the same."""
    first = cli("evaluate", small, "-q", "--json")
    again = cli("evaluate", small, "-q", "--json")
    assert again.json()["took"] | {"seconds": 0} == {
        "seconds": 0,
        "evaluated": 0,
        "asked": 0,
        "reused": 0,
        "answers_per_second": 0,
    }
    assert again.json() | {"took": {}} == first.json() | {"took": {}}
    assert listed(cli) == ["ten"]


def test_another_metric_of_a_stored_run_asks_nothing_twice(cli: Cli, small: Path) -> None:
    """A metric over facts that are stored is computed from them."""
    first = cli("evaluate", small, "-q", "-m", "faithfulness", "--json").json()
    assert first["took"]["asked"] > 0
    more = cli("evaluate", "ten", "-q", "-m", "faithfulness:support=direct,contradicted", "--json").json()
    assert more["took"]["asked"] == 0
    assert more["took"]["reused"] >= 9
    assert set(more["metrics"]) == {"faithfulness:support=direct", "contradicted"}


def test_limit_is_continued(cli: Cli, small: Path) -> None:
    """--limit evaluates so many; without it only those left are done, and the result is that of one go."""
    some = cli("evaluate", small, "-q", "--limit", "4", "--json").json()
    assert (some["n"], some["took"]["evaluated"]) == (4, 4)
    stored = cli("report", "--json").json()
    assert (stored["n"], stored["pending"]) == (4, 6)
    rest = cli("evaluate", small, "-q", "--json").json()
    assert (rest["n"], rest["pending"], rest["took"]["evaluated"]) == (10, 0, 6)
    whole = cli("evaluate", small, "-q", "--json", "--store", "whole.db").json()
    assert whole["metrics"] == rest["metrics"]
    assert whole["took"]["asked"] == some["took"]["asked"] + rest["took"]["asked"]


def test_limit_keeps_every_mean_over_the_same_examples(cli: Cli, small: Path) -> None:
    """Where some metrics are known for all and others for a few, a mean never mixes them unsaid."""
    assert cli("evaluate", small, *FREE).code == 0
    some = cli("evaluate", small, "-q", "--limit", "3", "--json").json()
    assert some["n"] == 3
    for name, one in some["metrics"].items():
        assert one["scored"] + one["undefined"] + one["not_applicable"] + one["failed"] + one["not_read"] == 3, name
    stored = cli("report", "--json").json()
    assert (stored["n"], stored["pending"]) == (10, 7)


def test_filter_by_segment_and_tag(cli: Cli, small: Path) -> None:
    """--filter evaluates the examples that match, and leaves the means of the whole run alone."""
    assert cli("evaluate", small, *FREE, "--json").json()["n"] == 10
    before = cli("runs", "--json").json()[0]["means"]
    assert cli("evaluate", "ten", *FREE, "--filter", "type=who", "--json").json()["n"] == 3
    golden = cli("evaluate", "ten", *FREE, "--filter", "tag=golden", "--json")
    assert golden.json()["n"] == 3
    assert means(golden)["recall@5"] == 1
    assert cli("evaluate", "ten", *FREE, "--filter", "type=number,tag=golden", "--json").json()["n"] == 2
    assert cli("runs", "--json").json()[0]["means"] == before


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("type=nope", "no value of segment type 'nope'"),
        ("nope=x", "no segment 'nope'"),
        ("tag=goldn", "nearest: golden"),
        ("type=who,tag=regression", "no example matches"),
        ("type", "expected column=value"),
    ],
)
def test_filter_that_matches_nothing(cli: Cli, small: Path, condition: str, words: str) -> None:
    """A filter that matches nothing ends with exit code 2, says what there is, and leaves no run."""
    done = cli("evaluate", small, "-q", "--filter", condition)
    assert done.code == 2
    assert words in done.err
    assert done.out == ""
    assert listed(cli) == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-m", "recal@5"], "nearest: recall"),
        (["-m", "faithfullness"], "nearest: faithfulness"),
        (["-m", "recall@0"], "k must be an integer of at least 1, got 0"),
        (["-m", "recall:nope=1"], "nope"),
        (["--judge", "locl"], "no judge 'locl'; nearest: local"),
        (["--judge", "none", "-m", "faithfulness"], "needs a judge"),
        (["-o", "card.pdf"], "expected .html, .md, .json, .jsonl, .csv, .parquet, got .pdf"),
        (["-o", "card"], "got no extension"),
        (["-o", "ten.jsonl/card.html"], "is not a folder"),
        (["--limit", "0"], "greater than or equal to 1"),
        (["--workers", "0"], "greater than or equal to 1"),
        (["--map", "query"], "expected field=column"),
        (["--name", "latest"], "cannot be named latest"),
        (["--nope"], "No such option"),
    ],
)
def test_wrong_options_are_refused_before_work(cli: Cli, small: Path, options: list[str], words: str) -> None:
    """A wrong name or option ends with exit code 2 and one message; nothing was read, stored or written."""
    done = cli("evaluate", small, "-q", *options)
    assert done.code == 2
    assert words in " ".join(done.err.replace("│", " ").split())
    assert "Traceback" not in done.err
    assert done.out == ""
    assert listed(cli) == []


@pytest.mark.parametrize(("judge", "code"), [("openai:gpt-x", 1), ("os:getpid", 1), ("no.such.module:judge", 2)])
def test_judge_that_cannot_be_built(
    cli: Cli, small: Path, judge: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A judge that is not there, cannot be built or lacks its key is one line, no traceback, and leaves no run."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    done = cli("evaluate", small, "-q", "--judge", judge)
    assert done.code == code
    assert done.err.startswith("error: ")
    assert judge.partition(":")[0] in done.err
    assert done.err.count("\n") == 1
    assert listed(cli) == []


def test_judge_none_leaves_judged_metrics_out(cli: Cli, small: Path) -> None:
    """--judge none measures from labels alone and asks nothing."""
    card = cli("evaluate", small, *FREE, "--json").json()
    assert card["judge"] == ""
    assert card["took"]["asked"] == 0
    assert "recall@5" in card["metrics"]
    assert "faithfulness" not in card["metrics"]


def test_presets_and_names(cli: Cli, small: Path) -> None:
    """A preset and a name beside it give the preset's metrics and the name, each once."""
    from ragauge.metrics.catalogue import PRESETS

    done = cli("evaluate", small, "-q", "-m", "retrieval,token_f1,mrr", "--json")
    got = list(means(done))
    assert "token_f1" in got
    assert len(got) == len(set(got))
    assert {"mrr", "token_f1"} <= set(got)
    assert len(got) >= len(PRESETS["retrieval"])


def test_dry_run_does_nothing(cli: Cli, small: Path) -> None:
    """--dry-run says what would be asked and stores nothing."""
    planned = cli("evaluate", small, "--dry-run", "--json").json()
    assert (planned["examples"], planned["stored"], planned["to_do"]) == (10, 0, 10)
    assert "verify_answer" in planned["questions"]
    assert planned["run_id"] == ""
    assert "10 examples" in cli("evaluate", small, "--dry-run").out
    assert listed(cli) == []
    cli("evaluate", small, *FREE)
    planned = cli("evaluate", small, "--dry-run", "--json", "--judge", "none").json()
    assert (planned["stored"], planned["to_do"], planned["questions"]) == (10, 0, [])
    assert listed(cli) == ["ten"]


def test_dry_run_says_in_one_sentence_who_judges_and_what_it_costs(cli: Cli, small: Path) -> None:
    """The local judge calls no model; metrics that need no judge are scored; a run that is done has nothing left."""

    def said(*words: str) -> str:
        return " ".join(cli("evaluate", small, *words, "--dry-run").out.splitlines()[1:])

    free = "no call to a model, cost 0"
    local = said("-m", "faithfulness,answer_correctness")
    assert local.startswith("would judge 10 examples with local:")
    assert local.endswith(f" (verify_answer, agree): {free}")
    assert said(*FREE) == said("--judge", "none") == f"would score 10 examples without a judge: {free}"
    cli("evaluate", small, *FREE)
    assert said(*FREE) == f"nothing left to do: {free}"


def test_outputs_of_every_form(cli: Cli, small: Path) -> None:
    """Several -o at once write every form; their numbers are those of --json."""
    paths = [f"-oout/card.{ending}" for ending in ("html", "md", "json", "csv", "parquet")]
    done = cli("evaluate", small, "-q", "--json", *paths)
    assert done.code == 0
    assert json.loads(Path("out/card.json").read_text())["metrics"] == done.json()["metrics"]
    parquet, csv = pl.read_parquet("out/card.parquet"), pl.read_csv("out/card.csv")
    assert parquet.height == csv.height == 10 * len(done.json()["metrics"])
    recall = parquet.filter((pl.col("metric") == "recall@5") & (pl.col("status") == "scored"))["value"].mean()
    assert recall == pytest.approx(done.json()["metrics"]["recall@5"]["mean"])
    assert "recall@5" in Path("out/card.md").read_text()
    page = Path("out/card.html").read_text()
    assert "<script>alert" not in page
    assert "onerror=alert(1)>" not in page
    assert [line.split(" ")[0] for line in done.err.splitlines()] == ["wrote"] * 5


def test_the_last_lines_say_where_the_full_report_is(cli: Cli, small: Path) -> None:
    """A report that was asked for is named; otherwise the command that writes one."""
    asked = cli("evaluate", small, *FREE, "-q", "-o", "card.csv", "-o", "out/page.html").out.splitlines()
    assert asked[-2:] == ["Full report, with charts and examples:", "  out/page.html"]
    for more in ([], ["-o", "card.md"]):
        last = cli("evaluate", small, *FREE, "-q", *more).out.splitlines()[-1]
        assert last.strip() == "ragauge report ten -o report.html"


def test_two_files_are_joined(cli: Cli, tmp_path: Path) -> None:
    """The eval set and the responses apart give the numbers of one file, in any order of lines."""
    answer = {"answer", "passages"}
    golden = [{k: v for k, v in row.items() if k not in answer} for row in ten()]
    given = [{k: v for k, v in row.items() if k in answer | {"query_id"}} for row in reversed(ten())]
    write(tmp_path / "golden.jsonl", golden)
    write(tmp_path / "responses.jsonl", given)
    write(tmp_path / "one.jsonl", ten())
    joined = cli("evaluate", "golden.jsonl", "responses.jsonl", *FREE, "--json")
    assert joined.json()["name"] == "responses"
    assert means(joined) == means(cli("evaluate", "one.jsonl", *FREE, "--json"))


def test_responses_that_are_lacking_or_unknown(cli: Cli, tmp_path: Path) -> None:
    """An example without response counts as empty and is warned about; a response to no example is an error."""
    write(tmp_path / "set.jsonl", [{"query_id": f"q{i}", "query": f"q {i}?", "relevant": {"d": 1}} for i in range(4)])
    some = [{"query_id": f"q{i}", "passages": [{"doc_id": "d", "text": "t"}], "answer": "a"} for i in range(3)]
    write(tmp_path / "some.jsonl", some)
    done = cli("evaluate", "set.jsonl", "some.jsonl", *FREE, "--json")
    assert means(done)["recall@5"] == pytest.approx(3 / 4)
    assert any("1 example has no response" in text for text in done.json()["warnings"])
    write(tmp_path / "more.jsonl", [*some, {"query_id": "other", "answer": "b"}])
    bad = cli("evaluate", "set.jsonl", "more.jsonl", *FREE)
    assert bad.code == 2
    assert "'other' (line 4)" in bad.err
    assert listed(cli) == ["some"]


def test_map_and_segments(cli: Cli, tmp_path: Path) -> None:
    """Columns of other names are mapped, and a plain column becomes a segment."""
    rows = [
        {"frage": f"Frage {i}?", "text": "Antwort.", "passages": ["p"], "kind": "ab"[i % 2], "tenant": "x"}
        for i in range(12)
    ]
    write(tmp_path / "german.jsonl", rows)
    bad = cli("evaluate", "german.jsonl", *FREE)
    assert bad.code == 2
    assert "no field 'query'" in bad.err
    assert "--map query=" in bad.err
    mapped = ("--map", "query=frage", "--map", "answer=text")
    done = cli("evaluate", "german.jsonl", *FREE, *mapped, "--json")
    assert done.json()["n"] == 12
    assert "columns not read: kind, tenant" in done.err
    kept = cli("evaluate", "german.jsonl", *FREE, *mapped, "--segments", "kind", "--filter", "kind=a", "--json")
    assert kept.json()["n"] == 6
    lacking = cli("evaluate", "german.jsonl", *FREE, *mapped, "--segments", "kin")
    assert lacking.code == 2
    assert "no line has a column 'kin'" in lacking.err


def test_names_and_ids_address_a_run(cli: Cli, small: Path) -> None:
    """--name names a run; id, name and latest find it; RAGAUGE_STORE and --store say where."""
    made = cli("evaluate", small, *FREE, "--name", "first try", "--json").json()
    assert made["name"] == "first try"
    for which in ("first try", made["run_id"], "latest"):
        assert cli("report", which, "--json").json()["run_id"] == made["run_id"], which
    assert "no run 'first tri'; nearest: first try" in cli("report", "first tri").err
    assert cli("report", "--store", "other.db").code == 2


def test_store_from_the_environment(cli: Cli, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """RAGAUGE_STORE is used where --store is not given."""
    monkeypatch.setenv("RAGAUGE_STORE", "sqlite:///elsewhere/kept.db")
    assert cli("evaluate", small, *FREE).code == 0
    assert Path("elsewhere/kept.db").is_file()
    assert not Path(".ragauge").exists()
    assert listed(cli) == ["ten"]
    assert cli("runs", "--json", "--store", "sqlite:///empty.db").json() == []


@pytest.mark.parametrize("store", ["postgresql://host/db", "ten.jsonl", "ten.jsonl/x.db"])
def test_store_that_cannot_be_opened(cli: Cli, small: Path, store: str) -> None:
    """A store that cannot be opened is one line on stderr."""
    done = cli("evaluate", small, *FREE, "--store", store)
    assert done.code in (1, 2)
    assert done.err.startswith("error: ")
    assert done.err.count("\n") == 1


def test_passages_of_a_log_are_warned_of_in_the_report(cli: Cli, tmp_path: Path) -> None:
    """Passages that a log cut off stand among the warnings while the file is read, in the report and in its JSON."""
    rows = [
        {"query": f"q {i}?", "answer": "a", "passages": [f"{i:03} {'It is so, and more of it. ' * 9}"[:200] + "..."]}
        for i in range(8)
    ]
    write(tmp_path / "cut.jsonl", rows)
    words = "8 of 8 passages look truncated"
    assert words in cli("evaluate", "cut.jsonl", *FREE).err
    again = cli("evaluate", "cut", *FREE, "--json")
    assert [words in text for text in again.json()["warnings"]].count(True) == 1
    assert words in " ".join(cli("evaluate", "cut", *FREE).out.split())
    whole = [{**row, "passages": [f"{row['query']} It is so."]} for row in rows]
    write(tmp_path / "whole.jsonl", whole)
    assert "cut off" not in cli("evaluate", "whole.jsonl", *FREE, "--json").out
