"""The options of verbs about people's labels; see `options`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from ragauge.verbs.option_specs import LastJudge, OptionSpec, Store, StoredRun

Question = Annotated[str, OptionSpec("What is asked: support, relevance, address, refuse or score:METRIC.")]
Guideline = Annotated[
    Any, OptionSpec("The instructions: a text file, or the hash that another draw named.", metavar="FILE")
]


@dataclass(frozen=True, kw_only=True)
class LabelImportOptions:
    """Which labels come in. Each field is an argument of `label_import`, whose documentation explains it."""

    source: Annotated[
        Any,
        OptionSpec(
            "Labels: the page's labels.jsonl, CSV, what judge check reads, Label Studio's JSON.",
            argument=True,
            metavar="FILE",
        ),
    ] = field(kw_only=False)
    question: Question = "support"
    annotator: Annotated[str, OptionSpec("Who gave them, where the file does not say.")] = ""
    guideline: Guideline = None
    columns: Annotated[
        Mapping[str, str] | None,
        OptionSpec("A column under another name: --map value=verdict; repeatable.", "--map", list[str] | None),
    ] = None
    store: Store = None


@dataclass(frozen=True, kw_only=True)
class LabelDrawOptions:
    """What is drawn for people. Each field is an argument of `label_draw`, whose documentation explains it."""

    run: StoredRun = field(kw_only=False)
    output: Annotated[
        Path | Sequence[Path] | None,
        OptionSpec(
            "page.html, for people's keys, or tasks.jsonl, for another tool; repeatable, of one draw; else labelled "
            "in ragauge ui.",
            "-o --output",
            list[Path] | None,
        ),
    ] = None
    n: Annotated[int, OptionSpec("So many answers; all parts of each are labelled.", "-n", least=1)] = 150
    scheme: Annotated[str, OptionSpec("random, verdict (half of what the judge calls wrong) or uncertain.")] = "random"
    question: Question = "support"
    by: Annotated[str, OptionSpec("Of support: each sentence, or the answer as a whole.")] = "sentence"
    guideline: Guideline = None
    again: Annotated[bool, OptionSpec("The last draw once more, in another form or place; nothing new is drawn.")] = (
        False
    )
    disagreements: Annotated[bool, OptionSpec("Only what people differ on, to be settled; nothing new is drawn.")] = (
        False
    )
    judge: LastJudge = None
    store: Store = None


@dataclass(frozen=True, kw_only=True)
class LabelPlanOptions:
    """What labels are planned for. Each field is an argument of `label_plan`, whose documentation explains it."""

    run: StoredRun = field(kw_only=False)
    metric: Annotated[str, OptionSpec("A metric that people can score.", "-m --metric")] = "faithfulness"
    width: Annotated[float | None, OptionSpec("How far the interval may reach to each side, such as 0.05.")] = None
    detect: Annotated[str, OptionSpec("A change between two runs to be seen: 3% of the mean, or 3 points.")] = ""
    judge: LastJudge = None
    store: Store = None


@dataclass(frozen=True, kw_only=True)
class LabelTransferOptions:
    """Whose labels correct whose rate. Each field is an argument of `label_transfer`, which explains it."""

    labelled: Annotated[Any, OptionSpec("The run that people labelled.", argument=True, metavar="LABELLED")] = field(
        kw_only=False
    )
    run: StoredRun = field(kw_only=False)
    judge: LastJudge = None
    store: Store = None


@dataclass(frozen=True, kw_only=True)
class OfflineCheckOptions:
    """What `judge check` does without asking a judge.

    Attributes:
        grades: labels and verdicts are numbers on a scale.
        forget: take back what was kept of a file, for every judge.
        history: show the checks so far, and which judge fell.
    """

    grades: Annotated[
        bool, OptionSpec("Labels are grades such as 1 to 5, and so are the columns of --verdict; asks nothing.")
    ] = False

    forget: Annotated[bool, OptionSpec("Take back what was kept of this file, for every judge; asks nothing.")] = False
    history: Annotated[
        bool, OptionSpec("Show the checks so far, of --judge or of all, and which judge fell; asks nothing.")
    ] = False
