"""The version, where the build, the command line and `required-version` find it."""

__version__ = "0.1.0"
