"""One Chromium for all pages of a process of tests, asked by the DevTools protocol over two pipes.

To start it takes three times as long as to show a page. Each page has a profile of its own, and a clock that runs as
fast as its scripts do.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import shlex
import subprocess
from base64 import b64decode
from pathlib import Path
from typing import Any, NamedTuple

PATIENCE = 300


class Look(NamedTuple):
    """How a page is looked at, and which pictures are made of it."""

    width: int = 800
    height: int = 600
    dark: bool = False
    # Of the clock of the page, after which it is looked at.
    milliseconds: int = 2000
    screenshot: Path | None = None
    pdf: Path | None = None


class Browser:
    """A Chromium, from its start until the process ends."""

    def __init__(self, program: str) -> None:
        reading, self.questions = os.pipe()
        self.answers, writing = os.pipe()
        command = [program, "--headless=new", "--no-sandbox", "--disable-gpu"]
        # It reads from 3 and writes to 4.
        line = f"exec {shlex.join([*command, '--remote-debugging-pipe'])} 3<&{reading} 4>&{writing}"
        self.process = subprocess.Popen(
            ["bash", "-c", line], pass_fds=[reading, writing], stderr=subprocess.DEVNULL
        )
        os.close(reading)
        os.close(writing)
        self.asked = 0
        self.unread = b""
        self.seen: list[str] = []
        atexit.register(self.close)

    def close(self) -> None:
        os.close(self.questions)
        os.close(self.answers)
        self.process.terminate()
        self.process.wait()

    def ask(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        self.asked += 1
        asked: dict[str, Any] = {"id": self.asked, "method": method, "params": parameters}
        if session is not None:
            asked["sessionId"] = session
        os.write(self.questions, json.dumps(asked).encode() + b"\0")
        while True:
            message = self._next()
            if message.get("id") == self.asked:
                assert "error" not in message, message
                result: dict[str, Any] = message["result"]
                return result

    def wait_for(self, event: str) -> None:
        while event not in self.seen:
            self._next()

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self.unread:
            ready, _, _ = select.select([self.answers], [], [], PATIENCE)
            assert ready, f"Chromium says nothing for {PATIENCE} seconds"
            data = os.read(self.answers, 1 << 20)
            assert data, "Chromium has ended"
            self.unread += data
        text, _, self.unread = self.unread.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        self.seen += [message["method"]] if "method" in message else []
        return message

    def show(self, address: str, look: Look) -> str:
        """The page after its scripts have run, as HTML."""
        context = self.ask("Target.createBrowserContext")["browserContextId"]
        size = {"width": look.width, "height": look.height}
        opened = {"url": "about:blank", "browserContextId": context, "newWindow": True, **size}
        target = self.ask("Target.createTarget", **opened)["targetId"]
        attached = self.ask("Target.attachToTarget", targetId=target, flatten=True)
        session = attached["sessionId"]
        scheme = {"name": "prefers-color-scheme", "value": "dark" if look.dark else "light"}
        self.ask("Emulation.setEmulatedMedia", session, features=[scheme])
        self.ask("Page.enable", session)
        # The clock stands still until there is the page.
        self.ask("Emulation.setVirtualTimePolicy", session, policy="pause")
        self.ask("Page.navigate", session, url=address)
        self.seen.clear()
        clock = {
            "policy": "pauseIfNetworkFetchesPending",
            "budget": look.milliseconds,
            # Scripts that have much to do do not stop it.
            "maxVirtualTimeTaskStarvationCount": 9999,
        }
        self.ask("Emulation.setVirtualTimePolicy", session, **clock)
        self.wait_for("Emulation.virtualTimeBudgetExpired")
        if look.screenshot is not None:
            picture = self.ask("Page.captureScreenshot", session)
            look.screenshot.write_bytes(b64decode(picture["data"]))
        if look.pdf is not None:
            printed = self.ask("Page.printToPDF", session, printBackground=True)
            look.pdf.write_bytes(b64decode(printed["data"]))
        whole = "document.documentElement.outerHTML"
        found = self.ask("Runtime.evaluate", session, expression=whole)
        self.ask("Target.closeTarget", targetId=target)
        self.ask("Target.disposeBrowserContext", browserContextId=context)
        html: str = found["result"]["value"]
        return html
