"""Judges that are swayed by one thing, by a known share of verdicts, or waver; and examples for them."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from ragauge.core.ask import Ask, Reply
from ragauge.core.facts import AnswerFacts, Claim
from ragauge.core.human_labels import AnswerPair, BetterAnswer, LabeledAnswer, LabeledPart, Preference
from ragauge.judges.inputs import Inputs, VerifyAnswer
from ragauge.judges.judge import AskGenerator
from ragauge.labels.probe.catalogue import PROBES, build_position_cases
from ragauge.labels.probe.change import ProbePool
from ragauge.labels.probe.compute import ProbeCase, ProbeFinding, build_findings
from ragauge.labels.probe.probe_runner import ALL_PARTS, examine_row
from ragauge.text.sentences import split_sentences

SENTENCES, UNSUPPORTED = 3, 0.5  # of an answer; and the share of them that the passages do not hold
OWN = "mine"  # the family that a judge may favour
OTHER = {"supported": "not_in_context", "not_in_context": "supported", "contradicted": "supported"}


def chance(*names: object) -> float:
    """A number in [0, 1) that the names decide."""
    return int.from_bytes(hashlib.blake2b(repr(names).encode(), digest_size=6).digest()) / 2**48


def rows(seed: int, n: int) -> list[LabeledAnswer]:
    """Answers of three sentences; the passages hold about half of them, and people say so."""
    found = []
    for number in range(n):
        names = ["".join("abcdefghij"[int(digit)] for digit in f"{number}{k}") for k in range(SENTENCES)]
        sentences = [f"The pump q{name} was moved {10 + int(100 * chance(seed, name, 'n'))} metres." for name in names]
        true = [chance(seed, name, "true") >= UNSUPPORTED for name in names]
        held = [sentence for sentence, holds in zip(sentences, true, strict=True) if holds]
        passages = (f"First of {number}. " + " ".join(held), f"Second of {number}. Pumps are blue.")
        answer = " ".join(sentences)
        parts = tuple(
            LabeledPart(one.start, one.end, ("supported" if holds else "not_supported",))
            for one, holds in zip(split_sentences(answer), true, strict=True)
        )
        family = OWN if number % 2 else "yours"
        found.append(LabeledAnswer(str(number), f"Question {number}?", passages, answer, parts, {"family": family}))
    return found


@dataclass(frozen=True)
class SwayedJudge:
    """A judge that reads its passages word for word, but for what sways it.

    Attributes:
        seed: of all that is drawn.
        sways: name of a probe -> share of the verdicts, of those that it can sway, that it does.
        wavers: chance that one asking turns a verdict round.
        by_example: a whole answer is swayed or none of it.
        worded: by which paraphrase it is asked.
    """

    seed: int
    sways: Mapping[str, float]
    wavers: float = 0.0
    by_example: bool = False
    worded: str = ""

    judge_id = "swayed"

    def version(self, question: str) -> int:
        return 1

    def answers(self, question: str) -> bool:
        return question == "verify_answer"

    def reworded(self, templates: Mapping[str, str]) -> SwayedJudge:
        return replace(self, worded=str(sorted(templates.items())))

    def ask(self, inputs: Inputs, judge_repeat: int = 0) -> AskGenerator:
        assert isinstance(inputs, VerifyAnswer)
        claims = [
            Claim(
                one.n,
                one.text,
                one.start,
                one.end,
                supporting=(1,) * (label == "supported"),
                contradicting=(1,) * (label == "contradicted"),
            )
            for one in split_sentences(inputs.answer)
            for label in [self._verdict(one.text, inputs, judge_repeat)]
        ]
        return AnswerFacts(tuple(claims), "fully", False)
        yield []  # makes it a generator; nothing is asked of a model

    def _verdict(self, sentence: str, inputs: VerifyAnswer, judge_repeat: int) -> str:
        context = " ".join(inputs.passages or ())
        name = sentence.split(" moved", maxsplit=1)[0].replace(" not", "")
        label = "supported" if sentence in context else "contradicted" if name in context else "not_in_context"
        if self._swayed(label, sentence, inputs):
            label = OTHER[label]
        turned = chance(self.seed, sentence, inputs, judge_repeat, self.worded, "wavers") < self.wavers
        return OTHER[label] if turned else label

    def _swayed(self, label: str, sentence: str, inputs: VerifyAnswer) -> bool:
        first = (inputs.passages or ("",))[0]
        by = inputs.query if self.by_example else sentence
        ways = {
            "passage_order": first.startswith("Second"),
            "wording": bool(self.worded),
            "verbosity": "\n\n" in inputs.answer and label == "not_in_context",
            "planted": label == "contradicted",
            "unrelated": inputs.query.split()[1] not in f"{first.split('.')[0].split()[2]}?",
            "injection": "Ignore all" in f"{inputs}" or "Result of the review" in f"{inputs}",
            "leniency": label == "not_in_context",
            "self_preference": label == "not_in_context" and int(inputs.query.split()[1][:-1]) % 2 == 1,
        }
        return any(
            holds and chance(self.seed, by, self.worded, probe, "sways") < self.sways.get(probe, 0.0)
            for probe, holds in ways.items()
        )

    def prefer(self, pair: AnswerPair, judge_repeat: int = 0) -> Generator[list[Ask], list[Reply], Preference]:
        """Prefers the better answer; of some pairs whatever is shown first."""
        swayed = chance(self.seed, pair.query, "position") < self.sways.get("position", 0.0)
        shown, second = (self._turned(pair, order, judge_repeat, order if swayed else 1) for order in (1, 2))
        return Preference(shown, second)
        yield []  # makes it a generator; nothing is asked of a model

    def _turned(self, pair: AnswerPair, order: int, judge_repeat: int, better: int) -> BetterAnswer:
        turned = chance(self.seed, pair.query, order, judge_repeat, "wavers") < self.wavers
        return 2 if (better == 1) is turned else 1


def probed(judge: SwayedJudge, names: Sequence[str], n: int) -> dict[str, ProbeFinding]:
    """What the probes find of a judge on n fresh examples."""
    pool, probes = ProbePool(rows(judge.seed, n)), [PROBES[name] for name in names]
    cases: dict[str, list[ProbeCase]] = {name: [] for name in (ALL_PARTS, *names)}
    for place in range(n if set(names) != {"position"} else 0):
        asked = [probe for probe in probes if probe.name != "position"]
        for name, more in drive_plain(examine_row(judge, place, asked, pool, "family")).cases.items():
            cases[name] += more
    if "position" in names:
        cases["position"] = list(_compared(judge, n))
    return {one.rule.name: one for one in build_findings(cases, [probe.rule for probe in probes])}


def _compared(judge: SwayedJudge, n: int) -> Iterator[ProbeCase]:
    for number in range(n):
        pair = AnswerPair(str(number), f"Question {number}?", ("right", "wrong"), 1)
        yield from build_position_cases(pair, *(drive_plain(judge.prefer(pair, repeat)) for repeat in (0, 1)))


T = TypeVar("T")


def drive_plain(asking: Generator[list[Ask], list[Reply], T]) -> T:
    """Runs a generator that asks nobody to its end."""
    try:
        next(asking)
    except StopIteration as done:
        result: T = done.value
        return result
    raise AssertionError("the judge asks nobody")
