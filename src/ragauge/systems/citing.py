"""The setting that says an answer's numbers are citations: [1], [2, 3]."""

from __future__ import annotations

from ragauge.errors import UnknownName

NUMBERED = "numbered"


def checked(setting: object) -> bool:
    """Whether the setting `citations` asks for numbers to be read in every answer, also where an answer has none.

    Raises:
        UnknownName: another value.
    """
    if setting not in (None, NUMBERED):
        raise UnknownName("way to read citations", str(setting), [NUMBERED])
    return setting == NUMBERED
