"""The simulator: steps a second with all its checks, beside the same steps with next to none."""

from eukhe.actors.behaviour import Behaviour
from eukhe.actors.messages import Msg
from eukhe.sim.chaos import run
from eukhe.sim.options import draw
from eukhe.sim.watch import Watch
from measure.figures import Aim, Figure, Sizes, cpu_seconds


class Blind(Watch):
    """Sees what reaches the disk and what clients get, and nothing else."""

    def told(self, to: str, message: Msg) -> None:
        """No message is looked at."""

    def wraps(self, name: str, behaviour: Behaviour) -> Behaviour:
        return behaviour


def measure(of: Sizes) -> list[Figure]:
    steps = {_steps(of.sim_runs, watch) for watch in (Watch, Blind)}
    assert len(steps) == 1, "looking on changes nothing"
    (taken,) = steps
    seen_s, blind_s = cpu_seconds(of.repeats, lambda: _steps(of.sim_runs), lambda: _steps(of.sim_runs, Blind))
    return [
        Figure(
            f"the simulator, {of.sim_runs} runs of chaos with its checks",
            taken / seen_s,
            "steps/s",
            "without",
            taken / blind_s,
            Aim("value", 30_000, at_least=True),
        )
    ]


def _steps(runs: int, watch: type[Watch] = Watch) -> int:
    taken = 0
    for seed in range(1, runs + 1):
        outcome = run(draw(seed), watch)
        assert outcome.failure is None, outcome.failure
        taken += outcome.steps
    return taken
