"""What the library's exceptions mean, and that no key stands in any of them."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from pydantic_ai import exceptions as known

from ragauge.core.ask import Reply
from ragauge.models.endpoints import hide_keys
from ragauge.models.model import FATAL_TROUBLES, MAX_MESSAGE_CHARS, TRANSIENT_TROUBLES, CallError, build_call_error


def of_status(status: int, message: str = "no", headers: dict[str, str] | None = None) -> CallError | Reply:
    """What an HTTP error means."""
    return build_call_error(known.ModelHTTPError(status, "gpt", {"message": message}, headers=headers))


def trouble(found: CallError | Reply) -> str:
    assert isinstance(found, CallError), found
    return found.trouble


STATUSES = {
    "auth": (401, 403, 407),
    "quota": (402,),
    "unknown_model": (404,),
    "too_long": (413,),
    "rate_limited": (429,),
    "server": (408, 409, 425, 500, 501, 502, 503, 504, 520, 524, 529, 599),
    "refused": (400, 405, 406, 410, 411, 415, 418, 421, 422, 423, 426, 428, 431, 451),
}


@pytest.mark.parametrize(("name", "status"), [(name, one) for name, many in STATUSES.items() for one in many])
def test_every_status_has_a_name(name: str, status: int) -> None:
    """Statuses 400 to 599 each mean one thing, and only what may pass is tried again."""
    found = of_status(status)
    assert trouble(found) == name
    assert (name in TRANSIENT_TROUBLES) == (name in ("rate_limited", "server"))
    assert (name in FATAL_TROUBLES) == (name in ("auth", "quota", "unknown_model"))


def test_no_status_is_left_out() -> None:
    """Every status from 400 to 599 is told as one of the known troubles."""
    names = {trouble(of_status(status)) for status in range(400, 600)}
    assert names == set(STATUSES)


@pytest.mark.parametrize(
    ("status", "message", "name"),
    [
        (429, "You exceeded your current quota, please check your plan and billing details.", "quota"),
        (429, "Rate limit reached for gpt-5-mini on tokens per min", "rate_limited"),
        (400, "This model's maximum context length is 8192 tokens. However, you requested 9000.", "too_long"),
        (400, "request (9020 tokens) exceeds the available context size (4096 tokens), try increasing it", "too_long"),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", "too_long"),
        (400, "The decoder prompt (length 9000) is longer than the maximum model length of 8192.", "too_long"),
        (400, "The input (9000 tokens) is longer than the model's limit (8192 tokens).", "too_long"),
        (400, "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768", "too_long"),
        (400, "This model's maximum prompt length is 131072 but the request contains 140000 tokens.", "too_long"),
        (400, "Input is too long for requested model.", "too_long"),
        (422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 5000", "too_long"),
        (400, "prompt too long; exceeded max context length by 905 tokens", "too_long"),
        (400, "Unsupported parameter: 'max_new_tokens'", "refused"),
        (400, "The input token count (40000) exceeds the maximum number of tokens allowed (32768).", "too_long"),
        (400, "Unsupported value: 'temperature' does not support 0.0 with this model.", "refused"),
        (500, "maximum context length", "server"),
    ],
)
def test_messages_tell_more_than_statuses(status: int, message: str, name: str) -> None:
    """An exhausted quota is no rate limit, an over-long prompt no mistake of ours: providers' own words tell."""
    assert trouble(of_status(status, message)) == name


AZURE = {
    "message": "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
    "type": None,
    "param": "prompt",
    "code": "content_filter",
    "status": 400,
    "innererror": {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {"violence": {"filtered": True}}},
}


@pytest.mark.parametrize(
    ("status", "body"),
    [(400, AZURE), (400, {"code": "content_policy_violation"}), (403, {"metadata": {"flagged_input": "x"}})],
)
def test_a_filtered_prompt_is_a_failed_reply(status: int, body: Any) -> None:
    """Azure's 400, OpenAI's policy violation and OpenRouter's moderation are verdicts on the text, not errors."""
    found = build_call_error(known.ModelHTTPError(status, "gpt", body))
    assert isinstance(found, Reply)
    assert (found.status, found.finish) == ("failed", "content_filter")
    found = build_call_error(known.ContentFilterError("stopped"))
    assert isinstance(found, Reply)
    assert found.finish == "content_filter"


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (known.ModelTimeoutError("gpt", "slow"), "timeout"),
        (TimeoutError("slow"), "timeout"),
        (known.ModelRequestTimeout("gpt", 3.0), "timeout"),
        (known.ModelConnectionError("gpt", "broken"), "connection"),
        (known.ModelAPIError("gpt", "Failed to decode response as JSON"), "server"),
        (known.UnexpectedModelBehavior("odd"), "server"),
        (known.UserError("Native structured output is not supported by this model."), "refused"),
        (known.ModelQuotaExceededError("gpt", "no credits"), "quota"),
        (known.ModelRateLimitError("gpt", "slow down", retry_after=3.0), "rate_limited"),
        (known.ModelContextWindowExceededError("gpt", "too long"), "too_long"),
    ],
)
def test_errors_without_a_status_have_their_names(error: Exception, name: str) -> None:
    """What breaks below HTTP, or is told inside a reply of status 200, is named likewise."""
    found = build_call_error(error)
    assert trouble(found) == name
    assert isinstance(found, CallError)
    assert found.retry_after == (3.0 if name == "rate_limited" else None)


def test_what_is_no_error_of_a_call_is_raised() -> None:
    """A mistake of the program is not made into a trouble here."""
    with pytest.raises(ZeroDivisionError):
        build_call_error(ZeroDivisionError())


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"Retry-After": "0.25"}, 0.25),
        ({"retry-after-ms": "1500"}, 1.5),
        ({}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    """Seconds, fractions, milliseconds and dates are read; nonsense is nothing."""
    found = of_status(429, headers=headers)
    assert isinstance(found, CallError)
    assert found.retry_after == seconds


def test_what_may_be_billed() -> None:
    """A call that broke off may be billed, one that the provider turned away is not."""
    billed = {status: of_status(status) for status in (400, 429, 500, 502, 503, 504, 529)}
    told = {status: one.can_be_billed for status, one in billed.items() if isinstance(one, CallError)}
    assert told == {400: False, 429: False, 500: False, 502: True, 503: False, 504: True, 529: False}
    assert CallError("timeout", "").can_be_billed
    assert CallError("connection", "").can_be_billed


KEYS = (
    "sk-proj-abcdefghijklmnop1234",
    "sk-ant-api03-abcdef0123456789",
    "gsk_0123456789abcdefghij",
    "AIzaSyA0123456789abcdefghijk",
    "hf_abcdefghijklmnopqrst",
    "xai-0123456789abcdefghij",
    "pplx-0123456789abcdef",
)
PLACES = ("API key provided: {}.", "header Authorization: Bearer {}, x", "?api_key={}&a=1", "'{}'", '{{"k": "{}"}}')


@pytest.mark.parametrize(("place", "key"), list(itertools.product(PLACES, KEYS)))
def test_keys_are_hidden_by_their_look(place: str, key: str) -> None:
    """What looks like a key is in no message, wherever it stands, nor after the cut."""
    assert key not in hide_keys(place.format(key))
    found = of_status(400, "x" * (MAX_MESSAGE_CHARS - 60) + place.format(key))
    assert key[:12] not in str(found)


def test_keys_are_hidden_by_their_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """A secret of the environment is hidden whatever it looks like; other values are not."""
    monkeypatch.setenv("MY_GATEWAY_TOKEN", "correct horse battery")
    monkeypatch.setenv("MY_GATEWAY_NAME", "pastures new")
    assert hide_keys("say correct horse battery to pastures new") == "say [key] to pastures new"


def test_words_are_not_taken_for_keys() -> None:
    """Ordinary words that begin like a key stay readable."""
    text = "keyword_arguments skateboarding-competition hfsomething pkcs12certificate: the api key is missing"
    assert hide_keys(text) == text


@pytest.mark.parametrize(
    ("quota", "headers", "name"),
    [
        ("GenerateRequestsPerMinutePerProjectPerModel", {"retry-after": "34"}, "rate_limited"),
        ("GenerateRequestsPerDayPerProjectPerModel", {"retry-after": "34"}, "quota"),
        ("GenerateRequestsPerMinutePerProjectPerModel", None, "quota"),
        ("insufficient_quota", {"retry-after": "1"}, "quota"),
    ],
)
def test_a_limit_of_a_minute_is_no_lack_of_money(quota: str, headers: dict[str, str] | None, name: str) -> None:
    """Google's words for a minute's limit are those of an empty account; the wait that it names tells them apart."""
    message = f"You exceeded your current quota, please check your plan and billing details. {quota}"
    assert trouble(of_status(429, message, headers)) == name
