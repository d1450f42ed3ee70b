"""The target `torch-python`: a package that registers operators through `torch.library`.

    <package>/__init__.py    package.py      <package>/_autograd.py   autograd.py, saved.py
    <package>/functions.py   functions.py    <package>/_places.py     places.py
    <package>/_operators.py  package.py, kernels.py, fakes.py, registration.py
    tests/test_<package>.py  samples.py      <package>/_library.py, _support.py: copies of torch_support/

The package runs without torchgen_lite.
"""
