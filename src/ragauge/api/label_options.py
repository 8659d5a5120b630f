"""The options of verbs about people's labels; see `options`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from ragauge.api.inputs.typed import Store, Typed

Question = Annotated[
    str, Typed("What is asked: support, relevance, address, refuse; in imports also score:METRIC.")
]
Guideline = Annotated[
    Any, Typed("The instructions: a text file, or the hash that another draw named.", metavar="FILE")
]


@dataclass(frozen=True, kw_only=True)
class LabelImportOptions:
    """Which labels come in. Each field is an argument of `label_import`, whose documentation explains it."""

    source: Annotated[
        Any,
        Typed("Labels: the page's labels.jsonl, CSV, what judge check reads, Label Studio's JSON.", argument=True,
              metavar="FILE"),
    ] = field(kw_only=False)     # fmt: skip
    question: Question = "support"
    annotator: Annotated[str, Typed("Who gave them, where the file does not say.")] = ""
    guideline: Guideline = None
    columns: Annotated[
        Mapping[str, str] | None,
        Typed("A column under another name: --map value=verdict; repeatable.", "--map", list[str] | None),
    ] = None
    store: Store = None
