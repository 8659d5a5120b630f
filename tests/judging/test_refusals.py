"""Whether an answer declines."""

from __future__ import annotations

import pytest
from tests.conftest import OwnTime
from tests.judging.refusal_texts import ANSWERED, REFUSED
from tests.judging.refusal_texts_more import ANSWERED as MORE_ANSWERED
from tests.judging.refusal_texts_more import REFUSED as MORE
from tests.judging.refusal_texts_more import SHORT, SHORT_ANSWERED

from ragauge.judges.local import refusals
from ragauge.judges.local.refusals import is_refusal
from ragauge.judges.local.statements import find_statements

REFUSALS = [
    "I could not find the price in the documents.",
    "I couldn’t find any information about the price.",
    "I don't know.",
    "I do not have enough information to answer this question.",
    "I'm sorry, but I cannot answer that.",
    "Unfortunately, I am unable to determine the price from the context.",
    "The provided context does not mention the price.",
    "The documents do not contain any information on the price.",
    "The retrieved passages contain no information about the price.",
    "Based on the provided documents, I cannot determine the price.",
    "The price is not mentioned in the given sources.",
    "There is no information about the price in the context.",
    "No relevant information was found.",
    "This question cannot be answered from the provided documents.",
    "There is not enough information to answer.",
    "It is not specified.",
    "Not found",
    "Unanswerable",
    "As an AI language model, I cannot access the price list.",
    "That is outside the scope of the provided documents.",
    "Das geht aus den Dokumenten nicht hervor, dazu enthält der Text keine Angaben.",
    "Ich kann diese Frage leider nicht beantworten.",
    "Je ne trouve pas cette information dans les documents.",
    "Les documents ne mentionnent pas le prix.",
    "No encuentro esa información en los documentos.",
    "El contexto no menciona el precio.",
    "Non ho trovato informazioni nei documenti.",
    "I documenti non menzionano il prezzo.",
    "Não encontrei essa informação nos documentos.",
    "O texto não menciona o preço.",
    "抱歉，文档中没有提到价格。",
    "我无法从提供的资料中找到答案。",
    "申し訳ありませんが、文書には価格に関する情報は含まれていません。",
    "資料からはわかりません。",
]
ANSWERS = [
    "The plan does not include support.",
    "We could not find a significant difference between the groups.",
    "There is no evidence that the drug works.",
    "The lid cannot be opened from outside.",
    "The cause of the fire is unknown to this day.",
    "He did not know that the bridge was closed.",
    "The treaty does not mention Alaska.",
    "The contract was not found until 1998.",
    "Die Garantie gilt nicht für Schäden durch Wasser.",
    "El plan no incluye soporte.",
    "Il piano non include il supporto.",
    "Le plan n'inclut pas le support.",
    "该套餐不包含技术支持。",
    "このプランにサポートは含まれません。",
]


# answers that share the words of refusals; each is of another class
LIKE_REFUSALS = [
    "I could not find the exact name in the documents. It was written by the monks of Fulda. Please check the archive.",
    "I cannot give you an exact figure. The museum has about 40 rooms.",
    "As an AI, I don't have real-time data. As of my last update, the director is Ada Byron, who was hired in 2014.",
    "The passage does not name the architect. It can be inferred that it was Ada Byron, who signed the plans.",
    "Yes, the dividend was paid. Since it was paid every quarter and there is no sign that one was skipped, it is safe "
    "to say that it was paid in spring as well.",
    "The shop bought two firms in 2022: a mill and a bakery. There is no mention of later years in the passages. "
    "Therefore, I cannot say what it bought in 2023.",
    "It is not acceptable to share your login with colleagues.",
    "It is illegal to park on the bridge, and it is never appropriate to leave a boat there.",
    "No personal data is disclosed to third parties.",
    "The guidelines say that nurses must not give advice by telephone.",
    'He said "I cannot help you" and closed the door.',
    "If you cannot find the file in the folder, restore it from the backup.",
    "If you do not have access to the printer, ask for a card at desk 3.",
    "Without a ticket, you cannot enter the platform.",
    "We cannot refund tickets after departure.",
    "I don't know why the manual is so short, but the filter is changed every 40 hours.",
    "The documents do not mention the price, but according to other sources it is 49 euros.",
    "The documents do not give the price. If you book online, it is 49 euros.",
    "The report was not found until 1998, when the archive was opened.",
    "The question of who built it was never answered by historians.",
    "The results do not support the hypothesis.",
    "In most schools the rules were not clearly defined.",
    "There is no charge for the service, and no information is stored about you.",
    "The committee was unable to determine the cause of the fire.",
    "Es gibt keine Gebühr für die Karte.",
    "Ich weiß, dass die Fähre im Winter nicht fährt: sie liegt dann im Dock.",
    "No se puede entrar en el archivo sin un documento de identidad.",
    "Não há necessidade de apresentar documentos.",
    "Aucune information personnelle n'est conservée.",
    "No se indica la fecha en los documentos, pero se puede deducir que la torre se terminó en 1871.",
    "Nie ma opłaty za bilet dla dzieci.",
    "Bilet için ücret yoktur.",
    "Det finns ingen avgift för kortet.",
    "Er zijn geen kosten verbonden aan de kaart.",
    "没有人受伤。",
    "けが人はいませんでした。",
]
# refusals that go on for long and still answer nothing
LONG_REFUSALS = [
    "As an AI, I do not have access to the ferry company's books. To calculate the load factor, you would need:\n\n"
    "1. **Passengers**: found in the yearly report.\n2. **Seats**: found in the timetable.\n\n"
    "Load factor = Passengers / Seats\n\nFor the latest figures, please consult the company's website.",
    "To find the height of the tower, we need the survey and the plans. The passages list the survey of the "
    "gate, which is 31 metres wide. However, the plans are not provided. Without the plans, it is not possible to "
    "determine the height of the tower.",
    "I don't know. The question asks who built the mill, but none of the passages answers it. Some passages discuss "
    "other mills in the valley. Passages [2] and",
    "I'm sorry, but the information provided does not include the toll for lorries. The details given cover the toll "
    "for cars. If you can provide the tariff, I would be happy to help.",
    "I cannot provide instructions on how to open someone else's safe, as that would be illegal. Safes protect "
    "people's property. Breaking one open can lead to a prison sentence. Instead, talk to the owner.",
    "Based on the passages, there is no evidence regarding the number of gulls. The passages focus on the terns. "
    "Therefore, I do not have the information needed to answer.",
    "Im Text wird die Länge der Brücke nicht genannt. Es wird nur erwähnt, dass sie aus Holz ist.",
    "Los pasajes no mencionan quién diseñó el faro. Sin embargo, se habla de otros faros de la costa.",
    "Les passages ne précisent pas la longueur du pont. Ils parlent surtout de sa construction.",
    "I testi non indicano chi ha progettato il faro. Parlano soltanto della sua lampada.",
]


@pytest.mark.parametrize("answer", [text for listed in REFUSED.values() for text in listed])
def test_refusals_are_seen_in_twelve_languages(answer: str) -> None:
    """Lack of knowledge, lack of access and rules of conduct are refusals in every language that is claimed."""
    assert find_statements(answer).refuses


@pytest.mark.parametrize("answer", [text for listed in ANSWERED.values() for text in listed] + LIKE_REFUSALS)
def test_answers_with_the_words_of_refusals_are_answers(answer: str) -> None:
    """Negation, prohibition, hedging, quotation and half knowledge answer."""
    assert not find_statements(answer).refuses


@pytest.mark.parametrize("answer", LONG_REFUSALS)
def test_what_would_be_needed_does_not_answer(answer: str) -> None:
    """Lists of what is missing, formulas, advice, reasons, a broken-off end: a refusal remains one."""
    found = find_statements(answer)
    assert found.refuses
    assert found.claims == ()


@pytest.mark.parametrize("answer", [text for listed in (*MORE.values(), *SHORT.values()) for text in listed])
def test_refusals_of_other_scripts_and_short_ones_are_seen(answer: str) -> None:
    """Russian, Ukrainian, Arabic, Hindi and Korean refusals are seen, and short ones of the other languages."""
    assert find_statements(answer).refuses


@pytest.mark.parametrize(
    "answer", [text for listed in (*MORE_ANSWERED.values(), *SHORT_ANSWERED.values()) for text in listed]
)
def test_answers_that_negate_in_other_scripts_are_answers(answer: str) -> None:
    """What is not covered, allowed, known in part or kept answers the question."""
    assert not find_statements(answer).refuses


def test_every_language_has_as_many_texts() -> None:
    """Twelve languages, five refusals and five answers each."""
    assert REFUSED.keys() == ANSWERED.keys()
    assert len(REFUSED) == 12
    assert {len(listed) for listed in (*REFUSED.values(), *ANSWERED.values())} == {5}


@pytest.mark.parametrize("answer", REFUSALS)
def test_a_refusal_is_seen(answer: str) -> None:
    """The usual ways to decline are seen and claim nothing."""
    found = find_statements(answer)
    assert found.refuses
    assert found.claims == ()


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_negative_answer_is_no_refusal(answer: str) -> None:
    """An answer that says what is not so does not decline."""
    assert not is_refusal(answer)
    assert not find_statements(answer).refuses


def test_advice_beside_a_refusal_leaves_it_one() -> None:
    """Apology, advice and what the documents hold instead do not turn a refusal into an answer."""
    for tail in ("Please contact the sales team.", "They only describe the warranty.", "I am sorry!", "Let me know!"):
        assert find_statements(f"The documents do not mention the price. {tail}").refuses


def test_an_answer_that_later_answers_is_no_refusal() -> None:
    """A sentence that answers makes the whole an answer; the declining sentence is no claim."""
    found = find_statements("I could not find the exact date in the documents. The bridge was opened in spring 1932.")
    assert not found.refuses
    assert found.declined
    assert [one.text for one in found.claims] == ["The bridge was opened in spring 1932."]


@pytest.mark.parametrize(
    ("answer", "claim"),
    [
        ("The plan costs 49 euros, but the documents do not mention taxes.", "The plan costs 49 euros"),
        ("Although the context does not give the exact date, it was built in the 1930s.", "it was built in the 1930s."),
        ("I could not find the day in the documents; however, it was in May 1932.", "it was in May 1932."),
        ("Die Dokumente nennen keinen Preis, aber der Plan ist monatlich kündbar.", "der Plan ist monatlich kündbar."),
        ("文档中没有提到价格，但是可以在月底取消套餐。", "可以在月底取消套餐。"),
    ],
)
def test_half_a_refusal_claims_its_other_half(answer: str, claim: str) -> None:
    """A sentence that declines and answers is no refusal; the part that answers is the claim, in its place."""
    found = find_statements(answer)
    assert not found.refuses
    assert found.declined
    assert [one.text for one in found.claims] == [claim]
    assert [answer[one.start : one.end] for one in found.claims] == [claim]


@pytest.mark.parametrize(
    "answer",
    [
        "The documents do not mention the price, but you can contact support.",
        "The documents do not mention the price, but they describe the warranty.",
        "I am sorry, but I cannot find this in the documents.",
        "Although I searched all the documents, I could not find the price.",
    ],
)
def test_a_turn_does_not_make_an_answer(answer: str) -> None:
    """Advice, apology or what else there is after a "but" leave a refusal a refusal."""
    assert find_statements(answer).refuses


@pytest.mark.parametrize("part", ["not ", "the documents ", " ", "i can't ", "no information in the context "])
def test_no_text_takes_long(part: str, own_time: OwnTime) -> None:
    """The patterns read the start of a sentence only, and every gap is bounded."""
    text, pieces = part * 50_000, (part.strip() + ". ") * 3_000
    own_time.within(1.0, lambda: (is_refusal(text), find_statements(text), find_statements(pieces)))


def test_a_sentence_of_ascii_has_the_hints_it_had() -> None:
    """The faster hints for ASCII find the same languages as the full ones, in capitals too."""
    texts = [text for text in (*REFUSALS, *REFUSED, *MORE, *SHORT, *ANSWERED, *MORE_ANSWERED) if text.isascii()]
    texts += [text.upper() for text in texts] + ["Bilgi vermiyor", "KANN ICH NICHT SAGEN", "no hay nada", "Lass es"]
    languages: set[str] = set()
    for text in texts:
        full = [one.hint.pattern for one in refusals._read_wordings() if one.hint.search(text)]
        assert [one.hint.pattern for one in refusals._select_wordings(text)] == full, text
        languages.update(full)
    assert len(languages) >= 5
