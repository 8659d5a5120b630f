"""`ragauge runs`: the list, and tags."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Cli, ten, write


def test_runs_are_tagged_sorted_and_filtered(cli: Cli, tmp_path: Path) -> None:
    """`ragauge runs tag` and `untag` tell the tags that a run has; the list shows them, sorts by a mean and filters."""
    for name, there in (("main", ten()), ("half", ten()[:5])):
        cli("evaluate", write(tmp_path / f"{name}.jsonl", there), "--name", name, "-m", "recall@5")
    assert "is tagged: golden, old" in cli("runs", "tag", "main", "old", "golden").out
    assert cli("runs", "untag", "main", "old", "--json").json()["tags"] == ["golden"]
    listed = cli("runs", "--filter", "tag=golden").out
    assert "golden" in listed
    assert "half" not in listed
    rows = cli("runs", "--sort=-recall@5", "--json").json()
    means = [row["means"]["recall@5"] for row in rows]
    assert means == sorted(means, reverse=True)
    assert rows[0]["headline"]["retrieval"]["metric"] == "recall@5"
    assert [row["name"] for row in cli("runs", "--sort", "recall@5", "--json").json()] != [row["name"] for row in rows]


def test_options_before_the_subcommand_are_refused(cli: Cli) -> None:
    """An option that would be passed over is refused: the list is meant, which takes no more words."""
    done = cli("runs", "--sort", "name", "tag", "main", "golden")
    assert done.code == 2
    assert "Got unexpected extra argument(s)" in done.err
