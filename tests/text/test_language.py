"""The guess at a text's language."""

from __future__ import annotations

import re

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


NAMES = (     # parted by a bar
    "Łukasz Żak|São Bento|La Boqueria|De Wit|El Niño|Il Volo|Der Spiegel|José Pérez|Zoë Åkesson|Kuala Lumpur|Dr No|"
    "Mon Repos|Po Delta|Die Zeit|Les Halles|Gdańsk|Şırnak|Do Carmo|Jak Systems|Con Edison|Den Haag|Que Sera|Om Shanti|"
    "Te Papa|Bir Hakeim"
)
ASKED = (
    "Who runs {}?", "What is {}?", "Where is {}?", "How do I get to {}?", "Does {} do no harm?",
    "What year did {} die?", "Is {} open on Monday?", "{} refund policy?",
)     # fmt: skip


@pytest.mark.parametrize("name", re.split(r"\|", NAMES))
def test_names_do_not_make_a_language(name: str) -> None:
    """A short English question about a foreign name is English or tells too little; a name is no language."""
    assert {guess(asked.format(name)) for asked in ASKED} <= {"en", "und"}
    assert guess(f"How do I get to {name} from the station?") == "en"


SHORT = {
    "de": ["Kann ich den Vertrag kündigen?", "Welche Farben gibt es?", "Was kostet der Versand?"],
    "fr": ["Où se trouve l'entrepôt ?", "Puis-je changer mon nom ?", "Qui dirige le service ?"],
    "es": ["¿Cuánto dura la garantía?", "¿Dónde está el almacén?", "¿Quién dirige el departamento?"],
    "it": ["Quali colori ci sono?", "Dove si trova il magazzino?", "Chi ha fondato Acme?"],
    "pt": ["Onde fica o armazém do Porto?", "Quais são as cores?", "Quem fundou a Acme?"],
    "nl": ["Kan ik mijn contract opzeggen?", "Welke kleuren zijn er?", "Wat kost de verzending?"],
    "sv": ["Kan jag säga upp mitt avtal?", "Vilka färger finns det?", "Vad kostar frakten?"],
    "pl": ["Czy mogę rozwiązać umowę?", "Jakie są kolory?", "Ile kosztuje wysyłka?"],
    "tr": ["Hangi renkler var?", "Garanti ne kadar sürer?", "Depo nerede bulunuyor?"],
    "ro": ["Unde este depozitul și cine îl conduce?"],
    "vi": ["Công ty này được thành lập khi nào và ở đâu?"],
}


@pytest.mark.parametrize("code", SHORT)
def test_short_questions_are_in_their_language_or_undetermined(code: str) -> None:
    """Few words never make a text one of another language, and the first of each list is enough."""
    found = [guess(text) for text in SHORT[code]]
    assert found[0] == code
    assert set(found) <= {code, "und"}
