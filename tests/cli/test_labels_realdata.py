"""People's labels of real answers, from the first command to the rectified mean."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from bench.peoples_scores import DATA, HELD, LABELS, METRIC, SYSTEMS, WIDE, answered, measure, scored
from tests.cli.conftest import Cli, write

from ragauge.metrics.catalogue import parse_metric
from ragauge.scores.estimation import ScoreSample, correct_mean

pytestmark = [
    pytest.mark.realdata,
    pytest.mark.skipif(not DATA.is_file(), reason="reads public data, kept beside the repository"),
]


@pytest.mark.parametrize("system", SYSTEMS)
def test_from_answers_to_a_rectified_mean(system: str, cli: Cli, tmp_path: Path) -> None:
    """150 drawn answers, labelled and imported by commands, give the mean and interval of the formulas."""
    rows = answered(system)
    records = write(
        tmp_path / f"{system}.jsonl",
        [{"query": row.query, "references": list(row.accepted), "answer": row.answer} for row in rows],
    )
    assert cli("evaluate", records, "-m", METRIC, "--judge", "none", "-q").code == 0
    asked = f"score:{METRIC}"
    drawn = cli("label", "draw", system, "-n", str(LABELS), "--question", asked, "-o", "tasks.jsonl", "--json").json()
    assert (drawn["answers"], drawn["parts"], drawn["of"]) == (LABELS, LABELS, len(rows))
    place = {(row.query, row.answer): n for n, row in enumerate(rows)}
    tasks = [json.loads(line) for line in (tmp_path / "tasks.jsonl").read_text(encoding="utf-8").splitlines()]
    labelled = {place[task["query"], task["answer"]]: task for task in tasks}
    labels = write(
        tmp_path / "labels.jsonl",
        [
            {name: task[name] for name in ("key", "question", "guideline")}
            | {"value": "yes" if rows[n].right else "no", "annotator": "people"}
            for n, task in labelled.items()
        ],
    )
    assert cli("label", "import", labels, "--json").json()["new"] == LABELS
    told = cli("report", system, "--json").json()["metrics"][METRIC]
    people = np.full(len(rows), np.nan)
    people[list(labelled)] = [float(rows[n].right) for n in labelled]
    metric, values = parse_metric(METRIC), scored(rows).value
    found = correct_mean(ScoreSample.of(metric, values), people)
    assert found is not None
    assert told["judge_mean"] == pytest.approx(values.mean())
    assert told["mean"] == pytest.approx(found.mean)
    assert told["rectified"]["labels"] == LABELS
    assert told["rectified"]["mean"] == pytest.approx(found.mean)
    assert told["rectified"]["ci"] == pytest.approx([found.interval.low, found.interval.high])


@pytest.mark.parametrize("system", SYSTEMS)
def test_intervals_hold_what_people_say_of_all(system: str) -> None:
    """Over 200 draws of 150 labels the interval holds people's mean of all answers, narrower than by labels alone."""
    found = measure(system)
    assert found.n > 1_900
    assert found.held >= HELD
    assert found.ratio <= WIDE
