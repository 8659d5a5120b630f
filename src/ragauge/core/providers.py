"""Who answers models' asks: each provider's name, address, variables of the environment, and what it needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class ProviderEndpoint(NamedTuple):
    """Where a provider's models are, and what a call to them needs."""

    official: str  #: its own base URL; without "//" it has none that holds for everybody.
    variable: str = ""  #: of the environment, that names another; "" = none does.
    #: variables that hold its key, the first that is set counts; a key goes to the provider's own hosts alone.
    keys: tuple[str, ...] = ()
    extra: str = ""  #: of this package, that installs its client; "" = nothing more is needed.
    hosts: tuple[str, ...] = ()  #: ends of further host names that are its own.
    #: it may be called without a key: a server of one's own, or credentials that its client finds by itself.
    keyless: bool = False


OPENAI = ProviderEndpoint("https://api.openai.com/v1", "OPENAI_BASE_URL", ("OPENAI_API_KEY",))
AZURE = ProviderEndpoint(
    "azure:",
    "AZURE_OPENAI_ENDPOINT",
    ("AZURE_OPENAI_API_KEY",),
    hosts=(".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com", ".models.ai.azure.com"),
)
BEDROCK = ProviderEndpoint(
    "bedrock:", "", ("AWS_BEARER_TOKEN_BEDROCK",), "bedrock", (".amazonaws.com", ".api.aws"), keyless=True
)
GOOGLE_KEYS = ("GOOGLE_API_KEY", "GEMINI_API_KEY")

PROVIDERS: Mapping[str, ProviderEndpoint] = {
    "openai": OPENAI,  # the Responses API
    "openai-chat": OPENAI,
    "anthropic": ProviderEndpoint(
        "https://api.anthropic.com", "ANTHROPIC_BASE_URL", ("ANTHROPIC_API_KEY",), "anthropic"
    ),
    "google": ProviderEndpoint(
        "https://generativelanguage.googleapis.com", "GOOGLE_GEMINI_BASE_URL", GOOGLE_KEYS, "google"
    ),
    "own": ProviderEndpoint("own:"),  # a model that Python code hands over
    "alibaba": ProviderEndpoint(
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "", ("ALIBABA_API_KEY", "DASHSCOPE_API_KEY")
    ),
    "azure": AZURE,
    "azure-responses": AZURE,
    "bedrock": BEDROCK,
    "bedrock-mantle": BEDROCK._replace(official="bedrock-mantle:"),
    "cerebras": ProviderEndpoint("https://api.cerebras.ai/v1", "", ("CEREBRAS_API_KEY",)),
    "cohere": ProviderEndpoint("https://api.cohere.com", "CO_BASE_URL", ("CO_API_KEY",), "cohere"),
    "crusoe": ProviderEndpoint("https://api.inference.crusoecloud.com/v1", "", ("CRUSOE_API_KEY",)),
    "deepseek": ProviderEndpoint("https://api.deepseek.com", "", ("DEEPSEEK_API_KEY",)),
    "fireworks": ProviderEndpoint("https://api.fireworks.ai/inference/v1", "", ("FIREWORKS_API_KEY",)),
    "github": ProviderEndpoint("https://models.github.ai/inference", "", ("GITHUB_API_KEY",)),
    "github-copilot": ProviderEndpoint(
        "https://api.githubcopilot.com",
        "GITHUB_COPILOT_BASE_URL",
        ("GITHUB_COPILOT_API_KEY", "GITHUB_COPILOT_API_TOKEN", "COPILOT_GITHUB_TOKEN"),
    ),
    "google-cloud": ProviderEndpoint(
        "google-cloud:", "GOOGLE_VERTEX_BASE_URL", GOOGLE_KEYS, "google", (".googleapis.com",), keyless=True
    ),
    "groq": ProviderEndpoint("https://api.groq.com", "GROQ_BASE_URL", ("GROQ_API_KEY",), "groq"),
    "heroku": ProviderEndpoint("https://us.inference.heroku.com", "HEROKU_INFERENCE_URL", ("HEROKU_INFERENCE_KEY",)),
    "huggingface": ProviderEndpoint("https://router.huggingface.co/v1", "", ("HF_TOKEN",), "huggingface"),
    "litellm": ProviderEndpoint(
        "http://localhost:4000", "LITELLM_BASE_URL", ("LITELLM_API_KEY", "LITELLM_MASTER_KEY"), keyless=True
    ),
    "meta": ProviderEndpoint("https://api.meta.ai/v1", "", ("META_API_KEY",)),
    "mistral": ProviderEndpoint("https://api.mistral.ai", "", ("MISTRAL_API_KEY",), "mistral"),
    "moonshotai": ProviderEndpoint("https://api.moonshot.ai/v1", "MOONSHOTAI_BASE_URL", ("MOONSHOTAI_API_KEY",)),
    "nebius": ProviderEndpoint("https://api.studio.nebius.com/v1", "", ("NEBIUS_API_KEY",)),
    "ollama": ProviderEndpoint("http://localhost:11434/v1", "OLLAMA_BASE_URL", ("OLLAMA_API_KEY",), keyless=True),
    "openrouter": ProviderEndpoint("https://openrouter.ai/api/v1", "", ("OPENROUTER_API_KEY",)),
    "ovhcloud": ProviderEndpoint("https://oai.endpoints.kepler.ai.cloud.ovh.net/v1", "", ("OVHCLOUD_API_KEY",)),
    "sambanova": ProviderEndpoint("https://api.sambanova.ai/v1", "SAMBANOVA_BASE_URL", ("SAMBANOVA_API_KEY",)),
    "snowflake": ProviderEndpoint("snowflake:", "", ("SNOWFLAKE_TOKEN",), hosts=(".snowflakecomputing.com",)),
    "together": ProviderEndpoint("https://api.together.xyz/v1", "", ("TOGETHER_API_KEY",)),
    "vercel": ProviderEndpoint(
        "https://ai-gateway.vercel.sh/v1", "", ("VERCEL_AI_GATEWAY_API_KEY", "VERCEL_OIDC_TOKEN")
    ),
    "vllm": ProviderEndpoint("http://localhost:8000/v1", "VLLM_BASE_URL", ("VLLM_API_KEY",), keyless=True),
    "xai": ProviderEndpoint("https://api.x.ai", "", ("XAI_API_KEY",), "xai"),
    "zai": ProviderEndpoint("https://api.z.ai/api/paas/v4", "", ("ZAI_API_KEY",)),
}
ALIASES: Mapping[str, str] = {  # other usual spellings
    "openai-responses": "openai",
    "azure-openai": "azure",
    "gemini": "google",
    "google-gla": "google",
    "vertex": "google-cloud",
    "vertex-ai": "google-cloud",
    "google-vertex": "google-cloud",
    "grok": "xai",
    "together-ai": "together",
    "fireworks-ai": "fireworks",
    "moonshot": "moonshotai",
    "hosted-vllm": "vllm",
    "aws-bedrock": "bedrock",
    "dashscope": "alibaba",
}
EMBEDDERS = ("openai", "openai-chat", "google")  # whose embeddings can be asked for; the first two mean the same


def find_provider(spec: str) -> str | None:
    """The provider that a spec begins with, under the name that it has here; None = none does.

    >>> find_provider("vertex_ai:gemini-2.5-flash"), find_provider("package.module:make")
    ('google-cloud', None)
    """
    name = spec.partition(":")[0].strip()
    if name in PROVIDERS:
        return name
    name = name.lower().replace("_", "-")
    name = ALIASES.get(name, name)
    return name if name in PROVIDERS else None


def format_judge_spec(value: Any) -> Any:
    """A judge that is written as a mapping, as the text that names it; anything else as it is.

    Raises:
        ValueError: a mapping that is none of a judge.

    >>> format_judge_spec({"model": "openai-chat:m@https://host/v1", "key_env": "MY_KEY",
    ...     "headers": {"X-Team": "search"}})
    'openai-chat:m@https://host/v1,key_env=MY_KEY,header.X-Team=search'
    """
    if not isinstance(value, Mapping):
        return value
    options = {str(key): option for key, option in value.items() if key not in ("model", "headers")}
    headers = value.get("headers") or {}
    if not isinstance(value.get("model"), str) or not isinstance(headers, Mapping):
        raise ValueError("expected model: provider:model, with optional settings such as key_env and headers.")
    settings = [*options.items(), *((f"header.{name}", text) for name, text in headers.items())]
    if bad := [key for key, option in settings if isinstance(option, Mapping | list) or "," in str(option)]:
        raise ValueError(f"{bad[0]}: expected a text or a number without a comma.")
    return ",".join([value["model"], *(f"{key}={option}" for key, option in settings)])
