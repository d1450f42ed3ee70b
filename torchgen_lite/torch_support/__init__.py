"""The modules that are copied, as they are, into every package of target
`torch-python`.

    _library.py   registers the operators of a package with `torch.library`
    _support.py   what generated fakes and derivatives call

They need only torch. They are in black's style for both its default line length and
ours, because they are here and in generated packages.
"""
