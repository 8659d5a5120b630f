"""What a judge can read: its scores of control pairs, by fact, language and layout.

A control is a pair whose truth is known: a *known yes* is part of a passage beside that passage, a *known no* is a text
beside passages of other documents. Their scores show both ends of the judge's scale, and whether it tells them apart.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Literal, NamedTuple, get_args

from ragauge.core.example import Example
from ragauge.core.identity import hash_json
from ragauge.core.response import Response
from ragauge.text.language import guess_language
from ragauge.text.table_rows import Layout, detect_common_layout
from ragauge.text.tokens import list_content_stems

ControlledFact = Literal["support", "reference", "relevance", "address", "agreement"]
CONTROLLED_FACTS: tuple[ControlledFact, ...] = get_args(ControlledFact)
PASSAGE_FACTS: frozenset[ControlledFact] = frozenset({"support", "reference", "relevance"})  # the others see none
ScaleKey = tuple[ControlledFact, str, Layout]

MIN_PAIRS = 20  # of each kind before anything is said of a scale
MIN_AUROC = 0.9
MIN_GAP = 0.3  # between the medians: a scale whose ends lie together orders, but says nothing
UNKNOWN_LANGUAGE = "und"
MIXED = "mixed"  # query or answer in another language than the passages
MAX_CHARS = 2_000  # of each text that tell the language


@dataclass(frozen=True, slots=True)
class ControlScale:
    """A judge's scores of control pairs of one fact, language and layout."""

    yes: tuple[float, ...]  #: scores of known-yes pairs, ascending, in [0, 1].
    no: tuple[float, ...]  #: scores of known-no pairs, likewise.
    shipped: int = 0  #: how many of all are pairs of the texts shipped with the package.

    @property
    def auroc(self) -> float:
        """Chance that a known yes scores higher than a known no, ties half; nan without pairs of both kinds."""
        if not self.yes or not self.no:
            return float("nan")
        wins = sum((bisect_left(self.no, p) + bisect_right(self.no, p)) / 2 for p in self.yes)
        return wins / (len(self.yes) * len(self.no))

    @property
    def gap(self) -> float:
        """Median score of the known-yes pairs less that of the known-no pairs; nan without pairs of both kinds."""
        return median(self.yes) - median(self.no) if self.yes and self.no else float("nan")

    @property
    def known_no(self) -> float | None:
        """Mean score of the known-no pairs, None without any."""
        return sum(self.no) / len(self.no) if self.no else None

    @property
    def is_readable(self) -> bool:
        """Whether the judge tells yes from no here: at least 20 pairs of each, AUROC ≥ .9, medians .3 apart."""
        enough = min(len(self.yes), len(self.no)) >= MIN_PAIRS
        return enough and self.auroc >= MIN_AUROC and self.gap >= MIN_GAP

    def compute_known_no_share(self, p: float) -> float:
        """Share of the known-no pairs that score p or more: what p is worth as evidence against *no*; 1 without any."""
        return 1 - bisect_left(self.no, p) / len(self.no) if self.no else 1.0


@dataclass(frozen=True, slots=True)
class Readability:
    """What a judge can read of one response."""

    language: str  #: of its texts, ISO 639-1; "und" where nothing tells, "mixed" where they are in two.
    layout: Layout  #: of its passages.
    #: fact -> scores of control pairs of that language and layout; a fact without any is absent.
    scales: Mapping[ControlledFact, ControlScale] = field(default_factory=dict)
    #: facts that people labeled: whatever the judge can read, these are known.
    labeled: frozenset[ControlledFact] = frozenset()
    #: whether its request is one of the run's about whatever document is at hand, and names no topic.
    is_task: bool = False

    def can_read(self, fact: ControlledFact) -> bool:
        """Whether the judge can read this fact here, or people labeled it."""
        scale = self.scales.get(fact)
        return fact in self.labeled or (scale is not None and scale.is_readable)


class TextKind(NamedTuple):
    """What the texts of a response are written in."""

    own: str  #: language of query and answer; that of the passages where nothing tells.
    language: str  #: of all its texts, ISO 639-1; "und" where nothing tells, "mixed" where they are in two.
    layout: Layout  #: of its passages.

    def key(self, fact: ControlledFact) -> ScaleKey:
        """Where the scale of a fact stands."""
        if fact in PASSAGE_FACTS:
            return fact, self.language, self.layout
        return ("support" if fact == "agreement" else fact), self.own, "prose"

    @classmethod
    def from_texts(cls, example: Example, response: Response) -> TextKind:
        """The place of a response."""
        texts = [passage.text for passage in response.passages or () if passage.text]
        own_language = guess_language(f"{example.query[:MAX_CHARS]}\n{(response.answer or '')[:MAX_CHARS]}")
        context = guess_language("\n".join(text[:MAX_CHARS] for text in texts))
        own_language = context if own_language == UNKNOWN_LANGUAGE else own_language
        return cls(
            own_language,
            own_language if context in (own_language, UNKNOWN_LANGUAGE) else MIXED,
            detect_common_layout(texts),
        )


def build_request_key(example: Example) -> str | None:
    """What requests of the same content words share; None in a conversation, where an earlier turn may name a topic."""
    return None if example.history else hash_json(sorted(list_content_stems(example.query)))[:16]


@dataclass(frozen=True, slots=True)
class Controls:
    """A judge's scores of control pairs for a run, and what else the run shows of its texts."""

    scales: Mapping[ScaleKey, ControlScale]  #: by fact, language and layout.
    #: of what was drawn from the run and how it scored: what was decided with other controls is decided again.
    fingerprint: str = ""
    #: printed name of a metric -> its mean over the known-no pairs.
    known_no: Mapping[str, float] = field(default_factory=dict)
    #: keys of the requests that the run makes of several documents, so that they name no topic.
    tasks: frozenset[str] = frozenset()

    def build_readability(self, example: Example, response: Response) -> Readability:
        """What the judge can read of a response."""
        text_kind = TextKind.from_texts(example, response)
        keys = {fact: text_kind.key(fact) for fact in CONTROLLED_FACTS}
        scales = {fact: self.scales[key] for fact, key in keys.items() if key in self.scales}
        is_task = bool(self.tasks) and build_request_key(example) in self.tasks
        return Readability(text_kind.language, text_kind.layout, scales, is_task=is_task)
