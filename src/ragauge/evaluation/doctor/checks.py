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
from ragauge.judges.judge import answer_asks
from ragauge.models.endpoints import hide_keys
from ragauge.systems.http import strip_credentials

CALL_TIMEOUT_S = 30.0  # a model that is loaded on the first call may take so long
CONNECT_TIMEOUT_S = 5.0
PORTS = {"http": 80, "https": 443, "postgresql": 5432, "postgres": 5432}
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")  # the way out, then
MAX_LEARNING_CALLS = 4  # tries in which a model may say what it does not take
SENTENCE = "A hub can be returned within 30 days of delivery."
CHANGED_SENTENCE = "A hub can be returned within 90 days of delivery."
SCHEMA = {
    "type": "object",
    "properties": {"ready": {"type": "boolean"}},
    "required": ["ready"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class DoctorResult:
    """What one part did."""

    name: str  #: of the part.
    works: bool  #: whether it did what it is for.
    message: str  #: what was seen, in words.


def try_local_judge() -> DoctorResult:
    """Whether the embedded judge tells a sentence of a passage from the same one with another number."""
    started = time.perf_counter()
    try:
        judge = build_judge("local")
        labels = []
        for answer in (SENTENCE, CHANGED_SENTENCE):
            asking = judge.ask(VerifyAnswer("How long can a hub be returned?", (SENTENCE,), answer))
            facts = answer_asks(asking, EmbedAnswers())
            labels.append(facts.claims[0].label if isinstance(facts, AnswerFacts) and facts.claims else None)
    except (RagaugeError, ImportError, OSError, ValueError) as error:
        return DoctorResult("local judge", False, f"{type(error).__name__}: {error}")
    duration = f"{time.perf_counter() - started:.1f} s including loading"
    works = labels == ["supported", "contradicted"]
    outcome = "detects a copied sentence and a changed number" if works else f"gives {labels} for the two"
    return DoctorResult("local judge", works, f"{outcome} ({judge.judge_id}, {duration})")


async def try_models(spec: str) -> list[DoctorResult]:
    """Asks every model of a judge one short question with a schema, as judging would."""
    judge = build_judge(spec)
    names: tuple[ModelName, ...] = getattr(judge, "models", tuple)()
    return [await _try_model(name) for name in names]


async def _try_model(name: ModelName) -> DoctorResult:
    from ragauge.models.build import build_model
    from ragauge.models.model import CallError

    label, started = f"model {name}", time.perf_counter()
    try:
        model = build_model(name)
    except RagaugeError as error:
        return DoctorResult(label, False, str(error))
    ask = Ask("chat", "doctor", 1, (("user", 'Reply with JSON only: {"ready": true}'),), SCHEMA, {"temperature": 0.0})
    last = ""
    try:
        for _ in range(MAX_LEARNING_CALLS):
            try:
                reply = await model.reply(ask, CALL_TIMEOUT_S)
            except CallError as error:
                last = f"{error.trouble}: {error}"
                if error.learned:
                    continue
                return DoctorResult(label, False, last)
            if reply.status != "ok":
                return DoctorResult(label, False, reply.reason)
            served = f"served by {reply.served}, " if reply.served and reply.served != name.model else ""
            how = f", sent {', '.join(f'{key}: {value}' for key, value in reply.sent.items())}" if reply.sent else ""
            return DoctorResult(label, True, f"answers in JSON ({served}{time.perf_counter() - started:.1f} s{how})")
        return DoctorResult(label, False, last)
    except (JudgeError, OSError, ValueError, TimeoutError) as error:
        return DoctorResult(label, False, hide_keys(f"{type(error).__name__}: {error}"))
    finally:
        await model.close()


async def try_system(target: str, settings: str | None = None) -> DoctorResult:
    """Whether a system can be found and made, and a service be reached; nothing is asked of it."""
    label = f"system {strip_credentials(target) if '://' in target else target}"
    try:
        system = build_system(target, settings)
    except RagaugeError as error:
        return DoctorResult(label, False, str(error))
    try:
        connection_error = await _find_connection_error(str(system.config.get("url", target)))
        if connection_error:
            return DoctorResult(label, False, connection_error)
        other_variants = sorted(variant for variant in system.variants if variant != "own")
        return DoctorResult(label, True, f"found; other variants: {', '.join(other_variants) or 'none'}")
    finally:
        await system.close()


async def _find_connection_error(url: str) -> str:
    """Why nobody can be reached at a URL; "" where somebody is, or where that cannot be told from here."""
    url_parts = urlsplit(url)
    if url_parts.scheme not in PORTS or not url_parts.hostname or any(os.environ.get(name) for name in PROXIES):
        return ""
    try:
        port = url_parts.port or PORTS[url_parts.scheme]
        _, writer = await asyncio.wait_for(asyncio.open_connection(url_parts.hostname, port), CONNECT_TIMEOUT_S)
    except TimeoutError:
        return f"{strip_credentials(url)} did not answer within {CONNECT_TIMEOUT_S:g} s. Check the address."
    except (OSError, ValueError) as error:
        return f"cannot connect to {strip_credentials(url)}: {error}. Start the service or check the address."
    writer.close()
    return ""
