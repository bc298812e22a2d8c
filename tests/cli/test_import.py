"""``oodometer import`` of predictions: many files at once, their categories, and what is told of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import oodometer as odo
from as_typed import oodometer
from oodometer.store.index import index_at

N, K = 60, 20
IDS = [f"image{row:02d}.png" for row in range(N)]
LABELS = np.arange(N) % K


def best_five(right: int, seed: int) -> np.ndarray:
    """The five best classes of N images, of which the first is right for so many."""
    rng = np.random.default_rng(seed)
    rows = [rng.permutation(np.delete(np.arange(K), label))[:5] for label in LABELS]
    best = np.array(rows)
    best[:right, 0] = LABELS[:right]
    return best


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("preds").mkdir()
    for seed, (name, right) in enumerate((("resnet", 45), ("vit", 54), ("augmix", 30))):
        np.save(f"preds/{name}.npy", best_five(right, seed))
    lines = [f"{name},{label}" for name, label in zip(IDS, LABELS, strict=True)]
    Path("val.csv").write_text("\n".join(["id,label", *lines]) + "\n")
    Path("cats.csv").write_text("model,category,parent\nvit,more data,\naugmix,robust intervention,resnet\n")
    return tmp_path


def top_1() -> dict[str, odo.Estimate]:
    return {row.model: row.estimate for row in odo.score("runs", metrics=["top-1"]).rows}


def cards() -> dict[str, tuple[str, str | None]]:
    return {cell.model_name: (cell.model.card.category, cell.model.card.parent) for cell in index_at("runs").cells}


@pytest.mark.parametrize("what", ["preds", "preds/*.npy", "preds/[rva]*.npy"])
def test_many_files_in_one_call(workplace: Path, what: str) -> None:
    words = ("--labels", "val.csv", "--n-classes", "20", "--categories", "cats.csv", "--category", "standard")
    result = oodometer("import", what, *words)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "3 models on clean, 60 predictions each, kept in runs\n"
    # 45, 54 and 30 of 60 are right: what best_five was asked for.
    values = {model: estimate.value for model, estimate in top_1().items()}
    assert values == {"augmix": 0.5, "resnet": 0.75, "vit": 0.9}
    assert cards() == {
        "augmix": ("robust intervention", "resnet"),
        "resnet": ("standard", None),
        "vit": ("more data", None),
    }
    assert len({cell.data for cell in index_at("runs").cells}) == 1


def test_models_without_a_category_are_told(workplace: Path) -> None:
    words = ("--labels", "val.csv", "--n-classes", "20")
    result = oodometer("import", "preds/vit.npy", *words)
    assert result.stderr == (
        "60 predictions of vit on clean, kept in runs\n"
        "vit: its category is unknown, so that no line will go through it; --category standard (or another) says it\n"
    )
    result = oodometer("import", "preds/", *words, "--store", "others")
    assert result.stderr.splitlines()[1] == (
        "3 models (augmix, resnet, vit): their category is unknown, so that no line will go through them; --category "
        "standard (or another) or --categories CSV says it"
    )
    # What is in the store keeps its card, and that is told.
    result = oodometer("import", "preds/vit.npy", *words, "--category", "more data")
    assert result.stderr.splitlines()[0] == (
        "warning: vit: it was there already, of no category, and its card stays; to change it, remove it first "
        "('oodometer rm runs vit')"
    )


def test_a_card_beside_a_file_holds_where_the_flags_are_silent(workplace: Path) -> None:
    Path("preds/vit.toml").write_text('name = "ViT"\ncategory = "more data"\n')
    assert oodometer("import", "preds", "--labels", "val.csv", "--n-classes", "20").exit_code == 0
    assert cards()["ViT"] == ("more data", None)


def test_one_refused_file_does_not_stop_the_others(workplace: Path) -> None:
    Path("preds/broken.npy").write_bytes(Path("preds/vit.npy").read_bytes()[:300])
    np.save("preds/large.npy", np.full((N, 1), 99))
    result = oodometer("import", "preds", "--labels", "val.csv", "--n-classes", "20", "--category", "standard")
    assert result.exit_code == 1
    lines = result.stderr.splitlines()
    assert lines[0].startswith("refused: preds/broken.npy: it claims the shape (60, 5), 2,400 bytes, but holds 172")
    assert lines[1] == "refused: predictions large: the class 99 is outside those of imported, 0 to 19"
    assert lines[2] == "3 models on clean, 60 predictions each, kept in runs"
    assert lines[3] == "Error: 2 of 5 files were refused; what is said above tells why"


def test_the_second_import_needs_no_number_of_classes(workplace: Path) -> None:
    words = ("--labels", "val.csv", "--data", "photos")
    result = oodometer("import", "preds/vit.npy", *words)
    assert result.exit_code == 2
    assert result.stderr == (
        "Error: predictions vit: how many classes are there? A file of the best ones does not tell: give --n-classes "
        "N, or --classes FILE with their names\n"
    )
    assert oodometer("import", "preds/vit.npy", *words, "--n-classes", "20").exit_code == 0
    assert oodometer("import", "preds/resnet.npy", *words).exit_code == 0
    result = oodometer("import", "preds/augmix.npy", *words, "--n-classes", "21")
    assert result.stderr.startswith("Error: predictions augmix: 21 classes, but photos has 20; ")


def test_classes_by_name(workplace: Path) -> None:
    names = [f"class {chr(97 + index)}" for index in range(K)]
    Path("classes.txt").write_text("\n".join(names) + "\n")
    rows = [f"{name},{names[label]}" for name, label in zip(IDS, LABELS, strict=True)]
    Path("named.csv").write_text("\n".join(["filename,label", *rows]) + "\n")
    words = ("import", "preds/vit.npy", "--labels", "named.csv", "--classes", "classes.txt", "--category", "standard")
    assert oodometer(*words).stderr == "60 predictions of vit on clean, kept in runs\n"
    assert top_1()["vit"].value == 0.9
    result = oodometer(*words, "--n-classes", "21")
    assert result.stderr == "Error: --n-classes 21, but classes.txt names 20; leave one of them out\n"


def test_labels_that_are_one_too_small(workplace: Path) -> None:
    Path("labels.txt").write_text("".join(f"{label - 1}\n" for label in LABELS))
    Path("ids.txt").write_text("\n".join(IDS) + "\n")
    words = ("--labels", "labels.txt", "--ids", "ids.txt", "--n-classes", "20", "--category", "standard")
    result = oodometer("import", "preds/vit.npy", *words)
    # 3 of 60 images are of class 0; of the other 57, 51 of the first 54 are answered right.
    assert result.stderr == (
        "warning: vit: 89.5% of the answers are the label plus 1 and 0.0% the label itself; is one of them counted "
        "from 1?\n"
        "60 predictions of vit on clean, 57 of them labelled, kept in runs\n"
    ).replace("0.0%", f"{np.mean(best_five(54, 1)[LABELS > 0, 0] == LABELS[LABELS > 0] - 1):.1%}")


def test_answers_in_reversed_order(workplace: Path) -> None:
    np.save("preds/vit.npy", best_five(54, 1)[:, ::-1])
    result = oodometer("import", "preds/vit.npy", "--labels", "val.csv", "--n-classes", "20")
    assert result.stderr.startswith(
        "warning: vit: the true class is first for 0.0% of the images but among the best 5 for 90.0%, most often at "
        "place 5; are the classes in order, the best first?\n"
    )


def test_files_with_ids_of_their_own_and_a_subset(workplace: Path) -> None:
    best = best_five(54, 1)
    np.savez("preds/vit.npz", ids=IDS[::-1], classes=best[::-1])
    np.savez("preds/part.npz", ids=IDS[:10], classes=best[:10])
    words = ("--labels", "val.csv", "--n-classes", "20", "--category", "standard")
    assert oodometer("import", "preds/*.npz", *words).stderr == (
        "2 models on clean, 10 to 60 predictions each, 1 of them on a subset (10 of 60 images of imported), kept in "
        "runs\n"
    )
    assert oodometer("import", "preds/part.npz", *words).stderr == (
        "10 predictions of part on clean, a subset (10 of 60 images of imported), kept in runs\n"
    )
    scores = top_1()
    assert (scores["vit"].value, scores["vit"].n, scores["part"].value, scores["part"].n) == (0.9, 60, 1.0, 10)


def test_tables_of_predictions_are_told_by_their_labels(workplace: Path) -> None:
    rows = [f"{name},{label}" for name, label in zip(IDS, LABELS, strict=True)]
    Path("mine.csv").write_text("\n".join(["id,first", *rows]) + "\n")
    words = ("import", "mine.csv", "--labels", "val.csv", "--n-classes", "20", "--category", "standard")
    assert oodometer(*words).stderr == "60 predictions of mine on clean, kept in runs\n"


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("preds", "--model", "x"), 2, "--model x: one name for 3 files; leave it out, or give one file"),
        (("preds/*.npz",), 1, "preds/*.npz: no files there that end in .npy, .npz, .csv"),
        (("preds/vit.npy", "preds/nope.npy"), 1, "preds/nope.npy: no such file of predictions"),
        (("preds/vit.npy", "--category", "standrd"), 2, "no model category 'standrd'; did you mean standard?"),
        (("preds/vit.npy", "--categories", "bad.csv"), 2, "bad.csv: line 2: no model category 'more dat'"),
        (("preds/vit.npy", "--categories", "twice.csv"), 1, "twice.csv: line 3: the model vit is there twice"),
        (("preds/vit.npy", "--categories", "val.csv"), 1, "val.csv: line 2: expected the columns model,category and"),
        (("preds/vit.npy", "--categories", "none.csv"), 1, "none.csv: no such file; it should hold model,category"),
        (("preds/vit.npy", "--n-classes", "2000000000"), 2, "2000000000 is not in the range 1<=x<=1000000"),
        (("preds/vit.npy", "--ids", "cats.csv"), 1, "predictions vit: 3 ids but an array of shape (60, 5)"),
        (("preds/vit.npy", "copies/vit.npy"), 2, "both would be the model vit; import one at a time"),
    ],
)
def test_mistakes_get_one_clear_line(workplace: Path, words: tuple[str, ...], code: int, message: str) -> None:
    Path("bad.csv").write_text("model,category\nvit,more dat\n")
    Path("twice.csv").write_text("model,category\nvit,standard\nvit,standard\n")
    Path("copies").mkdir()
    np.save("copies/vit.npy", best_five(54, 1))
    given = () if "--n-classes" in words else ("--n-classes", "20")
    result = oodometer("import", *words, "--labels", "val.csv", *given)
    assert message in result.stderr
    assert result.exit_code == code
    assert result.stdout == ""


def test_predictions_need_labels(workplace: Path) -> None:
    result = oodometer("import", "preds")
    assert result.exit_code == 2
    assert "predictions need --labels FILE, the true class of each image" in result.stderr


def test_what_was_imported_twice_is_there_once(workplace: Path) -> None:
    words = ("import", "preds", "--labels", "val.csv", "--n-classes", "20", "--category", "standard")
    first, second = oodometer(*words), oodometer(*words)
    assert first.stderr == second.stderr
    assert len(index_at("runs").cells) == 3


@pytest.mark.parametrize("kind", ["labels", "predictions", "categories"])
def test_damaged_files_never_give_a_traceback(workplace: Path, kind: str) -> None:
    np.savez_compressed("vit.npz", ids=IDS, classes=best_five(54, 1))
    damaged = {"labels": "val.csv", "predictions": "vit.npz", "categories": "cats.csv"}[kind]
    content, rng, codes = Path(damaged).read_bytes(), np.random.default_rng(0), []
    for turn in range(60):
        changed = bytearray(content)
        for place in rng.integers(0, len(content), size=4):
            changed[place] = rng.integers(256)
        Path(damaged).write_bytes(changed[: rng.integers(1, len(content))] if turn % 3 == 0 else changed)
        words = ("--labels", "val.csv", "--n-classes", "20", "--categories", "cats.csv", "--store", f"runs{turn}")
        result = oodometer("import", "vit.npz", *words)  # which raises what is not one line
        codes.append(result.exit_code)
        assert result.exit_code == 0 or len(result.stderr.splitlines()) == 1
    assert set(codes) <= {0, 1, 2}
    assert sum(code > 0 for code in codes) > 20
