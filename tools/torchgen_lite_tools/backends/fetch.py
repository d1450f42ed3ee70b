"""What a release of PyTorch says of operators, fetched with pip: three files of its wheel."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from io import BytesIO
from pathlib import Path

from torchgen_lite.cli.session import Refused, Session, write_content
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.loader.torch.releases import READ_FROM_WHEELS, read_release

NEWEST = "newest"
"""The newest release that the package index has for this Python."""

# The files are the same in every wheel of a release, and those of macOS are the smallest: 80 MB instead of a gigabyte.
_PLATFORMS = ("macosx_11_0_arm64", "macosx_14_0_arm64")


def fetch_release(session: Session, release: str, folder: Path) -> str:
    """The name under which a release can be read: its own, if it is here, or that of a small wheel written to `folder`.

    The wheel has only the files that are read. Raises Refused if pip does not find the release.
    """
    if release != NEWEST and read_release(release, folder).source is not None:
        return release
    wanted = "torch" if release == NEWEST else f"torch=={release.removeprefix('torch:')}.*"
    session.talk(f"fetching {wanted} with pip")
    with tempfile.TemporaryDirectory() as place:
        wheel = _download(wanted, Path(place))
        write_content(folder / wheel.name, _files_that_are_read(wheel))
    session.talk(f"{wheel.name} has what is read of it")
    return wheel.name


def _download(wanted: str, place: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--only-binary=:all:", "--dest", str(place), wanted]
    command += [f"--platform={platform}" for platform in _PLATFORMS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = [*place.glob("torch-*.whl")]
    if done.returncode == 0 and wheels:
        return wheels[0]
    lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR: ")]
    reason = lines[0].removeprefix("ERROR: ") if lines else done.stderr.strip()[-200:]
    raise Refused(
        Diagnostic(
            "TG011",
            f"pip does not download `{wanted}`: {reason}",
            help="name a wheel, a checkout or a native_functions.yaml",
        )
    )


def _files_that_are_read(wheel: Path) -> bytes:
    """A wheel of nothing else."""
    content = BytesIO()
    with (
        zipfile.ZipFile(wheel) as whole,
        zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as part,
    ):
        for name in READ_FROM_WHEELS:
            if name in whole.namelist():
                part.writestr(name, whole.read(name))
    return content.getvalue()
