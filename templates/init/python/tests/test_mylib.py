import mylib


def test_scale() -> None:
    assert mylib.scale(mylib.Tensor([1.0, 2.0]), 3.0).data == [3.0, 6.0]
    assert mylib.scale(mylib.Tensor(None, 5)).size == 5
