"""The calibrated judge: its base exactly where nothing was learned, moved where something was, its file checked."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragauge.core.ask import Ask, Reply
from ragauge.core.errors import DataError, NotEnoughData
from ragauge.core.facts import AnswerFacts, Claim
from ragauge.core.human_labels import LabeledAnswer, LabeledPart
from ragauge.core.identity import hash_json
from ragauge.judges.calibrated.calibration_data import (
    build_labeled_odds,
    build_training_items,
    compute_row_marks,
    group_rows,
)
from ragauge.judges.calibrated.file import CalibrationBase, CalibrationFile, LearnedFrom, Model, read_calibration
from ragauge.judges.calibrated.judge import (
    build_calibrated_judge,
    build_judge_note,
    build_text_key,
    build_whole_claim,
    compute_marks,
)
from ragauge.judges.calibrated.lexical_features import FEATURE_NAMES, MeasuredPassages, compute_log_odds
from ragauge.judges.inputs import RatePassages, VerifyAnswer
from ragauge.judges.judge import answer_asks
from ragauge.judges.local.judge import SHARPEN_NOTE, LocalJudge
from ragauge.judges.local.judge import build_judge_note as local_note
from ragauge.scores.gather import ClaimProfile
from ragauge.stats.calibration import calibrate

SEEN = VerifyAnswer(
    "When was the mill built?",
    ("The mill was built in 1840 by Ann Reed.", "It ground corn until 1910."),
    "The mill was built in 1840, and Ann Reed owned it. It ground wheat until 1910. A flood broke its wheel in 1907.",
)
PASSAGES = SEEN.passages or ()
NOTHING = Model(shift=0.0, slope=1.0, weights={})


def file(model: Model = NOTHING, **rest: Any) -> CalibrationFile:
    """The file of a judge on top of the local one."""
    values: dict[str, Any] = {
        "base": CalibrationBase(spec="local", judge_id=LocalJudge().judge_id),
        "by": "sentence",
        "chosen": "ridge 10",
        "learned_from": LearnedFrom(labels=150, supported=70, answers=80, guideline="4be01c92a7d3", source="a.jsonl"),
        "model": model,
        "folds": (),
        "trained_on": {},
        "figures": {"brier_before": 0.163, "brier_after": 0.134},
    }
    return CalibrationFile(**(values | rest))


def unanswered(asks: Sequence[Ask]) -> list[Reply]:
    """No vectors: the local judge does without."""
    return [Reply("failed") for _ in asks]


def facts_of(made: CalibrationFile, inputs: Any = SEEN) -> Any:
    """What the judge of a file finds."""
    return answer_asks(build_calibrated_judge(made, LocalJudge(), "judge.json").ask(inputs), unanswered)


def test_weights_of_zero_give_the_base_exactly() -> None:
    """With nothing learned, and with named weights of 0, all facts are the base's, to the last digit."""
    base: Any = answer_asks(LocalJudge().ask(SEEN), unanswered)
    zeros = Model(shift=0.0, slope=1.0, weights=dict.fromkeys(FEATURE_NAMES, 0.0))
    assert facts_of(file()) == base
    assert facts_of(file(zeros)) == base


def test_by_labels_of_whole_answers_an_answer_is_one_claim() -> None:
    """Its probability starts at its weakest claim's and moves by what was learned, not by a product of claims."""
    base: Any = answer_asks(LocalJudge().ask(SEEN), unanswered)
    least = min(claim.p or 0.0 for claim in base.claims)
    (still,) = facts_of(file(by="answer")).claims
    assert (still.p, still.start, still.end, still.label) == (least, 0, len(SEEN.answer), "not_in_context")
    (moved,) = facts_of(file(Model(shift=1.0, slope=1.0, weights={}), by="answer")).claims
    assert compute_log_odds(moved.p) == pytest.approx(compute_log_odds(least) + 1.0, abs=1e-3)
    (right,) = facts_of(file(Model(shift=20.0, slope=1.0, weights={}), by="answer")).claims
    assert right.label == "supported"
    assert set(right.supporting) == {n for claim in base.claims for n in claim.supporting} | {still.window.passage}
    nothing = VerifyAnswer("Who?", ("Ann did.",), "I do not know.")
    assert facts_of(file(by="answer"), nothing).claims == ()


def test_an_answer_with_a_failed_claim_has_no_verdict_as_a_whole() -> None:
    """Where the base has no verdict on a claim, nothing is said of the whole answer, and why."""
    claims = [Claim(1, "The mill was built.", 0, 19, p=0.9), Claim(2, "It burnt.", 20, 29, status="failed", reason="?")]
    measured = MeasuredPassages(SEEN.passages or (), [claim.text or "" for claim in claims])
    found = build_whole_claim("The mill was built. It burnt.", claims, NOTHING.to_recalibration(), measured)
    assert (found.status, found.label, found.reason) == ("failed", None, "?")


def test_other_questions_are_the_bases() -> None:
    """A question that is not about the answer's claims is answered by the base, whatever was learned."""
    inputs = RatePassages("When?", ("In 1840.",))
    assert facts_of(file(Model(shift=3.0, slope=2.0, weights={})), inputs) == answer_asks(
        LocalJudge().ask(inputs), unanswered
    )


def test_a_shift_moves_every_probability_and_the_verdict_follows() -> None:
    """Each claim's log odds grow by the shift; from one half on it is supported by the passage that was looked at."""
    before, up, down = (
        facts_of(file(Model(shift=shift, slope=1.0, weights={}))).claims for shift in (0.0, 20.0, -20.0)
    )
    small = facts_of(file(Model(shift=0.5, slope=1.0, weights={}))).claims
    for claim, moved in zip(before, small, strict=True):
        assert compute_log_odds(moved.p) == pytest.approx(compute_log_odds(claim.p) + 0.5, abs=1e-3)
    assert all(claim.label == "supported" and claim.p > 0.99 for claim in up)
    assert all(not claim.supporting and claim.strength is None and claim.p < 0.01 for claim in down)
    unsupported = [(old, new) for old, new in zip(before, up, strict=True) if not old.supporting]
    assert unsupported
    assert all(new.supporting == (old.window.passage,) and not new.contradicting for old, new in unsupported)


def test_features_count_the_words_of_all_passages() -> None:
    """A word of the claim that only another passage holds raises its coverage; the weakest claim has its own values."""
    strong, weak = Claim(1, "The mill was built in 1840.", p=0.9), Claim(2, "Wheat was ground.", p=0.2)
    at = FEATURE_NAMES.index("mean_coverage")
    texts = [strong.text or "", weak.text or ""]
    one = MeasuredPassages(["The mill stood in 1840."], texts).compute_features([strong])
    both = MeasuredPassages(["The mill stood in 1840.", "It was built of stone."], texts).compute_features([strong])
    assert both[at] > one[at]
    together = MeasuredPassages(SEEN.passages or (), texts).compute_features([strong, weak])
    alone = MeasuredPassages(SEEN.passages or (), texts).compute_features([weak])
    half = (len(FEATURE_NAMES) - 1) // 2
    assert together[half:] == alone[half:]
    assert alone[:half] == alone[half:-1]


SHIFTED = {shift: Model(shift=shift, slope=1.0, weights={}) for shift in (0.25, 0.5, 0.75)}
SENTENCES = ("The mill was built in 1840, and Ann Reed owned it.", "It ground wheat until 1910.")


def folded(**rest: Any) -> CalibrationFile:
    """A file whose final model shifts by 0.25, that of fold 0 by 0.5, and that of fold 1 by 0.75."""
    return file(SHIFTED[0.25], folds=(SHIFTED[0.5], SHIFTED[0.75]), **rest)


@pytest.mark.parametrize(
    "answer",
    [SEEN.answer, SEEN.answer.replace(". ", ".\n"), SENTENCES[1].lower(), f"{SENTENCES[0]} And geese swam there."],
)
@pytest.mark.parametrize("passages", [PASSAGES, PASSAGES[::-1], (" ".join(PASSAGES),)])
def test_what_trained_is_recognised_in_every_form(answer: str, passages: tuple[str, ...]) -> None:
    """As a list of claims, one claim, without its question, passages turned or joined: the fold's model judges it."""
    trained = compute_row_marks(LabeledAnswer("", SEEN.query, PASSAGES, SEEN.answer, ()))
    made, asked = folded(marks=dict.fromkeys(trained, 1)), VerifyAnswer("", passages, answer)
    assert build_calibrated_judge(made, LocalJudge(), "judge.json").trained_on(asked)
    assert facts_of(made, asked) == facts_of(file(SHIFTED[0.75]), asked)


@pytest.mark.parametrize(
    "other",
    [replace(SEEN, answer="A flood broke the wheel."), replace(SEEN, passages=("The mill was built in 1841.",))],
)
def test_what_did_not_train_is_judged_by_the_final_model(other: VerifyAnswer) -> None:
    """Another answer to the same question, or the same one beside other passages, gets the model of all labels."""
    trained = compute_row_marks(LabeledAnswer("", SEEN.query, PASSAGES, SEEN.answer, ()))
    made = folded(marks=dict.fromkeys(trained, 1))
    assert not build_calibrated_judge(made, LocalJudge(), "judge.json").trained_on(other)
    assert facts_of(made, other) == facts_of(file(SHIFTED[0.25]), other)


def test_each_sentence_takes_the_model_that_did_not_see_it() -> None:
    """Where claims trained one by one, in two folds, an answer of both is judged sentence by sentence."""
    made = folded(marks=dict(zip(compute_marks(PASSAGES, SENTENCES), (0, 1), strict=True)))
    asked = replace(SEEN, answer=" ".join(SENTENCES))
    by_both, by_first, by_second = (facts_of(one, asked).claims for one in (made, *map(file, made.folds)))
    cut = len(SENTENCES[0])
    assert by_both == tuple(a if a.start < cut else b for a, b in zip(by_first, by_second, strict=True))


def test_an_older_file_is_read_by_keys_and_keeps_its_id() -> None:
    """Without marks, a text is recognised by its key alone, and the judge has the id that it had before."""
    made = folded(trained_on={build_text_key(SEEN): 1})
    older = json.loads(made.text())
    del older["marks"]
    assert CalibrationFile.model_validate_json(json.dumps(older)) == made
    assert made.compute_hash() == hash_json(older)[:8]
    assert facts_of(made) == facts_of(file(SHIFTED[0.75]))
    other = replace(SEEN, answer=SEEN.answer + " Corn, too.")
    assert facts_of(made, other) == facts_of(file(SHIFTED[0.25]), other)
    judge = build_calibrated_judge(made, LocalJudge(), "judge.json")
    assert judge.trained_on(SEEN)
    assert not judge.trained_on(other)


def test_the_id_is_that_of_the_content() -> None:
    """The same content has the same id however it is laid out; a change of any figure gives another."""
    made = file()
    again = CalibrationFile.model_validate_json(json.dumps(json.loads(made.text()), indent=7))
    ids = [build_calibrated_judge(one, LocalJudge(), "").judge_id for one in (made, again, file(chosen="Platt"))]
    assert ids[0] == ids[1] != ids[2]
    assert ids[0].startswith(f"calibrated:{LocalJudge().judge_id}#")


def test_a_file_for_another_base_is_refused() -> None:
    """Where the base is not the judge that the file was made for, the error names both and says what to do."""
    made = file(base=CalibrationBase(spec="local", judge_id="local:overlap-3-00000000"))
    with pytest.raises(
        DataError, match=r"j\.json: was made for the judge local:overlap-3-0+, but local is now .*Calib"
    ):
        build_calibrated_judge(made, LocalJudge(), "j.json")


BROKEN: list[tuple[Callable[[dict[str, Any]], Any], str]] = [
    (lambda content: [content], "has no field 'format'"),
    (lambda content: content | {"format": "a set"}, "has the format text 'a set', expected 'ragauge calibrated judge'"),
    (lambda content: content | {"version": 2}, "has version number 2, but this ragauge reads version 1. Update"),
    (lambda content: content | {"generation": 0}, "was made with generation 0 of the features"),
    (lambda content: {key: value for key, value in content.items() if key != "model"}, "model is missing"),
    (lambda content: content | {"model": content["model"] | {"shift": "far"}}, r"model\.shift: .* got text 'far'"),
    (lambda content: content | {"model": content["model"] | {"slope": -1.0}}, r"model\.slope: .*got number -1"),
    (lambda content: content | {"model": content["model"] | {"weights": {"luck": 1.0}}}, "no feature 'luck'"),
    (lambda content: content | {"trained_on": {"ab": 7}}, "trained_on refers to fold 7, but there are 0"),
    (lambda content: content | {"marks": {"ab": 7}}, "marks refers to fold 7, but there are 0"),
    (lambda content: content | {"more": 1}, "more: .*not permitted"),
]


@pytest.mark.parametrize(("broken", "told"), BROKEN)
def test_a_broken_or_foreign_file_says_what_is_wrong(
    broken: Callable[[dict[str, Any]], Any], told: str, tmp_path: Path
) -> None:
    """Each mistake is named with its place and what was found, and the way to make a new file."""
    path = tmp_path / "judge.json"
    path.write_text(json.dumps(broken(json.loads(file().text()))))
    with pytest.raises(DataError, match=told) as error:
        read_calibration(path)
    assert "ragauge judge calibrate" in str(error.value)
    assert str(error.value).startswith(str(path))


def test_a_missing_file_and_one_that_is_not_json_are_named(tmp_path: Path) -> None:
    """A path without a file, and a file that is no JSON, are errors of data that say so."""
    with pytest.raises(DataError, match="no such file"):
        read_calibration(tmp_path / "none.json")
    (tmp_path / "text.json").write_text("a: 1")
    with pytest.raises(DataError, match="is not valid JSON"):
        read_calibration(tmp_path / "text.json")
    (tmp_path / "judge.json").write_text(file().text())
    assert read_calibration(tmp_path / "judge.json") == file()


def row(n: int, said: tuple[Any, ...], claims: int = 1) -> tuple[LabeledAnswer, AnswerFacts]:
    """A labelled answer of so many sentences, and what a judge found of it."""
    texts = [f"Thing {n} has part {k}." for k in range(claims)]
    answer = " ".join(texts)
    starts = [answer.index(text) for text in texts]
    found = tuple(
        Claim(k + 1, text, start, start + len(text), p=0.2 + 0.6 * k / max(1, claims - 1))
        for k, (text, start) in enumerate(zip(texts, starts, strict=True))
    )
    labelled = LabeledAnswer(str(n), "", (f"Thing {n} has part 0.",), answer, (LabeledPart(0, len(answer), said),))
    return labelled, AnswerFacts(found, None, None)


def test_labels_are_of_whole_answers_where_most_hold_several_sentences() -> None:
    """An item has the probability of its weakest claim; whether items are answers or sentences follows from them."""
    rows, facts = zip(*(row(n, ("supported",), 3) for n in range(4)), strict=True)
    found = build_training_items(rows, facts)
    assert [item.p for item in found.items] == [0.2] * 4
    assert found.by == "answer"
    rows, facts = zip(*(row(n, ("supported",)) for n in range(4)), strict=True)
    assert build_training_items(rows, facts).by == "sentence"


def test_what_cannot_be_learned_from_is_counted_with_its_reason() -> None:
    """Split annotators, failed verdicts and answers without claims or passages are left out, and said to be."""
    split, failed, empty, bare = (row(n, ("supported",)) for n in range(4))
    split = row(0, ("supported", "contradicted"))
    rows = [split[0], failed[0], empty[0], LabeledAnswer("9", "", (), bare[0].answer, bare[0].parts)]
    found = build_training_items(rows, [split[1], None, AnswerFacts((), None, None), bare[1]])
    assert not found.items
    assert found.without == {
        "annotators disagree": 1,
        "the judge gives no verdict": 1,
        "the judge finds nothing to check": 1,
        "there are no passages": 1,
    }


@pytest.mark.parametrize(("right", "wrong", "told"), [(39, 10, "there are 49, 39 supp"), (60, 9, "60 supp.* 9 not")])
def test_too_few_labels_are_not_enough_data(right: int, wrong: int, told: str) -> None:
    """Below 50 labels, or 10 of the rarer kind, calibrating is refused with the counts."""
    said = ["supported"] * right + ["not_supported"] * wrong
    rows, facts = zip(*(row(n, (one,)) for n, one in enumerate(said)), strict=True)
    with pytest.raises(NotEnoughData, match=told):
        build_labeled_odds(build_training_items(rows, facts), LocalJudge())


def copies(seed: int) -> tuple[list[LabeledAnswer], list[AnswerFacts]]:
    """100 answers with coin-tossed labels, each under its question three times, which two marks tell apart."""
    rng = random.Random(seed)
    rows, facts = [], []
    for n in range(100):
        words = [f"w{rng.randrange(400)}" for _ in range(12)]
        passage, answer = " ".join(words), f"{' '.join(rng.sample(words, rng.randint(2, 8)))} v{n}."
        part = LabeledPart(0, len(answer), (rng.choice(("supported", "not_supported")),))
        for signs in ("", "?", "??"):
            rows.append(LabeledAnswer(f"{n}{signs}", f"Which is {n}{signs}", (passage,), answer, (part,)))
            facts.append(AnswerFacts((Claim(1, answer, 0, len(answer), p=0.5),), None, None))
    return rows, facts


@pytest.mark.parametrize("seed", range(3))
def test_copies_of_an_answer_tell_nothing_of_its_label(seed: int) -> None:
    """Where each answer stands there three times and labels are tossed, no candidate is better and the base stays."""
    odds = build_labeled_odds(build_training_items(*copies(seed)), LocalJudge())
    found = calibrate(odds)
    assert found.chosen == "as it is"
    assert len(set(odds.groups.tolist())) == 100
    assert min(one.brier for one in found.tried) > 0.24


def asked(query: str, passage: str, answer: str) -> LabeledAnswer:
    """A text without labels."""
    return LabeledAnswer("", query, (passage,), answer, ())


def test_what_shares_question_or_passages_and_answer_is_together() -> None:
    """Links join rows through others; case and signs part nothing; no question, and passages alone, join nothing."""
    rows = [
        asked("Who?", "A b.", "Ann."),
        asked("When?", "A b.", "ann"),
        asked("when", "C.", "Bob."),
        asked("", "D.", "Eve."),
        asked("", "D.", "Mia."),
        asked("Where?", "A b.", "Leo."),
    ]
    assert group_rows(rows) == [0, 0, 0, 3, 4, 5]


def test_a_sentence_in_two_answers_from_the_same_passages_joins_them() -> None:
    """A claim and the answer that says it are together, though a word of passages apart is another text."""
    rows = [asked("", "A b.", "Ann came. Bob went."), asked("", "a  B", "bob went"), asked("", "A c.", "Bob went.")]
    assert group_rows(rows) == [0, 0, 2]
    polite = [asked("", "A b.", f"Guest {n} came. Ask me more.") for n in range(11)]
    assert group_rows(polite) == list(range(11))


def test_an_instruction_joins_nothing() -> None:
    """A question of more than ten answers, and of more than a tenth of all, is none: each answer is for itself."""
    alike = [asked("Summarize this.", f"Text {n}.", f"It is {n}.") for n in range(11)]
    assert group_rows(alike) == list(range(11))
    assert group_rows(alike[:10]) == [0] * 10
    others = [asked(f"What is {n}?", f"Word {n}.", f"It was {n}.") for n in range(99)]
    assert group_rows([*alike, *others])[:11] == [0] * 11


def test_labels_of_one_question_cannot_be_learned_from() -> None:
    """Where all that is not supported answers one question, calibrating is refused, and says why."""
    rows, facts = zip(*(row(n, ("supported" if n < 90 else "contradicted",)) for n in range(100)), strict=True)
    same = [replace(one, query="Who?" if n >= 90 else f"Who {n}?") for n, one in enumerate(rows)]
    with pytest.raises(NotEnoughData, match="all labels of one kind belong to one answer or question"):
        build_labeled_odds(build_training_items(same, facts), LocalJudge())


def test_the_note_names_the_labels_and_drops_the_advice_to_calibrate() -> None:
    """A report says by which labels, how much better, and that their texts are cross-fitted; not to calibrate."""
    base = local_note(LocalJudge().judge_id, ClaimProfile())
    note = build_judge_note("calibrated:x#1", file(), base)
    assert "150 labels of 80 answers (a.jsonl, guideline 4be01c92a7d3): ridge 10" in note.what
    assert "Brier score 0.163 before, 0.134 after" in note.observed
    assert SHARPEN_NOTE in base.limits
    assert SHARPEN_NOTE not in note.limits
    assert any("cross-fitted" in limit for limit in note.limits)
