"""What is done at certain times: one occurrence of a job, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

JobState = Literal["noted", "running", "pass", "fail", "not_enough_data", "done", "error"]


@dataclass(frozen=True, slots=True)
class Job:
    """One occurrence of a job."""

    name: str  #: of the job, such as nightly.
    due: float  #: when it should begin, seconds since 1970; with the name it says which occurrence is meant.
    #: noted: the job became known then, nothing was run; running; the gate's verdict; done: it ended and no gate was
    #: asked; error: it could not be done.
    state: JobState
    began: float  #: when it was last taken up, seconds since 1970.
    beat: float  #: when whoever does it last said so.
    ended: float | None = None  #: when it was over; None = it is not.
    attempts: int = 1  #: how often it was taken up; more than 1 where whoever did it was killed.
    why: str = ""  #: what made it due, such as "corpus changed"; "" = its time.
    run_id: str = ""  #: of the run that it made; "" = none.
    said: str = ""  #: the outcome in one sentence.
