"""The numbers of the papers' texts: each stands there in the words given, and a check that derives it has its value."""

from __future__ import annotations

import re
import unicodedata

import pytest

from oodometer.core.errors import UsageError
from oodometer.published.in_text.numbers import all_numbers, number_table, numbers_of, text_check, text_number
from oodometer.published.reproduce import PAPERS, Reproduction, not_derived, reproduce
from shared_data import shared

TEXTS = {
    "taori2020": "000",
    "many_faces2021": "001",
    "hendrycks2019": "002",
    "natural_adversarial2021": "003",
    "recht2019": "004",
}
"""How the name of each paper's text starts."""
FEW_WORDS = 5


def readable(text: str) -> str:
    """Without what a reader of PDF files does to text: ligatures, line ends, and colons for decimal points."""
    plain = unicodedata.normalize("NFKC", text).replace("\N{MINUS SIGN}", "-")
    return re.sub(r"(?<=\d):(?=\d)", ".", re.sub(r"\s+", " ", plain))


@pytest.mark.parametrize("paper", TEXTS)
def test_every_number_stands_in_its_paper(paper):
    (path,) = shared("papers").glob(f"{TEXTS[paper]}_*.txt")
    text = readable(path.read_text(encoding="utf-8"))
    assert [number.what for number in numbers_of(paper) if number.words not in text] == []


def test_the_words_hold_the_number_and_are_few():
    for number in all_numbers():
        assert re.search(rf"(?<![\d.]){re.escape(number.value.lstrip('-'))}(?!\d)", number.words), number
        assert len(number.words.split()) <= FEW_WORDS, number


def test_each_number_once_in_a_paper_that_is_known():
    assert {number.paper for number in all_numbers()} == set(TEXTS)
    assert len({(number.paper, number.what) for number in all_numbers()}) == len(all_numbers())
    assert all(number.where and number.what for number in all_numbers())


def derived(paper: Reproduction) -> int:
    """How many numbers of the text the checks derive; each of them must have the number's value."""
    checks = {check.what: check.published for check in paper.checks if check.source == "printed"}
    linked = [number for number in numbers_of(paper.paper) if number.what in checks]
    for number in linked:
        published = checks[number.what]
        same = published.startswith(number.printed) if isinstance(published, str) else published == number.number
        assert same, (number, published)
    return len(linked)


@pytest.mark.parametrize(
    ("paper", "n_derived", "n_left"),
    # golden: a number belongs to the check of the same words, and would silently leave the count if they changed
    [("recht2019", 58, 20), ("hendrycks2019", 5, 31), ("many_faces2021", 9, 4), ("natural_adversarial2021", 4, 26)],
)
def test_what_is_derived_from_bundled_tables(paper, n_derived, n_left):
    (found,) = reproduce([paper]).papers
    assert (derived(found), len(not_derived(found))) == (n_derived, n_left)


@pytest.mark.parametrize(
    ("paper", "n_derived", "n_left"),
    [("hendrycks2019", 10, 26), ("many_faces2021", 10, 3), ("natural_adversarial2021", 14, 16), ("taori2020", 31, 3)],
)
def test_what_is_derived_with_the_testbed(paper, n_derived, n_left):
    found = reproduce([paper], testbed=str(shared("testbed")))
    assert (derived(found.papers[0]), len(not_derived(found.papers[0]))) == (n_derived, n_left)
    assert found.failed == ()


def test_what_is_not_derived_is_not_counted():
    (paper,) = reproduce(["hendrycks2019"]).papers
    left = [number.what for number in not_derived(paper)]
    # Hendrycks and Dietterich 2019, Section 3.5: CLAHE was run by the authors, and no table has it
    assert "mCE of ResNet-50 with CLAHE" in left
    assert not {check.what for check in paper.checks} & set(left)
    text = str(reproduce(["hendrycks2019"]))
    # 62 checks, two of them statements in words
    assert "60 of 60 printed numbers agree, and 2 of 2 statements in words\n" in text
    assert "- Section 3.5: mCE of ResNet-50 with CLAHE: 74.5 percent" in text


@pytest.mark.parametrize("paper", PAPERS)
def test_a_number_that_is_known_not_to_agree_does_not_agree(paper):
    """Otherwise it would be taken out of what can fail for nothing."""
    (found,) = reproduce([paper]).papers
    assert [check.what for check in found.checks if check.known and check.holds] == []


def test_numbers_as_json_have_their_words():
    left = reproduce(["hendrycks2019"]).as_json()[0]["not_derived"]
    (clahe,) = (number for number in left if number["what"] == "mCE of ResNet-50 with CLAHE")
    assert clahe == {
        "paper": "hendrycks2019",
        "where": "Section 3.5",
        "what": "mCE of ResNet-50 with CLAHE",
        "sense": "",
        "value": 74.5,
        "unit": "percent",
        "words": "decreases to 74.5%",
    }


def test_a_plain_number_may_be_off_by_half_a_digit():
    what = "mCE of ResNet-50 with CLAHE"
    assert text_check("hendrycks2019", what, 74.549).holds
    assert not text_check("hendrycks2019", what, 74.56).holds
    assert text_check("hendrycks2019", what, 74.56, rounding=0.01).holds


def test_a_number_that_is_about_may_be_off_by_a_tenth():
    what = "accuracy on ImageNet-A that SE adds to ResNeXt-101 32x4d"
    assert text_check("natural_adversarial2021", what, 9.01).holds
    assert not text_check("natural_adversarial2021", what, 8.99).holds


@pytest.mark.parametrize(
    ("paper", "what", "held", "broken"),
    [
        (
            "taori2020",
            "points on ImageNet-A for each point on the clean images of its classes, above ResNet-50",
            8,
            7.9,
        ),
        ("many_faces2021", "mCE that DeepAugment + AugMix takes off (23.1)", 23.1, 23),
        ("recht2019", "half width of the 95 % interval of an accuracy on 10,000 images", 1, 1.1),
        (
            "natural_adversarial2021",
            "accuracy on clean images of 200 classes that SE adds to ResNeXt-101 32x4d",
            0.99,
            1,
        ),
    ],
)
def test_a_bound_holds_on_its_side_alone(paper, what, held, broken):
    assert text_check(paper, what, held).holds
    check = text_check(paper, what, broken)
    assert not check.holds
    assert check.ours == f"{broken:.3g}"


def test_a_number_that_the_text_does_not_have():
    message = r"^no number in the text of 'hendrycks2019' named 'mCE of MSDNett'; did you mean mCE of MSDNet\?$"
    with pytest.raises(UsageError, match=message):
        text_number("hendrycks2019", "mCE of MSDNett")


def test_the_list_has_a_line_for_each():
    assert len(number_table().splitlines()) == 1 + len(all_numbers())
