"""Reproductions: which papers are asked for, what is out, and the text and JSON of both."""

from __future__ import annotations

import json

import pytest

from oodometer.core.errors import UsageError
from oodometer.published import reproduce as report
from oodometer.published.checks import Check, Remark, Reproduction
from oodometer.published.reproduce import PAPERS, Reproductions, reproduce

AGREES = Check("paper", "slope", "Table 1", 1.69, 1.6912, 0.005, "printed to two digits")
IS_OUT = Check("paper", "offset", "Section 3", -72.7, -73.0, 0.05)
WORD = Check("paper", "sign", "Table 2", "+", "+")


@pytest.fixture
def papers(monkeypatch):
    """Two papers in place of the real ones, and a record of what was derived."""
    done = []

    def paper(name, *checks, remarks=()):
        def derive():
            done.append(name)
            return Reproduction(name, f"Title of {name}", checks, remarks)

        return derive

    remark = Remark("second", "Table 3", "two means are exchanged")
    known = {"first": paper("first", AGREES, WORD), "second": paper("second", IS_OUT, remarks=(remark,))}
    monkeypatch.setattr(report, "PAPERS", known)
    monkeypatch.setattr(report, "FROM_TESTBED", {})
    monkeypatch.setattr(
        report.taori2020, "reproduce", lambda folder: Reproduction("taori2020", f"from {folder}", (AGREES,))
    )
    return done


def test_without_names_all_papers_at_hand(papers):
    assert [one.paper for one in reproduce().papers] == ["first", "second"]
    assert [one.paper for one in reproduce(testbed="dir").papers] == ["first", "second", "taori2020"]
    assert reproduce(testbed="dir").papers[2].title == "from dir"


def test_papers_by_name_each_once_and_nothing_else(papers):
    assert [one.paper for one in reproduce(["second", "first", "second"]).papers] == ["second", "first"]
    assert papers == ["second", "first"]
    assert [one.paper for one in reproduce(["taori2020"], testbed="dir").papers] == ["taori2020"]
    # A testbed for which no paper asks is no reason to read it.
    assert [one.paper for one in reproduce(["first"], testbed="dir").papers] == ["first"]


def test_names_that_mean_nothing(papers):
    with pytest.raises(UsageError, match=r"^no paper named 'frist'; did you mean first\?$"):
        reproduce(["second", "frist"])
    with pytest.raises(UsageError, match=r"^taori2020: its table is not bundled; give the folder with --testbed DIR$"):
        reproduce(["taori2020"])
    assert papers == []  # nothing is derived before all names are known


def test_what_is_out(papers):
    assert reproduce(["first"]).failed == ()
    assert reproduce().failed == (IS_OUT,)


def test_the_text_to_the_letter(papers):
    assert str(reproduce()) == "\n".join(
        [
            "first: Title of first",
            "1 of 1 printed numbers agree, and 1 of 1 statements in words",
            "",
            "   published  ours    difference  allowed  what   where",
            "✓  1.69       1.6912  +0.0012     0.005    slope  Table 1",
            "✓  +          +                            sign   Table 2",
            "",
            "second: Title of second",
            "0 of 1 printed numbers agree",
            "",
            "   published  ours  difference  allowed  what    where",
            "✗  -72.7      -73   -0.3        0.05     offset  Section 3",
            "",
            "Worth knowing:",
            "- Table 3: two means are exchanged",
        ]
    )


def test_the_headline_counts_what_does_not_agree_and_no_words_as_numbers():
    bound = Check("paper", "slope", "Section 4", "at least 8", "7.2", known="known: so it is")
    # one that agrees after all is not among those that are known not to
    agrees = Check("paper", "r", "Section 4", 0.24, 0.24, known="known: no longer")
    mine = Check("paper", "fit", "the table", 0.9, 0.9, source="own")
    headline = report.summary(Reproduction("paper", "Title", (AGREES, WORD, bound, agrees, mine)))
    assert headline == (
        "2 of 3 printed numbers agree, and 1 of 1 statements in words (1 known not to, see ≠); 1 of 1 values of our own"
    )


def test_json_is_stable(papers):
    first, second = json.loads(json.dumps(reproduce().as_json(), allow_nan=False))
    assert set(first) == {"paper", "title", "checks", "not_derived", "remarks"}
    assert first["checks"][0] == {
        "paper": "paper",
        "what": "slope",
        "where": "Table 1",
        "published": 1.69,
        "ours": 1.6912,
        "allowed": 0.005,
        "reason": "printed to two digits",
        "source": "printed",
        "known": "",
        "difference": pytest.approx(0.0012),
        "holds": True,
    }
    assert (first["checks"][1]["difference"], first["checks"][1]["published"]) == (None, "+")
    assert second["checks"][0]["holds"] is False
    assert second["remarks"] == [{"paper": "second", "where": "Table 3", "text": "two means are exchanged"}]


@pytest.mark.parametrize("name", list(PAPERS))
def test_every_bundled_paper_comes_out_under_its_name(name):
    found = reproduce([name])
    assert [one.paper for one in found.papers] == [name]
    assert found.failed == ()
    assert {check.paper for check in found.papers[0].checks} == {name}
    json.dumps(found.as_json(), allow_nan=False)


def test_nothing_is_nothing():
    assert (str(Reproductions(())), Reproductions(()).as_json(), Reproductions(()).failed) == ("", [], ())


def test_a_number_whose_inputs_are_missing_is_out_and_says_so():
    lost = Check("paper", "slope", "Table 1", 1.69, float("nan"), 0.005)
    found = Reproductions((Reproduction("paper", "Title", (lost,)),))
    assert found.failed == (lost,)
    assert str(found).splitlines()[-1] == "✗  1.69       missing              0.005    slope  Table 1"
    check = json.loads(json.dumps(found.as_json(), allow_nan=False))[0]["checks"][0]
    assert (check["ours"], check["difference"], check["holds"]) == (None, None, False)
