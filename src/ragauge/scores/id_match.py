"""How far labelled ids are found among retrieved ones: ids written in two ways make recall silently 0."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import nsmallest
from typing import TYPE_CHECKING, Literal

from ragauge.scores.gather import Visit

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Kind = Literal["document", "chunk"]
MAX_WAITING = 65_536  # hashes gathered before equal ones are put together
MAX_SHOWN = 512  # ids kept as text, to show one that the other side does not have
MIN_LABELED = 5  # labelled ids from which on not to find one of them says that they are written differently
TEXT_PREFIX = "text:"  # how the id of a passage begins that is known by its text alone


@dataclass(frozen=True, slots=True)
class IdMatch:
    """How far labelled ids, of documents or of chunks, are found among retrieved ones."""

    labelled: int  #: different labelled ones.
    matched: int  #: those that some response retrieved.
    example_labelled: str = ""  #: a labelled id that none did, the first of the alphabet where there are few.
    example_retrieved: str = ""  #: a retrieved id that is not labelled, likewise.
    respelled: int = 0  #: labelled ids that none retrieved, but for case and the marks between letters and digits.
    #: such an id and the retrieved one, where both are known; else two empty texts.
    example_respelled: tuple[str, str] = ("", "")
    kind: Kind = "document"  #: document or chunk.
    #: the ids of the two sides are not even made alike: letters, digits and marks stand otherwise in all.
    differ: bool = False

    @property
    def apart(self) -> bool:
        """Whether no label can have been met: not one labelled id came back, and that is no matter of a few misses."""
        matching = self.matched or not self.example_retrieved or not self.labelled
        return not matching and (self.differ or bool(self.respelled) or self.labelled >= MIN_LABELED)

    @property
    def is_by_text(self) -> bool:
        """Whether labels are texts."""
        return self.example_labelled.startswith(TEXT_PREFIX)

    @property
    def shown(self) -> tuple[str, str]:
        """A labelled and a retrieved id, the same but for the spelling where there are such."""
        return self.example_respelled if self.example_respelled[0] else (self.example_labelled, self.example_retrieved)

    def warnings(self) -> Iterator[str]:
        """What to say of ids that do not meet: with counts, and an example of both sides."""
        silent = "recall is silently 0. Map the ids to each other first."
        if self.respelled:
            labelled, retrieved = self.example_respelled
            such = f" (labeled {labelled!r}, retrieved {retrieved!r})" if labelled else ""
            yield (
                f"{self.respelled:,} of {self.labelled:,} labeled {self.kind} ids are retrieved only under "
                f"another spelling{such}: {self.matched:,} match exactly, and for the others {silent}"
            )
        elif 2 * self.matched < self.labelled and (self.matched or self.example_retrieved):  # else nothing came
            yield (
                f"Only {self.matched} of {self.labelled} labeled {self.kind} ids are among those retrieved. "
                f"If the ids are written differently (labeled {self.example_labelled!r}, retrieved "
                f"{self.example_retrieved!r}), {silent}"
            )


class IdGatherer:
    """Compares the labelled ids (grade above 0) of the responses with everything that those with labels retrieved.

    Args:
        kind: document or chunk.
    """

    def __init__(self, kind: Kind = "document") -> None:
        self._kind: Kind = kind
        self._labelled, self._retrieved = _Ids(), _Ids()
        self._bare_labelled, self._bare_retrieved = _Ids(), _Ids()

    def add(self, visit: Visit) -> None:
        """Takes in the ids of one response and its example."""
        labels = visit.example.relevant if self._kind == "document" else visit.example.relevant_chunks
        if labels is None:  # what was retrieved for it meets no label
            return
        for item in labels:
            if item.grade > 0:
                self._labelled.add(item.doc_ids)
                self._bare_labelled.add(map(normalize_id, item.doc_ids))
        for passages in (visit.response.passages, visit.response.candidates):
            for passage in passages or ():
                retrieved_id = passage.doc_id if self._kind == "document" else passage.passage_id
                self._retrieved.add((retrieved_id,))
                self._bare_retrieved.add((normalize_id(retrieved_id),))

    def found(self) -> IdMatch:
        """The comparison."""
        import numpy as np

        labelled, retrieved = self._labelled.list_distinct(), self._retrieved.list_distinct()
        matched = int(np.isin(labelled, retrieved, assume_unique=True).sum())
        bare_retrieved = self._bare_retrieved.list_distinct()
        respelled = (
            int(np.isin(self._bare_labelled.list_distinct(), bare_retrieved, assume_unique=True).sum()) - matched
        )
        id_shapes = [set(map(find_id_shape, ids.names())) for ids in (self._labelled, self._retrieved)]
        differ = not matched and all(id_shapes) and id_shapes[0].isdisjoint(id_shapes[1])
        return IdMatch(
            int(labelled.size),
            matched,
            self._labelled.find_first_outside(retrieved),
            self._retrieved.find_first_outside(labelled),
            max(0, respelled),
            self._find_respelled_pair(retrieved) if respelled > 0 else ("", ""),
            self._kind,
            differ,
        )

    def _find_respelled_pair(self, retrieved: npt.NDArray[np.int64]) -> tuple[str, str]:
        """A labelled id that was retrieved under another spelling, and that; of those kept as text."""
        names_by_normalized = {normalize_id(name): name for name in self._retrieved.names()}
        outside = (
            doc_id for doc_id in self._labelled.list_outside(retrieved) if normalize_id(doc_id) in names_by_normalized
        )
        first = next(outside, "")
        return (first, names_by_normalized[normalize_id(first)]) if first else ("", "")


def normalize_id(doc_id: str) -> str:
    """An id without case and without the marks between its letters and digits; as it is where nothing else is in it.

    >>> (normalize_id("Manual.pdf#3"), normalize_id("manual_pdf-3"), normalize_id("a-12") == normalize_id("a-1-2"),
    ...     normalize_id("##"))
    ('manual pdf 3', 'manual pdf 3', False, '##')
    """
    return " ".join(re.findall(r"[^\W_]+", doc_id.casefold())) or doc_id


def find_id_shape(doc_id: str) -> str:
    """How an id is made: a for letters, 0 for digits, and its marks.

    >>> find_id_shape("returns.md"), find_id_shape("chunk-17"), find_id_shape("D3") == find_id_shape("doc12")
    ('a.a', 'a-0', True)
    """
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "0", doc_id))


class _Ids:
    """Different ids, by 64 bits of hash: eight bytes each, and the first few of the alphabet as text."""

    def __init__(self) -> None:
        self._waiting = array("q")
        self._sorted: npt.NDArray[np.int64] | None = None
        self._first: set[str] = set()
        self._last_kept: str | None = None

    def add(self, ids: Iterable[str]) -> None:
        """Takes in ids, new or not."""
        for doc_id in ids:
            self._waiting.append(hash(doc_id))
            if self._last_kept is None or doc_id < self._last_kept:
                self._first.add(doc_id)
        if len(self._first) > 2 * MAX_SHOWN:
            smallest = nsmallest(MAX_SHOWN, self._first)
            self._first, self._last_kept = set(smallest), smallest[-1]
        if len(self._waiting) > MAX_WAITING:
            self._sorted = self.list_distinct()

    def list_distinct(self) -> npt.NDArray[np.int64]:
        """Their hashes, ascending, each once."""
        import numpy as np

        waiting = np.frombuffer(self._waiting, dtype=np.int64) if self._waiting else np.empty(0, dtype=np.int64)
        distinct_ids = np.unique(waiting if self._sorted is None else np.concatenate([self._sorted, waiting]))
        self._sorted, self._waiting = distinct_ids, array("q")
        return distinct_ids

    def find_first_outside(self, hashes: npt.NDArray[np.int64]) -> str:
        """The first id that is not among these hashes, of those kept as text; "" when there is none."""
        return next(self.list_outside(hashes), "")

    def list_outside(self, hashes: npt.NDArray[np.int64]) -> Iterator[str]:
        """The ids that are not among these hashes, of those kept as text, in order."""
        import numpy as np

        names = self.names()
        outside = ~np.isin(np.fromiter((hash(name) for name in names), dtype=np.int64, count=len(names)), hashes)
        return (name for name, is_outside in zip(names, outside, strict=True) if is_outside)

    def names(self) -> list[str]:
        """The ids that are kept as text, in order."""
        return sorted(self._first)
