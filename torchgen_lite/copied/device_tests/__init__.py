"""The module `_device_tests.py`, which target `device-tests` copies beside the tests that it generates."""
