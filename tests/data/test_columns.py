import numpy as np

from oodometer.data.columns import column_of, column_of_texts


def test_types():
    assert column_of([True, False]).dtype == np.bool_
    assert column_of([1, 2.5]).dtype == np.float64
    assert column_of([None, None]).tolist() == ["", ""]
    assert column_of([1, "a"]).tolist() == ["1", "a"]
    assert column_of([2**70, 1]).dtype == np.float64


def test_texts():
    assert column_of_texts(["1", "-2"]).dtype == np.int64
    assert np.isnan(column_of_texts(["1", ""])[1])
    assert column_of_texts(["", ""]).tolist() == ["", ""]
    assert column_of_texts(["1", "x"]).tolist() == ["1", "x"]
