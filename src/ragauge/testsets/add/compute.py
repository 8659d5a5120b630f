"""Examples of a run on their way into a set, and stratified samples that weigh as the whole does."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeVar

from ragauge.core.curation import Curation, Origin, State
from ragauge.core.errors import UsageError
from ragauge.core.example import LABELS, Example
from ragauge.core.identity import normalize_text
from ragauge.scores.label_sample import sample_by_size
from ragauge.testsets.set_file import SetFile, SetLine, build_line

Name = TypeVar("Name", bound=Hashable)


class StratumSample(NamedTuple):
    """One stratum: how many examples it has, what they weigh together, how many were drawn."""

    examples: int
    weight: float
    drawn: int


@dataclass(frozen=True)
class StratifiedSample:
    """What was drawn."""

    #: name of each example drawn -> how much of its stratum's weight it stands for, above 0.
    weights: Mapping[str, float]
    strata: Mapping[str, StratumSample]  #: name -> what it has and gave, also where it gave nothing.


def sample_strata(strata: Mapping[str, Mapping[str, float]], n: int, seed: int = 7) -> StratifiedSample:
    """Draws from each stratum in proportion to its weight, so that plain means of the sample estimate weighted means.

    A stratum of weight W gets nW/ΣW of the n places, by largest remainders, and no more than it has examples. Within
    it an example of weight w is drawn with chance π = kw/W of k places, by systematic sampling in random order, and
    stands for w/π. One that would exceed 1 is drawn surely. A stratum too light for one place gives nothing.

    Args:
        strata: stratum -> example -> weight, above 0. Equal names and seeds are drawn alike from any whole.
        n: how many; all where there are fewer.
        seed: of the order.

    Raises:
        UsageError: n is less than 1, or there is nothing to draw.

    Source: Särndal, Swensson and Wretman (1992), Model Assisted Survey Sampling, sections 3.6 and 3.7.

    >>> sample_strata({"a": {"q1": 1.0, "q2": 1.0, "q3": 1.0, "q4": 1.0}, "b": {"q5": 1.0, "q6": 1.0}}, 3).strata["b"]
    StratumSample(examples=2, weight=2.0, drawn=1)
    """
    if n < 1 or not any(strata.values()):
        n_examples = sum(map(len, strata.values()))
        raise UsageError(f"the sample size and the number of examples must be at least 1, got {n} of {n_examples}.")
    sizes = _allocate_places({name: members for name, members in strata.items() if members}, n)
    weights: dict[str, float] = {}
    for name, members in strata.items():
        if not sizes.get(name, 0):
            continue
        ordered_names = sorted(members, key=lambda example_id: (_hash_name(seed, example_id), example_id))
        start = int.from_bytes(_hash_name(seed, f"start {name}")[:8], "big") / 2**64
        weights_by_index = {index: members[example_id] for index, example_id in enumerate(ordered_names)}
        inclusion, sampled = sample_by_size(range(len(ordered_names)), sizes[name], weights_by_index, start)
        weights |= {ordered_names[index]: members[ordered_names[index]] / inclusion[index] for index in sampled}
    stratum_samples = {
        name: StratumSample(len(members), sum(members.values()), sizes.get(name, 0)) for name, members in strata.items()
    }
    return StratifiedSample(weights, stratum_samples)


def _allocate_places(strata: Mapping[str, Mapping[str, float]], n: int) -> dict[str, int]:
    """How many each stratum gives."""
    sizes: dict[str, int] = {}
    open_ = {name: sum(members.values()) for name, members in strata.items()}
    while open_:
        allocated = allocate_by_remainder(open_, n - sum(sizes.values()))
        full = {name: len(strata[name]) for name, size in allocated.items() if size >= len(strata[name])}
        if not full:
            return sizes | allocated
        sizes |= full
        open_ = {name: weight for name, weight in open_.items() if name not in full}
    return sizes


def allocate_by_remainder(shares: Mapping[Name, float], n: int) -> dict[Name, int]:
    """How many of n each gets; of equal remainders the earlier name's counts first.

    >>> allocate_by_remainder({"single": 2, "temporal": 1}, 4)
    {'single': 3, 'temporal': 1}
    """
    total = sum(shares.values())
    exact = {name: n * share / total for name, share in shares.items()}
    counts = {name: int(size) for name, size in exact.items()}
    order = sorted(exact, key=lambda name: counts[name] - exact[name])
    for name in order[: n - sum(counts.values())]:
        counts[name] += 1
    return counts


def _hash_name(seed: int, name: str) -> bytes:
    return hashlib.sha256(f"set draw\0{seed}\0{name}".encode("utf-8", "surrogatepass")).digest()


METHOD = "run"


@dataclass(frozen=True)
class SelectedExample:
    """An example of a run."""

    example: Example  #: the question and what is known about it.
    finding: str = ""  #: what the run found, such as its cause; "" = nothing.
    weight: float | None = None  #: how many answers of the run it stands for; None = it was not drawn.
    #: its `meta` in the set that the run was over, which the store does not keep; None = not found.
    known: Curation | None = None


@dataclass(frozen=True)
class RunSource:
    """Where they come from, and what all of them get."""

    run_id: str  #: of the run.
    run: str  #: its name.
    tags: frozenset[str] = frozenset()  #: that each example gets.
    by: str = ""  #: who adds them.
    #: when, ISO time; now by default.
    at: str = field(default_factory=lambda: datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"))


@dataclass(frozen=True)
class AddedExamples:
    """What a set gets of a run."""

    run_id: str  #: of the run.
    run: str  #: its name.
    lines: tuple[SetLine, ...]  #: those added, in the order of the run.
    there: Mapping[str, str]  #: query_id in the run -> query_id in the set, of questions that the set asks already.
    untagged: tuple[str, ...] = ()  #: of those in the set, who lack a tag that was wanted.
    #: of a sample, value of the segment -> what it has and gave.
    strata: Mapping[str, StratumSample] = field(default_factory=dict)
    #: query_id -> its state in the set that the run was over, of those added that were found there.
    states: Mapping[str, State] = field(default_factory=dict)

    @property
    def unquoted_ids(self) -> list[str]:
        """query_ids of those added with gold spans, but without the quotes that stand there."""
        return [line.example.query_id for line in self.lines if line.example.gold_spans and not line.curation.anchors]

    @property
    def unlabeled_ids(self) -> list[str]:
        """query_ids of those added of whose answer nothing is known: nothing but judges can score them."""
        examples = (entry.example for entry in self.lines)
        return [entry.query_id for entry in examples if all(getattr(entry, label) in (None, ()) for label in LABELS)]


def find_additions(set_file: SetFile, taken: Sequence[SelectedExample], source: RunSource) -> AddedExamples:
    """Which examples a set lacks, as its lines: drafts whose meta says which run they come from.

    One that the set asks already is left as it stands, under whatever id and in whatever state.

    Args:
        set_file: the set; without a line for one that is not there yet.
        taken: examples of one run, each once.
        source: the run.

    Raises:
        UsageError: a query_id that the set has for another question.
    """
    by_question = {_build_question_key(line.example): line.example for line in set_file.lines}
    lines, existing_ids, states = [], {}, {}
    for selected in taken:
        query_id = selected.example.query_id
        if (same := by_question.get(_build_question_key(selected.example))) is not None:
            existing_ids[query_id] = same.query_id
        elif (other := set_file.by_id.get(query_id)) is not None:
            message = f"{query_id!r} asks {other.example.query[:80]!r} in the set, but in the run "
            hint = "Nothing was added. Change one of the two query_ids."
            raise UsageError(f"{set_file.name}: {message}{selected.example.query[:80]!r}. {hint}")
        else:
            lines.append(_build_line(selected, source))
            if selected.known is not None:
                states[query_id] = selected.known.state
    untagged = tuple(name for name in existing_ids.values() if not source.tags <= set_file.by_id[name].example.tags)
    return AddedExamples(source.run_id, source.run, tuple(lines), existing_ids, untagged, states=states)


def find_curations(set_file: SetFile, examples: Collection[Example]) -> dict[str, Curation]:
    """query_id -> `meta` of the examples that a set has with the same question and the same labels.

    Args:
        set_file: the set that a run was over.
        examples: of the run.
    """
    pairs = ((example, set_file.by_id.get(example.query_id)) for example in examples)
    return {
        example.query_id: line.curation
        for example, line in pairs
        if line is not None and _build_label_key(line.example) == _build_label_key(example)
    }


def _build_label_key(example: Example) -> object:
    """What its quotes hang on."""
    return _build_question_key(example), example.gold_spans, example.relevant


def _build_question_key(example: Example) -> object:
    """What tells a question from another: its words, and what was said before."""
    return normalize_text(example.query), example.history


def _build_line(selected: SelectedExample, source: RunSource) -> SetLine:
    curation = selected.known or Curation()
    written = curation.origin or Origin(METHOD, type=selected.example.segments.get("type", ""))
    origin = replace(written, method=METHOD, run=source.run_id, weight=selected.weight)
    note = f"run {source.run}: {selected.finding}" if selected.finding else f"run {source.run}"
    example = replace(selected.example, tags=selected.example.tags | source.tags)
    return build_line(example, Curation(by=source.by, at=source.at, note=note, origin=origin, anchors=curation.anchors))
