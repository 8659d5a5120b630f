"""What systems say around an answer, or instead of one."""

from __future__ import annotations

OPENINGS = ("", "", "", "", "According to the documentation: ", "Short answer: ")
CLOSINGS = ("", "", "", "", "Let me know if you need anything else.", "I hope this helps.")
REFUSALS = (
    "The documents do not say.",
    "I could not find an answer to this in the documentation.",
    "I'm sorry, but the provided documents do not contain this information.",
    "I don't know.",
    "The context does not mention this.",
    "Unfortunately I cannot answer this question from the available documents.",
    "There is no information about this in the passages.",
    "I am unable to find this in the knowledge base. Please contact support.",
    "The provided context does not cover this topic.",
    "Based on the documents, I can't answer that.",
    "Sorry, I have no information on this.",
    "I wasn't able to find anything about that in the manual.",
)
ERRORS = (
    "HTTP 503 from the vector store",
    "TimeoutError: no answer after 30 s",
    "RateLimitError: 429 Too Many Requests",
    "ConnectionRefusedError: [Errno 111] Connection refused",
    "ValueError: the prompt has 131,904 tokens, the model takes 128,000",
    "KeyError: 'choices'",
    "JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
    "InternalServerError: 500 from the model endpoint",
)
COURTESY = (
    "Please make sure that you have the latest version and try again.",
    "Most problems of this kind disappear after a restart.",
    "Good planning is important for every successful project.",
    "Our products are loved by teams all over the world.",
)
