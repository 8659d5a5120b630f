"""Laws that every probe keeps, whatever the examples, and what each changes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ragauge.core.human_labels import LabeledAnswer, LabeledPart
from ragauge.judges.hybrid import HybridJudge
from ragauge.judges.judge import reword_judge
from ragauge.judges.jury.judge import JuryJudge
from ragauge.judges.local.judge import LocalJudge
from ragauge.judges.model.judge import PROMPTS, ModelJudge
from ragauge.labels.probe.catalogue import FORGERY_PLACES, PARAPHRASES, PROBES
from ragauge.labels.probe.change import Change, ExaminedRow, Probe, ProbePool
from ragauge.labels.probe.text_edits import KINDS, plant_detail
from ragauge.text.sentences import split_sentences

ANSWERS = (
    "The hub {n} was sold by Ada Roe for {n}0 euros on 3 May 20{n}. It is delivered within {n} days. It is not sealed.",
    "Model {n} weighs 1{n} kg, and the Great Northern Works can repair it.",
    "- Turn it off\n- Wait {n} minutes\n\nThen it will start again.",
    "模型 {n} 很好。",
)
ROWS = [
    LabeledAnswer(f"q{n}", f"Question {n}?", tuple(f"{answer} Passage {k}." for k in range(n % 3)), answer, parts)
    for n in range(10, 34)
    for answer in [ANSWERS[n % 4].format(n=n)]
    for parts in [
        tuple(LabeledPart(one.start, one.end, ("supported",) if n % 2 else ()) for one in split_sentences(answer))
    ]
]
POOL = ProbePool(ROWS)
VERDICTS = ("supported", "contradicted", "not_in_context", "")


def seen(place: int, verdict: str) -> ExaminedRow:
    """A row of which the judge says the same of every part; "mixed" = the verdicts in turn."""
    row = ROWS[place]
    base = tuple(VERDICTS[n % 4] if verdict == "mixed" else verdict for n in range(len(row.parts)))
    people = tuple("supported" if part.labels else "" for part in row.parts)
    return ExaminedRow(row, place, base, base, people)


SEEN = [seen(place, verdict) for place in range(len(ROWS)) for verdict in (*VERDICTS, "mixed")]


def changes(probe: Probe) -> list[tuple[ExaminedRow, Change]]:
    """All that a probe makes of the rows."""
    return [(one, change) for one in SEEN for change in probe.changes(one, POOL)]


@pytest.mark.parametrize("probe", PROBES.values(), ids=lambda probe: probe.name)
def test_laws_of_probes(probe: Probe) -> None:
    """A probe is pure, changes something, asks the same question, and looks at parts that are there and were judged."""
    before = [(one.row, one.inputs) for one in SEEN]
    made = changes(probe)
    assert made == changes(probe)
    assert before == [(one.row, one.inputs) for one in SEEN]
    silent = probe.rule.compares in ("again", "people", "families") or "pairs" in probe.needs
    assert bool(made) is not silent
    for one, change in made:
        assert change.inputs != one.inputs or change.wording
        assert change.inputs.query == one.inputs.query
        assert set(change.parts) <= set(range(len(one.row.parts)))
        assert change.parts
        for start, end in change.parts.values():
            assert 0 <= start < end <= len(change.inputs.answer)
        changed = change.to_row(one.row)
        assert (changed.query_id, len(changed.parts)) == (one.row.query_id, len(change.parts))


@pytest.mark.parametrize("name", [name for name in PROBES if name not in ("planted", "retest")])
def test_parts_stay_as_they_are(name: str) -> None:
    """Every probe but `planted` looks at the very words that were judged before."""
    for one, change in changes(PROBES[name]):
        for place, (start, end) in change.parts.items():
            assert change.inputs.answer[start:end] == one.text(place)


@pytest.mark.parametrize("probe", PROBES.values(), ids=lambda probe: probe.name)
def test_rules_are_whole(probe: Probe) -> None:
    """Every probe says what it changes, what must hold and what to do, has a figure, and needs something."""
    rule = probe.rule
    assert all((rule.figure, rule.changes, rule.must, rule.advice.endswith("."), probe.needs))
    assert 0 < rule.tolerance < 1
    assert PROBES[rule.name] is probe


def test_what_must_be_contradicted_was_supported() -> None:
    """`planted` and `unrelated` change only what the judge called supported and people do not call otherwise."""
    for name in ("planted", "unrelated"):
        for one, change in changes(PROBES[name]):
            assert set(change.parts) <= set(one.supported)


def test_planted_changes_one_part_alone() -> None:
    """`planted` leaves the rest of the answer and the passages as they are, and takes kinds in turn."""
    made = changes(PROBES["planted"])
    for one, change in made:
        ((place, (start, end)),) = change.parts.items()
        was = one.row.parts[place]
        assert change.inputs.passages == one.row.passages
        assert change.inputs.answer[:start] == one.row.answer[: was.start]
        assert change.inputs.answer[end:] == one.row.answer[was.end :]
        assert change.shown[place] == change.inputs.answer[start:end] != one.text(place)
    assert {change.kind for _, change in made} == set(KINDS)


def test_unrelated_passages_are_of_another_question() -> None:
    """Passages come from an example that asks something else and shares none; where there is none, nothing is asked."""
    for one, change in changes(PROBES["unrelated"]):
        assert not set(change.inputs.passages or ()) & set(one.row.passages)
    alone = ProbePool([ROWS[1], LabeledAnswer("twin", ROWS[1].query, ("Other text.",), "Other.", ())])
    assert PROBES["unrelated"].changes(seen(1, "supported"), alone) == ()


def test_injection_asks_for_what_was_not_said() -> None:
    """A forgery demands support where there was none, else contradiction, and stands in each place in turn."""
    kinds = set()
    for one, change in changes(PROBES["injection"]):
        kinds.add(change.kind)
        (line,) = set(change.shown.values())
        lenient = line.rstrip(".").endswith("supported")
        assert all((one.base[place] != "supported") is lenient for place in change.parts)
    assert kinds == {f"{form} in the {where}" for form in ("verdict", "order") for where in FORGERY_PLACES}


@pytest.mark.parametrize(
    ("kind", "text", "changed"),
    [
        ("number", "It holds 25 litres.", "It holds 65 litres."),
        ("number", "It has three doors.", "It has seven doors."),
        ("number", "7. It has doors.", None),
        ("number", "Hub 3 holds 25 litres.", "Hub 3 holds 65 litres."),
        ("number", "Sales rose 20%.", "Sales rose 60%."),
        ("date", "It opened in May 2019.", "It opened in September 2019."),
        ("date", "It opened in 2019.", "It opened in 2013."),
        ("name", "It was founded by Ada Roe.", "It was founded by Marlow Quint."),
        ("name", "Ada Roe founded it.", None),
        ("name", "It lies in Porto.", "It lies in Halvorsen."),
        ("name", "It joined the Germanic tribes.", None),
        ("unit", "It takes 3 days.", "It takes 3 weeks."),
        ("unit", "It costs $30.", "It costs €30."),
        ("negation", "It is sealed.", "It is not sealed."),
        ("negation", "It can be sealed.", "It cannot be sealed."),
        ("negation", "It is not sealed.", "It is sealed."),
        ("negation", "It cannot be sealed.", "It can be sealed."),
        ("negation", "It has five doors.", None),
        ("negation", "It has opened.", "It has not opened."),
        ("negation", "It is never sealed.", None),
    ],
)
def test_planted_by_hand(kind: str, text: str, changed: str | None) -> None:
    """One detail becomes another that the passages do not hold; where none surely would be wrong, nothing changes."""
    assert plant_detail(kind, text, [text], ()) == changed


def test_what_the_passages_hold_is_not_planted() -> None:
    """A number, date or name is not changed to one that the passages hold too, nor one that they do not hold at all."""
    passages: Sequence[str] = ["It holds 25 litres. The large one holds 65 litres. It opened in 2019, again in 2013."]
    assert plant_detail("number", "It holds 25 litres.", passages, ()) == "It holds 45 litres."
    assert plant_detail("date", "It opened in 2019.", passages, ()) == "It opened in 2026."
    assert plant_detail("number", "It holds 30 litres.", passages, ()) is None


def test_paraphrases_word_every_prompt_about_claims() -> None:
    """Each paraphrase has a checked template for all prompts that ask of an answer's claims, in words of its own."""
    judge = ModelJudge.of("openai:any")
    for templates in PARAPHRASES.values():
        assert set(templates) == {"verify_answer", "verify_claims", "list_claims"}
        for name, template in templates.items():
            PROMPTS[name].check_template(template)
        worded = judge.reworded(templates)
        assert worded is not None
        assert worded.judge_id != judge.judge_id
    assert len({str(templates) for templates in PARAPHRASES.values()}) == len(PARAPHRASES) == 4


def test_judges_of_judges_are_asked_in_other_words() -> None:
    """A jury hands the templates to those of its members that take them; without one it cannot be asked otherwise."""
    templates = PARAPHRASES["brief"]
    jury = JuryJudge([LocalJudge(), ModelJudge.of("openai:any")])
    worded = reword_judge(jury, templates)
    assert isinstance(worded, JuryJudge)
    assert worded.members[0] is jury.members[0]
    assert worded.members[1].judge_id != jury.members[1].judge_id
    assert reword_judge(JuryJudge([LocalJudge(), LocalJudge()]), templates) is None
    hybrid = HybridJudge.of("hybrid:openai:any")
    asked = reword_judge(hybrid, templates)
    assert asked is not None
    assert asked.judge_id != hybrid.judge_id
