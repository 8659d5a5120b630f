"""A project built with LlamaIndex, from its first command to its traffic."""

from __future__ import annotations

from typing import ClassVar

import pytest
from tests.projects.journey_contract import JourneyContract


@pytest.mark.prove
class TestLlamaIndex(JourneyContract):
    framework: ClassVar[str] = "llamaindex"
    name: ClassVar[str] = "engine"
    asks: ClassVar[str] = "str(NAME.query(question))"
