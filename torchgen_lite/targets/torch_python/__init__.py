"""The target `torch-python`: a package that registers operators through `torch.library`.

    <package>/__init__.py, _places.py    package.py
    <package>/functions.py   functions.py
    <package>/_operators.py  package.py, kernels.py, fakes.py, autograd.py, saved.py, forward.py,
                             registration.py
    <package>/_library.py and others that operators need, as support.py says: copies of copied/torch_python/
    tests/test_<package>.py  samples.py

The package runs without torchgen_lite.
"""
