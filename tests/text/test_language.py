"""The guess at a text's language."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragauge.text.language import guess


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "Where is the station and what does it cost to get there?"),
        ("de", "Wo ist der Bahnhof und was kostet es, dorthin zu fahren?"),
        ("fr", "Où est la gare et combien coûte le trajet pour y aller ?"),
        ("es", "¿Dónde está la estación y cuánto cuesta llegar hasta allí?"),
        ("it", "Dov'è la stazione e quanto costa il viaggio per arrivare?"),
        ("pt", "Onde fica a estação e quanto custa a viagem até lá? Não é longe."),
        ("nl", "Waar is het station en wat kost het om daar te komen?"),
        ("sv", "Var är stationen och vad kostar det att åka dit med tåget?"),
        ("pl", "Gdzie jest dworzec i ile kosztuje dojazd do niego z miasta?"),
        ("tr", "İstasyon nerede ve oraya gitmek için ne kadar ödemek gerekiyor?"),
        ("zh", "車站在哪裡？去那裡要多少錢？"),
        ("ja", "駅はどこですか。そこまでいくらかかりますか。"),
        ("ko", "역이 어디에 있습니까?"),
        ("ru", "Где находится вокзал и сколько стоит проезд?"),
        ("uk", "Де знаходиться вокзал і скільки коштує проїзд?"),
        ("ar", "أين المحطة وكم تكلف الرحلة؟"),
        ("fa", "ایستگاه کجاست و هزینه آن چقدر است؟ گران است"),
        ("ur", "اسٹیشن کہاں ہے اور کرایہ کتنا ہے؟"),
        ("hi", "स्टेशन कहाँ है?"),
        ("el", "Πού είναι ο σταθμός;"),
        ("he", "איפה התחנה?"),
        ("th", "สถานีอยู่ที่ไหน"),
        ("und", "42"),
        ("und", "xyzzy qwrt"),
        ("und", ""),
    ],
)
def test_languages(code: str, text: str) -> None:
    """Script, frequent words and letters tell the language; where nothing does, it is und."""
    assert guess(text) == code


@given(st.text(max_size=100))
@settings(derandomize=True, deadline=None)
def test_any_text_has_one_guess(text: str) -> None:
    """Every text has a code of two letters or und, the same every time."""
    code = guess(text)
    assert code == "und" or len(code) == 2
    assert guess.__wrapped__(text) == code


def test_foreign_words_do_not_outvote_the_text() -> None:
    """A few words of another script in an English text leave it English."""
    assert guess("The word 東京 is the name of the capital of Japan") == "en"
