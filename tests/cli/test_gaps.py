"""``run --data-root`` and ``gaps``: both sides of a shift from the command line, to the digit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from PIL import Image
from statsmodels.stats.proportion import confint_proportions_2indep

from oodometer.cli.main import main
from oodometer.data.imagenet import imagenet
from oodometer.shifts.installed import installed_groups
from oodometer.store.index import index_at

MODEL = '''
import numpy as np


def reads_pixels(images):
    """The class is written into the first pixel: red x 4 + green / 64."""
    red, green = images[:, 0, 0, 0].astype(int), images[:, 0, 0, 1].astype(int)
    logits = np.zeros((len(images), 1000), dtype=np.float32)
    logits[np.arange(len(images)), np.minimum(4 * red + green // 64, 999)] = 5
    # The class 0, tench, comes second everywhere: outside of ImageNet-A, where a mask must leave it out.
    logits[:, 0] += 4
    return logits
'''
IN_A = [imagenet().classes.index(one) for one in ("n01498041", "n01531178", "n01534433")]


def says(path: Path, answer: int) -> None:
    """A picture to which the model answers this class."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (16, 16), (answer // 4, 64 * (answer % 4) + 9, 0)).save(path, format="PNG")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Clean: all right but one of four in A's classes. ImageNet-A: one right of three, one called a tench."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "known_answers.py").write_text(MODEL)
    stingray, goldfinch, junco = IN_A
    val, a = tmp_path / "data/imagenet/val", tmp_path / "data/imagenet-a"
    for name, truth, answer in (("1", stingray, stingray), ("2", goldfinch, goldfinch), ("3", junco, goldfinch)):
        says(val / imagenet().classes[truth] / f"{name}.JPEG", answer)
    says(val / imagenet().classes[goldfinch] / "4.JPEG", goldfinch)
    says(val / imagenet().classes[999] / "5.JPEG", 999)  # not a class of ImageNet-A
    says(a / imagenet().classes[stingray] / "1.jpg", stingray)
    says(a / imagenet().classes[goldfinch] / "2.jpg", junco)
    says(a / imagenet().classes[junco] / "3.jpg", 999)
    return tmp_path


RUN = ("run", "--model", "callable:known_answers:reads_pixels", "--data-root", "data", "--partial", "--size", "16")


def oodometer(*words: str) -> str:
    found = CliRunner().invoke(main, list(words))
    assert found.exit_code == 0, found.output
    return found.stdout


def test_run_shows_both_sides_and_the_gap(here):
    text = oodometer(*RUN, "--resize", "squash", "--on", "imagenet-a", "--store", "runs")
    # Right: 3 of 4 clean images of these classes, 1 of 3 of ImageNet-A. Clopper-Pearson of 3/4 and 1/3; Newcombe.
    # Images of the two sides have the same names, which makes them no pairs.
    assert text.splitlines() == [
        "  model         standard                 shifted                  gap",
        "imagenet-a (n=3) against val-on-imagenet-a-classes (n=4)",
        "  reads_pixels  0.7500 [0.1941, 0.9937]  0.3333 [0.0084, 0.9057]  0.4167 [-0.2257, 0.7568]",
    ]
    low, high = confint_proportions_2indep(3, 4, 1, 3, compare="diff", method="newcomb")  # reference: statsmodels
    assert (round(low, 4), round(high, 4)) == (-0.2257, 0.7568)
    assert oodometer("gaps", "runs") == text


def test_the_table_can_be_drawn(here):
    oodometer(*RUN, "--resize", "squash", "--on", "imagenet-a", "--store", "runs")
    drawn = oodometer("gaps", "runs", "--plot").splitlines()
    assert "··········●───────────○·······" in drawn[2]  # 10 of 30 places, 22 of 30


def test_json_has_all_of_it(here):
    found = json.loads(oodometer(*RUN, "--resize", "squash", "--on", "imagenet-a", "--store", "runs", "--json"))
    values = {(row["condition"], row["metric"]): row["estimate"]["value"] for row in found}
    assert values["imagenet-a", "top-1"] == pytest.approx(1 / 3)
    assert values["imagenet-a", "gap"] == pytest.approx(3 / 4 - 1 / 3)
    (gap,) = json.loads(oodometer("gaps", "runs", "--json"))
    assert (gap["shift"], gap["kind"], gap["standard"]) == (
        "imagenet-a",
        "adversarially filtered",
        "val-on-imagenet-a-classes",
    )
    assert gap["gap"]["n"] == gap["accuracy_shifted"]["n"] == 3


def test_the_mask_is_what_keeps_tench_out(here):
    """Over all 1,000 classes, the picture that says 999 would be a tench in the second place."""
    oodometer(*RUN, "--resize", "squash", "--on", "imagenet-a", "--store", "runs", "--keep", "logits")
    index = index_at("runs")
    (cell,) = [cell for cell in index.cells if cell.condition_name == "imagenet-a"]
    rows = index.read(cell, logits=True)
    assert cell.n_classes == rows.logits.shape[1] == 200
    assert rows.logits[2].max() == 0  # its 999 and its tench are both outside


def test_a_set_that_is_not_whole_is_an_error_of_one_line(here):
    found = CliRunner().invoke(main, [*(word for word in RUN if word != "--partial"), "--on", "imagenet-a"])
    assert found.exit_code == 1
    (line,) = [line for line in found.stderr.splitlines() if line.startswith("Error")]
    assert "3 images instead of 7,500 and 3 classes instead of 200; is it unpacked whole?" in line


def test_what_a_group_lacks_is_told(here):
    found = CliRunner().invoke(main, [*RUN, "--resize", "squash", "--on", "natural", "--store", "runs"])
    assert found.exit_code == 0, found.output
    (line,) = [line for line in found.stderr.splitlines() if line.startswith("left out, not in")]
    assert "imagenet-r" in line
    assert "imagenet-a," not in line


def test_a_store_without_shifts(here):
    oodometer(*RUN, "--store", "plain")
    found = CliRunner().invoke(main, ["gaps", "plain"])
    assert found.exit_code == 1
    assert "plain: no shift was run on both sides; --on natural, or the name of a shift, does" in found.stderr


def test_a_run_shows_its_own_data_and_a_store_of_several_tells_them_apart(here):
    """Two runs of the same shift, the second on fewer images: neither's numbers are taken for the other's."""
    whole = (*RUN, "--resize", "squash", "--on", "imagenet-a", "--store", "runs")
    first = oodometer(*whole)
    fewer = oodometer(*whole, "--images", "2").splitlines()
    assert len(fewer) == 3
    assert "n=2" in fewer[1]
    assert oodometer(*whole) == first  # and of the images of the second run it says nothing
    rows = json.loads(oodometer(*whole, "--json"))
    assert [row["estimate"]["n"] for row in rows if row["metric"] == "gap"] == [3]
    headings = [line for line in oodometer("gaps", "runs").splitlines() if not line.startswith(" ")]
    assert [line.partition(") ")[0] for line in sorted(headings)] == [
        "imagenet-a@imagenet-a (n=3",
        "imagenet-a@imagenet-a[2, seed 0] (n=2",
    ]
    of_both = json.loads(oodometer("score", "runs", "--metrics", "gap", "--json"))
    # the data that a gap is about are those of its own shifted side
    assert {(row["data"], row["estimate"]["n"]) for row in of_both} == {("imagenet-a", 3), ("imagenet-a[2, seed 0]", 2)}
    says(here / "data/imagenet-a" / imagenet().classes[IN_A[0]] / "4.jpg", 0)  # the same name, other images
    oodometer(*whole)
    assert oodometer("gaps", "runs").count("\nimagenet-a@imagenet-a@") == 2


def test_a_run_says_nothing_of_the_gaps_of_other_models(here):
    oodometer(*RUN, "--resize", "squash", "--on", "imagenet-a", "--store", "runs")
    (here / "data/imagenet-o/n01443537").mkdir(parents=True)
    says(here / "data/imagenet-o/n01443537/1.JPEG", 7)
    says(here / "data/imagenet/val/n01443537/6.JPEG", 1)
    other = [*RUN[:2], "other=callable:known_answers:reads_pixels", *RUN[3:], "--resize", "squash", "--store", "runs"]
    found = CliRunner().invoke(main, [*other, "--on", "imagenet-o"])
    assert "left out: imagenet-o: images without labels have no accuracy" in found.stderr
    found = CliRunner().invoke(main, [*RUN, "--resize", "squash", "--on", "imagenet-a", "--store", "runs"])
    assert "left out" not in found.stderr


def test_shifts_without_clean_images_are_not_said_to_be_missing(here):
    (here / "data/imagenet").rename(here / "elsewhere")
    frames = {f"val/v/00000{n}.JPEG": [0] for n in range(2)}
    for path in frames:
        says(here / "data/imagenet-vid-robust" / path, 404)
    (here / "data/imagenet-vid-robust/metadata").mkdir()
    for name, content in (("pmsets", {"val/v/000000.JPEG": ["val/v/000001.JPEG"]}), ("labels", frames)):
        (here / f"data/imagenet-vid-robust/metadata/{name}.json").write_text(json.dumps(content))
    found = CliRunner().invoke(main, [*RUN, "--resize", "squash", "--on", "natural", "--store", "runs"])
    assert found.exit_code == 0, found.output
    first, second = [line for line in found.stderr.splitlines() if line.startswith("left out")]
    assert first.startswith(f"left out, without clean images (no imagenet in {here / 'data'}, no --data): imagenet-a, ")
    assert second.startswith(f"left out, not in {here / 'data'}: ytbb-robust_pm10; ")


def test_shifts_of_whose_classes_there_are_no_clean_images_are_told(here):
    clean = here / "tench" / imagenet().classes[0]
    says(clean / "1.png", 0)
    says(here / "data/imagenetv2-topimages/0/1.jpeg", 0)
    words = [*RUN, "--data", "tench", "--resize", "squash", "--on", "natural", "--store", "runs"]
    found = CliRunner().invoke(main, words)
    assert found.exit_code == 0, found.output
    assert "left out, no images of their classes to compare with: imagenet-a" in found.stderr.splitlines()


def test_a_group_goes_without_attacks_where_a_model_has_no_gradients(here, monkeypatch):
    monkeypatch.setitem(installed_groups._loaded, "ours", ("val", "pgd.linf.eps2"))
    found = CliRunner().invoke(main, [*RUN, "--resize", "squash", "--on", "ours", "--store", "runs"])
    assert found.exit_code == 0, found.output
    assert found.stdout.split()[:2] == ["reads_pixels", "val"]
    told = "left out, no gradients in reads_pixels: pgd.linf.eps2; run these with the models that have them"
    assert told in found.stderr.splitlines()
    found = CliRunner().invoke(main, [*RUN, "--resize", "squash", "--on", "pgd.linf.eps2", "--store", "runs"])
    assert found.exit_code == 1
    assert "reads_pixels: pgd.linf.eps2 needs gradients" in found.stderr
