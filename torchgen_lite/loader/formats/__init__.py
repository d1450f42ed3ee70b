"""Whole files: the formats that schema files come in, which operators they may name, and `fmt`."""
