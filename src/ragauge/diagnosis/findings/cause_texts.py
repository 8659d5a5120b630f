"""What the diagnosis says about each cause, where it is concentrated, and when labels would settle it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ragauge.core.label import QUESTION_BY_METRIC, SCORE_PREFIX
from ragauge.core.messages import format_command, format_count
from ragauge.diagnosis.causes.generation import CRITERION_PREFIX
from ragauge.scores.estimation import MIN_LABELS
from ragauge.scores.results.scorecard import ScorecardData
from ragauge.scores.segments import NONE, OTHER, Segments
from ragauge.stats.families import holm
from ragauge.stats.textbook_tests import fisher_greater

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Mask = npt.NDArray[np.bool_]


class CauseWords(NamedTuple):
    """What a finding about one cause says."""

    headline: str  #: what goes wrong, to which a segment and numbers are added.
    metrics: tuple[str, ...]  #: which metrics show it, the most telling first; without cutoff.
    leave: str = ""  #: what not to touch yet.
    again: str = ""  #: what to look at after the fix.


WORDS_BY_CAUSE: Mapping[str, CauseWords] = {
    "system_failed": CauseWords(
        "the system returns errors", (), "everything else, until the system responds", "the error rate"
    ),
    "missed_refusal": CauseWords(
        "the system answers questions that its documents do not cover",
        ("missed_refusal", "refusal_correctness"),
        again="missed_refusal and over_refusal",
    ),
    "empty_retrieval": CauseWords(
        "retrieval returns nothing", ("empty_result_rate",), "the prompt", "empty_result_rate and recall"
    ),
    "stale_source": CauseWords(
        "answers are based on outdated documents",
        ("stale_passage_rate", "answer_correctness"),
        "the prompt",
        "stale_passage_rate and answer_correctness",
    ),
    "compound": CauseWords(
        "part of the evidence is missing and the answer makes up the missing part",
        ("context_recall", "recall", "faithfulness"),
        "the prompt, until recall improves",
        "recall, then faithfulness",
    ),
    "not_in_index": CauseWords(
        "documents that contain the answer are not in the index",
        ("recall", "context_recall"),
        "search and the prompt",
        "recall",
    ),
    "retrieval_miss": CauseWords(
        "retrieval misses evidence",
        ("recall", "context_recall"),
        "the prompt, until recall improves",
        "recall and faithfulness",
    ),
    "ranked_low": CauseWords(
        "evidence is retrieved but ranked below the cutoff",
        ("recall", "ndcg", "mrr", "context_recall"),
        "the prompt, until recall improves",
        "recall at the cutoff, and context_precision",
    ),
    "lost_before_prompt": CauseWords(
        "evidence is retrieved but dropped before it reaches the prompt",
        ("recall", "context_recall"),
        "embeddings and search",
        "recall of the passages in the prompt",
    ),
    "span_cut": CauseWords(
        "the right documents are retrieved, but not the part that contains the answer",
        ("context_recall", "recall"),
        "embeddings and the prompt",
        "context_recall",
    ),
    "wrong_refusal": CauseWords(
        "the system declines questions it could answer",
        ("over_refusal", "refusal_correctness"),
        "retrieval",
        "over_refusal and missed_refusal",
    ),
    "off_topic": CauseWords(
        "answers do not address the question", ("answer_relevance",), "retrieval", "answer_relevance"
    ),
    "contradicted": CauseWords(
        "answers contradict the retrieved passages",
        ("contradicted", "faithfulness"),
        "retrieval",
        "contradicted and faithfulness",
    ),
    "noise": CauseWords(
        "answers rely on misleading passages",
        ("noise_sensitivity:source=irrelevant", "answer_correctness", "context_precision"),
        "the prompt",
        "context_precision and answer_correctness",
    ),
    "ignored": CauseWords(
        "answers ignore the evidence in the passages",
        ("faithfulness", "ignored_top_ranked"),
        "retrieval",
        "faithfulness and ignored_top_ranked",
    ),
    "hallucinated": CauseWords(
        "answers make claims that no passage supports",
        ("not_in_context", "faithfulness"),
        "retrieval",
        "not_in_context and faithfulness",
    ),
    "misattributed": CauseWords(
        "citations point to the wrong passages", ("citation_precision",), "retrieval", "citation_precision"
    ),
    "wrong_answer": CauseWords(
        "answers differ from the reference", ("answer_correctness", "answer_recall"), again="answer_correctness"
    ),
    "incomplete": CauseWords(
        "answers are incomplete",
        ("completeness", "answer_recall", "answer_relevance"),
        again="answer_recall and completeness",
    ),
}

# the same where the facts lay the fault in another component than the cause's own
WORDS_ELSEWHERE: Mapping[tuple[str, str], CauseWords] = {
    ("noise", "generation"): CauseWords(
        "answers rely on misleading passages",
        ("noise_sensitivity:source=irrelevant", "answer_correctness"),
        "retrieval and ranking",
        "answer_correctness",
    )
}


def find_words(cause: str) -> CauseWords | None:
    """What is said of a cause; None of one that is not known."""
    if not cause.startswith(CRITERION_PREFIX):
        return WORDS_BY_CAUSE.get(cause)
    name = cause.removeprefix(CRITERION_PREFIX)
    return CauseWords(f"answers do not meet the required criterion {name}", (name,), again=name)


ALPHA = 0.05
MIN_HITS = 3  # examples with the cause in a segment before it is worth naming
# the column that labels decide as they decide causes, so that a cause always seems concentrated in it
ANSWERABLE_COLUMN = "answerable"
# causes that only questions labelled unanswerable can have; the others are compared among the rest
UNANSWERABLE_CAUSES = ("missed_refusal",)


class Concentration(NamedTuple):
    """Where a cause is more frequent than elsewhere."""

    column: str  #: of the segment.
    value: str  #: of the segment.
    hits: int  #: examples with the cause in it.
    n: int  #: examples in it.
    other_hits: int  #: examples with the cause elsewhere.
    other_n: int  #: examples elsewhere.
    p: float  #: Fisher's exact test, one-sided, corrected for all segments looked at (Holm).


def find_concentrations(cause: str, hits: Mask, segments: Segments) -> list[Concentration]:
    """The segment whose share of examples with a cause lies most clearly above the rest; [] where none does.

    After it come the other values of its column that lie above the rest and of which cannot be told that they have less
    of the cause: where there are any, no one segment has it, and to name one would send the reader past the others.

    Args:
        cause: its name.
        hits: shape (examples,), which examples of `segments` have the cause.
        segments: tidy, of all examples; with the column answerable, only examples that can have the cause are compared.
    """
    import numpy as np

    compared_mask = np.ones(hits.size, dtype=bool)
    if ANSWERABLE_COLUMN in segments.columns:
        labels = segments.columns[ANSWERABLE_COLUMN]
        unanswerable = np.array([value == "no" for value in labels.values], dtype=bool)[labels.codes]
        compared_mask = unanswerable if cause in UNANSWERABLE_CAUSES else ~unanswerable
    n, n_hits = int(compared_mask.sum()), int((hits & compared_mask).sum())
    compared = []
    for column, values in segments.columns.items():
        if column == ANSWERABLE_COLUMN:
            continue
        sizes, hits_inside = (values.take(rows).counts() for rows in (compared_mask, hits & compared_mask))
        cells = zip(values.values, sizes, hits_inside, strict=True)
        for value, size, n_inside in sorted(cells, key=lambda cell: str(cell[0])):
            if value in (NONE, OTHER, None) or not size:
                continue  # nothing that a person could act on
            is_higher = n_inside >= MIN_HITS and n_inside * (n - size) > (n_hits - n_inside) * size
            p = fisher_greater(n_inside, size, n_hits - n_inside, n - size) if is_higher else 1.0
            compared.append(Concentration(column, str(value), n_inside, size, n_hits - n_inside, n - size, p))
    adjusted = holm([cell.p for cell in compared])
    significant = [cell._replace(p=p) for cell, p in zip(compared, adjusted, strict=True) if p < ALPHA]
    first = min(significant, key=lambda cell: (cell.p, -cell.hits / cell.n), default=None)
    return [] if first is None else [first, *_list_similar(first, compared)]


def _list_similar(first: Concentration, concentrations: Sequence[Concentration]) -> list[Concentration]:
    """The other values of its column that lie above the rest, and not clearly below it."""
    rivals = (
        concentration
        for concentration in concentrations
        if concentration.column == first.column and concentration.value != first.value and concentration.p < ALPHA
    )
    return [rival for rival in rivals if fisher_greater(first.hits, first.n, rival.hits, rival.n) >= ALPHA]


N_LABELS = 60  # answers: labels correct means from 50 on, and some answers get none
ANSWERS_A_MINUTE = 2  # that a person labels
MAX_WIDTH = 0.3  # of an interval including judge error: a wider one tells good systems from bad ones badly
FIRST_METRIC = "faithfulness"  # the metric whose labels settle most: verdicts, causes and several means


def build_draw_command(run_name: str, n: int, question: str = "support") -> str:
    """The command that draws answers, of the n of a run, and writes the page on which people label them.

    >>> build_draw_command("mine", 113), build_draw_command("small", 5)
    ('ragauge label draw mine -n 60 -o page.html', 'ragauge label draw small -n 5 -o page.html')
    """
    question_options = () if question == "support" else ("--question", question)
    return format_command("label", "draw", run_name, "-n", str(min(n, N_LABELS)), *question_options, "-o", "page.html")


def advise_label_draw(run_name: str, n: int) -> str:
    """What a mean that labels are to correct lacks, of a run of n answers."""
    if n < MIN_LABELS:
        return f"Add examples: labels correct a mean only from {MIN_LABELS} examples on."
    return f"Sample answers and label them (ragauge docs labels): {build_draw_command(run_name, n)}"


def describe_labels(n: int) -> str:
    """How many of n answers to label, how long it takes, and what it does where they are too few to correct a mean.

    >>> describe_labels(113), describe_labels(5)
    ('60 answers, about 30 minutes', '5 answers, about 2 minutes, to decide their verdicts')
    """
    minutes = format_count(max(1, min(n, N_LABELS) // ANSWERS_A_MINUTE), "minute")
    decides = ", to decide their verdicts" if n < MIN_LABELS else ""
    return f"{format_count(min(n, N_LABELS), 'answer')}, about {minutes}{decides}"


def advise_labels(card: ScorecardData) -> str:
    """Why to label answers of a run first and how, as sentences; "" where the local judge did not judge it, or is sure.

    It is not sure where it leaves the component of most failures unclear, or most examples; or where a mean may lie
    anywhere in an interval of more than 0.3 with its error, and there are answers enough for labels to correct it.
    Means that labels correct are sure.
    """
    if not card.judge.judge_id.startswith("local"):
        return ""
    widths = {
        summary.metric: summary.judged.high - summary.judged.low
        for summary in card.summaries
        if summary.judged is not None and summary.kind != "amount"
    }
    widest = (
        FIRST_METRIC if widths.get(FIRST_METRIC, 0.0) > MAX_WIDTH else max(widths, key=widths.__getitem__, default="")
    )
    unclear = card.causes.get("", 0)
    if 2 * unclear > card.failed_examples:
        reason, question = (
            f"The judge leaves {unclear:,} of {format_count(card.failed_examples, 'failure')} unclear.",
            "support",
        )
    elif 2 * card.unclear_examples > card.n:
        reason, question = (
            f"The judge leaves {card.unclear_examples:,} of {format_count(card.n, 'example')} unclear.",
            "support",
        )
    elif widths.get(widest, 0.0) > MAX_WIDTH and card.n >= MIN_LABELS:
        reason = f"Including judge error, the interval of {widest} is {widths[widest]:.2f} wide."
        question = QUESTION_BY_METRIC.get(widest, SCORE_PREFIX + widest)
    else:
        return ""
    return f"{reason} Label {describe_labels(card.n)}: {build_draw_command(card.run.name, card.n, question)}"
