"""The test server in a process of its own, for benches: it counts what comes in and answers each tool validly.

It prints its address. A line on its input is answered with one line of JSON: requests, characters of their prompts,
how many of these no cache of prefixes can serve, the share that lies in common prefixes, and texts embedded since the
last such line. It ends with its input.

    python bench/judge_server.py --latency 0.1
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from peer_replies import reply
from shared_prefix import SharedPrefix

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # tests/ is in no wheel

from tests.loopback.server import FaultyServer, Request


class Counting(list[Request]):
    """Counts requests instead of keeping them: 60,000 of them would fill the memory."""

    def __init__(self) -> None:
        super().__init__()
        self.told: dict[str, float] = {}
        self.reset()

    def append(self, request: Request) -> None:
        """Takes in one request."""
        if request.path.endswith("/embeddings"):
            self.told["embeddings"] += 1
            return
        self.told["calls"] += 1
        prompt = "".join(_text(message.get("content")) for message in request.body.get("messages", []))
        self.told["characters"] += len(prompt)
        self.prefixes.add(prompt)

    def reset(self) -> dict[str, float]:
        """The counts, which then begin anew."""
        told, self.told = self.told, {"calls": 0, "embeddings": 0, "characters": 0}
        if told:
            told |= {"fresh": self.prefixes.fresh, "shared": self.prefixes.share}
        self.prefixes = SharedPrefix()
        return told


def _text(content: Any) -> str:
    return "".join(part.get("text", "") for part in content) if isinstance(content, list) else content or ""


def main() -> None:
    """Serves until its input ends."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before every answer")
    counting = Counting()
    with FaultyServer(latency=parser.parse_args().latency, reply=reply, requests=counting) as server:
        print(server.url, flush=True)
        for _ in sys.stdin:
            print(json.dumps(counting.reset()), flush=True)


if __name__ == "__main__":
    main()
