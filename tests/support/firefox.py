"""Firefox without a window, driven by the protocol that it speaks itself (Marionette): JSON over a socket.

So no driver has to be installed beside it. A message is its length, a colon and ``[0, id, command, parameters]``; an
answer is ``[1, id, error, result]``.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROGRAM = "firefox-esr"
SECONDS = 120
"""To wait for Firefox to start, and for each answer: a busy machine is slow."""

PREFERENCES = {
    "marionette.port": 0,  # any that is free
    "browser.shell.checkDefaultBrowser": False,
    "browser.aboutwelcome.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "toolkit.telemetry.reportingpolicy.firstRun": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "app.update.disabledForTesting": True,
    "extensions.systemAddon.update.enabled": False,
    "security.sandbox.content.level": 0,  # as is usual without a screen, as root, in a container
}
"""No first screen, and nothing asked of other hosts."""

ERRORS = """
return Services.console.getMessageArray()
    .filter((said) => said instanceof Ci.nsIScriptError && !(said.flags & Ci.nsIScriptError.warningFlag))
    .filter((said) => said.sourceName.startsWith(arguments[0]))
    .map((said) => `${said.sourceName}:${said.lineNumber} ${said.errorMessage}`);
"""


@dataclass
class Firefox:
    """A running Firefox."""

    line: socket.socket
    asked: int = 0

    def ask(self, command: str, **parameters: Any) -> Any:
        """The answer to a command; an error where Firefox says one."""
        self.asked += 1
        message = json.dumps([0, self.asked, command, parameters]).encode()
        self.line.sendall(str(len(message)).encode() + b":" + message)
        _, _, error, result = self._heard()
        if error:
            raise AssertionError(f"{command}: {error['error']}: {error['message']}")
        return result

    def _heard(self) -> Any:
        digits = b""
        while not digits.endswith(b":"):
            digits += self._bytes(1)
        return json.loads(self._bytes(int(digits[:-1])))

    def _bytes(self, n: int) -> bytes:
        found = b""
        while len(found) < n:
            part = self.line.recv(n - len(found))
            if not part:
                raise AssertionError("Firefox is gone")
            found += part
        return found

    def open(self, address: str) -> None:
        """Go there, and wait until all of it is loaded."""
        self.ask("WebDriver:Navigate", url=address)

    def run(self, script: str, *values: Any) -> Any:
        """What a script on the page returns; a promise is waited for."""
        return self.ask("WebDriver:ExecuteScript", script=script, args=list(values), scriptTimeout=1000 * SECONDS)[
            "value"
        ]

    def errors(self, address: str) -> list[str]:
        """What went wrong in scripts from this address, and what its policy forbade."""
        self.ask("Marionette:SetContext", value="chrome")
        found: list[str] = self.run(ERRORS, address)
        self.ask("Marionette:SetContext", value="content")
        return found


def found_firefox() -> str | None:
    """Where Firefox is; None where there is none."""
    return shutil.which(PROGRAM)


@contextmanager
def running(program: str, profile: Path) -> Iterator[Firefox]:
    """A Firefox of its own, with an empty profile in this folder, ended at the end."""
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items()]
    (profile / "user.js").write_text("".join(lines))
    words = [
        program,
        "--headless",
        "--marionette",
        "--remote-allow-system-access",
        "--no-remote",
        "--profile",
        str(profile),
    ]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(words, stdout=quiet, stderr=quiet, env={"HOME": str(profile), "PATH": "/usr/bin:/bin"})
    try:
        port = _port(process, profile / "MarionetteActivePort")
        with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as line:
            firefox = Firefox(line)
            firefox._heard()  # its greeting
            firefox.ask("WebDriver:NewSession", strictFileInteractability=False)
            firefox.ask("WebDriver:SetWindowRect", width=1280, height=900)
            yield firefox
    finally:
        process.terminate()
        process.wait(SECONDS)


def _port(process: subprocess.Popen[bytes], file: Path) -> int:
    """Where it listens, as it writes when it does."""
    for _ in range(10 * SECONDS):
        if file.exists() and (text := file.read_text().strip()):
            return int(text)
        if process.poll() is not None:
            raise AssertionError(f"Firefox ended with {process.returncode} before it listened")
        time.sleep(0.1)
    raise AssertionError("Firefox does not listen")
