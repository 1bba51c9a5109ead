"""The fake API as a command of its own, and what it loads."""

import signal
import subprocess
import sys
from pathlib import Path

import httpx
import orjson
import pytest

from tests.fake_api.fake_kit import HEADERS, asking

TOOLS = Path(__file__).resolve().parents[2] / "tools"


def started(*args: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(TOOLS / "fake_api.py"), *args]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_it_says_its_address_plays_its_script_and_ends_with_its_input(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_bytes(orjson.dumps({"acts": [{"say": ["hello"]}]}))
    with started("--script", str(script), "--with-stdin") as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        content = httpx.post(f"{address}/v1/messages", json=asking({}), headers=HEADERS).json()["content"]
        process.communicate("", timeout=60)
    assert [{"type": "text", "text": "hello"}] == content
    assert 0 == process.returncode


@pytest.mark.parametrize("args", [(), ("--with-stdin",)])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it(number: signal.Signals, args: tuple[str, ...]) -> None:
    with started(*args) as process:
        assert process.stdout is not None and process.stdout.readline().startswith("http://127.0.0.1:")
        process.send_signal(number)
        process.wait(timeout=60)
    assert 0 == process.returncode


def test_it_loads_no_provider_of_models() -> None:
    code = "import fake_api, sys; print([name for name in ('anthropic', 'httpx', 'httpx2') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=TOOLS, capture_output=True, text=True, check=True)
    assert "[]" == done.stdout.strip()
