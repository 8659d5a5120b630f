"""Known-item queries are drawn from documents as published, evenly over topics, and again alike."""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

import ragauge as rg
from ragauge.core.document import Document
from ragauge.core.errors import DataError
from ragauge.testsets.corpus_view import CorpusView, classify_difficulty
from ragauge.testsets.generate.set_generation import count_terms, generate_known_items, sample_known_items
from ragauge.testsets.unspaced_words import UnspacedWords

SUBJECTS = ("harbour crane vessel anchor", "violin sonata orchestra tempo", "enzyme protein cell membrane")


def _documents(each: int = 20) -> list[Document]:
    rng, found = random.Random(1), []
    for n, subject in enumerate(SUBJECTS):
        for k in range(each):
            more = [f"word{rng.randrange(500)}" for _ in range(30)]
            found.append(Document(f"{n}-{k}", "", f"{' '.join(rng.choices(subject.split(), k=20))} {' '.join(more)}"))
    return found


def test_queries_name_their_document_and_are_drawn_alike_from_equal_seeds() -> None:
    """Each query has 3 to 6 distinct terms of its document, and equal seeds give equal lines."""
    corpus = CorpusView(_documents())
    lines = list(sample_known_items(corpus, 200, 3))
    assert [one.text for one in sample_known_items(CorpusView(_documents()), 200, 3)] == [one.text for one in lines]
    assert [one.text for one in sample_known_items(corpus, 200, 4)] != [one.text for one in lines]
    for line in lines:
        terms = line.example.query.split()
        ((doc_id,),) = (one.doc_ids for one in line.example.relevant or ())
        assert 3 <= len(terms) <= 6
        assert len(set(terms)) == len(terms)
        assert set(terms) <= set(corpus.documents[doc_id].text.split())
        assert line.curation.origin is not None
        assert line.curation.origin.passages == (doc_id,)
    assert len({line.example.query_id for line in lines}) == 200


def test_the_result_says_how_labels_name_documents(tmp_path: Path) -> None:
    """Pages in a folder are labelled by their paths without endings, which the result says with one of them."""
    (tmp_path / "guides").mkdir()
    (tmp_path / "guides" / "pier.md").write_text("# Pier\n\nThe northern pier opens every spring.", encoding="utf-8")
    found = rg.generate_set(tmp_path, output=tmp_path / "set.jsonl", n=1)
    row = json.loads((tmp_path / "set.jsonl").read_text(encoding="utf-8"))
    assert row["relevant"] == {"guides/pier": 1}
    assert "such as guides/pier; for a text file, its path without its extension" in found.to_markdown()


def test_labels_may_keep_the_endings_of_files(tmp_path: Path) -> None:
    """With ids=path two files that differ by their ending alone are two documents; without, that is refused."""
    for name in ("pier.md", "pier.txt", "Brücke.rst"):
        (tmp_path / name).write_text(f"The northern pier {name} opens every spring for vessels.", encoding="utf-8")
    to = tmp_path / "out" / "set.jsonl"
    found = rg.generate_set(tmp_path, output=to, n=3, ids="path")
    labels = [next(iter(json.loads(line)["relevant"])) for line in to.read_text(encoding="utf-8").splitlines()]
    assert sorted(labels) == ["Brücke.rst", "pier.md", "pier.txt"]
    assert "for a text file, its path with its extension." in found.to_markdown()
    with pytest.raises(DataError, match="The id of a text file is its path without the extension"):
        rg.generate_set(tmp_path, output=to, n=3)


def test_documents_are_drawn_evenly() -> None:
    """None is drawn again before all were, whatever its topic's size; the first draws lie over all topics."""
    corpus = CorpusView(_documents(40)[:40] + _documents(40)[40:48])
    topics, n = len(corpus.topics), len(corpus.ids)
    assert topics > 2
    drawn = [document.doc_id for document in islice(corpus.sample_documents(random.Random(2)), 3 * n)]
    first = [next(place for place, topic in enumerate(corpus.topics) if doc_id in topic) for doc_id in drawn[:topics]]
    assert sorted(first) == list(range(topics))
    for made in (n // 2, n, n + n // 4, 3 * n):
        counts = Counter(drawn[:made])
        assert len(counts) == min(made, n)
        assert max(counts.values()) == -(-made // n)


def test_documents_of_no_use_are_counted_and_never_drawn() -> None:
    """Empty documents, copies and huge ones are named; a corpus of nothing else is refused; too few words end early."""
    documents = [*_documents(3), Document("e", "", " \n"), Document("c", "", _documents(3)[0].text + "  ")]
    found = generate_known_items(CorpusView(documents), 30)
    assert found.corpus.empty == ("e",)
    assert found.corpus.copies == {"c": "0-0"}
    used = {doc_id for one in found.lines for doc_id in (one.curation.origin.passages if one.curation.origin else ())}
    assert not used & {"e", "c"}
    with pytest.raises(DataError, match="no usable document: 1 of 1 documents have no text: e"):
        CorpusView([Document("e", "", "")])
    few = generate_known_items(CorpusView([Document("a", "", "harbour crane vessel")]), 50)
    assert 0 < len(few.lines) < 50


def test_difficulty_tells_where_the_gold_document_ranks() -> None:
    """Ranks by both retrievers are those of a search by hand; a document without a shared term has none by BM25."""
    documents = [Document("a", "", "harbour crane"), Document("b", "", "harbour vessel"), Document("c", "", "violin")]
    ranks = CorpusView(documents).ranks(["crane", "violin"], [["a"], ["b"]])
    assert ranks[0] == (1, 1)
    assert ranks[1][0] is None
    assert ranks[1][1] in (2, 3)
    assert [
        classify_difficulty(1, 1),
        classify_difficulty(2, 1),
        classify_difficulty(None, 100),
        classify_difficulty(11, None),
    ] == ["easy", "medium", "hard", "hard"]


@pytest.mark.realdata
@pytest.mark.prove
def test_known_items_order_retrievers_as_people_do() -> None:
    """On XQuAD 22 retrievers are ordered alike in 95 % of the pairs that people's questions tell apart."""
    from bench.known_items import agreement, drawn_queries, retrievers, xquad

    texts, asked = xquad()
    alike, turned, told, lost = agreement(retrievers(texts, asked), retrievers(texts, drawn_queries(texts)))
    assert told > 150
    assert alike >= 0.95
    assert turned <= 0.05
    assert lost <= 0.02


WORDS = {
    "zh": "图书馆 借书证 星期一 开放时间 读者 登记 罚款 办公室 自行车 停车场 门票 价格 博物馆 学生 老人 免费",
    "ja": "図書館 利用者 月曜日 受付 体育館 料金 電話 予約 本棚 駐車場 学生 無料 美術館 住所 市役所 切符",
    "th": "ห้องสมุด หนังสือ นักเรียน วันจันทร์ ค่าปรับ ที่จอดรถ จักรยาน พิพิธภัณฑ์ โทรศัพท์ ราคา ตั๋ว สมาชิก",
    "km": "បណ្ណាល័យ សៀវភៅ សិស្ស ថ្ងៃចន្ទ ចំណតរថយន្ត កង់ សារមន្ទីរ ទូរស័ព្ទ តម្លៃ សំបុត្រ សមាជិក",
}


@pytest.mark.parametrize("language", WORDS)
def test_terms_of_scripts_without_spaces_are_words(language: str) -> None:
    """Queries over texts without spaces are of words, four in five of them whole, and of no lone character."""
    rng, known = random.Random(4), WORDS[language].split()
    texts = ["".join(rng.choices(known, k=5)) for _ in range(250)]
    documents = [Document(f"d{n}", "", text) for n, text in enumerate(texts)]
    terms = [term for line in sample_known_items(CorpusView(documents), 40) for term in line.example.query.split()]
    assert len(terms) >= 120
    assert all(len(term) > 1 for term in terms)
    assert sum(term in known for term in terms) >= 0.8 * len(terms)


def test_words_beside_scripts_without_spaces_stay_terms() -> None:
    """Latin words and numbers within such texts are terms as before, and particles of every document are none."""
    names = ["图书馆", "博物馆", "停车场", "体育馆", "办公室", "游泳池"]
    texts = [f"{name}的价格是{n}00元。{name}的Wifi密码是open{n}。请打电话。" for n, name in enumerate(names)]
    found = UnspacedWords(texts)
    drawn = count_terms(texts[0], found).names
    assert {"wifi", "open0", "图书馆"} <= set(drawn)
    assert not {"的", "是", "价", "请"} & set(drawn)
