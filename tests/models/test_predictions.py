"""Files of predictions in each form, whose ids they are about, and what is wrong with those that can't be used."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from oodometer.core.errors import DataError, UsageError
from oodometer.models.card import Declared
from oodometer.models.predictions import load_predictions, read_predictions

CLASSES = np.array([[2, 1], [0, 2]])


def test_classes_with_ids_beside_them(tmp_path: Path) -> None:
    np.save(tmp_path / "mine.npy", CLASSES)
    (tmp_path / "mine.ids.txt").write_text("a\nb\n")
    answers = read_predictions(str(tmp_path / "mine.npy"), in_order_of=("x", "y"))
    assert (answers.name, answers.ids, answers.kind, answers.values.tolist()) == (
        "mine",
        ("a", "b"),
        "classes",
        [[2, 1], [0, 2]],
    )


def test_whose_ids_they_are(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", CLASSES)
    np.savez(tmp_path / "b.npz", ids=["p", "q"], classes=CLASSES)
    np.savez(tmp_path / "c.npz", classes=CLASSES)
    (tmp_path / "ids.txt").write_text("m\nn\n")
    for name, own in (("a.npy", ("x", "y")), ("b.npz", ("p", "q")), ("c.npz", ("x", "y"))):
        path = str(tmp_path / name)
        assert read_predictions(path, in_order_of=("x", "y")).ids == own
        assert read_predictions(path, ids=("k", "l"), in_order_of=("x", "y")).ids == ("k", "l")
        assert read_predictions(path, ids=str(tmp_path / "ids.txt")).ids == ("m", "n")


def test_ids_may_be_numbers_and_bytes(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", ids=np.array([7, 8]), classes=CLASSES)
    np.savez(tmp_path / "b.npz", ids=np.array([b"7", b"8"]), classes=CLASSES)
    assert read_predictions(str(tmp_path / "a.npz")).ids == ("7", "8")
    assert read_predictions(str(tmp_path / "b.npz")).ids == ("7", "8")


def test_probabilities_become_logits_of_the_same_softmax(tmp_path: Path) -> None:
    shares = np.array([[0.7, 0.2, 0.1], [0.25, 0.5, 0.25]])
    np.savez(tmp_path / "a.npz", ids=["p", "q"], probabilities=shares)
    logits = read_predictions(str(tmp_path / "a.npz")).values.astype(np.float64)
    exps = np.exp(logits)
    np.testing.assert_allclose(exps / exps.sum(axis=1, keepdims=True), shares, rtol=1e-6)


def test_a_table(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,first,second\nx,2,1\ny,0,2\n")
    answers = read_predictions(str(tmp_path / "a.csv"))
    assert (answers.ids, answers.values.tolist(), answers.kind) == (("x", "y"), [[2, 1], [0, 2]], "classes")


def test_the_card_beside_the_file_holds_where_nothing_else_is_said(tmp_path: Path) -> None:
    np.savez(tmp_path / "mine.npz", ids=["p", "q"], classes=CLASSES)
    (tmp_path / "mine.toml").write_text('name = "other"\ncategory = "more data"\nparent = "resnet50"\n')
    answers = load_predictions(str(tmp_path / "mine.npz"), Declared(parent="vit"))
    assert (answers.name, answers.card.category, answers.card.parent) == ("other", "more data", "vit")


@pytest.mark.parametrize(
    ("array", "values", "message"),
    [
        (np.array([[0], [2_000_000_000]]), None, "the class 2000000000 is too large; they are numbered from 0"),
        (np.array([[0], [2**63]], dtype=np.uint64), None, "the class 9223372036854775808 is too large"),
        (np.array([[0], [-1]]), None, "classes must be whole numbers from 0"),
        (np.array([[0.5, 0.5], [0.1, 0.9]]), None, "every row sums to 1, so these are probabilities"),
        (np.array([[0.5, 0.6], [0.1, 0.9]]), "probabilities", "rows of probabilities must sum to 1"),
        (np.array([[0.5, np.nan], [0.1, 0.9]]), None, "NaN or infinite logits"),
        (np.array([[0.5, np.nan], [0.1, 0.9]]), "probabilities", "NaN or infinite probabilities"),
        (np.array([[1e300, 2], [3, 4]]), None, "a logit of 1e+300 is too large"),
        (np.zeros((2, 1_000_001), dtype=np.float16), None, "1,000,001 columns; expected one per class"),
        (np.zeros((2, 2, 2)), None, "expected one row per image and one column per class, not shape (2, 2, 2)"),
        (np.zeros((2, 0)), None, "expected one row per image and one column per class, not shape (2, 0)"),
        (np.array([["a"], ["b"]]), None, "expected numbers, not <U1"),
        (np.full((3, 2), 0.7), None, "2 ids but an array of shape (3, 2)"),
    ],
)
def test_numbers_that_can_not_be_answers(tmp_path: Path, array, values, message) -> None:
    np.save(tmp_path / "mine.npy", array)
    with pytest.raises(DataError) as caught:
        read_predictions(str(tmp_path / "mine.npy"), ids=("a", "b"), values=values)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_table_of_logits(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("id,cat,dog\na,1.5,-2\nb,1e-3,3\n")
    answers = read_predictions(str(tmp_path / "mine.csv"))
    assert (answers.kind, answers.ids) == ("logits", ("a", "b"))
    assert answers.values.tolist() == np.float32([[1.5, -2], [1e-3, 3]]).tolist()
    (tmp_path / "whole.csv").write_text("id,cat,dog\na,1,2\n")
    assert read_predictions(str(tmp_path / "whole.csv")).kind == "classes"
    assert read_predictions(str(tmp_path / "whole.csv"), values="logits").values.tolist() == [[1, 2]]
    (tmp_path / "shares.csv").write_text("id,cat,dog\na,0.25,0.75\n")
    with pytest.raises(DataError, match="so these are probabilities: say so"):
        read_predictions(str(tmp_path / "shares.csv"))
    (tmp_path / "word.csv").write_text("id,cat,dog\na,0.5,dog\n")
    with pytest.raises(DataError, match="a logit is not a number"):
        read_predictions(str(tmp_path / "word.csv"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            b"id,first\na,1\nb\n",
            "expected a first column id and then the best classes in order, or the logits, in every line",
        ),
        (b"id,first\na,dog\n", "a class is not a whole number, or too large a one"),
        (b"id,first\na," + b"9" * 400 + b"\n", "a class is not a whole number, or too large a one"),
        (b"id,first\na,2000000000\n", "the class 2000000000 is too large"),
        (b"id,first\n\xff,1\n", "not a text file"),
        (b'id,first\n"' + b"a" * 200_000 + b'",1\n', "not a table (field larger than field limit"),
        (b"id,first\n", "expected one row per image"),
        (b"", "expected a first column id"),
    ],
)
def test_tables_that_can_not_be_used(tmp_path: Path, text: bytes, message: str) -> None:
    (tmp_path / "mine.csv").write_bytes(text)
    with pytest.raises(DataError) as caught:
        read_predictions(str(tmp_path / "mine.csv"))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_that_say_too_little(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", ids=["p", "q"], logits=np.eye(2), classes=CLASSES)
    with pytest.raises(
        DataError, match="expected the arrays ids and one of logits, probabilities, classes; it has ids"
    ):
        read_predictions(str(tmp_path / "a.npz"))
    np.save(tmp_path / "b.npy", CLASSES)
    with pytest.raises(DataError, match=r"b\.ids\.txt: no such file; it should hold the ids of b\.npy, one a line"):
        read_predictions(str(tmp_path / "b.npy"))
    with pytest.raises(DataError, match=r"c\.npy: no such file of predictions"):
        read_predictions(str(tmp_path / "c.npy"))
    (tmp_path / "d.pt").write_text("")
    with pytest.raises(DataError, match=r"expected \.npy, \.npz or \.csv, not \.pt"):
        read_predictions(str(tmp_path / "d.pt"))
    with pytest.raises(UsageError, match="no kind of values named 'logit'; did you mean logits"):
        read_predictions(str(tmp_path / "b.npy"), values="logit")


def test_damaged_files_give_one_line_or_answers(tmp_path: Path) -> None:
    np.savez_compressed(
        tmp_path / "good.npz", ids=[f"image{row}" for row in range(20)], classes=np.eye(20, 3, dtype=int)
    )
    content, rng, refused = (tmp_path / "good.npz").read_bytes(), np.random.default_rng(0), []
    for _ in range(300):
        changed = bytearray(content)
        for place in rng.integers(0, len(content), size=rng.integers(1, 4)):
            changed[place] = rng.integers(256)
        (tmp_path / "bad.npz").write_bytes(changed)
        try:
            assert len(read_predictions(str(tmp_path / "bad.npz")).ids) == 20
        except DataError as error:
            refused.append(str(error))
    assert len(refused) > 100
    assert all("\n" not in line for line in refused)
