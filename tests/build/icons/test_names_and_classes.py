"""Which emoji an icon is, and which class an emoji belongs to."""

from __future__ import annotations

from collections.abc import Callable

from oodometer.build.icons.classes import class_rules, classes_of
from oodometer.build.icons.iconify import Icon, IconSet
from oodometer.build.icons.names import codes_by_name, icons_by_code, own_names
from oodometer.build.icons.packages import pinned_packages
from oodometer.build.icons.unicode_emoji import Emoji, read_emoji
from oodometer.data.layouts.icons50 import icons_50

ICON = Icon("", 0, 0, 16, 16)
EMOJI = read_emoji(
    [
        {"codes": "1F6A1", "name": "aerial tramway", "subgroup": "transport-air"},
        {"codes": "1F60A", "name": "smiling face with smiling eyes", "subgroup": "face-smiling"},
        {"codes": "1F1EC 1F1F7", "name": "flag: Greece", "subgroup": "country-flag"},
        {"codes": "1F986", "name": "duck", "subgroup": "animal-bird"},
    ]
)


def icon_set(*names: str, codes: dict[str, str] | None = None, aliases: dict[str, str] | None = None) -> IconSet:
    return IconSet(dict.fromkeys((*names, *(aliases or {})), ICON), aliases or {}, codes or {})


def test_names_without_what_stands_between_the_words() -> None:
    by_name = codes_by_name(EMOJI, [])
    icons = icon_set("aerialtramway", "flag-for-flag-greece", "smilingfacewithsmilingeyes", "acorn")
    assert icons_by_code(icons, EMOJI, by_name, {}) == {
        "1f6a1": "aerialtramway",
        "1f1ec-1f1f7": "flag-for-flag-greece",
        "1f60a": "smilingfacewithsmilingeyes",
    }


def test_names_of_packages_with_code_points_help() -> None:
    coded = icon_set("mallard", codes={"1f986": "mallard"}, aliases={"drake": "mallard"})
    by_name = codes_by_name(EMOJI, [coded])
    assert icons_by_code(icon_set("drake", "mallard"), EMOJI, by_name, {}) == {"1f986": "drake"}, "the first wins"


def test_our_own_names_come_first() -> None:
    by_name = codes_by_name(EMOJI, [])
    assert icons_by_code(icon_set("duck"), EMOJI, by_name, {"duck": "aerial tramway"}) == {"1f6a1": "duck"}


def test_code_points_decide_where_there_are_some() -> None:
    icons = icon_set("duck", codes={"1f6a1": "duck", "1f999": "duck"})
    assert icons_by_code(icons, EMOJI, codes_by_name(EMOJI, []), {}) == {"1f6a1": "duck"}


def test_our_own_names_are_for_packages_that_are_pinned() -> None:
    names = {one.name for one in pinned_packages(full=True)}
    assert len(own_names("@iconify-json/fxemoji")) > 100
    assert "@iconify-json/fxemoji" in names
    assert own_names("@iconify-json/noto") == {}


def test_the_table_has_the_50_classes() -> None:
    assert tuple(class_rules()) == icons_50().classes
    for name, rule in class_rules().items():
        assert set(rule) <= {"subgroups", "names", "except"}, name


def test_subgroups_names_and_exceptions() -> None:
    emoji = [
        Emoji("1", "duck", "animal-bird", "duck"),
        Emoji("2", "feather", "animal-bird", "feather"),
        Emoji("3", "woman cook", "person-role", "woman cook"),
        Emoji("4", "keycap: 7", "keycap", "keycap: 7"),
        Emoji("5", "keycap: #", "keycap", "keycap: #"),
        Emoji("6", "waving hand: dark skin tone", "hand-fingers-open", "waving hand"),
    ]
    assert classes_of(emoji, class_rules()) == {"1": "bird", "3": "worker", "4": "numbers", "6": "hand"}


def test_an_emoji_in_two_classes_is_one_line(error_of: Callable[..., str]) -> None:
    rules = {"bird": {"names": ["duck"]}, "animal": {"names": ["d*"]}}
    duck = Emoji("1", "duck", "", "duck")
    assert "'duck' is in two classes, bird and animal" in error_of(lambda: classes_of([duck], rules))


def test_skin_tones() -> None:
    found = read_emoji(
        [
            {"codes": "1F44B", "name": "waving hand", "subgroup": "hand"},
            {"codes": "1F44B 1F3FD", "name": "waving hand: medium skin tone", "subgroup": "hand"},
        ]
    )
    toned = found["1f44b-1f3fd"]
    assert (toned.has_skin_tone, toned.broad_name, toned.slug) == (True, "waving hand", "waving_hand_medium_skin_tone")
    assert not found["1f44b"].has_skin_tone
