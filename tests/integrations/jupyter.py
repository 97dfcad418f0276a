"""Notebooks for tests: run by nbclient, and JupyterLab with its proxy for a browser. All on the simulator."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

from agent import wait_for
from python_program import python_environment


def kernel_environment(scenario: str | Path | None, home: Path, **more: str) -> dict[str, str]:
    """Settings and caches of the one who runs the tests are left alone."""
    names = ("HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTERLAB_SETTINGS_DIR", "IPYTHONDIR")
    return python_environment(scenario, **{name: str(home) for name in names}) | more


@dataclass
class Told:
    """A message of the kernel that belongs to a cell."""

    cell: int
    kind: str
    content: dict[str, Any] = field(repr=False)
    at: float = field(default_factory=time.monotonic)


class Client(NotebookClient):
    """Keeps every message: in the notebook only the last picture stays."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.told: list[Told] = []

    def process_message(self, msg: Any, cell: Any, cell_index: int) -> Any:
        self.told.append(Told(cell_index, msg["msg_type"], msg["content"]))
        return super().process_message(msg, cell, cell_index)


def notebook_of(*cells: str) -> Any:
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])


def execute(notebook: Any, env: dict[str, str], **options: Any) -> Client:
    client = Client(notebook, timeout=60, kernel_name="python3", **options)
    client.execute(env=env)
    return client


def html_of(cell: Any) -> list[str]:
    return [output["data"]["text/html"] for output in cell["outputs"] if "text/html" in output.get("data", {})]


class Lab:
    """JupyterLab, whose kernels run on the simulator."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, folder: Path) -> None:
        self.process, self.port, self.folder = process, port, folder
        self.address = f"http://localhost:{port}"

    def ask(self, path: str, **headers: str) -> Any:
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(self.address + path, headers=fields)
        return urllib.request.build_opener().open(request, timeout=20)

    def is_ready(self) -> bool:
        assert self.process.poll() is None, "JupyterLab has ended"
        try:
            return bool(self.ask("/api/status").status == 200)
        except OSError:
            return False


@contextmanager
def open_lab(folder: Path, env: dict[str, str]) -> Iterator[Lab]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}", "--port-retries=0",
               "--ip=127.0.0.1", "--IdentityProvider.token=", f"--ServerApp.root_dir={folder}",
               "--ServerApp.allow_remote_access=True"]  # fmt: skip
    # It would ask for news on the network.
    quiet = Path(env["JUPYTER_CONFIG_DIR"]) / "labconfig" / "page_config.json"
    quiet.parent.mkdir()
    quiet.write_text('{"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": true}}')
    with (Path(env["HOME"]) / "lab.log").open("wb") as log:
        process = subprocess.Popen(command, env=env, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        lab = Lab(process, port, folder)
        wait_for(lab.is_ready, "JupyterLab", 60)
        yield lab
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:  # a kernel that is only starting; it ends with its parent
            process.kill()
            process.wait()
