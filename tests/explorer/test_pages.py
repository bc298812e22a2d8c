"""The pages: each number equals the library's, or one counted apart."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import asdict
from html import escape, unescape
from urllib.parse import quote

import numpy as np
import pytest

import oodometer as odo
from oodometer.explorer.links import path_link, query_link, twin
from oodometer.explorer.pages.shift import shift_table


def plain(value):
    """As JSON has it."""
    return json.loads(json.dumps(value, allow_nan=False, default=asdict))


def test_leaderboard_equals_score_and_robustness(pages, shop):
    found = pages.get("/.json", params={"shift": "sketch"}).json()
    keys = [one["id"] for one in found["table"]["columns"]]
    assert keys == ["clean", "sketch", "rho:sketch", "tau:sketch", "fam/fog"]
    scores = {(row.model, row.condition): row.estimate for row in odo.score(shop.store).rows if row.metric == "top-1"}
    robust = {one.model: one for one in odo.robustness(shop.store, "sketch").models}
    means = {one.model: one.y for one in odo.robustness(shop.store, "fam/fog").models}
    rows = found["table"]["models"]
    assert {row["model"] for row in rows} == set(shop.models)
    for row in rows:
        model = row["model"]
        values = {key: value and {**value, "best": None} for key, value in row["values"].items()}
        assert values == {
            key: plain(value) and {**plain(value), "best": None}
            for key, value in {
                "clean": scores[model, "clean"],
                "sketch": scores[model, "sketch"],
                "fam/fog": means[model],
                "rho:sketch": robust[model].rho,
                "tau:sketch": robust[model].tau,
            }.items()
        }
    assert [row["values"]["clean"]["value"] for row in rows] == sorted(
        (scores[model, "clean"].value for model in shop.models), reverse=True
    )
    assert (found["n_predictions"], found["pending"]) == (len(shop.models) * 4 * len(shop.data), False)


def test_a_model_under_any_name(pages, shop, hostile_model):
    model = hostile_model
    address = path_link("model", model, on="sketch")
    page, found = pages.get(address), pages.get(twin(address)).json()
    assert (page.status_code, found["name"]) == (200, model)
    assert f'<h1 class="name">{escape(model)}</h1>'.replace("&#x27;", "&#39;").replace("&quot;", "&#34;") in page.text
    assert "<img src=x" not in page.text
    scores = odo.score(shop.store, metrics=["top-1", "top-5", "per-class"]).only(lambda row: row.model == model)
    by_name = {(row.condition, row.metric): row.estimate for row in scores.rows}
    for one in found["conditions"]:
        assert one["top1"] == plain(by_name[one["name"], "top-1"])
        assert one["top5"] == plain(by_name[one["name"], "top-5"])
    # Two classes have one name: by score they can't be told apart, so they are left out here.
    for one in (one for one in found["classes"] if "#" not in one["class"]):
        assert one["accuracy"] == plain(by_name["sketch", f"per-class[{one['class']}]"])
    assert len(found["classes"]) == len(shop.classes)


def test_what_a_class_is_mistaken_for(pages, shop):
    found = pages.get("/model/plain.json", params={"on": "sketch"}).json()
    rows = shop.rows["plain", "sketch"]
    for one in found["classes"]:
        label = shop.classes.index(one["class"])
        wrong = Counter(rows.prediction[(rows.label == label) & (rows.rank > 0)].tolist())
        times = max(wrong.values(), default=None)
        assert one["instead_times"] == times
        assert one["instead"] == (
            None if times is None else shop.classes[min(k for k, v in wrong.items() if v == times)]
        )


def test_a_shift_equals_robustness(pages, shop):
    for name in ("sketch", "fam/fog"):
        address = path_link("shift", name)
        found = pages.get(twin(address)).json()
        robust = odo.robustness(shop.store, name)
        of_model = {one.model: one for one in robust.models}
        assert {one["name"] for one in found["models"]} == set(shop.models)
        for one in found["models"]:
            expected = of_model[one["name"]]
            for part in ("x", "y", "drop", "rho", "tau", "rank_x", "rank_y"):
                assert one[part] == plain(getattr(expected, part)), part
        assert found["line"]["slope"] == plain(robust.fitted.slope)
        page = pages.get(address).text
        assert page.count('class="mark ') == len(shop.models)


def text_of(page: str) -> str:
    """What is read on a page, without drawings."""
    without = re.sub(r"<(svg|form|head|nav|script).*?</\1>", "", page, flags=re.S)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", without)))


def test_a_shift_tells_the_images_and_the_uncertainty_of_its_line(pages, shop):
    robust = odo.robustness(shop.store, "fam/fog")
    slope = robust.fitted.slope
    said = text_of(pages.get(path_link("shift", "fam/fog")).text)
    assert f"slope {slope.value:.2f} [{slope.low:.2f}, {slope.high:.2f}]".replace("-", "−") in said
    assert "Model Category clean % fam/fog % drop ρ τ Clean rank Rank" in said
    assert f"n = {len(shop.data)} images." in said
    assert "Means over conditions: fam/fog over 2." in said
    assert "the same photographs on both sides" in said
    assert "The highest ρ first" in said


def test_a_model_tells_the_images_and_the_standard_side_of_a_shift(pages, shop):
    page = pages.get("/model/plain").text
    assert re.search(rf"fam/fog clean [^a-z]+ {len(shop.data)} ", text_of(page))
    data = data_of(page, "shifts")
    titles = [column["title"] for column in data["columns"]]
    row = next(row for row in data["rows"] if row[0] == "fam/fog")
    told = dict(zip(titles, row, strict=True))
    assert (told["Kind"], told["Clean images"], told["Images"]) == ("other", len(shop.data), len(shop.data))


def data_of(page: str, table: str) -> dict:
    """What the scripts get of a table of a page."""
    _, _, after = page.partition(f'<div class="table" id="{table}" data-table>')
    return json.loads(after.partition('<script type="application/json">')[2].partition("</script>")[0])


def test_the_tables_of_a_shift_and_of_its_models_have_the_same_numbers(pages, explorer, shop):
    shift = explorer.study().shift("sketch")
    table = shift_table(explorer.study(), shift)
    numbers = {str(row[0]): row[3:] for row in table.rows}  # after model, category and parent
    beside = {name: (*one.x, one.y, one.drop, one.rho, one.tau) for name, one in shift.of_model.items()}
    for name, row in numbers.items():
        assert all(told is known for told, known in zip(row, beside[name], strict=False))
        rows = data_of(pages.get(path_link("model", name)).text, "shifts")["rows"]
        said = next(one for one in rows if one[0] == "sketch")
        assert said[3:7] == [table_cell(one) for one in (beside[name][0], *beside[name][1:2], *beside[name][3:])]


def table_cell(one):
    return one and [one.value, one.low, one.high, one.n]


def test_two_models_tell_their_images(pages, shop):
    page = pages.get("/compare", params={"a": shop.models[1], "b": shop.models[2]})
    kappa = odo.compare(shop.store, shop.models[1], shop.models[2], on="clean")[0].error_consistency
    said = text_of(page.text)
    assert f"κ {kappa.value:.2f} [{kappa.low:.2f}, {kappa.high:.2f}]".replace("-", "−") in said
    assert said.count(f" {len(shop.data)} ") >= len({condition for _, condition in shop.rows})


def test_two_models_equal_compare(pages, shop):
    a, b = shop.models[1], shop.models[2]
    for on in ("clean", "sketch"):
        found = pages.get("/compare.json", params={"a": a, "b": b, "on": on}).json()
        expected = odo.compare(shop.store, a, b, on=on)[0]
        assert {**found["comparison"], "verdict": found["verdict"]} == plain(expected.as_json())


@pytest.mark.parametrize("show", ["only_a", "only_b", "both", "neither"])
def test_what_one_gets_right_and_the_other_wrong(pages, shop, show):
    a, b = shop.models[1], shop.models[2]
    found = pages.get("/compare.json", params={"a": a, "b": b, "on": "sketch", "show": show}).json()
    right = [shop.rows[model, "sketch"].rank == 0 for model in (a, b)]
    wanted = {
        "only_a": right[0] & ~right[1],
        "only_b": ~right[0] & right[1],
        "both": right[0] & right[1],
        "neither": ~right[0] & ~right[1],
    }[show]
    expected = np.array(shop.data.ids)[wanted].tolist()
    assert found["n_images"] == len(expected)
    assert [one["id"] for one in found["images"]] == expected[:24]
    for one in found["images"]:
        at = shop.data.ids.index(one["id"])
        assert one["a"]["answer"] == shop.classes[shop.rows[a, "sketch"].prediction[at]]
        assert one["b"]["confidence"] == pytest.approx(float(shop.rows[b, "sketch"].confidence[at]))


FILTERS = [
    {},
    {"order": "easiest"},
    {"order": "data", "page": 2},
    {"class": "<b>dog</b>"},
    {"class": "crane#5"},
    {"right_from": 3, "right_to": 6},
    {"model": "<img src=x onerror=alert(1)>", "answer": "wrong", "order": "sure"},
    {"model": "quo\"te's & co", "answer": "right", "order": "unsure", "sure_from": 0.3, "sure_to": 0.8},
    {"model": "../../etc/passwd", "class": "ünï/cøde", "right_to": 4},
    {"find": "CRANE"},
    {"find": "02", "order": "data"},
    {"find": "%' OR 1=1 --"},
    {"model": "plain", "predicted": "crane#5"},
    {"model": "plain", "predicted": "<b>dog</b>", "answer": "wrong", "find": "0"},
]


@pytest.mark.parametrize("filters", FILTERS, ids=str)
def test_a_list_of_images_against_a_plain_loop(pages, shop, filters):
    found = pages.get("/images.json", params={"on": "sketch", **filters}).json()
    n_right = sum((shop.rows[model, "sketch"].rank == 0).astype(int) for model in shop.models)
    of_model = shop.rows.get((filters.get("model"), "sketch"))
    wanted = []
    for at, id_ in enumerate(shop.data.ids):
        fits = "class" not in filters or shop.classes[shop.data.labels[at]] == filters["class"]
        fits &= filters.get("right_from", 0) <= n_right[at] <= filters.get("right_to", len(shop.models))
        name = f"{id_} {shop.classes[shop.data.labels[at]]}".lower()
        fits &= any(filters.get("find", "").lower() in text for text in (id_.lower(), name.removeprefix(id_.lower())))
        if of_model is not None:
            said = shop.classes[of_model.prediction[at]]
            fits &= filters.get("predicted", said) == said
            right = of_model.rank[at] == 0
            fits &= "answer" not in filters or right == (filters["answer"] == "right")
            fits &= filters.get("sure_from", 0) <= of_model.confidence[at] <= filters.get("sure_to", 1)
        if fits:
            sure = float(of_model.confidence[at]) if of_model is not None else 0.0
            wanted.append((id_, n_right[at], sure))
    keys = {  # a stable sort leaves equals as the data are
        "hardest": lambda one: one[1],
        "easiest": lambda one: -one[1],
        "sure": lambda one: -one[2],
        "unsure": lambda one: one[2],
        "data": lambda one: 0,
    }
    expected = sorted(wanted, key=keys[filters.get("order", "hardest")])
    start = 24 * (filters.get("page", 1) - 1)
    assert found["n_images"] == len(expected)
    assert [(one["id"], one["n_right"]) for one in found["images"]] == [one[:2] for one in expected[start : start + 24]]
    assert {one["n_models"] for one in found["images"]} <= {len(shop.models)}
    page = pages.get("/images", params={"on": "sketch", **filters})
    assert page.text.count('class="id"') == len(found["images"])


def test_an_image_under_any_name(pages, shop, hostile_id):
    id_ = hostile_id
    address = query_link("/image", data="val", id=id_, on="sketch")
    page, found = pages.get(address), pages.get(twin(address)).json()
    assert (page.status_code, found["id"], found["on"]) == (200, id_, "sketch")
    assert "<script>alert" not in page.text
    at = shop.data.ids.index(id_)
    assert found["class"] == shop.classes[shop.data.labels[at]]
    answers = {(one["model"], one["condition"]): one for one in found["answers"]}
    assert set(answers) == set(shop.rows)
    for key, rows in shop.rows.items():
        one = answers[key]
        assert (one["answer"], one["rank"]) == (shop.classes[rows.prediction[at]], int(rows.rank[at]))
        assert one["confidence"] == pytest.approx(float(rows.confidence[at]))
    for one in found["conditions"]:
        right = [rows.rank[at] == 0 for (_, condition), rows in shop.rows.items() if condition == one["name"]]
        assert (one["n_right"], one["n_models"]) == (sum(right), len(shop.models))


def test_every_link_of_a_page_leads_to_a_page(pages):
    seen: set[str] = set()
    ahead = ["/"]
    while ahead and len(seen) < 150:
        address = ahead.pop(0)
        if address in seen:
            continue
        seen.add(address)
        answer = pages.get(address)
        assert answer.status_code == 200, address
        found = [unescape(one) for one in re.findall(r'href="(/[^"#]*)', answer.text)]
        kinds = {one.split("?")[0].split("/")[1] for one in seen}
        ahead += [one for one in dict.fromkeys(found) if one not in seen]
        ahead.sort(key=lambda one: one.split("?")[0].split("/")[1] in kinds)  # of another kind first
    assert {"model", "shift", "compare", "images", "image", "static", "openapi.json"} <= {
        one.split("?")[0].split("/")[1] for one in seen
    }


@pytest.mark.parametrize(
    ("address", "status", "says"),
    [
        ("/nothing", 404, "There is no such page."),
        ("/model/nobody", 404, "no model named 'nobody' has predictions here"),
        ("/model/plain?on=fogg", 404, "no condition named 'fogg'"),
        ("/shift/nothing", 404, "no shift named 'nothing' here"),
        ("/compare?a=plain&b=plain", 404, "plain can't be compared with itself; choose two models"),
        ("/compare?show=some", 404, "show=some: no such images"),
        ("/images?order=x", 404, "order=x: no such order"),
        ("/images?answer=wrong", 404, "An answer and its confidence are one model's: choose a model too."),
        ("/images?class=cow", 404, "no class named 'cow' in these data"),
        ("/images?page=0", 422, "page: Input should be greater than or equal to 1."),
        ("/images?page=3", 404, "page=3: the last page is 2"),
        ("/images?page=1000000&class=cat", 404, "page=1000000: the last page is 1"),
        ("/compare?page=9", 404, "page=9: the last page is "),
        ("/images?sure_from=x", 422, "sure_from: Input should be a valid number"),
        ("/image?data=val&id=nope", 404, "no image 'nope' in val"),
        ("/image?data=nope&id=nope", 404, "no data set 'nope' here"),
        ("/image?data=val", 422, "id: Field required."),
        ("/static/app.py", 404, "no such file: app.py"),
        ("/static/%2e%2e%2fapp.py", 404, ""),
        ("/static/..%5capp.py", 404, ""),
    ],
)
def test_an_error_is_a_page_or_json_of_one_sentence(pages, address, status, says):
    answer = pages.get(address)
    assert answer.status_code == status
    assert escape(says).replace("&#x27;", "&#39;") in answer.text
    assert "Traceback" not in answer.text
    assert "<h1>Not shown</h1>" in answer.text
    path, mark, query = address.partition("?")
    as_json = pages.get(f"{path}.json{mark}{query}")
    assert as_json.status_code == status
    assert says in as_json.json()["error"]


def test_every_page_has_a_twin_that_openapi_describes(pages):
    described = pages.get("/openapi.json").json()["paths"]
    routes = {route.path for route in pages.app.app.routes}
    html = {path for path in routes if f"{path}.json" in routes}
    assert {path.partition("{")[0] for path in html} == {
        "/",
        "/model/",
        "/model",
        "/shift/",
        "/shift",
        "/compare",
        "/images",
        "/image",
        "/scatter",
        "/quadrants",
        "/corruptions",
        "/hypotheses",
        "/calibration",
        "/classes",
        "/slices",
        "/pictures",
    }
    assert {path.replace(":path", "") + ".json" for path in html} <= set(described)
    for path in html:
        told = described[path.replace(":path", "") + ".json"]["get"]
        assert told["description"], path
        for status in ("404", "422"):  # as test_an_error_is_a_page_or_json_of_one_sentence has them
            schema = told["responses"][status]["content"]["application/json"]["schema"]
            assert schema["required"] == list(schema["properties"]) == ["error"]
    assert list(described["/picture"]["get"]["responses"]["404"]["content"]) == ["text/html"]
    asked = {one["name"] for one in described["/images.json"]["get"]["parameters"]}
    assert asked == {
        "on", "model", "class", "answer", "predicted", "find", "sure_from", "sure_to", "right_from", "right_to",
        "order", "page",
    }  # fmt: skip


def test_names_with_a_json_end_and_dots_are_asked_for_in_the_query():
    assert path_link("model", "x.json") == "/model?name=x.json"
    assert twin(path_link("model", "..")) == "/model.json?name=.."
    assert path_link("model", "../x") == f"/model/{quote('../x', safe='')}"


def test_a_model_is_compared_with_one_that_saw_the_same(bare_shop, explore):
    for model, condition in (("a", "clean"), ("b", "clean"), ("c", "sketch"), ("d", "sketch"), ("d", "clean")):
        bare_shop.add(model, condition, skill=2)
    _, pages = explore(bare_shop.store)
    found = pages.get("/compare.json", params={"b": "c"}).json()
    assert (found["a"], found["b"], found["on"]) == ("d", "c", "sketch")
    found = pages.get("/compare.json", params={"a": "d", "on": "sketch"}).json()
    assert (found["a"], found["b"], found["on"]) == ("d", "c", "sketch")
    assert pages.get("/compare.json", params={"a": "nobody"}).status_code == 404


def test_an_empty_store_says_so(tmp_path, explore):
    explorer, pages = explore(odo.open_store(str(tmp_path / "runs"), create=True))
    explorer.wait_for_study()
    assert "nothing in it yet" in pages.get("/").text
    assert pages.get("/images").status_code == 404
    assert pages.get("/compare").status_code == 400


def test_imported_accuracies_have_pages_too(tmp_path, explore):
    table = tmp_path / "t.csv"
    rng = np.random.default_rng(0)
    lines = [f"m{at},{70 + at},{50 + 2 * at + rng.normal():.2f}" for at in range(8)]
    table.write_text("model,val,imagenet-sketch\n" + "\n".join(lines))
    store = odo.open_store(str(tmp_path / "runs"), create=True)
    odo.import_table(str(table), store=store, n=1000)
    explorer, pages = explore(store)
    explorer.wait_for_study()
    found = pages.get("/.json").json()
    assert [one["id"] for one in found["table"]["columns"]] == ["clean", "imagenet-sketch"]
    assert found["table"]["models"][0]["model"] == "m7"
    assert found["table"]["models"][0]["values"]["clean"]["value"] == 0.77
    assert pages.get("/model/m3.json").json()["conditions"][0]["top1"]["value"] == 0.73
    page = pages.get("/shift/imagenet-sketch").text
    assert "<svg" in page
    said = text_of(page)
    # Without categories there is no line, and a table does not say whether photographs are the same.
    assert "No line: " in said
    assert "The highest accuracy first" in said
    assert not re.search("photographs|images on|ρ|Drop|Ranks", said)
    assert "ρ" not in text_of(pages.get("/").text)
    assert "Compare it" in pages.get("/model/m3").text


def test_before_there_is_a_study_the_leaderboard_is_what_was_counted(shop, explore, monkeypatch):
    explorer, pages = explore(shop.store)
    monkeypatch.setattr(explorer, "study", lambda: None)
    table = pages.get("/.json").json()["table"]
    assert [one["id"] for one in table["columns"]] == ["clean", "sketch"]  # families wait for the study
    scores = {(row.model, row.condition): row.estimate for row in odo.score(shop.store).rows if row.metric == "top-1"}
    for row in table["models"]:
        for condition, value in row["values"].items():
            assert {**value, "best": None} == {**plain(scores[row["model"], condition]), "best": None}
    assert "ρ" not in text_of(pages.get("/").text)
