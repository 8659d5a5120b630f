"""Own wording of a judge's prompts: the user says what to look for; marks, numbers and the reply's form stay ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from typing import Any

from ragauge.data.config.prompts import read_prompts
from ragauge.data.identity import digest
from ragauge.errors import UnknownName, UsageError
from ragauge.judging.model.prompt_blocks import DATA, Block, fences

HANDED = "given:"     # before the hash of templates that were handed over
_GIVEN: dict[str, Mapping[str, Any]] = {}


@dataclass(frozen=True, slots=True)
class Prompt:
    """One kind of request, and how it is worded.

    Attributes:
        name: that own wording is given under.
        usual: the instructions where no wording of their own is given.
        form: what a reply holds, without saying what deserves which verdict; said beside own wording.
        slots: where its texts go, each a block between marks; named as the blocks, with _ for blanks.
    """

    name: str
    usual: str
    form: str
    slots: tuple[str, ...]

    def messages(self, blocks: Sequence[Block], own: str | None = None) -> tuple[str, str]:
        """The system's and the user's text.

        Args:
            blocks: the texts to judge; the same marks stand around them in both wordings.
            own: a checked template; None = our wording.
        """
        shown = fences(blocks)
        if own is None:
            return self.usual, "\n".join(shown)
        texts = {slot_of(block): text for block, text in zip(blocks, shown, strict=True)}
        filled = "".join(
            literal + ("" if slot is None else texts.get(slot, "")) for literal, slot, _, _ in Formatter().parse(own)
        )
        return f"{DATA}\n{self.form}\nReply with JSON only.", filled.rstrip()

    def check(self, template: str) -> None:
        """Refuses a template in which a slot is missing, unknown or twice.

        Raises:
            UnknownName: a slot that this prompt does not have.
            UsageError: anything else, with what to write.
        """
        shown = ", ".join(f"{{{slot}}}" for slot in self.slots)
        hint = "A brace that is text is written twice: {{ or }}."
        try:
            parts = [part[1:] for part in Formatter().parse(template) if part[1] is not None]
        except ValueError as error:
            raise UsageError(f"its braces cannot be read: {error}. Slots of {self.name}: {shown}. {hint}") from None
        found = [slot for slot, _, _ in parts]
        for slot, form, conversion in parts:
            if slot not in self.slots:
                raise UnknownName(f"slot of {self.name}", slot or "", self.slots, hint)
            if form or conversion:
                raise UsageError(f"the slot {slot} takes nothing beside its name. Write {{{slot}}}. {hint}")
            if found.count(slot) > 1:
                raise UsageError(f"the slot {{{slot}}} stands twice: its texts would be sent twice. Remove one.")
        for slot in self.slots:
            if slot not in found:
                raise UsageError(f"the slot {{{slot}}} is missing: the judge would not see it. It needs {shown}.")


def slot_of(block: Block) -> str:
    """The slot that a block goes to."""
    return block.name.replace(" ", "_")


def given(templates: Mapping[str, Any]) -> str:
    """What stands in a judge's spec for templates that Python code hands over: a hash of them, for this process."""
    found = {name: str(one) if isinstance(one, Path) else one for name, one in templates.items()}
    name = f"{HANDED}{digest(found)[:8]}"
    _GIVEN[name] = found
    return name


def worded(source: str, prompts: Mapping[str, Prompt]) -> dict[str, str]:
    """The templates that a spec names, each checked: a path, or what `given` named.

    Raises:
        DataError: a file or template that cannot be used, with its line.
        UsageError: templates that another process was given.
    """
    if source.startswith(HANDED) and source not in _GIVEN:
        raise UsageError(
            f"{source} stands for prompts that Python code handed over. Hand them over again, or write them to a file: "
            "--judge MODEL,prompts=prompts.yaml."
        )

    def check(name: str, template: str) -> None:
        if name not in prompts:
            raise UnknownName("prompt of a judge", name, prompts)
        prompts[name].check(template)

    return read_prompts(_GIVEN[source] if source in _GIVEN else Path(source), check)
