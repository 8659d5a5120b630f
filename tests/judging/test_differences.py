"""Sentences that a near-copy contradicts, and sentences that only look like it."""

from __future__ import annotations

import pytest

from ragauge.judges.local.support import MAX_CONTRADICTED_P, PreparedPassages, SupportVerdict

AROUND = "The archive of the town was moved twice in these years, and most of its letters are lost."


def weigh(claim: str, *passages: str) -> SupportVerdict:
    """The verdict on a claim; in each passage another sentence stands before."""
    return PreparedPassages([f"{AROUND} {text}" for text in passages], [claim]).weigh_claim(claim)


def said(claim: str, passage: str) -> tuple[str, ...]:
    """The claim's differing words, after the marks that every contradiction leaves."""
    found = weigh(claim, passage)
    assert found.supporting == ()
    assert found.contradicting == (1,), found
    assert found.p <= MAX_CONTRADICTED_P
    assert found.window is not None
    assert f"{AROUND} {passage}"[found.window.start : found.window.end] in passage
    assert found.reason.startswith("passage 1 says '") or found.reason.startswith('passage 1 says "')
    return found.window.missing


@pytest.mark.parametrize(
    ("claim", "passage", "words"),
    [
        ("The mill does not grind wheat in winter.", "The mill grinds wheat in winter.", "not"),
        ("The lid isn't made of steel.", "The lid is made of steel.", "isn't"),
        (
            "She never went to the northern depot after the flood.",
            "She went to the northern depot after the flood.",
            "never",
        ),
        ("The lid is made of steel.", "The lid is not made of steel.", "made"),
        ("The lid is made of steel.", "The lid is n't made of steel .", "made"),
        ("The council could not agree on a site.", "The council could agree on a site.", "not"),
        ("The council cannot agree on a site.", "The council can agree on a site.", "cannot"),
        ("It is not true that the valve closes by itself.", "The valve closes by itself.", "It is not true that"),
        ("No member of the crew was injured in the fall.", "A member of the crew was injured in the fall.", "No"),
        ("The hub works without a password in town.", "The hub works with a password in town.", "without"),
    ],
)
def test_a_negation_that_one_side_lacks(claim: str, passage: str, words: str) -> None:
    """A negation put in or left out contradicts, with an auxiliary, do-support, a contraction or a word of its own."""
    assert said(claim, passage) == (words,)


def test_the_reason_names_both_and_the_negation() -> None:
    """The reason shows what either side says, and that one of them is negated."""
    found = weigh("The lid is not made of steel.", "The lid is made of steel.")
    assert found.reason == "passage 1 says 'is made', but the claim says 'is not made'; one is negated"


@pytest.mark.parametrize(
    ("claim", "passage", "words"),
    [
        ("Lena Ortiz founded the company in Leeds.", "Lena Ortiz founded the company in Porto.", "Leeds"),
        ("Tom Baker founded the company in Porto.", "Lena Ortiz founded the company in Porto.", "Tom Baker"),
        ("Faro hosts the spring fair of the guild.", "Porto hosts the spring fair of the guild.", "Faro"),
        ("The fair moved to the Union Hall in spring.", "The fair moved to Porto in spring.", "Union Hall"),
        ("Mary Smith designed the bridge near Leeds.", "John Smith designed the bridge near Leeds.", "Mary Smith"),
    ],
)
def test_another_name_in_the_same_place(claim: str, passage: str, words: str) -> None:
    """A name in whose place the near-copy has another contradicts, at the start, in the middle and at the end."""
    assert said(claim, passage) == (words,)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("In May a firm, Marlow Press, acquired Kale Books.", "In May a firm, Kale Books, acquired Marlow Press."),
        ("The rival Marlow Press was acquired by Harbour Books.", "The rival Marlow Press acquired Harbour Books."),
        ("It is known that Ann Bell taught Bob Hale to sail.", "It is known that Bob Hale taught Ann Bell to sail."),
    ],
)
def test_names_that_changed_places(claim: str, passage: str) -> None:
    """Who did it to whom counts: names exchanged around a verb contradict, and so does a verb made passive."""
    said(claim, passage)


@pytest.mark.parametrize(
    ("claim", "passage", "words"),
    [
        ("The box holds 6 bottles of olive oil.", "The box holds 12 bottles of olive oil.", "6"),
        ("The box holds six bottles of olive oil.", "The box holds 12 bottles of olive oil.", "six"),
        ("The box holds one bottle of olive oil.", "The box holds two bottles of olive oil.", "one"),
        ("The town has 14,890 inhabitants.", "The town has 14,212 inhabitants.", "14,890"),
        ("Porto sold 40 boats and Leeds sold 30 boats.", "Porto sold 30 boats and Leeds sold 40 boats.", "40 … 30"),
        ("The path is 5 miles long and flat.", "The path is 5 km long and flat.", "5 miles"),
        ("The pump costs €300 without the hose.", "The pump costs $300 without the hose.", "€300"),
        ("The fund raised 5 billion euros for repairs.", "The fund raised 5 million euros for repairs.", "5 billion"),
        ("It grew by 5 percent in the wet year.", "It grew by 5 cm in the wet year.", "5 percent"),
        ("She left months before the flood.", "She left years before the flood.", "months"),
    ],
)
def test_another_number_or_unit(claim: str, passage: str, words: str) -> None:
    """Another number, two numbers exchanged, and the same number of something else contradict."""
    assert said(claim, passage) == (words,)


@pytest.mark.parametrize(
    ("claim", "passage", "words"),
    [
        ("The bridge opened on 4 May 1932.", "The bridge opened on 3 May 1932.", "4 May 1932"),
        ("The bridge opened on June 3 to the public.", "The bridge opened on May 3 to the public.", "June 3"),
        ("The bridge opened in 1936 to the public.", "The bridge opened in 1932 to the public.", "1936"),
        ("The bridge was shut from 5 to 9 May 1932.", "The bridge was shut from 5 to 8 May 1932.", "5 to 9 May 1932"),
        ("The office of the harbour opens on Mondays.", "The office of the harbour opens on Tuesdays.", "Mondays"),
        ("Work on the harbour wall began in May.", "Work on the harbour wall began in June.", "May"),
    ],
)
def test_another_day_month_or_year(claim: str, passage: str, words: str) -> None:
    """A date in whose place another stands contradicts, as do another weekday and another month."""
    assert said(claim, passage) == (words,)


@pytest.mark.parametrize(
    ("claim", "passage", "words"),
    [
        ("All tenants of the block got a letter.", "Some tenants of the block got a letter.", "All"),
        ("All of the tenants got a letter.", "Most of the tenants got a letter.", "All of"),
        ("No tenants of the block got a letter.", "Most tenants of the block got a letter.", "No"),
        ("Few tenants of the block got a letter.", "Many tenants of the block got a letter.", "Few"),
        ("Only members may vote at the yearly meeting.", "Members may vote at the yearly meeting.", "Only"),
        ("The pump rarely fails in cold weather.", "The pump often fails in cold weather.", "rarely"),
        ("The new pump is less efficient than it was.", "The new pump is more efficient than it was.", "less"),
        ("The hub needs at most 4 GB of memory.", "The hub needs at least 4 GB of memory.", "at most"),
        ("The hub holds fewer than 500 files.", "The hub holds more than 500 files.", "fewer than"),
        ("The valve was replaced after the flood.", "The valve was replaced before the flood.", "after"),
        ("Rents are higher in the old town.", "Rents are lower in the old town.", "higher"),
        ("Sales of the mill rose last winter.", "Sales of the mill fell last winter.", "rose"),
        ("The gate opens at sunset on workdays.", "The gate closes at sunset on workdays.", "opens"),
        ("It is impossible to repair the valve at sea.", "It is possible to repair the valve at sea.", "impossible"),
        ("He was the second owner of the mill.", "He was the third owner of the mill.", "second"),
    ],
)
def test_a_word_that_excludes_the_other(claim: str, passage: str, words: str) -> None:
    """Quantifiers, bounds, comparatives, opposites and ranks in each other's place contradict."""
    assert said(claim, passage) == (words,)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        # said otherwise
        ("The company was founded by Lena Ortiz in Porto.", "Lena Ortiz founded the company in 1998 in Porto."),
        ("In May Harbour Books was acquired by Marlow Press.", "In May Marlow Press acquired Harbour Books."),
        ("It is worth noting that the mill grinds wheat.", "The mill grinds wheat."),
        ("The tenants cannot sublet the flat.", "The tenants can't sublet the flat."),
        ("The audit found no errors in the ledger.", "The audit did not find errors in the ledger."),
        ("Leeds lost to Porto in the final match.", "Porto beat Leeds in the final match."),
        ("Leeds is larger than Porto by area.", "Porto is smaller than Leeds by area."),
        ("The mill no longer grinds wheat.", "The mill stopped grinding wheat."),
        # something else is spoken of
        ("The Leeds mill closed in 1994.", "The Porto mill closed in 1998."),
        ("Hub 3 restores a share within 72 hours.", "Hub 2 restores a share within 72 hours."),
        ("The trial of version 5.1 lasts 30 days.", "The trial of version 4.2 lasts 30 days."),
        ("Ortiz founded the company in Porto.", "She founded the company in Porto."),
        # two negations, or a negation of something else
        ("The shop is not closed on Mondays.", "The shop is open on Mondays."),
        ("The lid is not impossible to open.", "The lid is possible to open."),
        ("The lift, which is made of steel, opened in 1932.", "The lift, which is not made of wood, opened in 1932."),
        ("The mill in Porto opened in 1932.", "The mill in Porto, which did not burn down, opened in 1932."),
        ("The bridge was opened in 1932 to the public.", "The bridge was not opened until 1932 to the public."),
        ("The pump does not reduce the noise.", "The trial was made to see whether the pump reduces the noise."),
        ("The club has not gone beyond the second round.", "The club has failed to go beyond the second round."),
        ("He was in the squad but only played three minutes.", "He was in the squad but played just three minutes."),
        # the claim's own name or number stands further on
        ("Mara Lind will play Gundel.", "Jon Ek will play the beggar and Mara Lind will appear as Gundel."),
        ("The Reds spent 298 crowns.", "The Reds' bill was 298 crowns, the Greens spent 158 crowns and lost."),
        # quoted negations, and "not only"
        ("The singer recorded the song in Porto.", 'The singer recorded the song "Not Tonight" in Porto.'),
        ('The sign at the gate says "No entry" in red.', "The sign at the gate says “No entry” in red."),
        ("The pump is not only quiet but also cheap.", "The pump is quiet and also cheap."),
        ("The mill grinds wheat and rye.", "The mill grinds not only wheat but also rye."),
        ("No, the mill grinds wheat in winter.", "The mill grinds wheat in winter."),
        # amounts that agree
        ("The town has about 14,000 inhabitants.", "The town has 14,212 inhabitants."),
        ("The town has 14,000 inhabitants.", "The town has 14,212 inhabitants."),
        ("Sales were about 5 million euros.", "Sales were 5.1 million euros."),
        ("The path is 1.5 km long and flat.", "The path is 1,500 m long and flat."),
        ("The path is 5 km long and flat.", "The path is 3.1 miles long and flat."),
        ("The warranty of the hub lasts 2 years.", "The warranty of the hub lasts 24 months."),
        ("The oven heats up to 200 °C in minutes.", "The oven heats up to 392 °F in minutes."),
        ("The hub holds more than 500 files at once.", "The hub holds 512 files at once."),
        ("The hub holds no more than 500 files.", "The hub holds up to 500 files."),
        ("The hub needs no less than 4 GB of memory.", "The hub needs at least 4 GB of memory."),
        ("Only 3 members voted at the meeting.", "At the meeting 3 members voted."),
        # dates within one another
        ("The bridge opened in May 1932.", "The bridge opened on 3 May 1932."),
        ("The bridge opened on 3 May.", "The bridge opened on 3 May 1932."),
        ("The bridge opened in the 1930s.", "The bridge opened in 1932."),
        # lists, and sides that may change places
        ("It has offices in Chile, Spain and Peru.", "It has offices in Spain, Peru and Chile."),
        ("It has offices in Chile and Spain.", "It has offices in Spain, Peru and Chile."),
        ("It is known that Bob married Ann in Porto.", "It is known that Ann married Bob in Porto."),
        ("It is known that Bob and Ann built the mill.", "It is known that Ann and Bob built the mill."),
        # a weaker claim than the passage's
        ("Some tenants of the block got a letter.", "All tenants of the block got a letter."),
        ("Members may vote at the yearly meeting.", "Only members may vote at the yearly meeting."),
        # names of one thing
        ("Ortiz founded the company in Porto.", "Lena Ortiz founded the company in Porto."),
        ("IBM opened the plant in Leeds.", "International Business Machines opened the plant in Leeds."),
        ("The U.S. delegation left the room.", "The United States delegation left the room."),
        ("Bill Hale built the mill in Porto.", "William Hale built the mill in Porto."),
    ],
)
def test_what_may_both_be_true_is_no_contradiction(claim: str, passage: str) -> None:
    """Paraphrases, other subjects, doubled negations, equal amounts, dates in dates, lists and weaker claims pass."""
    assert weigh(claim, passage).contradicting == ()


def test_a_sentence_that_states_the_claim_counts_first() -> None:
    """A passage that says both the claim and its opposite of two things does not contradict it."""
    passage = "The pump is sealed at the factory in Leeds. In Porto the pump is not sealed at the factory."
    assert weigh("The pump is not sealed at the factory.", passage).contradicting == ()


def test_a_passage_that_only_shares_words_does_not_support_an_altered_copy() -> None:
    """Beside a near-copy that contradicts, a passage supports only surely, or with more of the claim in one sentence.

    The near-copy itself supports nothing, however much of the claim it holds; and the probability, which the other
    passage gives, is not lowered.
    """
    copy = "The warden opens the northern gate at sunset, after the last ferry has left the harbour."
    other = "At the northern gate the warden waits for the last ferry. It left the harbour at sunset. The gate opens."
    claim = copy.replace("opens", "closes")
    alone, found = weigh(claim, other), weigh(claim, copy, other)
    assert alone.supporting == (1,)
    assert (found.supporting, found.contradicting, found.p) == ((), (1,), alone.p)
    assert weigh(claim, copy).supporting == ()
    assert weigh(claim, copy).p <= MAX_CONTRADICTED_P
    assert weigh(copy, copy, copy.replace("northern", "southern")).supporting == (1,)


def test_claims_in_other_languages_are_left_alone() -> None:
    """Outside English only numbers and dates are compared, and nothing fails."""
    german = "Das Werk in Hamburg wurde 1932 von der Stadt eröffnet und ist heute ein Museum."
    assert weigh(german.replace("ist", "ist nicht"), german + " Es ist nicht groß und wird von der Stadt betrieben.")
    passages = PreparedPassages([german], [german])
    assert passages.weigh_claim(german.replace("1932", "1936")).contradicting == (1,)
    assert not passages.weigh_claim(german.replace("Hamburg", "Bremen")).contradicting
    assert weigh("Завод открыт в 1932 году.", "Завод не открыт в 1936 году.")
    assert weigh("工場は開いている。", "工場は開いていない。")


def test_a_claim_without_words_of_its_own_is_left_alone() -> None:
    """Marks, digits, function words, endless claims and empty passages neither contradict nor fail."""
    for claim in ("…", "42", "It is not.", "not " * 2_000, "No. No. No.", "A " + "and B " * 500):
        assert weigh(claim, "It is 42.", "", "not " * 2_000).contradicting == ()
