"""Whether the evidence of a set is still in its corpus: intact, moved, changed, gone, or in no indexed document."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from ragauge.core.curation import Anchor
from ragauge.core.example import Relevant, Span
from ragauge.scores.estimation import interval_of_rate
from ragauge.stats.weighted import Interval
from ragauge.testsets.check.evidence_location import EvidenceSpan, Located, Locator, evidence_in, evidence_of
from ragauge.testsets.lock import SetLock, gold_anchors, gold_ids, holders, text_hash
from ragauge.testsets.set_file import SetFile, SetLine
from ragauge.testsets.whole_words import cut_words, whole_words

Freshness = Literal["intact", "moved", "changed", "gone", "unwinnable", "no labels"]
ORDER: tuple[Freshness, ...] = ("intact", "moved", "changed", "gone", "unwinnable", "no labels")
QUOTED = 60  # characters of lost evidence in a message
LEAST_ALIVE = 0.9  # below, a set is to be refreshed


@dataclass(frozen=True)
class EvidenceState:
    """One stretch of evidence, or one gold document, then and now.

    Attributes:
        was: where it stood.
        state: intact, moved, changed or gone.
        now: where it stands; None = nowhere.
        then_text: its text when it was anchored; "" = not known.
        now_text: its text now.
        whole: where it would stand with the words whole that it begins or ends inside of; None = it cuts none, or it
            changed.
        whole_text: its text there.
        cut: (what it holds of it, the word) of each word that it cuts.
    """

    was: EvidenceSpan
    state: Freshness
    now: Located | None = None
    then_text: str = ""
    now_text: str = ""
    whole: Located | None = None
    whole_text: str = ""
    cut: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class ExampleState:
    """An example's evidence.

    Attributes:
        line: of the set's file.
        state: the worst of its evidence; unwinnable where no gold document is in the corpus.
        evidence: each stretch, then each gold document without one.
    """

    line: SetLine
    state: Freshness
    evidence: tuple[EvidenceState, ...] = ()

    @property
    def cut(self) -> tuple[EvidenceState, ...]:
        """Evidence that begins or ends inside a word."""
        return tuple(one for one in self.evidence if one.whole is not None)


@dataclass(frozen=True)
class SetFreshness:
    """A set held against its corpus.

    Attributes:
        name: of the set.
        examples: every example, in the order of the file.
        documents: gold document -> whether the corpus still has it, under whatever name.
        locked: whether a lock told what the evidence was.
        version: whether the set is the one that was frozen; None = no lock.
    """

    name: str
    examples: tuple[ExampleState, ...]
    documents: Mapping[str, bool]
    locked: bool = False
    same_version: bool | None = None
    notes: tuple[str, ...] = field(default=())

    @cached_property
    def counts(self) -> dict[Freshness, int]:
        """How many examples are in each state."""
        counted = Counter(one.state for one in self.examples)
        return {state: counted[state] for state in ORDER if counted[state]}

    @property
    def gold_alive(self) -> tuple[float | None, Interval | None]:
        """Gold documents still in the corpus / gold documents, and Wilson's 95 % interval; None without one."""
        return _rate(sum(self.documents.values()), len(self.documents))

    @property
    def gold_intact(self) -> tuple[float | None, Interval | None]:
        """Examples with all evidence intact / examples with labels, and Wilson's 95 % interval; None without one."""
        return _rate(self.counts.get("intact", 0), sum(one.state != "no labels" for one in self.examples))

    @property
    def passed(self) -> bool:
        """Whether 90 % of the gold documents or more are alive."""
        alive, _ = self.gold_alive
        return alive is None or alive >= LEAST_ALIVE


def _rate(k: int, n: int) -> tuple[float | None, Interval | None]:
    return (k / n, interval_of_rate(k, n)) if n else (None, None)


def freshness(found: SetFile, texts: Mapping[str, str], lock: SetLock | None = None) -> SetFreshness:
    """Holds a set's evidence against the corpus as it is.

    A gold span without a quote, in a set without a lock, is looked at only for whether it lies in its document.

    Args:
        found: the set, rejected examples left out.
        texts: doc_id -> text of every document.
        lock: of the set, where it was frozen.
    """
    lines = [line for line in found.lines if line.curation.state != "rejected"]
    wanted = {line.example.query_id: list(_evidence(line, lock)) for line in lines}
    stretches = [one for listed in wanted.values() for one, _ in listed if one.runs]
    names = _Renamed(texts, lock)
    locator = Locator(texts, stretches)
    states = tuple(_example(line, wanted[line.example.query_id], texts, locator, names) for line in lines)
    gold = list(dict.fromkeys(doc_id for line in lines for doc_id in gold_ids(line)))
    documents = {doc_id: doc_id in texts or names.now(doc_id) is not None for doc_id in gold}
    for state in states:  # a document whose evidence stands elsewhere lives on there
        for one in state.evidence:
            if one.now is not None:
                documents[one.was.doc_id] = True
    same = None if lock is None else lock.version == found.eval_set.version
    return SetFreshness(found.name, states, documents, lock is not None, same)


def _evidence(line: SetLine, lock: SetLock | None) -> Iterator[tuple[EvidenceSpan, str]]:
    """(evidence, its text where known): anchors, else gold spans, and gold documents that no span stands in."""
    anchors = gold_anchors(line)
    spans: Sequence[Span] = line.example.gold_spans or ()
    kept = () if lock is None else lock.spans.get(line.example.query_id, ())
    locked = {(one.doc_id, one.start, one.end): one for one in kept}
    covered = set()
    for anchor in anchors:
        covered.add(anchor.doc_id)
        was = evidence_of(anchor.doc_id, anchor.start, anchor.end, anchor.quote)
        known = locked.get((anchor.doc_id, anchor.start, anchor.end))
        yield known if known is not None and _holds(known.runs, was.runs) else was, anchor.quote
    for span in spans if not anchors else ():
        covered.add(span.doc_id)
        was = EvidenceSpan(span.doc_id, span.start, span.end, 0, ())
        yield locked.get((span.doc_id, span.start, span.end)) or was, ""
    for doc_id in gold_ids(line):
        if doc_id not in covered:
            yield EvidenceSpan(doc_id, -1, -1, 0, ()), ""


def _holds(runs: Sequence[str], quoted: Sequence[str]) -> bool:
    """Whether locked words are those of a quote, which may cut the first and the last of them."""
    inner = set(quoted[1:-1])
    return tuple(runs) == tuple(quoted) or (bool(inner) and inner <= set(runs) and len(runs) == len(quoted))


class _Renamed:
    """The name that a gold document has now, told by its hash or its sampled shingles."""

    def __init__(self, texts: Mapping[str, str], lock: SetLock | None) -> None:
        self._texts, self._lock = texts, lock
        self.hashes = {doc_id: text_hash(text) for doc_id, text in texts.items()} if lock else {}
        self._by_hash: dict[str, list[str]] = defaultdict(list)
        for doc_id, found in self.hashes.items():
            self._by_hash[found].append(doc_id)
        self._known: dict[str, Located | None] = {}

    def same(self, doc_id: str) -> bool:
        """Whether the document is as it was; True where no lock tells."""
        known = self._lock.documents.get(doc_id) if self._lock else None
        return known is None or known.sha256 == self.hashes.get(doc_id)

    def same_elsewhere(self, doc_id: str) -> Located | None:
        """Another document that now holds the very text that this one held, and did not hold it then."""
        known = self._lock.documents.get(doc_id) if self._lock else None
        names = () if known is None else self._by_hash.get(known.sha256, ())
        there = next((name for name in names if name not in self._twins(doc_id)), None)
        return None if there is None else Located(there, 0, len(self._texts[there]), 1.0)

    def _twins(self, doc_id: str) -> set[str]:
        """Other documents that held its text when the set was frozen."""
        gold = self._lock.documents if self._lock else {}
        alike = {name for name in gold[doc_id].alike or () if name not in gold}
        return alike | {name for name in gold if name != doc_id and gold[name].sha256 == gold[doc_id].sha256}

    def now(self, doc_id: str) -> Located | None:
        """A document of another name that is this one: of those that did not resemble it then the one most alike."""
        if doc_id not in self._known:
            self._known[doc_id] = self._look(doc_id)
        return self._known[doc_id]

    def homes(self, doc_id: str) -> tuple[str, ...]:
        """The names under which to look for a document: its own while half of it is there, else where most of it is."""
        if self.same(doc_id) or doc_id in self._shares.get(doc_id, {}):
            return (doc_id,)
        there = self.now(doc_id)
        return (doc_id,) if there is None else (there.doc_id, doc_id)

    @cached_property
    def settled(self) -> frozenset[str]:
        """Documents that the lock knows and that are as they were."""
        return frozenset(name for name in (self._lock.documents if self._lock else ()) if self.same(name))

    @cached_property
    def _shares(self) -> dict[str, dict[str, float]]:
        """Gold document that is not as it was -> documents that hold half of it or more -> what share."""
        gold = self._lock.documents if self._lock else {}
        return holders({name: one.runs for name, one in gold.items() if name not in self.settled}, self._texts)

    def _look(self, doc_id: str) -> Located | None:
        known = self._lock.documents.get(doc_id) if self._lock else None
        if known is None:
            return None
        if same := self.same_elsewhere(doc_id):
            return same
        past = {doc_id, *self.settled, *(known.alike or ())}
        shares = {name: share for name, share in self._shares.get(doc_id, {}).items() if name not in past}
        best = max(shares, key=lambda name: shares[name], default=None)
        return None if best is None else Located(best, 0, len(self._texts[best]), shares[best])


def _example(
    line: SetLine,
    wanted: Sequence[tuple[EvidenceSpan, str]],
    texts: Mapping[str, str],
    locator: Locator,
    names: _Renamed,
) -> ExampleState:
    if not wanted:
        return ExampleState(line, "no labels")
    found = tuple(_uncut(_stretch(one, text, texts, locator, names), texts) for one, text in wanted)
    worst = max((one.state for one in found), key=ORDER.index)
    if all(one.state == "gone" and one.was.doc_id not in texts for one in found):
        worst = "unwinnable"
    return ExampleState(line, worst, found)


def _stretch(
    one: EvidenceSpan, then: str, texts: Mapping[str, str], locator: Locator, names: _Renamed
) -> EvidenceState:
    """One stretch of evidence, or a whole document, now."""
    text = texts.get(one.doc_id)
    if not one.runs:  # a whole document, or a span whose words nobody kept
        if text is None:
            renamed = names.now(one.doc_id)
            return EvidenceState(one, "moved" if renamed else "gone", renamed)
        if one.start == -1 and names.homes(one.doc_id)[0] != one.doc_id:
            return EvidenceState(one, "moved", names.now(one.doc_id))
        inside = one.start == -1 or 0 <= one.start < one.end <= len(text)
        state: Freshness = "intact" if inside and names.same(one.doc_id) else "changed" if inside else "gone"
        start, end = (0, len(text)) if one.start == -1 else (one.start, one.end)
        return EvidenceState(one, state, Located(one.doc_id, start, end, 1.0) if inside else None)
    for home in dict.fromkeys((one.doc_id, *names.homes(one.doc_id))):  # renamed, and else as it was
        there = texts.get(home, "")
        if _same_words(one, there) and locator.stands(one, home):
            state = "intact" if home == one.doc_id else "moved"
            return EvidenceState(one, state, Located(home, one.start, one.end, 1.0), then, there[one.start : one.end])
    now = locator.find(one, names.homes(one.doc_id), names.settled)
    if now is None:
        return EvidenceState(one, "gone", None, then)
    there = texts[now.doc_id]
    if not one.around and not one.short and there.count(then) == 1:  # a quote may cut words, a run does not
        start = there.find(then)
        return EvidenceState(one, "moved", Located(now.doc_id, start, start + len(then), 1.0), then, then)
    if now.sure and _same_words(replace(one, start=now.start, end=now.end), there):
        unmoved = (now.doc_id, now.start, now.end) == (one.doc_id, one.start, one.end)
        return EvidenceState(one, "intact" if unmoved else "moved", now, then, there[now.start : now.end])
    start, end = whole_words(there, now.start, now.end)
    return EvidenceState(one, "changed", replace(now, start=start, end=end), then, there[start:end])


def _uncut(found: EvidenceState, texts: Mapping[str, str]) -> EvidenceState:
    """A stretch that stands where it stood, with the words that it cuts, if any; one that moved keeps its edges."""
    now = found.now
    if now is None or found.was.start < 0 or found.state != "intact":
        return found
    text = texts[now.doc_id]
    start, end = whole_words(text, now.start, now.end)
    if (start, end) == (now.start, now.end):
        return found
    cut = tuple(cut_words(text, now.start, now.end))
    return replace(found, whole=replace(now, start=start, end=end), whole_text=text[start:end], cut=cut)


def gone_evidence(found: SetFreshness) -> dict[str, str]:
    """query_id -> what of its evidence stands nowhere, of the examples that are gone or unwinnable."""
    return {
        one.line.example.query_id: "; ".join(_told(stretch) for stretch in one.evidence if stretch.state == "gone")
        for one in found.examples
        if one.state in ("gone", "unwinnable")
    }


def _told(one: EvidenceState) -> str:
    words = " ".join(one.then_text.split())
    quote = f" “{words[:QUOTED]}{' …' if words[QUOTED:] else ''}”" if words else ""
    return f"{one.was.doc_id!r} [{one.was.start}, {one.was.end}){quote} is gone"


def _same_words(one: EvidenceSpan, text: str) -> bool:
    """Whether a document's text holds the words of evidence where it says: those of its quote, or whole ones."""
    inside = 0 <= one.start < one.end <= len(text)
    if not inside:
        return False
    by_quote = evidence_of("", 0, 0, text[one.start : one.end])
    if by_quote.runs == one.runs and not one.around:
        return True
    whole = evidence_in(text, "", one.start, one.end)
    return whole.runs == one.runs and min(whole.lead, 0) == min(one.lead, 0) and min(whole.tail, 0) == min(one.tail, 0)


def mended(found: SetFile, fresh: SetFreshness) -> SetFile:
    """The set with evidence where and as it stands now, cut words whole; what changed or is gone makes a draft.

    The note of the draft keeps quotes that changed, so that whoever marks it accepts the words that stand there now.
    """
    by_id = {one.line.example.query_id: one for one in fresh.examples}

    def mend(line: SetLine) -> SetLine:
        state = by_id.get(line.example.query_id)
        if state is None:
            return line
        there = [one for one in state.evidence if one.state == "moved" or one.whole is not None or _reworded(one)]
        put = _moved(line, there) if there else line
        if state.state in ("intact", "moved", "no labels"):
            return put
        quotes = (one.then_text for one in there if _reworded(one) and one.then_text not in ("", one.now_text))
        note = "; was ".join([f"evidence {state.state}", *(f"“{quote}”" for quote in quotes)])
        return put.curated(replace(put.curation, state="draft", note=note))

    return found.map(mend)


def _reworded(one: EvidenceState) -> bool:
    """Whether a stretch changed and its words now are known."""
    return one.state == "changed" and one.now is not None and bool(one.now_text)


def _moved(line: SetLine, evidence: Sequence[EvidenceState]) -> SetLine:
    left = [one for one in evidence if one.state == "moved" or _reworded(one)]
    renamed = {one.was.doc_id: one.now.doc_id for one in left if one.now is not None}
    places = {(one.was.doc_id, one.was.start, one.was.end): one.whole or one.now for one in evidence}
    quotes = {
        (one.was.doc_id, one.was.start, one.was.end): one.whole_text or one.now_text
        for one in evidence
        if one.whole is not None or _reworded(one)
    }

    def span_of(span: Span) -> Span:
        now = places.get((span.doc_id, span.start, span.end))
        return Span(now.doc_id, now.start, now.end) if now is not None else span

    def anchor_of(anchor: Anchor) -> Anchor:
        place = (anchor.doc_id, anchor.start, anchor.end)
        now = places.get(place)
        return Anchor(now.doc_id, now.start, now.end, quotes.get(place, anchor.quote)) if now is not None else anchor

    example, curation = line.example, line.curation
    relevant = example.relevant and tuple(
        Relevant(tuple(renamed.get(doc_id, doc_id) for doc_id in one.doc_ids), one.grade) for one in example.relevant
    )
    spans = example.gold_spans and tuple(map(span_of, example.gold_spans))
    anchors = tuple(map(anchor_of, curation.anchors))
    return line.changed(replace(example, relevant=relevant, gold_spans=spans), replace(curation, anchors=anchors))
