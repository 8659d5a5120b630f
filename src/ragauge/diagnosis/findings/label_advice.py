"""When labels are the cheapest thing that makes a scorecard sure, and the command that draws them."""

from __future__ import annotations

from ragauge.core.label import QUESTION_BY_METRIC, SCORE_PREFIX
from ragauge.core.messages import format_command, format_count
from ragauge.scores.estimation import MIN_LABELS
from ragauge.scores.results.scorecard import ScorecardData

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
