"""A project built with Haystack, from its first command to its traffic."""

from __future__ import annotations

from typing import ClassVar

import pytest
from tests.projects.journey_contract import JourneyContract


@pytest.mark.prove
class TestHaystack(JourneyContract):
    framework: ClassVar[str] = "haystack"
    name: ClassVar[str] = "pipe"
    asks: ClassVar[str] = (
        'NAME.run({"words": {"query": question}, "model": {"query": question}})["model"]["replies"][0]'
    )
