"""What a report says about model and hybrid judges."""

from __future__ import annotations

import pytest

from ragauge.core.errors import UsageError
from ragauge.engine.judges import JudgeProgress, build_judge, build_judge_note
from ragauge.scores.results.judge_usage import JudgeUse

SPEC = "openai-chat:small@http://127.0.0.1:8080/v1,agree=openai:big,mode=per_claim,temperature=none"


def test_a_model_judge_says_who_answers_and_how() -> None:
    """The note names the models, the place, the mode and the versions of the questions, and how to check it."""
    judge = build_judge(SPEC)
    found = build_judge_note(judge.judge_id, None, JudgeProgress(SPEC, {"verify_answer": (1,), "agree": (1, 2)}))
    for part in (
        "openai-chat:small@http://127.0.0.1:8080/v1",
        "agree to openai:big",
        "mode per_claim",
        "no temperature set",
        "verify_answer 1, agree 1/2",
    ):
        assert part in found.what
    limits = " ".join(found.limits)
    for part in (
        "influenced by the text",
        "biased",
        "vary",
        "--judge-repeats",
        "Label 50 or more claims",
        "ragauge judge check FILE",
    ):
        assert part in limits
    assert found.judge_id == judge.judge_id


def test_a_hybrid_judge_says_what_it_saved() -> None:
    """The note says which half decides what, how much the local one decided, and what that one cannot see."""
    judge = build_judge("hybrid:openai:big")
    use = JudgeUse(questions=50, verdicts=200, local=150, spared=30, both=50, same=40)
    known = JudgeProgress("hybrid:openai:big", {"verify_answer": (judge.version("verify_answer"),)}, use)
    found = build_judge_note(judge.judge_id, None, known)
    for part in (
        "p below",
        "openai:big",
        "150 of 200",
        "75%",
        "30 judge questions by itself",
        "40 (80%)",
        "verify_answer 1+3",
    ):
        assert part in found.what
    assert any("When the local judge decides" in limit for limit in found.limits)


def test_judges_of_old_stores_and_of_others() -> None:
    """Of a judge whose spec was never stored the main model is named; a judge of one's own is named by its spec."""
    assert "openai:gpt-5-mini." in build_judge_note("openai:gpt-5-mini#12345678", None).what
    assert "hybrid" not in build_judge_note("openai:gpt-5-mini#12345678", None).what
    assert "my.judges:strict" in build_judge_note("mine-1", None, JudgeProgress("my.judges:strict")).what
    assert build_judge_note(None, None).what == ""


def test_a_key_in_a_url_is_in_no_note() -> None:
    """A spec with a key in its URL is refused, so that no note can hold one."""
    for url in ("http://user:sk-secret@host/v1", "http://host/v1?key=sk-secret"):
        with pytest.raises(UsageError, match="must not contain a key") as told:
            build_judge(f"openai-chat:m@{url}")
        assert "sk-secret" not in str(told.value)
