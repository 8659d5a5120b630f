"""The options of verbs about people's labels; see `options`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from ragauge.verbs.option_specs import LastJudge, OptionSpec, Store, StoredRun

Question = Annotated[str, OptionSpec("Question to label: support, relevance, address, refuse or score:METRIC.")]
Guideline = Annotated[
    Any, OptionSpec("Labeling instructions: a text file, or the hash shown for another draw.", metavar="FILE")
]


@dataclass(frozen=True, kw_only=True)
class LabelImportOptions:
    """Which labels come in. Each field is an argument of `label_import`, whose documentation explains it."""

    source: Annotated[
        Any,
        OptionSpec(
            "Labels: the page's labels.jsonl, CSV, a file for judge check, or Label Studio JSON.",
            argument=True,
            metavar="FILE",
        ),
    ] = field(kw_only=False)
    question: Question = "support"
    annotator: Annotated[str, OptionSpec("Who gave the labels, if the file does not say.")] = ""
    guideline: Guideline = None
    columns: Annotated[
        Mapping[str, str] | None,
        OptionSpec("Map a column that has another name: --map value=verdict; repeatable.", "--map", list[str] | None),
    ] = None
    store: Store = None


@dataclass(frozen=True, kw_only=True)
class LabelDrawOptions:
    """What is drawn for people. Each field is an argument of `label_draw`, whose documentation explains it."""

    run: StoredRun = field(kw_only=False)
    output: Annotated[
        Path | Sequence[Path] | None,
        OptionSpec(
            "page.html to label in a browser, or tasks.jsonl for another tool; repeatable. Without it, label "
            "in ragauge ui.",
            "-o --output",
            list[Path] | None,
        ),
    ] = None
    n: Annotated[int, OptionSpec("Number of answers; all parts of each are labeled.", "-n", least=1)] = 150
    scheme: Annotated[str, OptionSpec("random, verdict (half judged wrong) or uncertain (favors unsure ones).")] = (
        "random"
    )
    question: Question = "support"
    by: Annotated[str, OptionSpec("What to label for support: each sentence, or the whole answer.")] = "sentence"
    guideline: Guideline = None
    again: Annotated[bool, OptionSpec("Write the last draw again, in another form or place; draw nothing new.")] = False
    disagreements: Annotated[
        bool, OptionSpec("Write only the parts on which annotators disagree, to adjudicate; draw nothing new.")
    ] = False
    judge: LastJudge = None
    store: Store = None


@dataclass(frozen=True, kw_only=True)
class LabelPlanOptions:
    """What labels are planned for. Each field is an argument of `label_plan`, whose documentation explains it."""

    run: StoredRun = field(kw_only=False)
    metric: Annotated[str, OptionSpec("A metric that people can score.", "-m --metric")] = "faithfulness"
    width: Annotated[float | None, OptionSpec("Half-width of the interval, such as 0.05.")] = None
    detect: Annotated[str, OptionSpec("Difference between two runs to detect: 3% of the mean, or 3 points.")] = ""
    judge: LastJudge = None
    store: Store = None


@dataclass(frozen=True, kw_only=True)
class LabelTransferOptions:
    """Whose labels correct whose rate. Each field is an argument of `label_transfer`, which explains it."""

    labelled: Annotated[Any, OptionSpec("The run that people labeled.", argument=True, metavar="LABELLED")] = field(
        kw_only=False
    )
    run: StoredRun = field(kw_only=False)
    judge: LastJudge = None
    store: Store = None


@dataclass(frozen=True, kw_only=True)
class OfflineCheckOptions:
    """What `judge check` does without asking a judge."""

    #: labels and verdicts are numbers on a scale.
    grades: Annotated[
        bool, OptionSpec("Labels and the --verdict columns are grades, such as 1 to 5; calls no judge.")
    ] = False

    #: take back what was kept of a file, for every judge.
    forget: Annotated[bool, OptionSpec("Delete what was saved of this file, for every judge; calls no judge.")] = False
    #: show the checks so far, and which judge fell.
    history: Annotated[
        bool, OptionSpec("Show past checks, of --judge or of all judges, and whose accuracy fell; calls no judge.")
    ] = False
