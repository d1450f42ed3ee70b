"""Reads input files into the model: YAML nodes with their places, configuration, kernel modules.

Nothing else reads input files.
"""
