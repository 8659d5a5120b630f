"""The language model of the reference system: one call an answer; who runs the system tries again and waits."""

from __future__ import annotations

from collections.abc import Mapping

from ragauge.core.ask import Ask, Reply
from ragauge.judges.model.question_spec import parse_model_name
from ragauge.models.build import build_model
from ragauge.models.model import CallError, Trouble
from ragauge.models.prices import compute_price
from ragauge.systems.base import Kind, SystemTrouble
from ragauge.systems.reference.llm_generator import Messages, ModelAnswer, ModelConfig

CALL_TIMEOUT_S = 600.0  # for one call; who runs the system ends it sooner
MAX_LEARNING_CALLS = 4  # calls that may teach how the model is to be asked
TROUBLE_KINDS: Mapping[Trouble, Kind] = {
    "rate_limited": "rate_limited",
    "server": "server",
    "timeout": "timeout",
    "connection": "connection",
    "unreachable": "connection",
    "auth": "auth",
    "quota": "auth",
    "unknown_model": "not_found",
    "unstructured": "unreadable",
    "client": "exception",
}


class GeneratorModel:
    """Asks a model for an answer.

    A failure is a `SystemTrouble` of its kind, and `engine.system_caller` treats it as that of any other system: 429
    and broken connections are retried with rate limiting.

    Raises:
        UsageError: no model of that name.
        JudgeError: its key is not set.
    """

    def __init__(self, config: ModelConfig) -> None:
        self._name = parse_model_name(config.model)
        self._model = build_model(self._name)
        self._params = {"temperature": config.temperature, "max_tokens": config.max_tokens}

    async def ask_model(self, messages: Messages) -> ModelAnswer:
        """One reply; calls that only taught what the model does not take are made again.

        Raises:
            SystemTrouble: there is none.
        """
        ask = Ask("chat", "generate", 1, messages, params=self._params)
        for _ in range(MAX_LEARNING_CALLS):
            try:
                return self._parse_reply(await self._model.reply(ask, CALL_TIMEOUT_S))
            except CallError as error:
                if not error.learned:
                    raise _to_system_trouble(error) from error
        raise SystemTrouble(
            "refused", f"{self._name} refuses what it is asked with, {MAX_LEARNING_CALLS} times in a row"
        )

    async def close(self) -> None:
        """Closes its connections."""
        await self._model.close()

    def _parse_reply(self, reply: Reply) -> ModelAnswer:
        if reply.status == "failed" and reply.finish != "length":
            raise SystemTrouble("server" if reply.finish == "error" else "refused", reply.reason)
        usage = reply.usage
        if usage is None:
            return ModelAnswer(reply.text, cut=reply.finish == "length")
        tokens = {"input": usage.input_tokens, "output": usage.output_tokens}
        return ModelAnswer(reply.text, tokens, compute_price(self._name, usage), cut=reply.finish == "length")


def _to_system_trouble(error: CallError) -> SystemTrouble:
    kind = TROUBLE_KINDS.get(error.trouble, "refused")
    return SystemTrouble(kind, f"{error.trouble}: {error}", retry_after=error.retry_after)
