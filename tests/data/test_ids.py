from oodometer.data.labels import ids_of_paths, ids_of_positions


def test_only_the_last_extension_is_dropped():
    assert ids_of_paths(["a.b/c.d.png", "a.b/e"]) == ("a.b/c.d", "a.b/e")


def test_positions_sort_as_numbers():
    ids = ids_of_positions(1000)
    assert list(ids) == sorted(ids)
    assert (ids[0], ids[-1]) == ("000", "999")
