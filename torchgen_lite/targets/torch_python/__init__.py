"""The target `torch-python`: a package that registers operators through `torch.library`.

    <package>/_schemas.py        schemas.py      <package>/_fakes.py       fakes.py
    <package>/_kernels.py        kernels.py      <package>/_autograd.py    autograd.py, saved.py
    <package>/functions.py       functions.py    <package>/_registration.py registration.py
    tests/test_<package>.py      samples.py      <package>/_library.py, _support.py: the same in each package

The package runs without torchgen_lite.
"""
