"""The section monitor of ragauge.yaml: what is read, and what is refused with file, line, key and the nearest name."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator
from tests.docs.pages import Block, blocks, taken
from tools import monitoring_page

from ragauge.core.config.config_loader import read_config
from ragauge.core.config.file import build_json_schema
from ragauge.core.config.monitor import MonitorSection
from ragauge.core.errors import ConfigError, DataError
from ragauge.evaluation.doctor.validate import validate

GOOD = """monitor:
  judge: hybrid:openai:gpt-5-mini
  metrics: [production, no_retrieval_rate:min_score=0.5]
  segments: {tenant: metadata.tenant}
  sample: {rate: 5%, at_least: {tenant: 20}, always: [error, empty_retrieval, thumbs_down], max_cost: 5.00}
  false_alarms: 5% per 30d
  monitors:
    - {metric: faithfulness, baseline: 28d, max_drop: 3%, segments: [tenant]}
    - {metric: no_retrieval_rate:min_score=0.5, max: 5%}
    - {metric: ignored_top_ranked, max: 30%}
    - {metric: latency, share_above: 4000, max: 5%}
    - {signal: shard_load, skew_max: 3, for: 30m}
  drift: [queries, documents]
  notify: [{webhook: $HOOK, format: slack}, {email: a@b.c}, {otlp: "http://localhost:4318"}]
  schedules: [{name: nightly, cron: "0 2 * * *", run: my_app:answer, set: golden.jsonl, baseline: main}]
  keep: {raw: 7d, traces: 90d}
"""
REDACTING, PAGE = taken("docs/monitoring.md", "yaml", 0, 1)
HEAD = "monitor:\n  monitors:\n    - "  # a monitor written after it stands in line 3
SCHEDULE = "monitor:\n  schedules: [{name: n, run: a:b, set: s, "
BAD: dict[str, tuple[str, int, list[str]]] = {
    "unknown-key": ("monitor:\n  metric: [faithfulness]\n", 2, ["monitor.metric: unknown key", "nearest: metrics"]),
    "key-of-a-monitor": (HEAD + "{metric: faithfulness, max_dorp: 3%}\n", 3, ["nearest: max_drop"]),
    "renamed-key": (HEAD + "{signal: load, max: 3, wait: 5m}\n", 3, ["unknown key", "for"]),
    "promise": ("monitor:\n  false_alarms: 5%\n", 2, ["5% per 30d", "'5%'"]),
    "no-chance": ("monitor:\n  false_alarms: 0% per 0d\n", 2, ["above 0 % and below 100 %", "1d to 999d"]),
    "no-unit": (HEAD + "{metric: faithfulness, max_drop: 0.03}\n", 3, ["Write 3% or 3 points."]),
    "no-hour": (SCHEDULE + 'cron: "0 25 * * *"}]\n', 2, ["'0 25 * * *' is no time", "out of range"]),
    "no-day": (SCHEDULE + 'cron: "0 2 30 2 *"}]\n', 2, ["never occurs"]),
    "many": (
        "monitor:\n  judge: locl\n  redact: {key: $NONE}\n"
        "  notify: [{webhook: $NONE}, {otlp: $HOOK, headers: {a: $NONE}}]\n  schedules:\n"
        '    - {name: n, cron: "0 2 * * *", run: my_app, set: none.jsonl}\n'
        '    - {name: n, cron: "0 2 * * *", run: a:b, set: stored}\n',
        2,
        [
            "nearest: local",
            "line 3",
            "variable NONE is not set",
            "line 4",
            "notify[1].webhook",
            "[2].headers.a",
            "my_app:NAME",
            "none.jsonl does not exist",
            "schedules[2].name: schedule 1 is also named n",
        ],
    ),
    "many-in-one": ("monitor:\n  schedules: [{name: n}]\n", 2, ["neither cron nor on", "no run and no set"]),
    "many-of-a-monitor": (
        HEAD + "{metric: mrr, max_drop: 100%, min: 0.5, for: 5m}\n",
        3,
        ["expected one limit", "for applies only to", "below 100 %, got 100%"],
    ),
    "twice": (
        "monitor:\n  monitors: [{metric: mrr, min: 0.5}, {metric: mrr, min: 0.5, segments: []}]\n",
        2,
        ["monitor 1 has the same rule"],
    ),
    "ftp": ("monitor:\n  notify: [{webhook: ftp://h/x}]\n", 2, ["notify[1]", "expected https://HOST"]),
    "no-address": ("monitor:\n  notify: [{email: a}]\n", 2, ["ops@example.org", "'a'"]),
    "no-skew": (HEAD + "{signal: load, skew_max: 0.5}\n", 3, ["at least 1, got 0.5"]),
    "time": ("monitor:\n  keep: {raw: 7 days}\n", 2, ["monitor.keep.raw", "30m, 12h or 28d", "'7 days'"]),
    "whole-days": (HEAD + "{metric: faithfulness, max_drop: 3%, baseline: 12h}\n", 3, ["whole days"]),
    "rate": ("monitor:\n  sample: {rate: 120%}\n", 2, ["at most 100 %", "'120%'"]),
    "free": ("monitor:\n  sample: {max_cost: free}\n", 2, ["a number above 0", "'free'"]),
    "cron": ("monitor:\n  schedules: [{name: n, cron: daily, run: a:b, set: s}]\n", 2, ["five fields", "'daily'"]),
    "segment": (HEAD + "{metric: mrr, max_drop: 3%, segments: [team]}\n", 3, ["monitors[1].segments", "'team'"]),
    "nobody": ("monitor:\n  notify: [{format: slack}]\n", 2, ["one of webhook, email or otlp"]),
    "no-limit": (HEAD + "{metric: faithfulness}\n", 3, ["sets no limit for faithfulness"]),
    "two-limits": (HEAD + "{metric: faithfulness, min: 0.8, max_drop: 3%}\n", 3, ["one limit", "max_drop"]),
    "both": (HEAD + "{metric: faithfulness, signal: ctr, min: 0.8}\n", 3, ["both a metric and a signal"]),
    "waits": (HEAD + "{metric: faithfulness, min: 0.8, for: 5m}\n", 3, ["for applies only to decide: point"]),
    "not-better": (HEAD + "{metric: faithfulness, max: 0.8}\n", 3, ["higher is better", "write min, not max"]),
    "unbounded": (HEAD + "{metric: latency, max: 0.8}\n", 3, ["values in [0, 1]", "share_above: 4000"]),
    "no-metric": (HEAD + "{metric: faithfulnes, min: 0.8}\n", 3, ["monitors[1]", "nearest: faithfulness"]),
    "no-preset": ("monitor:\n  metrics: [productoin]\n", 2, ["nearest: production"]),
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with the set that entries name and the variables that they take."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RAGAUGE_STORE", raising=False)
    for name in ("HOOK", "REDACT_KEY"):
        monkeypatch.setenv(name, "https://127.0.0.1/x")
    (tmp_path / "golden.jsonl").write_text('{"query_id": "a", "query": "b"}')


def test_good_section(tmp_path: Path) -> None:
    """Every key is read, also that of the page, accepted by an editor, and said in words."""
    path = tmp_path / "ragauge.yaml"
    path.write_text(GOOD)
    monitor = read_config(path).checked().monitor
    assert monitor is not None
    assert (monitor.false_alarms.chance, monitor.false_alarms.days, monitor.sample.rate) == (0.05, 30, 0.05)
    assert not list(Draft202012Validator(build_json_schema()).iter_errors(yaml.safe_load(GOOD)))
    validated = validate(path)
    assert validated.rules == ()
    assert [one for one in validated.monitor if one.startswith("monitor:")] == [
        "monitor: faithfulness no more than 3% below that of the 28 days before, also by tenant",
        "monitor: no_retrieval_rate:min_score=0.5 at most 0.05",
        "monitor: ignored_top_ranked at most 0.3",
        "monitor: latency above 4,000 ms in at most 5% of the requests",
        "monitor: shard_load: greatest over mean at most 3, for 30m",
    ]
    assert [one for one in validated.monitor if not one.startswith("monitor:")] == [
        "sample: 5% of requests; metrics: production, no_retrieval_rate:min_score=0.5; judge: hybrid:openai:gpt-5-mini",
        "segment: tenant (metadata.tenant)",
        "false_alarms: 5% per 30d, across all tests",
        "drift: queries and documents, once a day",
        "notify: webhook (slack)",
        "notify: a@b.c",
        "notify: otlp",
        "schedule: nightly: my_app:answer over golden.jsonl, at 0 2 * * * (UTC)",
    ]
    assert len(validated.notes) == 2
    assert sum(one.startswith("monitor:") for one in validate(yaml.safe_load(PAGE.text)).monitor) == 4
    assert validate(yaml.safe_load(REDACTING.text)).monitor[0].startswith("sample: 5% of requests, the default")


@pytest.mark.parametrize("name", BAD)
def test_bad_section(name: str, tmp_path: Path) -> None:
    """A mistake is named with its file, line, key, what was found and what was expected."""
    text, line, words = BAD[name]
    path = tmp_path / "ragauge.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        validate(path)
    said = str(caught.value)
    assert f"{path} line {line}:" in said
    assert not [word for word in words if word not in said], said


def test_what_will_not_do_what_is_meant(tmp_path: Path) -> None:
    """Validate tells beforehand of a metric that traffic cannot have, a baseline that is not there, and no gate."""
    watch = [{"metric": "recall@5", "min": 0.5}, {"metric": "latency", "share_above": 4000, "max": "5%"}]
    nightly = {"name": "n", "cron": "0 2 * * *", "run": "a:b", "set": "stored", "baseline": "main"}
    notes = validate({"monitor": {"monitors": watch, "schedules": [nightly]}}).notes
    parts = ("recall@5 needs labels", "no run or baseline is named main yet", "no gate section")
    assert [part in note for part, note in zip(parts, notes, strict=True)] == [True] * 3, notes
    assert not list(tmp_path.glob("**/*.db"))
    gate = {"gate": {"rules": [{"metric": "mrr", "min": 0.5}]}}
    beat = {**nightly, "heartbeat": 1, "baseline": None}
    assert validate({**gate, "monitor": {"monitors": watch[1:], "schedules": [beat]}}).notes == ()


def test_a_mapping_is_read_alike() -> None:
    """The same section as Python values gives the same monitors, and mistakes name their place."""
    given = yaml.safe_load(GOOD)
    assert sum(one.startswith("monitor:") for one in validate(given).monitor) == 5
    given["monitor"]["monitors"][1]["max"] = 2
    with pytest.raises(ConfigError, match=r"monitor\.monitors\[2\]: a limit of no_retrieval_rate"):
        validate(given)


@pytest.mark.parametrize("block", blocks("docs/monitoring.md"), ids=lambda block: str(block.line))
def test_yaml_of_the_page_is_read(block: Block, tmp_path: Path) -> None:
    """Every piece of YAML of the page is read as it stands, its key `on` too, which YAML 1.1 takes for true."""
    if block.language == "yaml":
        path = tmp_path / "ragauge.yaml"
        path.write_text(("monitor:\n" if block.text.startswith(" ") else "") + block.text)
        read_config(path).checked()


@pytest.mark.parametrize("key", ["on: [corpus, model]", "'on': [corpus]", "on:\n        - corpus"])
def test_a_switch_is_a_word_where_it_is_a_key(key: str, tmp_path: Path) -> None:
    """`on` is a key in block style as well, and true is none."""
    path = tmp_path / "ragauge.yaml"
    entry = f"- name: n\n      {key}\n      corpus: docs\n      run: a:b\n      set: s\n"
    path.write_text(f"monitor:\n  segments: {{model: model}}\n  schedules:\n    {entry}")
    monitor = read_config(path).checked().monitor
    assert monitor is not None
    assert monitor.schedules[0].on[0] == "corpus"
    path.write_text(path.read_text().replace("name: n", "true: n"))
    with pytest.raises(DataError, match="a key must be text, got True"):
        read_config(path)


def test_the_page_holds_every_key(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The table of keys is what the types of the section say; one that is stale is told with the command."""
    monkeypatch.setattr(sys, "argv", ["monitoring_page", "--check"])
    assert monitoring_page.main() == 0, capsys.readouterr().err
    monkeypatch.setattr(MonitorSection.model_fields["judge"], "default", "nobody")
    assert monitoring_page.main() == 1
    assert "python tools/monitoring_page.py" in capsys.readouterr().err
