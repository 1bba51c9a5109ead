"""The pause of an outage: how long, and what ends it. D13."""

import pytest

from eukhe.limits import OUTAGE_PAUSE_MAX_S, OUTAGE_PAUSE_S
from eukhe.model.pause import Pause

pytestmark = pytest.mark.rule("D13")


def after(pause: Pause, outages: int, now_s: float = 0) -> list[float]:
    """How long each of so many outages pauses, one after another."""
    waits = []
    for _ in range(outages):
        wait_s = pause.outage("529", None, now_s, key=False)
        assert wait_s is not None
        now_s += wait_s
        assert pause.resume(now_s, changed=False)
        waits.append(wait_s)
    return waits


def test_outages_in_a_row_pause_twice_as_long_each_up_to_five_minutes() -> None:
    expected = [10, 20, 40, 80, 160, 300, 300]
    assert (OUTAGE_PAUSE_S, OUTAGE_PAUSE_MAX_S) == (10, 300)
    assert expected == after(Pause(), 7)


def test_after_a_call_that_worked_the_next_outage_is_a_first_one() -> None:
    pause = Pause()
    after(pause, 3)
    pause.worked()
    assert [10, 20] == after(pause, 2)


def test_it_pauses_as_long_as_the_provider_says_and_doubles_nothing() -> None:
    pause = Pause()
    assert 3_600 == pause.outage("429", 3_600, 0, key=False)
    assert not pause.resume(3_599, changed=False)
    assert pause.resume(3_600, changed=False)
    assert [10] == after(pause, 1, 3_600)


@pytest.mark.parametrize("retry_after_s", [0, -1])
def test_a_provider_that_says_at_once_is_not_asked_again_and_again(retry_after_s: float) -> None:
    pause = Pause()
    assert 10 == pause.outage("429", retry_after_s, 0, key=False)
    assert pause.resume(10, changed=False)
    assert 20 == pause.outage("429", retry_after_s, 10, key=False)


def test_calls_that_meet_the_same_outage_make_it_no_longer() -> None:
    pause = Pause()
    pause.outage("529", None, 0, key=False)
    assert None is pause.outage("429", 3_600, 5, key=False)
    assert "529" == pause.why
    assert pause.resume(10, changed=False)
    assert [20] == after(pause, 1, 10)


def test_a_wrong_key_pauses_until_a_key_or_a_setting_changes() -> None:
    pause = Pause()
    assert None is pause.outage("401", None, 0, key=True)
    assert not pause.resume(1_000_000, changed=False)
    assert "401" == pause.why
    assert pause.resume(1_000_000, changed=True)
    assert None is pause.why


def test_a_wrong_key_is_said_although_there_is_an_outage_and_outlasts_its_timer() -> None:
    pause = Pause()
    pause.outage("529", None, 0, key=False)
    assert None is pause.outage("401", None, 1, key=True)
    assert "401" == pause.why
    assert not pause.resume(10, changed=False)
    assert None is pause.outage("529", None, 11, key=False)
    assert None is pause.outage("403", None, 12, key=True)
    assert "401" == pause.why


def test_a_changed_key_ends_any_pause() -> None:
    pause = Pause()
    pause.outage("529", None, 0, key=False)
    assert pause.resume(1, changed=True)


def test_a_timer_of_an_earlier_pause_ends_no_later_one() -> None:
    pause = Pause()
    pause.outage("529", None, 0, key=False)
    pause.resume(1, changed=True)
    pause.outage("529", None, 9, key=False)
    assert not pause.resume(10, changed=False)
    assert pause.resume(29, changed=False)


def test_where_nothing_is_paused_there_is_nothing_to_resume() -> None:
    assert not Pause().resume(10, changed=True)
