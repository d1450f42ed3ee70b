"""The modules that are copied, as they are, into every package of target
`torch-python`.

    _library.py   registers the operators of a package with `torch.library`
    _autograd.py  how calls are differentiated
    _forward.py   the same in forward mode
    _support.py   what generated fakes and derivatives call

They need only torch.
"""
