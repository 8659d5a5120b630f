"""The section gate of ragauge.yaml: what is read, and what is refused with file, line, key and the nearest name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from ragauge.core.config.config_loader import read_config
from ragauge.core.config.file import build_json_schema
from ragauge.core.errors import ConfigError, DataError
from ragauge.engine.systems import read_settings
from ragauge.evaluation.doctor.validate import validate
from ragauge.gating.kinds.single_examples import MaxFailed, MustPass
from ragauge.gating.rules import read_rules

SCHEMA = Path(__file__).resolve().parents[2] / "src/ragauge/core/schema/ragauge.schema.json"
HEAD = "gate:\n  rules:\n"  # a rule written after it stands in line 3
GOOD = """gate:
  max_failed: 2%
  rules:
    - {metric: recall@5, max_drop: 3%}
    - {metric: faithfulness, max_drop: 3 points, on_fail: warn}
    - {metric: faithfulness, min: 85%, segments: none}
    - {metric: contradicted, max: 0.1, decide: point, segments: [type, tenant], tag: golden}
    - {metric: latency:stage=retrieval, max: 1e3}
    - {metric: cost, max: 0.002, min_n: 50}
    - {tag: regression, must_pass: true}
    - {tag: regression, must_pass: true, metric: recall@5, min: 1}
"""

# (file, the line that is named, words of the message)
BAD: dict[str, tuple[str, int | None, list[str]]] = {
    "not-yaml": ("gate:\n  rules: [\n", 3, ["is not YAML"]),
    "tab": ("gate:\n\trules: []\n", 2, ["is not YAML", "tab"]),
    "two-documents": ("gate: {}\n---\ngate: {}\n", 2, ["is not YAML"]),
    "python-object": ("gate: !!python/object/apply:os.system ['true']\n", 1, ["is not plain YAML", "python/object"]),
    "empty": ("", None, ["is empty"]),
    "a-list": ("- gate\n", 1, ["expected keys and values", "a list of 1"]),
    "unknown-section": ("gates:\n  rules: []\n", 1, ["gates: unknown key", "nearest: gate"]),
    "key-of-a-rule": (
        "gate:\n  decide: point\n  rules:\n    - {metric: mrr, min: 0.5}\n",
        2,
        ["gate.decide: unknown key", "It belongs under rules."],
    ),
    "gate-is-text": ("gate: strict\n", 1, ["gate: expected keys and values", "'strict'"]),
    "unknown-key": ("gate:\n  max_fail: 2%\n  rules: []\n", 2, ["gate.max_fail", "nearest: max_failed"]),
    "key-twice": ("gate:\n  min_n: 5\n  min_n: 9\n", 3, ["'min_n' appears twice", "line 2"]),
    "no-rules": ("gate:\n  max_failed: 2%\n", 2, ["no rule", "never fail"]),
    "rules-no-list": ("gate:\n  rules: {metric: mrr, min: 0.5}\n", 2, ["gate.rules", "expected a list"]),
    "unknown-metric": (HEAD + "    - {metric: recal@5, max_drop: 3%}\n", 3, ["rules[1].metric", "nearest: recall"]),
    "needs-more": (HEAD + "    - {metric: rbp, max_drop: 3%}\n", 3, ["rbp needs p", "rbp:p=VALUE"]),
    "bad-parameter": (HEAD + "    - {metric: ndcg:gian=exp@10, min: 0.5}\n", 3, ["'gian'", "nearest: gain"]),
    "rule-key": (HEAD + "    - {metric: mrr, max_drp: 3%}\n", 3, ["gate.rules[1].max_drp", "nearest: max_drop"]),
    "no-limit": (HEAD + "    - {metric: mrr}\n", 3, ["sets no limit for mrr", "max_drop, min or max"]),
    "no-unit": (HEAD + "    - {metric: mrr, max_drop: 3}\n", 3, ["max_drop", "3 without a unit", "3 points"]),
    "negative": (HEAD + "    - {metric: mrr, max_drop: -3%}\n", 3, ["at least 0", "'-3%'"]),
    "wrong-word": (HEAD + "    - {metric: mrr, max_drop: 3%, on_fail: blok}\n", 3, ["block or warn", "nearest: block"]),
    "boolean-level": (HEAD + "    - metric: mrr\n      min: yes\n", 4, ["expected a number", "got true"]),
    "zero": (HEAD + "    - {metric: mrr, min: 0}\n", 3, ["never below 0", "never fail"]),
    "whole-range": (HEAD + "    - {metric: mrr, max_drop: 100 points}\n", 3, ["whole range of mrr", "never fail"]),
    "all-of-it": (HEAD + "    - {metric: mrr, max_drop: 100%}\n", 3, ["is impossible"]),
    "max-at-the-top": (HEAD + "    - {metric: contradicted, max: 1}\n", 3, ["never above 1", "never fail"]),
    "above-the-range": (HEAD + "    - {metric: mrr, min: 85}\n", 3, ["never above 1", "no run can pass"]),
    "never-whole": (HEAD + "    - {metric: mrr, min: 1}\n", 3, ["no run can pass", "decide: point"]),
    "wrong-side": (HEAD + "    - {metric: contradicted, min: 0.1}\n", 3, ["better when lower", "max: 0.1"]),
    "no-direction": (HEAD + "    - {metric: answer_tokens, max_drop: 3%}\n", 3, ["neither direction"]),
    "points-of-amount": (HEAD + "    - {metric: latency, max_drop: 3 points}\n", 3, ["is an amount", "10%"]),
    "quantile-of-score": (HEAD + "    - {metric: mrr, min: 0.5, statistic: p95}\n", 3, ["p95 is not available"]),
    "all-warn": (HEAD + "    - {metric: mrr, min: 0.5, on_fail: warn}\n", 2, ["every rule", "on_fail: warn"]),
    "nothing-asked": (HEAD + "    - {tag: golden}\n", 3, ["checks nothing", "must_pass: true"]),
    "no-tag": (HEAD + "    - {must_pass: true}\n", 3, ["needs a tag"]),
    "must-pass-drop": (
        HEAD + "    - {tag: r, must_pass: true, max_drop: 3%}\n",
        3,
        ["max_drop", "cannot be combined with must_pass"],
    ),
    "must-pass-metric": (HEAD + "    - {tag: r, must_pass: true, metric: mrr}\n", 3, ["needs min or max"]),
    "no-segments": (HEAD + "    - {metric: mrr, min: 0.5, segments: []}\n", 3, ["expected none, all, or a list"]),
    "min-n": (HEAD + "    - {metric: mrr, min: 0.5, min_n: 0}\n", 3, ["whole number of at least 1"]),
    "max-failed": ("gate:\n  max_failed: 100%\n  rules: []\n", 2, ["max_failed", "at least 0 % and less than 100 %"]),
    "beyond-numbers": (HEAD + f"    - {{metric: latency, max: 1{'0' * 400}}}\n", 3, ["expected a number"]),
    "crossed": (HEAD + "    - {metric: self_knowledge, min: 0.6, max: 0.2}\n", 3, ["above max", "no run can pass"]),
}


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_good_file(tmp_path: Path) -> None:
    """Every kind of rule is read: shares, points, levels, quantiles, segments, tags and examples that must pass."""
    rules = read_rules(read_config(written(tmp_path / "ragauge.yaml", GOOD)))
    share = rules.every[0]
    assert isinstance(share, MaxFailed)
    assert (share.max_share, share.line) == (0.02, 2)
    found = [(str(one.metric), one.key, one.amount, one.relative, one.statistic) for one in rules.conditions]
    assert found == [
        ("recall@5", "max_drop", 0.03, True, "mean"),
        ("faithfulness", "max_drop", 0.03, False, "mean"),
        ("faithfulness", "min", 0.85, False, "mean"),
        ("contradicted", "max", 0.1, False, "mean"),
        ("latency:stage=retrieval", "max", 1000.0, False, "p95"),
        ("cost", "max", 0.002, False, "mean"),
    ]
    assert [one.line for one in rules.conditions] == [4, 5, 6, 7, 8, 9]
    assert [(one.segments, one.tag) for one in rules.conditions[2:4]] == [((), ""), (("type", "tenant"), "golden")]
    assert [one.min_n for one in rules.conditions] == [10, 10, 10, 10, 10, 50]
    assert [(one.tag, str(one.metric), one.min) for one in rules.every if isinstance(one, MustPass)] == [
        ("regression", "None", None),
        ("regression", "recall@5", 1.0),
    ]


def test_same_as_a_mapping() -> None:
    """A mapping is read as the file is, and its mistakes name the key without a line."""
    rules = read_rules(read_config({"gate": {"rules": [{"metric": "mrr", "max_drop": "2 points"}]}}))
    assert (rules.conditions[0].amount, rules.conditions[0].line) == (0.02, None)
    with pytest.raises(ConfigError, match=r"rules: gate\.rules\[2\]\.min: mrr is never below 0") as caught:
        read_rules(read_config({"gate": {"rules": [{"metric": "mrr", "max_drop": "3%"}, {"metric": "mrr", "min": 0}]}}))
    assert len(caught.value.problems) == 1


@pytest.mark.parametrize("name", BAD)
def test_bad_file(name: str, tmp_path: Path) -> None:
    """Each of more than 30 bad files is refused with the file, the line, what was expected and what was found."""
    text, line, words = BAD[name]
    path = written(tmp_path / "ragauge.yaml", text)
    with pytest.raises(DataError) as caught:
        read_rules(read_config(path))
    message = str(caught.value)
    assert caught.value.exit_code == 2
    assert len(message.splitlines()) == 1
    place = f"{path} line {line}: " if line is not None else f"{path}: "
    assert message.startswith(place), message
    assert all(word in message for word in words), message


def test_all_mistakes_at_once(tmp_path: Path) -> None:
    """Mistakes of the file and of the rules come together, in the order of the lines, under the place in the file."""
    text = (
        "gate:\n  min_nn: 3\n  rules:\n    - {metric: mrr, max_drop: 3}\n    - {metric: mrr, min: 0.5}\n"
        "    - {metric: recal@5, min: 0.5}\n    - {metric: mrr, min: 0, segments: []}\n    - {metric: hit@3, max: .2}\n"
    )
    with pytest.raises(ConfigError) as caught:
        read_rules(read_config(written(tmp_path / "ragauge.yaml", text)))
    found = [str(problem).partition(": ")[2].partition(": ")[0] for problem in caught.value.problems]
    assert found == [
        "gate.min_nn",
        "gate.rules[1].max_drop",
        "gate.rules[3].metric",
        "gate.rules[4].segments",
        "gate.rules[5].max",
    ]
    assert [problem.line for problem in caught.value.problems] == [2, 4, 6, 7, 8]


def test_aliases_cannot_blow_up(tmp_path: Path) -> None:
    """A few lines whose aliases stand for a billion values, and a list that holds itself, are refused at once."""
    levels = [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 12)]
    for text in ("l0: &l0 x\n" + "\n".join(levels), "gate: &a\n  rules: *a\n"):
        with pytest.raises(DataError, match="too large or too deeply nested"):
            read_config(written(tmp_path / "bomb.yaml", text))


@pytest.mark.parametrize(
    "text", ["[" * 20_000, "gate: " + "{a: " * 20_000, "\n".join(" " * n + "-" for n in range(3_000))]
)
def test_brackets_without_end_are_refused(tmp_path: Path, text: str) -> None:
    """Thousands of lists or mappings within one another, closed or not, are refused in words."""
    with pytest.raises(DataError, match="too large or too deeply nested"):
        read_config(written(tmp_path / "deep.yaml", text))


def test_anchors_serve(tmp_path: Path) -> None:
    """Anchors and merged keys work as YAML says, and lines are those of the text."""
    text = HEAD + "    - &same {metric: mrr, max_drop: 3%}\n    - <<: *same\n      metric: recall@5\n"
    rules = read_rules(read_config(written(tmp_path / "ragauge.yaml", text)))
    assert [(str(one.metric), one.text, one.line) for one in rules.conditions] == [
        ("mrr", "3%", 3),
        ("recall@5", "3%", 4),
    ]


def test_schema_is_that_of_the_models() -> None:
    """The committed JSON Schema is generated from the models: tools/schemas.py writes it."""
    assert json.loads(SCHEMA.read_text()) == build_json_schema()


def test_schema_accepts_what_is_read() -> None:
    """An editor accepts the good file, and refuses an unknown key and a drop without a unit."""
    import yaml

    validator = Draft202012Validator(json.loads(SCHEMA.read_text()))
    good: dict[str, Any] = yaml.safe_load(GOOD)
    assert good["gate"]["rules"][4]["max"] == "1e3"  # text to YAML 1.1, a number to us
    assert not list(validator.iter_errors(good))
    wrong: list[dict[str, Any]] = [{"max_drp": "3%"}, {"max_drop": 3}, {"on_fail": "stop"}, {"segments": []}]
    for bad in wrong:
        assert list(validator.iter_errors({"gate": {"rules": [{"metric": "mrr", **bad}]}}))


# limits that recall@5 may have, and that it may not, in every spelling; what no key may hold
DROPS = [0, 0.0, "3%", " +3 % ", "0.5 points", "1e1%", ".5 point", "-3%", "-0%", "3", 3, "3%%", "1e", "%", "", True]
LEVELS = [0.5, "0.5", "50%", " 5e1 % ", "+.5", ".5e0", "0.5 points", "half", "", "%", "--5%", "1_0%", True, "٥٠%"]
SHARES = [0, 0.02, "2%", "99.9%", "0.02", ".5", "2e-2", 1, -0.1, "100%", "-1%", "1", "2", "2e0", "1e2%", False]
COUNTS = [1, 10, 10.0, 0, -1, 2.5, "10", True]
COLUMNS = ["all", "none", ["type"], ["type", "type"], [], [""], [1], "type", ["none", "all"], {}]
SWITCHES = [True, False, 0, "yes"]
WORDS = ["", 5, ["mrr"]]


def keys(of: dict[str, list[Any]]) -> Any:
    """A mapping with any of these keys; each holds any of its values, or null."""
    from hypothesis import strategies as st

    return st.fixed_dictionaries({}, optional={key: st.sampled_from([*values, None]) for key, values in of.items()})


def gates() -> Any:
    """Gates of every shape; the metrics are such that only the shape is in question."""
    from hypothesis import strategies as st

    rule = keys(
        {
            "metric": ["recall@5", "faithfulness", *WORDS],
            "tag": ["golden", " ", *WORDS],
            "max_drop": DROPS,
            "min": LEVELS,
            "must_pass": SWITCHES,
            "decide": ["interval", "point", "both"],
            "on_fail": ["block", "warn", ""],
            "segments": COLUMNS,
            "segments_need_data": SWITCHES,
            "min_n": COUNTS,
            "max_drp": ["3%"],
            "statistic": ["mean"],
        }
    )
    usual = st.fixed_dictionaries(
        {"metric": st.just("mrr"), "max_drop": st.just("3%")},
        optional={"on_fail": st.just("warn"), "segments": st.sampled_from(COLUMNS), "min_n": st.sampled_from(COUNTS)},
    )
    must = st.fixed_dictionaries(
        {"tag": st.just("golden"), "must_pass": st.just(True)},
        optional={
            "metric": st.just("mrr"),
            "min": st.sampled_from([*LEVELS, None]),
            "decide": st.just("point"),
            "on_fail": st.sampled_from(["block", "warn"]),
            "max_drop": st.just(None),
        },
    )
    gate = st.fixed_dictionaries(
        {},
        optional={
            "rules": st.one_of(st.lists(st.one_of(usual, must, rule), max_size=3), st.sampled_from([None, {}, "all"])),
            "max_failed": st.sampled_from([*SHARES, None]),
            "min_n": st.sampled_from(COUNTS),
            "segments_need_data": st.sampled_from(SWITCHES),
            "min_nn": st.just(3),
        },
    )
    whole = keys({"system": [{}, {"url": "x"}, "x"], "gates": [{}]})
    return st.tuples(
        whole, st.one_of(gate, st.fixed_dictionaries({"rules": st.lists(usual, min_size=1, max_size=2)})), st.booleans()
    ).map(lambda one: one[0] | ({"gate": one[1]} if one[2] else {}))


@pytest.mark.parametrize("files", [100, pytest.param(500, marks=pytest.mark.prove)])
def test_editor_and_reader_agree(files: int) -> None:
    """Whatever the JSON Schema accepts `validate` accepts, and nothing else, in 500 files of every shape."""
    from hypothesis import given, seed, settings

    validator = Draft202012Validator(json.loads(SCHEMA.read_text()))
    seen = {True: 0, False: 0}

    @seed(5)
    @settings(max_examples=files, deadline=None, database=None)
    @given(gates())
    def agree(config: dict[str, Any]) -> None:
        by_schema = not list(validator.iter_errors(config))
        try:
            validate(config)
            read = True
        except DataError:
            read = False
        seen[read] += 1
        assert read == by_schema, config

    agree()
    assert min(seen.values()) > files / 20, seen


def test_other_sections_stand_beside_the_gate(tmp_path: Path) -> None:
    """One file holds the system's settings and the gate: each reader takes its own section."""
    path = tmp_path / "ragauge.yaml"
    gate = "gate:\n  rules:\n    - {metric: mrr, min: 0.5}\n"
    path.write_text("system: {url: 'https://x.example', answer: $.text}\n" + gate)
    assert len(validate(path).rules) == 2
    assert read_settings(path) == {"url": "https://x.example", "answer": "$.text"}
