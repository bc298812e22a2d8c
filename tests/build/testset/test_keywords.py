"""The keyword of each original image by its nearest neighbour in a source."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from oodometer.build.testset.keywords import Keywords, keywords_by_neighbour, nearest_in, write_keywords
from oodometer.build.testset.project.offered import offered_by
from oodometer.build.testset.project.original_keywords import find_keywords, original_keywords
from oodometer.build.testset.project.pool import CANDIDATE, Provenance, add_images, candidates_of, pool_images
from oodometer.build.testset.project.project import new_project
from oodometer.build.testset.project.sample_request import read_keywords
from oodometer.build.testset.sampling.keyword_quotas import keyword_quotas
from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError
from oodometer.data.load import load_data

WORDS = ("barn_owl", "night_owl", "mallard")


def noise(seed: int, side: int = 32) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (side, side, 3), dtype=np.uint8)


def source(folder: Path, n: int = 6) -> Dataset:
    """Class folders that are keywords, each with so many images."""
    for at, word in enumerate(WORDS):
        (folder / word).mkdir(parents=True)
        for i in range(n):
            Image.fromarray(noise(100 * at + i)).save(folder / word / f"{i}.png")
    return load_data(str(folder))


def originals(folder: Path, places: list[tuple[str, int]]) -> Dataset:
    """Copies of images of the source, each under its class."""
    for class_name, seed in places:
        (folder / class_name).mkdir(parents=True, exist_ok=True)
        Image.fromarray(noise(seed)).save(folder / class_name / f"{seed:03d}.png")
    return load_data(str(folder))


PLACES = [("duck", 200), ("duck", 203), ("owl", 0), ("owl", 1), ("owl", 5), ("owl", 102)]
"""The source's third keyword twice, the first three times, the second once: in the order of the files."""
EXPECTED = {"duck": {"mallard": 2}, "owl": {"barn_owl": 3, "night_owl": 1}}


def keywords(folder: Path, **more: float) -> Keywords:
    known = originals(folder / "val", PLACES)
    names = [known.space.classes[label] for label in known.labels.tolist()]
    return keywords_by_neighbour(known, names, source(folder / "tiny"), **more)  # type: ignore[arg-type]


def test_copies_are_found_and_counted(tmp_path: Path) -> None:
    found = keywords(tmp_path)
    assert found.of == ("mallard", "mallard", "barn_owl", "barn_owl", "barn_owl", "night_owl")
    assert found.counts == EXPECTED
    assert (found.n_copies, found.n_without) == (6, 0)
    assert found.distance.max() == 0.0
    assert "6 originals of 2 classes have 3 keywords; 6 have a neighbour at distance 0" in str(found)


@pytest.mark.parametrize("metric", ["pixels", "structure", "soft-pixels"])
def test_every_metric_finds_copies_of_another_kind_of_file(tmp_path: Path, metric: str) -> None:
    tiny = source(tmp_path / "tiny")
    (tmp_path / "val" / "owl").mkdir(parents=True)
    Image.fromarray(noise(104)).save(tmp_path / "val" / "owl" / "a.jpg", quality=95)
    near = nearest_in(load_data(str(tmp_path / "val")), tiny, metric=metric)
    assert tiny.ids[near.rows[0]] == "night_owl/4"
    assert 0 < near.distance[0] < 0.5


def test_the_neighbours_are_those_of_all_distances(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oodometer.build.testset.keywords.AT_ONCE", 5)  # several parts, the last of them short
    tiny = source(tmp_path / "tiny")
    mixed = tmp_path / "mixed" / "x"
    mixed.mkdir(parents=True)
    for at in range(12):
        blend = 0.5 * noise(at) + 0.5 * noise(200 + at % 6)
        Image.fromarray(blend.astype(np.uint8)).save(mixed / f"{at:02d}.png")
    some = load_data(str(tmp_path / "mixed"))
    near = nearest_in(some, tiny)
    # reference: all distances, in float64; the root mean square difference of pixels in [0, 1]
    ours, theirs = (np.stack([data.image(i) for i in range(len(data))]).astype(float) for data in (some, tiny))
    apart = np.sqrt((((ours[:, None] - theirs[None]) / 255) ** 2).mean(axis=(2, 3, 4)))
    assert near.rows.tolist() == apart.argmin(axis=1).tolist()
    assert near.distance == pytest.approx(apart.min(axis=1), abs=1e-6)


def test_of_equal_neighbours_the_first_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oodometer.build.testset.keywords.AT_ONCE", 4)
    tiny = source(tmp_path / "tiny")
    Image.fromarray(noise(3)).save(tmp_path / "tiny" / "mallard" / "0.png")  # barn_owl has it too, and is before it
    near = nearest_in(originals(tmp_path / "val", [("owl", 3)]), tiny)
    assert (tiny.ids[near.rows[0]], near.distance[0]) == ("barn_owl/3", 0.0)


def test_far_neighbours_say_nothing(tmp_path: Path) -> None:
    known = originals(tmp_path / "val", [("owl", 0), ("owl", 999)])
    found = keywords_by_neighbour(known, ["owl", "owl"], source(tmp_path / "tiny"), within=0.01)
    assert (found.of, found.counts, found.n_without) == (("barn_owl", ""), {"owl": {"barn_owl": 1}}, 1)


def test_a_column_goes_before_classes_and_damage_is_told(tmp_path: Path) -> None:
    source(tmp_path / "tiny")
    (tmp_path / "tiny" / "broken.png").write_bytes(b"no image")
    rows = ["path,label,keyword", "broken.png,x,lost", "barn_owl/0.png,x,tyto", "mallard/0.png,x,drake"]
    (tmp_path / "tiny" / "list.csv").write_text("\n".join(rows))
    known = originals(tmp_path / "val", [("duck", 200), ("owl", 0)])
    found = keywords_by_neighbour(known, ["duck", "owl"], load_data(str(tmp_path / "tiny" / "list.csv")))
    assert found.of == ("drake", "tyto")
    assert list(found.unreadable) == [0]


def test_a_source_that_can_not_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "tiny" / "x").mkdir(parents=True)
    (tmp_path / "tiny" / "x" / "a.png").write_bytes(b"no image")
    with pytest.raises(DataError, match=r"a\.png"):
        nearest_in(originals(tmp_path / "val", [("owl", 0)]), load_data(str(tmp_path / "tiny")))


def test_from_the_original_set_to_a_sample(tmp_path: Path) -> None:
    """Keywords of a project's originals, as a table and in the database, give the quotas of a sample."""
    originals(tmp_path / "val", PLACES)
    source(tmp_path / "tiny")
    with new_project(tmp_path / "p", original=str(tmp_path / "val")) as project:
        found = find_keywords(project, str(tmp_path / "tiny"))
        assert found.counts == EXPECTED == original_keywords(project)
        assert write_keywords(found.counts, tmp_path / "keywords.csv") == 3
        assert read_keywords(str(tmp_path / "keywords.csv")) == EXPECTED
        more = tmp_path / "more"
        more.mkdir()
        rows = ["path,label,keyword"]
        words = [("owl", "barn_owl"), ("owl", "night_owl"), ("duck", "mallard")]
        for at, (name, word) in enumerate(words * 8):
            Image.fromarray(noise(1000 + at)).save(more / f"{at}.png")
            rows.append(f"{at}.png,{name},{word}")
        (more / "list.csv").write_text("\n".join(rows))
        kind, offered = offered_by(str(more), manifest=str(more / "list.csv"))
        add_images(project, offered, Provenance(str(more), kind))
        images = pool_images(project, role=CANDIDATE)
        numbers = project.class_numbers()
    pool = candidates_of(images, np.full(len(images), np.nan), np.zeros(len(images), np.int64))
    sample = keyword_quotas(pool, {numbers[name]: counts for name, counts in EXPECTED.items()}, per_class=4)
    chosen = pool.column("keyword")[sample.rows].tolist()
    # 4 images in the proportion 3 to 1
    assert sorted(chosen) == ["barn_owl"] * 3 + ["mallard"] * 4 + ["night_owl"]
