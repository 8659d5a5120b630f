"""What every store does about baselines and notes about runs. `tests/store` runs each on every back end."""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Pointer:
    """One line in the history of a baseline: from then on the name meant this run.

    Attributes:
        name: of the baseline.
        run_id: of the run; "" = from then on the name meant none.
        run_name: what people call the run; it stays when the run goes.
        at: when, ISO 8601; filled in by the store.
        who: set it.
        git: the commit that the run was made at.
        branch: the branch that it stands for; "" where none was known.
        tag: such as v1.2; "" for none.
        note: in the words of whoever set it.
    """

    name: str
    run_id: str
    run_name: str = ""
    at: str = ""
    who: str = ""
    git: str = ""
    branch: str = ""
    tag: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """What somebody wrote about a run.

    Attributes:
        text: in their words.
        at: when, ISO 8601; filled in by the store.
        who: wrote it.
    """

    text: str
    at: str = ""
    who: str = ""


class Baselines(Protocol):
    """Names that stand for runs. Nothing is overwritten: the last line of a name counts, the earlier ones stay."""

    def set(self, pointer: Pointer) -> Pointer:
        """Lets a name mean a run from now on; returns the line as stored.

        Raises:
            UnknownName: no such run.
        """

    def remove(self, name: str, who: str = "", note: str = "") -> Pointer:
        """Lets a name mean nothing from now on; returns what it meant.

        Raises:
            UnknownName: no such baseline.
        """

    def get(self, name: str) -> Pointer | None:
        """What a name means; None for nothing."""

    def list(self) -> builtins.list[Pointer]:
        """What every name means, by name."""

    def history(self, name: str | None = None) -> builtins.list[Pointer]:
        """Every line of a name, or of all, the newest first."""


class RunLog(Protocol):
    """What the log of evaluations says beside what runs and scores do."""

    def note(self, run_id: str, note: Note) -> Note:
        """Keeps a note about a run in place of an earlier one; returns it as stored. An empty text removes it."""

    def notes(self) -> dict[str, Note]:
        """Run id -> its note, of the runs that have one."""

    def judged_at(self, run_id: str, judge_id: str | None) -> str:
        """When a judge, or nobody, last scored a run, ISO 8601; "" when never."""
