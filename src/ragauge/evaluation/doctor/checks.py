"""Tries the parts that are to work together: a judge, the models behind it, a system."""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

from ragauge.core.ask import Ask, ModelName
from ragauge.core.errors import JudgeError, RagaugeError
from ragauge.core.facts import AnswerFacts
from ragauge.engine.judges import build_judge
from ragauge.engine.local_embeddings import EmbedAnswers
from ragauge.engine.systems import build_system
from ragauge.judges.inputs import VerifyAnswer
from ragauge.judges.judge import drive
from ragauge.models.endpoints import hidden
from ragauge.systems.http import without_credentials

CALL_SECONDS = 30.0  # a model that is loaded on the first call may take so long
REACHED_WITHIN = 5.0
PORTS = {"http": 80, "https": 443, "postgresql": 5432, "postgres": 5432}
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")  # the way out, then
LEARNED = 4  # tries in which a model may say what it does not take
SENTENCE = "A hub can be returned within 30 days of delivery."
CHANGED = "A hub can be returned within 90 days of delivery."
SCHEMA = {
    "type": "object",
    "properties": {"ready": {"type": "boolean"}},
    "required": ["ready"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Tried:
    """What one part did.

    Attributes:
        name: of the part.
        works: whether it did what it is for.
        said: what was seen, in words.
    """

    name: str
    works: bool
    said: str


def try_local_judge() -> Tried:
    """Whether the embedded judge tells a sentence of a passage from the same one with another number."""
    started = time.perf_counter()
    try:
        judge = build_judge("local")
        labels = []
        for answer in (SENTENCE, CHANGED):
            asking = judge.ask(VerifyAnswer("How long can a hub be returned?", (SENTENCE,), answer))
            facts = drive(asking, EmbedAnswers())
            labels.append(facts.claims[0].label if isinstance(facts, AnswerFacts) and facts.claims else None)
    except (RagaugeError, ImportError, OSError, ValueError) as error:
        return Tried("local judge", False, f"{type(error).__name__}: {error}")
    took = f"{time.perf_counter() - started:.1f} s with loading"
    works = labels == ["supported", "contradicted"]
    found = "supports a copied sentence, contradicts a changed number" if works else f"found {labels} for the two"
    return Tried("local judge", works, f"{found} ({judge.judge_id}, {took})")


async def try_models(spec: str) -> list[Tried]:
    """Asks every model of a judge one short question with a schema, as judging would."""
    judge = build_judge(spec)
    names: tuple[ModelName, ...] = getattr(judge, "models", tuple)()
    return [await _try_model(name) for name in names]


async def _try_model(name: ModelName) -> Tried:
    from ragauge.models.build import build_model
    from ragauge.models.model import CallError

    label, started = f"model {name}", time.perf_counter()
    try:
        model = build_model(name)
    except RagaugeError as error:
        return Tried(label, False, str(error))
    ask = Ask("chat", "doctor", 1, (("user", 'Reply with JSON only: {"ready": true}'),), SCHEMA, {"temperature": 0.0})
    last = ""
    try:
        for _ in range(LEARNED):
            try:
                reply = await model.reply(ask, CALL_SECONDS)
            except CallError as error:
                last = f"{error.trouble}: {error}"
                if error.learned:
                    continue
                return Tried(label, False, last)
            if reply.status != "ok":
                return Tried(label, False, reply.reason)
            served = f"served by {reply.served}, " if reply.served and reply.served != name.model else ""
            how = f", sent {', '.join(f'{key}: {value}' for key, value in reply.sent.items())}" if reply.sent else ""
            return Tried(label, True, f"answers in JSON ({served}{time.perf_counter() - started:.1f} s{how})")
        return Tried(label, False, last)
    except (JudgeError, OSError, ValueError, TimeoutError) as error:
        return Tried(label, False, hidden(f"{type(error).__name__}: {error}"))
    finally:
        await model.close()


async def try_system(target: str, settings: str | None = None) -> Tried:
    """Whether a system can be found and made, and a service be reached; nothing is asked of it."""
    label = f"system {without_credentials(target) if '://' in target else target}"
    try:
        system = build_system(target, settings)
    except RagaugeError as error:
        return Tried(label, False, str(error))
    try:
        lost = await _lost(str(system.config.get("url", target)))
        if lost:
            return Tried(label, False, lost)
        more = sorted(variant for variant in system.variants if variant != "own")
        return Tried(label, True, f"found; variants beside its own: {', '.join(more) or 'none'}")
    finally:
        await system.close()


async def _lost(url: str) -> str:
    """Why nobody can be reached at a URL; "" where somebody is, or where that cannot be told from here."""
    parts = urlsplit(url)
    if parts.scheme not in PORTS or not parts.hostname or any(os.environ.get(name) for name in PROXIES):
        return ""
    try:
        port = parts.port or PORTS[parts.scheme]
        _, writer = await asyncio.wait_for(asyncio.open_connection(parts.hostname, port), REACHED_WITHIN)
    except TimeoutError:
        return f"nobody answers at {without_credentials(url)} within {REACHED_WITHIN:g} s. Check the address."
    except (OSError, ValueError) as error:
        return f"nobody can be reached at {without_credentials(url)}: {error}. Start the service, or check the address."
    writer.close()
    return ""
