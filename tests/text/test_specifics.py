"""Specifics: what is found, and that equal meaning has one form."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragauge.text.specifics import ALL_KINDS, Kind, Specific, find_specifics

PIECES = st.sampled_from(
    [
        *("1,000", "20%", "20 percent", "3 Jan 2024", "2024-01-03", "$5.2 million", "5.2m", "ACME Corp.", "U.S."),
        *("twenty-one", "two hundred and", "and", "one", "three", "Three", "a million", "“we will not give up”", "'"),
        *("Paris", "The", "in", "of", "March", "2024", "3-5", "[1]", "1. ", "\n", ".", " ", ",", "-", "٣", "３", "億"),
        *("月", "日", "»", "«", "「", "」", "é", "\u0301", "\ud800", "\x00", "https://a.b/c", "a@b.co", "《", "10:30"),
        *("X-200", "年", '"', "》", "5 GB", "-", "–", "May"),
    ]
)
LISTS = st.lists(PIECES, max_size=25)
TEXTS = st.one_of(st.text(max_size=60), LISTS.map(" ".join), LISTS.map("".join))
ENDLESS = ["1", "1,", "a", "A", "A ", "A.", "'a ", '"', "“", "one ", "Jan 1 ", "[", "[1,", "@", "a@", "1:"]
ENDLESS += ["x.1 ", "11,", "1.1", "111 ", "111.", "A of ", "A.B "]


def found(text: str, *kinds: Kind) -> list[tuple[str, str]]:
    return [(one.text, one.normal) for one in find_specifics(text, kinds or ALL_KINDS)]


def normals(text: str, kind: Kind) -> list[str]:
    return [one.normal for one in find_specifics(text, [kind])]


@given(TEXTS)
@settings(derandomize=True, deadline=None)
def test_finds_are_apart_and_in_order(text: str) -> None:
    """Nothing raises; finds are slices of the text, in order, not overlapping, each with a canonical form."""
    end = 0
    for one in find_specifics(text):
        assert text[one.start : one.end] == one.text
        assert one.text
        assert one.normal
        assert one.start >= end
        end = one.end


@given(TEXTS)
@settings(derandomize=True, deadline=None)
def test_canonical_form_is_its_own(text: str) -> None:
    """The canonical form of a number, date or percentage is read as itself."""
    for one in find_specifics(text, ("number", "date", "percent")):
        if not one.normal.startswith("--"):  # a day without year is written in no common way
            again = find_specifics(one.normal, ("number", "date", "percent"))
            assert [each.normal for each in again] == [one.normal]


@given(TEXTS, st.sampled_from(ALL_KINDS))
@settings(derandomize=True, deadline=None)
def test_one_kind_alone_keeps_what_all_have(text: str, kind: Kind) -> None:
    """Asking for one kind loses none that asking for all finds, and gives no other kind."""
    alone = find_specifics(text, [kind])
    assert all(one.kind == kind for one in alone)
    assert {one for one in find_specifics(text) if one.kind == kind} <= set(alone)


@pytest.mark.parametrize(
    ("kind", "spellings"),
    [
        ("number", ["1,000", "1000", "1 000", "1\u00a0000", "1'000", "１０００", "١٠٠٠", "1.000,00", "one thousand"]),
        ("number", ["$5.2 million", "5.2m", "5,200,000", "5.2 mn", "USD 5.2m", "5,2 Millionen"]),
        ("number", ["1.5", "1,5", "1.50", "１．５"]),
        ("number", ["205", "two hundred and five", "Two hundred five"]),
        ("number", ["21", "twenty-one", "twenty one", "21st"]),
        ("number", ["300000000", "3億", "3 亿", "300 million", "0.3bn"]),
        ("number", ["1234567", "1,234,567", "12,34,567", "1.234.567"]),
        ("number", ["-5", "−5", "-5.0"]),
        ("percent", ["20%", "20 percent", "20 per cent", "20 %", "２０％", "twenty percent", "20 Prozent", "百分之20"]),
        ("percent", ["2.5%", "2,5 %", "٢٫٥٪", "2.5 percentage points"]),
        (
            "date",
            [
                *("3 Jan 2024", "2024-01-03", "January 3, 2024", "Jan. 3rd, 2024", "3rd of January 2024", "2024/1/3"),
                *("3. Januar 2024", "3 janvier 2024", "3 de enero de 2024", "2024年1月3日", "3.1.2024", "3-Jan-2024"),
                *("2024-01-03T10:00:00Z", "1/3/2024", "３ Jan ２０２４", "January 3 2024"),
            ],
        ),
        ("date", ["March 2024", "2024-03", "Mar. 2024", "2024年3月", "März 2024"]),
        ("date", ["in 2024", "2024", "(2024)", "2024年"]),
        ("name", ["met ACME Corp.", "met Acme Corp", "met ACME CORP"]),
        ("name", ["the U.S.", "the US", "the U.S"]),
        ("name", ["in São Paulo", "in Sao Paulo"]),
    ],
)
def test_case_21_one_form_for_one_meaning(kind: Kind, spellings: list[str]) -> None:
    """Spellings of one number, percentage, date or name have one canonical form."""
    assert {tuple(normals(spelling, kind)) for spelling in spellings} == {tuple(normals(spellings[0], kind))}
    assert len(normals(spellings[0], kind)) == 1


def test_case_21_a_date_is_no_number_and_a_percentage_is_none() -> None:
    """A date and a percentage are not found as numbers as well."""
    assert find_specifics("20% on 3 Jan 2024", ["number"]) == ()
    assert [one.kind for one in find_specifics("20% on 3 Jan 2024")] == ["percent", "date"]


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("5 GB", "GB"),
        ("5GB", "GB"),
        ("30 days", "days"),
        ("a 30-day trial", "days"),
        ("$5", "$"),
        ("US$5", "$"),
        ("5 dollars", "$"),
        ("€5", "€"),
        ("5 Euro", "€"),
        ("EUR 5", "€"),
        ("5 km/h", "km/h"),
        ("5", ""),
        ("5 apples", ""),
        ("5 a day", ""),
        ("10:30 pm", "pm"),
        ("-5°C", "°C"),
        ("3人", "people"),
    ],
)
def test_unit_stands_apart(text: str, unit: str) -> None:
    """Unit and currency are a field of their own and leave the value alone."""
    (one,) = find_specifics(text, ["number"])
    assert one.unit == unit


def test_ambiguous_spellings_keep_both_readings() -> None:
    """A spelling that can be read in two ways carries the second reading."""
    assert [(one.normal, one.other) for one in find_specifics("1.234 and 4/5/2024 and 5.2m")] == [
        ("1.234", "1234"),
        ("2024-04-05", "2024-05-04"),
        ("5200000", "5.2"),
    ]


def test_what_is_no_number() -> None:
    """Codes, list numbers, citations and the pronoun "one" are no numbers."""
    assert find_specifics("B2B, 3D, x86\n1. One of them [2] came [3, 4]. (1) This, (2) that.", ["number"]) == ()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Revenue grew. Costs fell.", []),
        ("The talks ended. Yesterday Acme won; Acme rejoiced.", ["Acme", "Acme"]),
        ("Germany agreed. So did Germany.", ["Germany", "Germany"]),
        ("Barack Obama spoke.", ["Barack Obama"]),
        ("The White House spoke to Dr. Jane Roe.", ["White House", "Jane Roe"]),
        ("We use iPhone, GPT-4, X-200, NASA and Node.js.", ["iPhone", "GPT-4", "X-200", "NASA", "Node.js"]),
        ("In March he met Ludwig van Beethoven on Monday.", ["Ludwig van Beethoven"]),
        ("at Acme's office", ["Acme"]),
        ("the University of Oxford", ["University of Oxford"]),
        ("I think that I'm right.", []),
        ("PLEASE READ ALL OF THIS TEXT NOW", []),
        ("See https://example.org/Guide.", ["https://example.org/Guide"]),
        ("3 GB of RAM", ["RAM"]),
        ("Der Hund von Angela Merkel ist in der Stadt und bellt.", ["Angela Merkel"]),
        ("он видел Анну Каренину вчера", ["Анну Каренину"]),
        ("他用Python写了《红楼梦》。", ["Python", "红楼梦"]),
        ("Paris", ["Paris"]),
    ],
)
def test_names(text: str, names: list[str]) -> None:
    """A capital counts as a name where its place in the sentence does not ask for it."""
    assert [one.text for one in find_specifics(text, ["name"])] == names


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        ('He said "we will not go" today.', ["we will not go"]),
        ("He said “we will not go” today.", ["we will not go"]),
        ("«nous ne partons pas»", ["nous ne partons pas"]),
        ("„wir gehen nicht weg“", ["wir gehen nicht weg"]),
        ("「これは長い引用です」", ["これは長い引用です"]),
        ("'it isn't over yet' he said", ["it isn't over yet"]),
        ('a "big deal" it isn\'t', []),
        ("it's the dog's dinner, isn't it", []),
        ("「短い」", []),
    ],
)
def test_quotes(text: str, quotes: list[str]) -> None:
    """Three words between quotation marks of any kind are a quotation, six characters where there are no spaces."""
    assert [one.text for one in find_specifics(text, ["quote"])] == quotes


def test_quotation_covers_what_is_in_it() -> None:
    """With quotations asked for, what stands inside one is not found again."""
    assert [one.kind for one in find_specifics('They said "costs rose 20% in May 2023" twice.')] == ["quote"]


def test_case_39_numbers_names_and_dates_of_other_scripts() -> None:
    """Chinese, Japanese, Arabic and German text is read without English being assumed."""
    assert found("公司在2024年3月5日卖出1.5万台，增长２０％。") == [
        ("2024年3月5日", "2024-03-05"),
        ("1.5万", "15000"),
        ("２０％", "20%"),
    ]
    assert found("2023年に300億円の利益。") == [("2023年", "2023"), ("300億", "30000000000")]
    assert found("ارتفع بنسبة ٢٠٪ إلى ١٬٥٠٠ دولار") == [("٢٠٪", "20%"), ("١٬٥٠٠", "1500")]
    assert found("Am 3. Januar 2024 zahlte die Deutsche Bahn 1.234,50 Euro und war zufrieden.") == [
        ("3. Januar 2024", "2024-01-03"),
        ("Deutsche Bahn", "deutsche bahn"),
        ("1.234,50", "1234.5"),
    ]


def test_specific_is_a_value() -> None:
    """A find carries kind, text, offsets, canonical form, unit and the other reading."""
    assert find_specifics("It costs $1,500.") == (Specific("number", "1,500", 10, 15, "1500", "$"),)


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit", ["1,", "A.", *(pytest.param(unit, marks=pytest.mark.prove) for unit in ENDLESS if unit not in ("1,", "A."))]
)
def test_endless_text_of_one_thing(unit: str) -> None:
    """200,000 characters of one pattern take time in proportion to 50,000, not in its square."""
    taken = {}
    for length in (50_000, 200_000):
        text = (unit * length)[:length]
        begin = time.process_time()
        find_specifics(text)
        taken[length] = time.process_time() - begin
    assert taken[200_000] < max(0.2, 9 * taken[50_000])  # four times in proportion, sixteen times in a square


AROUND = ["`{}`", "``{}``", "'{}'", '"{}"', "“{}”", "[{}]", "({})", "x={}", "0,{}", "x:{}", "<{}>"]


@pytest.mark.parametrize("around", AROUND)
def test_a_minus_after_a_mark_is_one(around: str) -> None:
    """A negative number keeps its sign in code, quotation marks and brackets; a range or a name has none."""
    assert [one.normal for one in find_specifics(f"It is {around.format('-12')} there.") if one.kind == "number"][
        -1
    ] == "-12"
    assert [one.normal for one in find_specifics("From 3-12, and in A-12.") if one.kind == "number"][:2] == ["3", "12"]
