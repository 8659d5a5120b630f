"""Relevance and address outside English."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ragauge.core.ask import Reply
from ragauge.core.facts import AnswerFacts, JudgeFacts, RelevanceFacts
from ragauge.judges.inputs import Inputs, RatePassages, VerifyAnswer
from ragauge.judges.similarity import CosineScale, compute_standard_table, find_scale

Put = Callable[[Inputs], JudgeFacts]

# a question, the sentence that answers it, and two of other topics
TEXTS = {
    "ko": (
        "도서관은 몇 시에 문을 닫습니까?",
        "도서관은 평일 저녁 여덟 시에 문을 닫습니다.",
        "사과나무는 봄에 가지를 칩니다.",
        "배의 엔진은 작년에 교체되었습니다.",
    ),
    "ar": (
        "متى تغلق المكتبة؟",
        "تغلق المكتبة أبوابها في الثامنة مساء.",
        "تقلم أشجار التفاح في الربيع.",
        "استبدل محرك السفينة العام الماضي.",
    ),
    "hi": (
        "पुस्तकालय कब बंद होता है?",
        "पुस्तकालय शाम आठ बजे बंद होता है।",
        "सेब के पेड़ों की छँटाई वसंत में की जाती है।",
        "जहाज का इंजन पिछले साल बदला गया।",
    ),
    "ja": (
        "図書館は何時に閉まりますか。",
        "図書館は平日の午後八時に閉まります。",
        "りんごの木は春に剪定します。",
        "船のエンジンは去年交換されました。",
    ),
    "ru": (
        "Когда закрывается библиотека?",
        "Библиотека закрывается в восемь часов вечера.",
        "Яблони подрезают ранней весной.",
        "Двигатель корабля заменили в прошлом году.",
    ),
    "el": (
        "Πότε κλείνει η βιβλιοθήκη;",
        "Η βιβλιοθήκη κλείνει στις οκτώ το βράδυ.",
        "Οι μηλιές κλαδεύονται την άνοιξη.",
        "Η μηχανή του πλοίου άλλαξε πέρυσι.",
    ),
    "tr": (
        "Kütüphane saat kaçta kapanıyor?",
        "Kütüphane hafta içi saat sekizde kapanıyor.",
        "Elma ağaçları ilkbaharda budanır.",
        "Geminin motoru geçen yıl değiştirildi.",
    ),
    "de": (
        "Wann schließt die Bücherei?",
        "Die Bücherei schließt werktags um acht Uhr.",
        "Die Apfelbäume werden im Frühling geschnitten.",
        "Der Motor des Schiffs wurde im letzten Jahr getauscht.",
    ),
}


@pytest.mark.parametrize("language", TEXTS)
def test_what_is_of_another_topic_is_not_relevant_in_any_language(put: Put, language: str) -> None:
    """Passages of other topics are not relevant, and answers of them do not address; the question's own are and do."""
    query, *texts = TEXTS[language]
    rated = put(RatePassages(query, tuple(texts)))
    assert isinstance(rated, RelevanceFacts)
    own, *others = [rating.p or 0.0 for rating in rated.ratings]
    assert max(others) < 0.55 < 0.9 < own  # 0.5: two short sentences in Japanese that end alike are not told apart
    values = []
    for text in texts:
        facts = put(VerifyAnswer(query, None, text))
        assert isinstance(facts, AnswerFacts)
        assert facts.address_p is not None
        values.append(facts.address_p[0] + facts.address_p[1] / 2)
    assert max(values[1:]) < 0.4 < 0.6 < values[0]


def test_no_cosine_is_read_in_a_language_that_was_not_measured(put: Put, put_lexically: Put) -> None:
    """Then the words alone decide, as without vectors, and what is of another topic is not relevant."""
    assert find_scale("ka") is None
    asked = RatePassages("როდის იკეტება ბიბლიოთეკა?", ("ვაშლის ხეებს გაზაფხულზე სხლავენ.",))
    assert put(asked) == put_lexically(asked)
    rated = put(asked)
    assert isinstance(rated, RelevanceFacts)
    assert not rated.ratings[0].relevant


def test_a_cosine_is_read_from_the_middle_of_its_language() -> None:
    """Two texts as far from a language's mean in one direction are alike, in opposite ones they are not."""
    scale = CosineScale(np.array([0.9, 0.0]), 0.5)
    up, down = [0.9, 0.4], [0.9, -0.4]
    vectors = [[x / 0.985, y / 0.985] for x, y in (up, up, down)]
    ((same, other),) = compute_standard_table(Reply("ok", vectors=vectors), 1, [scale, scale])
    assert same == pytest.approx(0.5)
    assert other is not None
    assert other < -0.4
    assert compute_standard_table(Reply("failed"), 1, [scale]) == [[None]]
    assert compute_standard_table(Reply("ok", vectors=vectors[:2]), 1, [None]) == [[None]]
