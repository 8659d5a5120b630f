"""The local judge: offline, without a key, in the package.

What a report says about the local judge: what it is, what it cannot see, and how often it was right.

How far the local judge's means err on texts of a source that nobody labelled.

`judge_error.json` beside this file is written by bench/judge_error.py and never edited by hand. It changes no verdict,
so it is no part of the judge's id.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ragauge.core.errors import JudgeError
from ragauge.judges import similarity
from ragauge.judges.inputs import Inputs
from ragauge.judges.judge import AskGenerator
from ragauge.judges.local import agree, criteria, relevance, verify_answer, verify_reference
from ragauge.judges.local.weights import EVIDENCE_FILE, compute_fingerprint, read_weights
from ragauge.scores.gather import ClaimProfile
from ragauge.scores.results.scorecard import JudgeNote
from ragauge.stats.judge_error import JudgeMeanError, SourceScale
from ragauge.text.specifics import ClaimKind

GENERATION = 8  # raised when the code that scores changes a verdict

QUESTIONS: Mapping[str, tuple[int, Callable[[Any, int], AskGenerator]]] = {
    "verify_answer": (verify_answer.VERSION, verify_answer.verify_answer),
    "verify_reference": (verify_reference.VERSION, verify_reference.verify_reference),
    "rate_passages": (relevance.VERSION, relevance.rate_passages),
    "rate_sentences": (relevance.VERSION, relevance.rate_passages),
    "rate_answer": (relevance.VERSION, relevance.rate_passages),
    "agree": (agree.VERSION, agree.agree),
    "cover_aspects": (criteria.ASPECTS_VERSION, criteria.cover_aspects),
    "cover_criteria": (criteria.CRITERIA_VERSION, criteria.cover_criteria),
    "meet_criteria": (criteria.CRITERIA_VERSION, criteria.meet_criteria),
    "similarity": (similarity.VERSION, similarity.measure_similarity),
}


class LocalJudge:
    """Judges by the words that claims and passages share, with weights learned from human labels.

    It asks for vectors only (kind "embed", one list a question at most) and does without where they fail. The same
    inputs and vectors give the same facts in every process. It does not answer `guess_questions`, which takes reading.
    """

    n_controls = 200  #: pairs of known truth that it is asked about before a run's responses.

    @property
    def judge_id(self) -> str:
        """Such as "local:overlap-1-3f9a0c21": generation of the code and hash of the weights."""
        return f"local:overlap-{GENERATION}-{compute_fingerprint()}"

    def version(self, question: str) -> int:
        """Version of the question as this judge asks it; 0 for one that it does not answer."""
        return QUESTIONS[question][0] if question in QUESTIONS else 0

    def answers(self, question: str) -> bool:
        """Whether this judge can answer the question at all."""
        return question in QUESTIONS

    def ask(self, inputs: Inputs, judge_repeat: int = 0) -> AskGenerator:
        """A generator that yields at most one list of one embed ask and returns the facts."""
        if inputs.question not in QUESTIONS:
            raise JudgeError(f"the local judge does not answer {inputs.question}; use a model judge.")
        return QUESTIONS[inputs.question][1](inputs, judge_repeat)


DESCRIPTION = (
    "The local judge compares words: a logistic regression over lexical features of each claim and the passage that "
    "best matches it, trained on human labels. It runs offline and needs no key."
)
LIMITS = (
    "It detects a changed negation, name, number, date or opposite in a near-copy of a passage's sentence, but "
    "rarely in a paraphrase.",
    "It does not detect what a passage implies without stating it, except amounts that follow from one operation, "
    "or support in a language other than the answer's.",
    "What a passage denies, doubts, asks or supposes in other words ('there is no evidence that …') counts as stated. "
    "A claim spread over two passages is supported by neither.",
    "It reports contradicted when a text is a changed copy, which is often wrong unless the text was changed on "
    "purpose.",
    "Its accuracy on claims was measured against human labels in English. In other languages, only whether it "
    "distinguishes texts that belong together from others was measured; it compares parts of words, numbers and dates.",
)
SHARPEN_NOTE = (
    "It ranks claims but does not decide them: read its scores as a range. To improve it, use a model judge for the "
    "middle range (--judge hybrid:openai:MODEL), or at least 50 of your own labels: ragauge judge calibrate fits its "
    "probabilities to your data, and ragauge judge check reports how often it is right on them."
)


def read_middle_band() -> tuple[float, float]:
    """The middle band of p: below it a claim is likely unsupported, above it likely supported."""
    low, high = read_weights()["bands"]
    return float(low), float(high)


def build_judge_note(judge_id: str, claims: ClaimProfile) -> JudgeNote:
    """What is to be said of this judge beside every score of it."""
    low, high = read_middle_band()
    rows = read_weights()["held_out"]["overlap_words"]
    mean = rows["sources"]["mean"]
    observed = (
        f"On human labels of sources it was not trained on: AUROC {mean['auroc']:.2f}, balanced accuracy "
        f"{mean['balanced_accuracy']:.2f}. Of claims with p below {low:g}, {_format_rate(rows['ends'][0])} were "
        f"supported. Of claims with p above {high:g}, {_format_rate(rows['ends'][-1])} were supported."
    )
    return JudgeNote(
        judge_id, DESCRIPTION, (*describe_unseen(claims.reference), *LIMITS, SHARPEN_NOTE), claims.uncertain, observed
    )


KIND_NAMES: Mapping[ClaimKind, str] = {"amount": "amounts", "phrase": "short phrases", "sentence": "sentences"}
MIN_SHARE, MIN_SEEN_RATE = 0.05, 0.95  # kinds that are rarer, or nearly always found, need no word


def describe_unseen(reference: Mapping[ClaimKind, float]) -> list[str]:
    """How many of the reference claims are of a kind that this judge often does not find, and how often it does."""
    rates = read_weights(EVIDENCE_FILE)["found"]
    return [
        f"{share:.0%} of the reference claims are {KIND_NAMES[kind]}. This judge finds {rates[kind]:.0%} of such "
        "claims when their evidence is present (measured on public sets)."
        for kind, share in reference.items()
        if share >= MIN_SHARE and rates[kind] < MIN_SEEN_RATE
    ]


def _format_rate(row: Mapping[str, Any]) -> str:
    """A rate with its range over the sources."""
    if row["supported"] is None:
        return "none seen"
    if row["least"] is None:
        return f"{row['supported']:.0%}"
    return f"{row['supported']:.0%} ({row['least']:.0%} to {row['greatest']:.0%} by source)"


ERROR_FILE = Path(__file__).parent / "judge_error.json"


@cache
def read_mean_errors() -> Mapping[str, JudgeMeanError]:
    """Printed name of a metric -> how far its mean errs."""
    stored_errors = json.loads(ERROR_FILE.read_text(encoding="utf-8"))
    for metric in stored_errors["metrics"].values():
        metric |= {key: tuple(metric[key]) for key in ("edges", "shifts", "spreads")}
        metric["scales"] = tuple(SourceScale(*scale) for scale in metric["scales"])
    return {name: JudgeMeanError(**metric) for name, metric in stored_errors["metrics"].items()}
