"""``oodometer split`` as a person types it: stdout, stderr, exit code, and the files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

from as_typed import oodometer
from oodometer.data.load import load_data

BASE = ("--base", "camera=new,year=2019,country=us|mx|ca")
SHIFTS = ("--shift", "country=fr", "--shift", "year=2017|2018")


@pytest.fixture
def manifest(tmp_path, monkeypatch) -> Path:
    """Ten base images (7 banks, 3 gyms), two of France, one of 2017, and one of France in 2017."""
    monkeypatch.chdir(tmp_path)
    lines = ["path,label,country,year,camera,note"]
    places = [("us", 2019), ("mx", 2019), ("ca", 2019)] * 3 + [("us", 2019), ("fr", 2019), ("fr", 2019)]
    for n, (country, year) in enumerate([*places, ("us", 2017), ("fr", 2017)]):
        Path("data/pictures").mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (4, 4), (n,) * 3).save(f"data/pictures/{n:02d}.png")
        label = "gym" if n in (7, 8, 9, 11) else "bank"
        lines.append(f'pictures/{n:02d}.png,{label},{country},{year},new,"00{n}, a ""b"""')
    Path("data/shops.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "data" / "shops.csv"


TABLE = """\
set         file            images  classes  also in iid
train       train.csv       8       2        0
iid         iid.csv         2       2        0
country=fr  country=fr.csv  2       2        0
year=2017   year=2017.csv   1       1        0
"""


def test_sets_as_manifests(manifest):
    shifts = (*SHIFTS[:2], "--shift", "year=2017")
    result = oodometer("split", "data/shops.csv", *BASE, *shifts, "--out", "sets/shops", "--test-share", "0.2")
    assert (result.exit_code, result.stdout) == (0, TABLE)
    assert result.stderr.splitlines() == [
        "iid is 2 of 10 base images, by id with seed 0; the others are train",
        "year=2017: 1 class (gym) of iid not in it; the two are not over the same classes",
        "few images: iid 2, country=fr 2, year=2017 1; an accuracy on fewer than 30 says little",
    ]
    france = Path("sets/shops/country=fr.csv").read_text()
    assert france == (
        "path,id,label,country,year,camera,note\n"
        '../../data/pictures/10.png,pictures/10,bank,fr,2019,new,"0010, a ""b"""\n'
        '../../data/pictures/11.png,pictures/11,gym,fr,2019,new,"0011, a ""b"""\n'
    )
    assert sorted(path.name for path in Path("sets/shops").iterdir()) == [
        "country=fr.csv", "iid.csv", "train.csv", "year=2017.csv",
    ]  # fmt: skip


def test_the_manifest_itself_is_never_written_over(manifest):
    own = Path("data/train.csv")
    own.write_bytes(Path("data/shops.csv").read_bytes())
    before = own.read_bytes()
    result = oodometer("split", "data/train.csv", *BASE, *SHIFTS[:2], "--out", "data", "--force")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "Error: data/train.csv: is the manifest that is split; choose another folder\n"
    assert own.read_bytes() == before
    assert not Path("data/iid.csv").exists()


def test_what_is_written_is_what_the_library_has(manifest):
    from oodometer.shifts.attribute import attribute_shifts
    from oodometer.shifts.constraint import parse_base, parse_shift

    assert oodometer("split", manifest, *BASE, *SHIFTS[:2], "--out", "sets", "--seed", "3").exit_code == 0
    split = attribute_shifts(load_data(manifest), parse_base(BASE[1]), [parse_shift(SHIFTS[1])], seed=3)
    for name, data in split.sets.items():
        read = load_data(f"sets/{name}.csv")
        assert read.ids == data.ids
        assert [read.space.classes[one] for one in read.labels] == [data.space.classes[one] for one in data.labels]
        assert read.scan().contents == data.scan().contents
        assert list(read.columns) == ["country", "year", "camera", "note"]


def test_json(manifest):
    result = oodometer("split", manifest, *BASE, *SHIFTS[:2], "--out", "sets", "--json")
    assert json.loads(result.stdout) == [
        {"set": "train", "file": "train.csv", "images": 5, "classes": 2, "also_in_iid": 0},
        {"set": "iid", "file": "iid.csv", "images": 5, "classes": 2, "also_in_iid": 0},
        {"set": "country=fr", "file": "country=fr.csv", "images": 2, "classes": 2, "also_in_iid": 0},
    ]


def test_nothing_is_written_over(manifest):
    words = ("split", manifest, *BASE, *SHIFTS[:2], "--out", "sets")
    assert oodometer(*words).exit_code == 0
    Path("sets/train.csv").unlink()
    Path("sets/iid.csv").write_text("mine")
    result = oodometer(*words)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "Error: sets/iid.csv: is there already; choose another folder, or --force\n"
    assert not Path("sets/train.csv").exists()
    assert oodometer(*words, "--force").exit_code == 0
    assert Path("sets/iid.csv").read_text().startswith("path,id,")


def test_absolute_paths_and_parquet_with_several_labels(manifest, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    paths = [str(tmp_path / "data" / "pictures" / f"{n:02d}.png") for n in range(4)]
    labels = [["a", "b"], ["b"], ["a"], ["b", "a"]]
    table = {"path": paths, "labels": labels, "country": ["us", "us", "us", "fr"], "n": [None, 1, 2, 3]}
    pq.write_table(pa.table(table), "list.parquet")
    result = oodometer("split", "list.parquet", "--base", "country=us", "--shift", "country=fr", "--out", "sets")
    assert result.exit_code == 0, result.stderr
    text = Path("sets/country=fr.csv").read_text()
    assert text == f"path,id,labels,country,n\n{paths[3]},{paths[3][:-4]},b|a,fr,3\n"
    assert load_data("sets/country=fr.csv").other_labels == ((0,),)


def test_check_finds_copies(manifest):
    Path("data/pictures/10.png").write_bytes(Path("data/pictures/00.png").read_bytes())
    Path("data/pictures/11.png").write_bytes(Path("data/pictures/00.png").read_bytes())
    words = ("split", manifest, *BASE, *SHIFTS[:2], "--out", "sets")
    result = oodometer(*words, "--check")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "2 of its 2 images are in train too, for example 'pictures/10' (in train 'pictures/00')" in result.stderr
    assert not Path("sets").exists()
    assert oodometer(*words).exit_code == 0


@pytest.mark.parametrize(
    ("words", "code", "line"),
    [
        (("data/shops.csv", *BASE, *SHIFTS, "--out", "x"), 2,
         "shift year=2018: no image of shops has year=2018; its values are 2017, 2019"),
        (("data/shops.csv", *BASE, "--shift", "country=us", "--out", "x"), 2,
         "shift country=us: the base has country=us too; name another value"),
        (("data/shops.csv", "--base", "contry=us", "--shift", "contry=fr", "--out", "x"), 2,
         "base contry=us: shops has no column 'contry'; did you mean country?"),
        (("data/gone.csv", *BASE, *SHIFTS, "--out", "x"), 1, "data/gone.csv: no such file or folder; check the path"),
        (("data", *BASE, *SHIFTS, "--out", "x"), 2,
         "data: no manifest; give a CSV or Parquet table with a column path"),
        (("data/shops.csv", *BASE, *SHIFTS[:2], "--out", "data/shops.csv"), 1,
         "data/shops.csv: can't be written (File exists)"),
        (("data/shops.csv", *BASE, *SHIFTS[:2], "--out", "x", "--test-share", "2"), 2,
         "a test share of 2: expected a number between 0 and 1, for example 0.1"),
    ],
)  # fmt: skip
def test_wrong_usage_is_one_line(manifest, words, code, line):
    result = oodometer("split", *words)
    assert (result.exit_code, result.stdout, result.stderr) == (code, "", f"Error: {line}\n")
    assert not Path("x").exists()


def test_a_folder_that_brings_its_manifest(manifest):
    manifest.rename(manifest.with_name("manifest.csv"))
    result = oodometer("split", "data", *BASE, *SHIFTS[:2], "--out", "sets")
    assert result.exit_code == 0
    assert load_data("sets/country=fr.csv").image(0).shape == (4, 4, 3)
