"""What a system is: something that answers questions, from its own retrieval or from passages that it is handed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ragauge.data.example import Turn
from ragauge.data.response import Passage, Response
from ragauge.data.run import Variant
from ragauge.errors import UnknownName, UsageError

OWN: frozenset[Variant] = frozenset({"own"})
EVERY: frozenset[Variant] = frozenset({"own", "oracle", "closed_book", "replayed"})
GIVEN: Mapping[Variant, str] = {
    "oracle": "the labelled passages", "closed_book": "no passages", "replayed": "another run's passages",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Question:
    """All that a system sees of an example: never a label.

    Attributes:
        query_id: identity within the set.
        query: the question.
        history: earlier turns of the conversation.
        repeat: 0 for the first time that it is asked, 1 for the second ...
    """

    query_id: str
    query: str
    history: tuple[Turn, ...] = ()
    repeat: int = 0


class System(ABC):
    """A RAG system as ragauge calls it. An adapter subclasses this and supplies `respond`.

    Args:
        name: what the run records as the system; the same name and config continue a stopped run.
        config: its settings, for the record: JSON types, no secrets.
        variants: what it can do beside "own".

    Attributes:
        secrets: texts that must not be stored or shown, such as the values of headers.
        address: URL that is called for an answer, of a service or of a model; "" where it is not known. Whoever else
            calls that endpoint shares its limits.
        measured: False where responses bring their latency, as recorded ones do; else the caller measures the total.
        implement: what to write so that the variants work that it cannot do; said in the error.
    """

    implement: ClassVar[str] = "a system whose generator takes passages"

    def __init__(
        self, name: str, config: Mapping[str, Any] | None = None, variants: Collection[Variant] = OWN
    ) -> None:
        self.name = name
        self.config: Mapping[str, Any] = dict(config or {})
        self.variants: frozenset[Variant] = frozenset(variants) | OWN
        self.secrets: tuple[str, ...] = ()
        self.address = ""
        self.measured = True

    @abstractmethod
    async def respond(self, question: Question, passages: Sequence[Passage] | None = None) -> Response:
        """The response to a question.

        Runs on the caller's event loop, many at a time; blocking work belongs into `systems.threads.Threads`.

        Args:
            question: what is asked.
            passages: None = the system retrieves for itself; otherwise its generator answers from these, () = from
                none. Handed only to a system that says it can: see `variants`.

        Returns:
            Its response; `systems.returned.response_of` makes one of nearly everything.

        Raises:
            SystemTrouble: it brought none, and what kind of failure that is. Any other exception is one of kind
                "exception", or what `troubles.trouble_of` knows it for.
        """

    async def close(self) -> None:  # noqa: B027 - most hold nothing
        """Gives back what it holds; on the loop that it was used on. Nothing by default."""

    def check(self, variant: Variant) -> None:
        """Refuses a variant that the system cannot do.

        Raises:
            UsageError: what to implement.
        """
        if variant not in self.variants:
            raise UsageError(
                f"{self.name} cannot be asked with {GIVEN.get(variant, variant)} ({variant}): it retrieves for itself. "
                f"Give it {self.implement}."
            )


def known_settings(settings: Mapping[str, Any], known: Collection[str], whose: str) -> None:
    """Refuses a setting that nothing reads.

    Raises:
        UnknownName: with the nearest.
    """
    for name in settings:
        if name not in known:
            hint = "What is only to be recorded goes into config." if "config" in known else ""
            raise UnknownName(f"setting of {whose}", str(name), known, hint)


def mapping_of(settings: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A setting that holds names and values; empty where it is not there.

    Raises:
        UsageError: it is something else.
    """
    found = settings.get(name)
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        raise UsageError(f"{name}: expected names with values, such as {name}: {{k: 8}}, got {found!r}.")
    return found
