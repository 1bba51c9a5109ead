"""`eukhe chaos`: plays runs of the simulated machine, and says what was found, and how to see it again."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from eukhe.cli.command import Command, Given
from eukhe.cli.output import counted, emit, emit_json, emit_table, say
from eukhe.cli.progress import progress
from eukhe.limits import EXIT_FAILED, SIM_RUNS, SIM_SHRINK_RUNS_MAX, SIM_STEPS

if TYPE_CHECKING:
    from eukhe.sim.canary import Canary
    from eukhe.sim.chaos import Outcome
    from eukhe.sim.faults import Fault
    from eukhe.sim.options import Options

TAPE = "eukhe-chaos.json"
JSON_KEYS = {
    "runs": "how many runs ended, the one that failed included",
    "steps": "steps of all runs",
    "stepsPerSecond": "by the clock on the wall, on all processes",
    "digest": "of everything that happened in all runs; the same for the same runs on every machine",
    "faults": "by name: in how many runs it was drawn, how often injected, and how often met by the system",
    "notMet": "faults that were injected nowhere or had no effect",
    "failure": "null, or the run that failed: check, expected, found, step, lastSteps, options, replay",
    "faultsKnown": "with --list-faults, alone: by name, what each is",
    "canaries": "with --list-canaries, alone: by name, what each is",
}


def _names(context: click.Context, option: click.Parameter, given: str | None) -> tuple[str, ...] | None:
    """The faults of a list with commas."""
    if given is None:
        return None
    from eukhe.sim.faults import FAULTS

    names = tuple(name for part in given.split(",") if (name := part.strip()))
    if unknown := [name for name in names if name not in FAULTS]:
        raise click.BadParameter(f"no such fault: {', '.join(unknown)}; there are {', '.join(FAULTS)}", context, option)
    if not names:  # as of a variable that is not set
        raise click.BadParameter(f"no fault is named; there are {', '.join(FAULTS)}", context, option)
    return names


def _canary(context: click.Context, option: click.Parameter, given: str | None) -> str | None:
    """A canary's name."""
    if given is None:
        return None
    from eukhe.sim.canaries import CANARIES

    if given not in CANARIES:
        raise click.BadParameter(f"no such canary: {given}; there are {', '.join(CANARIES)}", context, option)
    return given


@click.command(cls=Command, json_keys=JSON_KEYS)
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="The first run's seed.")
@click.option("--runs", type=click.IntRange(min=1), default=SIM_RUNS, show_default=True, help="How many seeds.")
@click.option(
    "--steps", type=click.IntRange(min=0), default=SIM_STEPS, show_default=True, help="Of each run, under faults."
)
@click.option("--only", metavar="FAULT,…", callback=_names, help="These faults alone, all of them in every run.")
@click.option("--skip", metavar="FAULT,…", callback=_names, help="Without these faults.")
@click.option("--replay", type=click.Path(path_type=Path, dir_okay=False), help="The run of a tape, nothing else.")
@click.option(
    "--shrink",
    type=click.Path(path_type=Path, dir_okay=False),
    is_flag=False,
    flag_value=TAPE,
    metavar="[FILE]",
    help=f"Shorten a run that fails, and write its tape: to FILE, or to {TAPE} in this folder.",
)
@click.option("--canary", metavar="NAME", callback=_canary, help="With a known bug, to be found.")
@click.option("--list-faults", is_flag=True, help="List the faults, nothing else.")
@click.option("--list-canaries", is_flag=True, help="List the bugs that can be planted, nothing else.")
@click.option("--jobs", type=click.IntRange(min=1), help="Processes.  [default: as many as there are cores]")
@click.pass_obj
def command(
    given: Given,
    seed: int,
    runs: int,
    steps: int,
    only: tuple[str, ...] | None,
    skip: tuple[str, ...] | None,
    replay: Path | None,
    shrink: Path | None,
    canary: str | None,
    list_faults: bool,
    list_canaries: bool,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Run the whole owner on a simulated machine that fails, and check that nothing is lost.

    Each run draws its options from its seed: which faults, how often, how many clients. Faults strike for so many
    steps; then none does, and all must end well. Exit code 0: nothing was found; 1: a run failed, with its last steps
    and the command that plays it again. No chat is touched. A canary is a known bug that is planted: what does not find
    it is too weak.

    The table says of each fault in how many runs it was drawn, how often it was injected, and how often the system met
    it. One that was not met is no failure: more runs or steps meet it.
    """
    del given
    from eukhe.sim.canaries import CANARIES, playing
    from eukhe.sim.faults import FAULTS

    if list_faults or list_canaries:
        _list("faultsKnown" if list_faults else "canaries", FAULTS if list_faults else CANARIES, as_json)
        return
    if replay is not None:
        _check_alone(click.get_current_context())
        runs = 1
    drawn = _drawn(replay, range(seed, seed + runs), steps, only, skip)
    if runs == 1:
        drawn = list(drawn)
    if not as_json:
        emit(_options_told(*drawn) if runs == 1 else f"seeds {seed} to {seed + runs - 1}, {steps} steps each")
    planted = f" --canary {canary}" if canary else ""
    found = Found(drawn, runs, playing(canary), _play_again(replay, steps, only, skip), planted)
    found.run(jobs, shrink)
    if as_json:
        emit_json(found.as_json())
    else:
        found.tell()
    if found.failed is not None:
        raise click.exceptions.Exit(EXIT_FAILED)


def _drawn(
    replay: Path | None, seeds: range, steps: int, only: Sequence[str] | None, skip: Sequence[str] | None
) -> "Iterable[Options]":
    """A tape's options, else the seeds', each drawn when it is asked for: there may be millions."""
    from eukhe.sim.options import draw
    from eukhe.sim.tape import read

    if replay is not None:
        return [read(replay).options]
    return (draw(seed, steps, only=only, skip=skip or ()) for seed in seeds)


def _check_alone(context: click.Context) -> None:
    """A tape has the options of its run: others beside it would not count."""
    names = ("seed", "runs", "steps", "only", "skip")
    if beside := [f"--{name}" for name in names if context.get_parameter_source(name) == ParameterSource.COMMANDLINE]:
        raise click.UsageError(f"a tape has its own {', '.join(beside)}")


def _list(key: str, named: "Mapping[str, Canary | Fault]", as_json: bool) -> None:
    if as_json:
        emit_json({key: {name: one.what for name, one in named.items()}})
    else:
        emit_table([(name, one.what) for name, one in named.items()])


class Found:
    """What the runs bring, which ends with the first that fails.

    `drawn`: the options of `total` runs, each played by `play`. `failed`: the run that failed, None where none did;
    `replay`: the command that plays it again, which `play_again` gives and `planted` ends.
    """

    def __init__(
        self,
        drawn: "Iterable[Options]",
        total: int,
        play: "Callable[[Options], Outcome]",
        play_again: "Callable[[Outcome], str]",
        planted: str,
    ) -> None:
        self.drawn = drawn
        self.total = total
        self.play = play
        self.play_again = play_again
        self.planted = planted
        self.failed: Outcome | None = None
        self.replay = ""
        self.runs = self.steps = 0
        self.seconds = 0.0
        self.digest = ""
        self.counts: dict[str, Counter[str]] = {"drawn": Counter(), "injected": Counter(), "met": Counter()}

    def run(self, jobs: int | None, shrink: Path | None) -> None:
        from eukhe.sim.chaos import Digest
        from eukhe.sim.runs import cores, run_all

        begun = time.monotonic()
        digest = Digest()
        outcomes = run_all(self.drawn, min(jobs or cores(), self.total), self.play)
        with closing(outcomes), progress("runs", self.total) as bar:
            try:
                for outcome in outcomes:
                    self._count(outcome)
                    digest.add(outcome)
                    bar.advance()
                    if outcome.failure is not None:
                        self.failed = outcome
                        break
            except KeyboardInterrupt:
                raise KeyboardInterrupt(f"nothing was found in the {counted(self.runs, 'run')} that ended") from None
        self.seconds = time.monotonic() - begun
        self.digest = digest.hex
        if self.failed is not None:
            self.replay = self.play_again(self.failed) + self.planted
            if shrink is not None:
                self._shrink(self.failed, shrink)

    def _count(self, outcome: "Outcome") -> None:
        self.runs += 1
        self.steps += outcome.steps
        self.counts["drawn"].update(outcome.options.odds.keys())
        self.counts["injected"].update(outcome.injected)
        self.counts["met"].update(outcome.met)

    def _shrink(self, failed: "Outcome", path: Path) -> None:
        """The run as it is goes onto the tape first: what can't be written, or is interrupted, loses no finding."""
        from eukhe.sim.shrink import shrink
        from eukhe.sim.tape import TapeError

        try:
            _write(failed, path)
        except TapeError as error:
            say(f"{error}: nothing is shortened")
            return
        self.replay = f"{_replay_of(path)}{self.planted}"
        try:
            with progress("shrinking", SIM_SHRINK_RUNS_MAX) as bar:
                self.failed = shrink(failed, self.play, bar.advance).outcome
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"a run failed, and is not shortened: {self.replay}") from None
        _write(self.failed, path)

    @property
    def faults(self) -> "dict[str, Fault]":
        """Those that a run drew."""
        from eukhe.sim.faults import FAULTS

        return {name: fault for name, fault in FAULTS.items() if self.counts["drawn"][name]}

    @property
    def not_met(self) -> list[str]:
        return [name for name in self.faults if not self.counts["met"][name]]

    def tell(self) -> None:
        rows = [
            (name, *(count[name] for count in self.counts.values()), fault.what) for name, fault in self.faults.items()
        ]
        if rows:
            emit_table(rows, ("fault", *self.counts, "what"))
            emit()
        if self.failed is not None:
            _tell_failure(self.failed, self.replay)
            return
        if self.not_met:
            emit(f"not met: {', '.join(self.not_met)}")
        emit(f"{counted(self.runs, 'run')}, {self.steps:,} steps, {self._rate:,.0f} steps a second: nothing was found")
        emit(f"digest {self.digest}")

    @property
    def _rate(self) -> float:
        return self.steps / self.seconds if self.seconds else 0.0

    def as_json(self) -> dict[str, Any]:
        import msgspec

        failure = None
        if self.failed is not None and self.failed.failure is not None:
            failure = {
                "check": self.failed.failure.check,
                "expected": self.failed.failure.expected,
                "found": self.failed.failure.found,
                "step": self.failed.failure.step,
                "lastSteps": self.failed.failure.told.splitlines(),
                "options": msgspec.to_builtins(self.failed.options),
                "replay": self.replay,
            }
        return {
            "runs": self.runs,
            "steps": self.steps,
            "stepsPerSecond": round(self._rate),
            "digest": self.digest,
            "faults": {name: {what: count[name] for what, count in self.counts.items()} for name in self.faults},
            "notMet": self.not_met,
            "failure": failure,
        }


def _play_again(
    replay: Path | None, steps: int, only: Sequence[str] | None, skip: Sequence[str] | None
) -> "Callable[[Outcome], str]":
    if replay is not None:
        return lambda _: _replay_of(replay)
    chosen = "".join(f" --{word} {','.join(names)}" for word, names in (("only", only), ("skip", skip)) if names)
    return lambda outcome: f"eukhe chaos --seed {outcome.options.seed} --runs 1 --steps {steps}{chosen}"


def _replay_of(tape: Path) -> str:
    return f"eukhe chaos --replay {quote(str(tape))}"


def _write(failed: "Outcome", path: Path) -> None:
    """The tape of a run that failed."""
    from eukhe.sim.tape import Tape, write

    assert failed.failure is not None
    write(path, Tape(failed.options, failed.failure.check))


def _options_told(options: "Options") -> str:
    """A run's options, each by its name."""
    import msgspec

    fields = msgspec.to_builtins(options)
    odds = ", ".join(f"{name} 1:{odds}" for name, odds in fields.pop("odds").items())
    kept = fields.pop("kept")
    told = ", ".join(f"{name} {value}" for name, value in fields.items())
    return f"{told}\nfaults: {odds or 'none'}" + (f"\nkept of these: {kept}" if kept is not None else "")


def _tell_failure(outcome: "Outcome", replay: str) -> None:
    from eukhe.sim.checks import CHECKS

    failure = outcome.failure
    assert failure is not None
    emit(f"FAILED at step {failure.step}: {failure.check}: {CHECKS[failure.check]}")
    emit(f"  expected: {failure.expected}")
    emit(f"  found:    {failure.found}")
    emit(_options_told(outcome.options))
    emit(failure.told)
    emit(f"replay: {replay}")
