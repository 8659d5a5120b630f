"""Whether the evidence of a set is still in its corpus: intact, moved, changed, gone, or in no indexed document."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from ragauge.core.curation import Anchor
from ragauge.core.example import Relevant, Span
from ragauge.core.json_keys import json_keys, key
from ragauge.scores.estimation import compute_rate_interval
from ragauge.stats.weighted import Interval
from ragauge.testsets.check.evidence_location import (
    EvidenceLocation,
    EvidenceSpan,
    Locator,
    WholeStretch,
    build_evidence,
    read_evidence,
)
from ragauge.testsets.lock import SetLock, find_holders, hash_text, list_gold_anchors, list_gold_ids
from ragauge.testsets.set_file import SetFile, SetLine
from ragauge.testsets.unspaced_words import list_cut_words, widen_to_words

Freshness = Literal["intact", "moved", "changed", "gone", "unwinnable", "no labels"]
ORDER: tuple[Freshness, ...] = ("intact", "moved", "changed", "gone", "unwinnable", "no labels")
MAX_QUOTE_CHARS = 60  # characters of lost evidence in a message
MIN_ALIVE_SHARE = 0.9  # below, a set is to be refreshed


@json_keys("state was start end now then_text now_text whole", whole="whole_stretch")
@dataclass(frozen=True)
class EvidenceState:
    """One stretch of evidence, or one gold document, then and now."""

    was: EvidenceSpan = field(metadata=key("doc_id", at="doc_id"))  #: where it stood.
    state: Freshness  #: intact, moved, changed or gone.
    now: EvidenceLocation | None = None  #: where it stands; None = nowhere.
    then_text: str = ""  #: its text when it was anchored; "" = not known.
    now_text: str = ""  #: its text now.
    #: where it would stand with the words whole that it begins or ends inside of; None = it cuts none, or it changed.
    whole: EvidenceLocation | None = None
    whole_text: str = ""  #: its text there.
    cut: tuple[tuple[str, str], ...] = ()  #: (what it holds of it, the word) of each word that it cuts.

    @property
    def start(self) -> int | None:
        """First character where it stood; None of a whole document."""
        return self.was.start if self.was.start >= 0 else None

    @property
    def end(self) -> int | None:
        """After the last character where it stood; None of a whole document."""
        return self.was.end if self.was.start >= 0 else None

    @property
    def whole_stretch(self) -> WholeStretch | None:
        """The same with the words whole that it cuts; None where it cuts none."""
        return None if self.whole is None else WholeStretch(self.whole.start, self.whole.end, self.whole_text)


@dataclass(frozen=True)
class ExampleState:
    """An example's evidence."""

    line: SetLine = field(metadata=key("query_id", at="query_id"))  #: of the set's file.
    state: Freshness  #: the worst of its evidence; unwinnable where no gold document is in the corpus.
    evidence: tuple[EvidenceState, ...] = ()  #: each stretch, then each gold document without one.

    @property
    def cut(self) -> tuple[EvidenceState, ...]:
        """Evidence that begins or ends inside a word."""
        return tuple(item for item in self.evidence if item.whole is not None)


@dataclass(frozen=True)
class SetFreshness:
    """An eval set compared with its corpus."""

    name: str  #: of the set.
    examples: tuple[ExampleState, ...]  #: every example, in the order of the file.
    documents: Mapping[str, bool]  #: gold document -> whether the corpus still has it, under whatever name.
    locked: bool = False  #: whether a lock told what the evidence was.
    same_version: bool | None = None  #: whether the set is the one that was frozen; None = no lock.

    @cached_property
    def counts(self) -> dict[Freshness, int]:
        """How many examples are in each state."""
        counted = Counter(example.state for example in self.examples)
        return {state: counted[state] for state in ORDER if counted[state]}

    @property
    def gold_alive(self) -> tuple[float | None, Interval | None]:
        """Gold documents still in the corpus / gold documents, and Wilson's 95 % interval; None without one."""
        return _compute_rate(sum(self.documents.values()), len(self.documents))

    @property
    def gold_intact(self) -> tuple[float | None, Interval | None]:
        """Examples with all evidence intact / examples with labels, and Wilson's 95 % interval; None without one."""
        return _compute_rate(self.counts.get("intact", 0), len(self.examples) - self.counts.get("no labels", 0))

    @property
    def passed(self) -> bool:
        """Whether 90 % of the gold documents or more are alive."""
        alive, _ = self.gold_alive
        return alive is None or alive >= MIN_ALIVE_SHARE


def _compute_rate(k: int, n: int) -> tuple[float | None, Interval | None]:
    return (k / n, compute_rate_interval(k, n)) if n else (None, None)


def check_freshness(set_file: SetFile, texts: Mapping[str, str], lock: SetLock | None = None) -> SetFreshness:
    """Holds a set's evidence against the corpus as it is.

    A gold span without a quote, in a set without a lock, is looked at only for whether it lies in its document.

    Args:
        set_file: the set, rejected examples left out.
        texts: doc_id -> text of every document.
        lock: of the set, where it was frozen.
    """
    lines = [line for line in set_file.lines if line.curation.state != "rejected"]
    evidence_by_id = {line.example.query_id: list(_list_evidence(line, lock)) for line in lines}
    names = _RenameTracker(texts, lock)
    locator = Locator(texts, [item for evidence in evidence_by_id.values() for item, _ in evidence if item.runs])
    states = tuple(_check_example(line, evidence_by_id[line.example.query_id], texts, locator, names) for line in lines)
    gold = list(dict.fromkeys(doc_id for line in lines for doc_id in list_gold_ids(line)))
    documents = {doc_id: doc_id in texts or names.find_renamed(doc_id) is not None for doc_id in gold}
    for state in states:  # a document whose evidence stands elsewhere lives on there
        for item in state.evidence:
            if item.now is not None:
                documents[item.was.doc_id] = True
    same = None if lock is None else lock.version == set_file.eval_set.version
    return SetFreshness(set_file.name, states, documents, lock is not None, same)


def _list_evidence(line: SetLine, lock: SetLock | None) -> Iterator[tuple[EvidenceSpan, str]]:
    """(evidence, its text where known): anchors, else gold spans, and gold documents that no span stands in."""
    anchors = list_gold_anchors(line)
    spans: Sequence[Span] = line.example.gold_spans or ()
    locked_spans = () if lock is None else lock.spans.get(line.example.query_id, ())
    locked = {(item.doc_id, item.start, item.end): item for item in locked_spans}
    covered = set()
    for anchor in anchors:
        covered.add(anchor.doc_id)
        was = build_evidence(anchor.doc_id, anchor.start, anchor.end, anchor.quote)
        locked_span = locked.get((anchor.doc_id, anchor.start, anchor.end))
        yield (
            locked_span if locked_span is not None and _is_same_quote(locked_span.runs, was.runs) else was,
            anchor.quote,
        )
    for span in spans if not anchors else ():
        covered.add(span.doc_id)
        was = EvidenceSpan(span.doc_id, span.start, span.end, 0, ())
        yield locked.get((span.doc_id, span.start, span.end)) or was, ""
    for doc_id in list_gold_ids(line):
        if doc_id not in covered:
            yield EvidenceSpan(doc_id, -1, -1, 0, ()), ""


def _is_same_quote(runs: Sequence[str], quoted: Sequence[str]) -> bool:
    """Whether locked words are those of a quote, which may cut the first and the last of them."""
    inner = set(quoted[1:-1])
    return tuple(runs) == tuple(quoted) or (bool(inner) and inner <= set(runs) and len(runs) == len(quoted))


class _RenameTracker:
    """The name that a gold document has now, told by its hash or its sampled shingles."""

    def __init__(self, texts: Mapping[str, str], lock: SetLock | None) -> None:
        self._texts, self._lock = texts, lock
        self.hashes = {doc_id: hash_text(text) for doc_id, text in texts.items()} if lock else {}
        self._by_hash: dict[str, list[str]] = defaultdict(list)
        for doc_id, digest in self.hashes.items():
            self._by_hash[digest].append(doc_id)
        self._known: dict[str, EvidenceLocation | None] = {}

    def same(self, doc_id: str) -> bool:
        """Whether the document is as it was; True where no lock tells."""
        locked = self._lock.documents.get(doc_id) if self._lock else None
        return locked is None or locked.sha256 == self.hashes.get(doc_id)

    def find_identical(self, doc_id: str) -> EvidenceLocation | None:
        """Another document that now holds the very text that this one held, and did not hold it then."""
        locked = self._lock.documents.get(doc_id) if self._lock else None
        names = () if locked is None else self._by_hash.get(locked.sha256, ())
        other = next((name for name in names if name not in self._list_twins(doc_id)), None)
        return None if other is None else EvidenceLocation(other, 0, len(self._texts[other]), 1.0)

    def _list_twins(self, doc_id: str) -> set[str]:
        """Other documents that held its text when the set was frozen."""
        gold = self._lock.documents if self._lock else {}
        similar = {name for name in gold[doc_id].alike or () if name not in gold}
        return similar | {name for name in gold if name != doc_id and gold[name].sha256 == gold[doc_id].sha256}

    def find_renamed(self, doc_id: str) -> EvidenceLocation | None:
        """A document of another name that is this one: of those that did not resemble it then the one most alike."""
        if doc_id not in self._known:
            self._known[doc_id] = self._search_renamed(doc_id)
        return self._known[doc_id]

    def list_homes(self, doc_id: str) -> tuple[str, ...]:
        """The names under which to look for a document: its own while half of it is there, else where most of it is."""
        if self.same(doc_id) or doc_id in self._shares_by_id.get(doc_id, {}):
            return (doc_id,)
        renamed = self.find_renamed(doc_id)
        return (doc_id,) if renamed is None else (renamed.doc_id, doc_id)

    @cached_property
    def unchanged_ids(self) -> frozenset[str]:
        """Documents that the lock knows and that are as they were."""
        return frozenset(name for name in (self._lock.documents if self._lock else ()) if self.same(name))

    @cached_property
    def _shares_by_id(self) -> dict[str, dict[str, float]]:
        """Gold document that is not as it was -> documents that hold half of it or more -> what share."""
        gold = self._lock.documents if self._lock else {}
        return find_holders(
            {name: document.runs for name, document in gold.items() if name not in self.unchanged_ids}, self._texts
        )

    def _search_renamed(self, doc_id: str) -> EvidenceLocation | None:
        locked = self._lock.documents.get(doc_id) if self._lock else None
        if locked is None:
            return None
        if same := self.find_identical(doc_id):
            return same
        past = {doc_id, *self.unchanged_ids, *(locked.alike or ())}
        shares = {name: share for name, share in self._shares_by_id.get(doc_id, {}).items() if name not in past}
        best = max(shares, key=lambda name: shares[name], default=None)
        return None if best is None else EvidenceLocation(best, 0, len(self._texts[best]), shares[best])


def _check_example(
    line: SetLine,
    evidence: Sequence[tuple[EvidenceSpan, str]],
    texts: Mapping[str, str],
    locator: Locator,
    names: _RenameTracker,
) -> ExampleState:
    if not evidence:
        return ExampleState(line, "no labels")
    states = tuple(_mark_cut_words(_check_stretch(item, text, texts, locator, names), texts) for item, text in evidence)
    worst = max((item.state for item in states), key=ORDER.index)
    if all(item.state == "gone" and item.was.doc_id not in texts for item in states):
        worst = "unwinnable"
    return ExampleState(line, worst, states)


def _check_stretch(
    span: EvidenceSpan, then: str, texts: Mapping[str, str], locator: Locator, names: _RenameTracker
) -> EvidenceState:
    """One stretch of evidence, or a whole document, now."""
    text = texts.get(span.doc_id)
    if not span.runs:  # a whole document, or a span whose words nobody kept
        if text is None:
            renamed = names.find_renamed(span.doc_id)
            return EvidenceState(span, "moved" if renamed else "gone", renamed)
        if span.start == -1 and names.list_homes(span.doc_id)[0] != span.doc_id:
            return EvidenceState(span, "moved", names.find_renamed(span.doc_id))
        inside = span.start == -1 or 0 <= span.start < span.end <= len(text)
        state: Freshness = "intact" if inside and names.same(span.doc_id) else "changed" if inside else "gone"
        start, end = (0, len(text)) if span.start == -1 else (span.start, span.end)
        return EvidenceState(span, state, EvidenceLocation(span.doc_id, start, end, 1.0) if inside else None)
    for home in dict.fromkeys((span.doc_id, *names.list_homes(span.doc_id))):  # renamed, and else as it was
        home_text = texts.get(home, "")
        if _has_same_words(span, home_text) and locator.is_in_place(span, home):
            state = "intact" if home == span.doc_id else "moved"
            return EvidenceState(
                span, state, EvidenceLocation(home, span.start, span.end, 1.0), then, home_text[span.start : span.end]
            )
    location = locator.find_evidence(span, names.list_homes(span.doc_id), names.unchanged_ids)
    if location is None:
        return EvidenceState(span, "gone", None, then)
    home_text = texts[location.doc_id]
    if not span.around and not span.is_short and home_text.count(then) == 1:  # a quote may cut words, a run does not
        start = home_text.find(then)
        return EvidenceState(
            span, "moved", EvidenceLocation(location.doc_id, start, start + len(then), 1.0), then, then
        )
    if location.sure and _has_same_words(replace(span, start=location.start, end=location.end), home_text):
        unmoved = (location.doc_id, location.start, location.end) == (span.doc_id, span.start, span.end)
        return EvidenceState(
            span, "intact" if unmoved else "moved", location, then, home_text[location.start : location.end]
        )
    start, end = widen_to_words(home_text, location.start, location.end)
    return EvidenceState(span, "changed", replace(location, start=start, end=end), then, home_text[start:end])


def _mark_cut_words(state: EvidenceState, texts: Mapping[str, str]) -> EvidenceState:
    """A stretch that stands where it stood, with the words that it cuts, if any; one that moved keeps its edges."""
    location = state.now
    if location is None or state.was.start < 0 or state.state != "intact":
        return state
    text = texts[location.doc_id]
    start, end = widen_to_words(text, location.start, location.end)
    if (start, end) == (location.start, location.end):
        return state
    cut = tuple(list_cut_words(text, location.start, location.end))
    return replace(state, whole=replace(location, start=start, end=end), whole_text=text[start:end], cut=cut)


def describe_gone_evidence(fresh: SetFreshness) -> dict[str, str]:
    """query_id -> what of its evidence stands nowhere, of the examples that are gone or unwinnable."""
    return {
        example.line.example.query_id: "; ".join(
            _describe_gone(stretch) for stretch in example.evidence if stretch.state == "gone"
        )
        for example in fresh.examples
        if example.state in ("gone", "unwinnable")
    }


def _describe_gone(state: EvidenceState) -> str:
    words = " ".join(state.then_text.split())
    quote = f" “{words[:MAX_QUOTE_CHARS]}{' …' if words[MAX_QUOTE_CHARS:] else ''}”" if words else ""
    return f"{state.was.doc_id!r} [{state.was.start}, {state.was.end}){quote} is gone"


def _has_same_words(span: EvidenceSpan, text: str) -> bool:
    """Whether a document's text holds the words of evidence where it says: those of its quote, or whole ones."""
    inside = 0 <= span.start < span.end <= len(text)
    if not inside:
        return False
    by_quote = build_evidence("", 0, 0, text[span.start : span.end])
    if by_quote.runs == span.runs and not span.around:
        return True
    whole_span = read_evidence(text, "", span.start, span.end)
    return (
        whole_span.runs == span.runs
        and min(whole_span.lead, 0) == min(span.lead, 0)
        and min(whole_span.tail, 0) == min(span.tail, 0)
    )


def fix_evidence(set_file: SetFile, fresh: SetFreshness) -> SetFile:
    """The set with evidence where and as it stands now, cut words whole; what changed or is gone makes a draft.

    The note of the draft keeps quotes that changed, so that whoever marks it accepts the words that stand there now.
    """
    by_id = {example.line.example.query_id: example for example in fresh.examples}

    def fix_line(line: SetLine) -> SetLine:
        state = by_id.get(line.example.query_id)
        if state is None:
            return line
        movable = [
            item for item in state.evidence if item.state == "moved" or item.whole is not None or _is_reworded(item)
        ]
        fixed = _move_line(line, movable) if movable else line
        if state.state in ("intact", "moved", "no labels"):
            return fixed
        quotes = (
            item.then_text for item in movable if _is_reworded(item) and item.then_text not in ("", item.now_text)
        )
        note = "; was ".join([f"evidence {state.state}", *(f"“{quote}”" for quote in quotes)])
        return fixed.with_curation(replace(fixed.curation, state="draft", note=note))

    return set_file.map_lines(fix_line)


def _is_reworded(state: EvidenceState) -> bool:
    """Whether a stretch changed and its words now are known."""
    return state.state == "changed" and state.now is not None and bool(state.now_text)


def _move_line(line: SetLine, evidence: Sequence[EvidenceState]) -> SetLine:
    relocated = [item for item in evidence if item.state == "moved" or _is_reworded(item)]
    renamed = {item.was.doc_id: item.now.doc_id for item in relocated if item.now is not None}
    locations = {(item.was.doc_id, item.was.start, item.was.end): item.whole or item.now for item in evidence}
    quotes = {
        (item.was.doc_id, item.was.start, item.was.end): item.whole_text or item.now_text
        for item in evidence
        if item.whole is not None or _is_reworded(item)
    }

    def move_span(span: Span) -> Span:
        location = locations.get((span.doc_id, span.start, span.end))
        return Span(location.doc_id, location.start, location.end) if location is not None else span

    def move_anchor(anchor: Anchor) -> Anchor:
        key = (anchor.doc_id, anchor.start, anchor.end)
        location = locations.get(key)
        return (
            Anchor(location.doc_id, location.start, location.end, quotes.get(key, anchor.quote))
            if location is not None
            else anchor
        )

    example, curation = line.example, line.curation
    relevant = example.relevant and tuple(
        Relevant(tuple(renamed.get(doc_id, doc_id) for doc_id in item.doc_ids), item.grade) for item in example.relevant
    )
    spans = example.gold_spans and tuple(map(move_span, example.gold_spans))
    anchors = tuple(map(move_anchor, curation.anchors))
    return line.changed(replace(example, relevant=relevant, gold_spans=spans), replace(curation, anchors=anchors))
