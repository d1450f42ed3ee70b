"""What a hub of kernels does with two builds of a package: its builder writes the namespace, and each is loaded by path."""

from __future__ import annotations

OPS = """\
import torch
ops = torch.ops._hub_{version}

def add_op_namespace_prefix(op_name: str):
    return f"_hub_{version}::{{op_name}}"
"""
"""The module `_ops.py` of a build."""

LOAD = """
import importlib.util
import sys
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

def loaded(version):
    path = f"builds/{version}/hub/__init__.py"
    spec = importlib.util.spec_from_file_location(f"hash_{version}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module

hubs = {version: loaded(version) for version in (1, 2)}
"""
"""A program that loads both, under names that nothing imports."""
