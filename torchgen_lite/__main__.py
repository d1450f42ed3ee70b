"""`python -m torchgen_lite`."""

from torchgen_lite.cli import run

if __name__ == "__main__":
    run()
