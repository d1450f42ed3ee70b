"""What every package of target `torch-python` carries: modules that are copied into it as they are.

    _library.py   registers the operators of a package with `torch.library`
    _support.py   what generated fakes and derivatives call

They need torch alone. They are in black's style for its own line length and for ours, because they stand here
and in generated packages.
"""
