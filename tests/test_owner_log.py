"""owner.log: what it holds, how long it gets, and that an owner does not depend on it."""

import stat
from pathlib import Path

import pytest

from eukhe.actors.threads import Threads
from eukhe.cli.command import Given
from eukhe.cli.config_list import settings_of
from eukhe.cli.owner import OWNER_LOG, OWNER_LOG_BEFORE, open_log, own
from eukhe.errors import Bug
from eukhe.limits import OWNER_LOG_BYTES_MAX


def written(home: Path, text: str) -> None:
    with open_log(home) as log:
        log.write(text)


def test_it_grows_owner_by_owner_up_to_its_limit_and_then_begins_anew(tmp_path: Path) -> None:
    full = "x" * OWNER_LOG_BYTES_MAX
    for text in (full, "y", "z"):
        written(tmp_path, text)
    assert (f"{full}y", "z") == tuple((tmp_path / name).read_text() for name in (OWNER_LOG_BEFORE, OWNER_LOG))
    written(tmp_path, full)
    written(tmp_path, "last")
    assert {OWNER_LOG, OWNER_LOG_BEFORE} == {path.name for path in tmp_path.iterdir()}
    assert (f"z{full}", "last") == tuple((tmp_path / name).read_text() for name in (OWNER_LOG_BEFORE, OWNER_LOG))
    assert {0o600} == {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}


@pytest.mark.usefixtures("no_leaks")
def test_a_crash_that_can_not_be_noted_is_told_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(self: Threads) -> None:
        raise Bug("planted")

    home = tmp_path / "home"
    monkeypatch.setattr(Threads, "begin", crash)
    with pytest.raises(Bug, match="planted"), own(home, settings_of(Given(str(home)))):
        pass
    assert "planted" in (home / OWNER_LOG).read_text()
    (home / OWNER_LOG).unlink()
    (home / OWNER_LOG).mkdir()
    with pytest.raises(Bug, match="planted"), own(home, settings_of(Given(str(home)))):
        pass
