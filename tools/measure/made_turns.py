"""Turns for measuring, made from a seed: what a user and an agent say to each other, as large as in real sessions.

Real sessions: a turn is five messages in the middle and thirteen in the mean, since some are long; half of the tools'
results have less than 400 characters, one in a hundred 25,000; a user's word has 85, an agent's 155.
"""

import random
from collections.abc import Iterator
from typing import NamedTuple

from measure.made import SEED, Texts

SIZES = {"user": (4.4, 1.3, 8_000), "say": (5.0, 1.1, 4_000), "input": (5.0, 1.1, 8_000), "result": (5.9, 1.9, 30_000)}
"""Of each text: mean and deviation of its characters' logarithm, and the most."""
STEPS_MU, STEPS_SIGMA, STEPS_MAX = 0.9, 1.1, 60  # of a turn's tool calls, likewise
SAYS = 0.35  # of the tool calls that have a word before them
MODEL_S, TOOL_S = (3, 20), (0.1, 15)  # how long a model's reply takes, and a tool
USER_MU, USER_SIGMA = 4.1, 1.3  # of the seconds' logarithm until the user says the next word: a minute in the middle
TOOLS = ("bash", "read", "edit", "zoom")


class Step(NamedTuple):
    """A tool call: what is said before it, its input, its result, how long model and tool take."""

    say: str
    tool: str
    input: str
    result: str
    model_s: float
    tool_s: float


class Turn(NamedTuple):
    """A word of the user's, tool calls, the reply. `after_s`: since the turn before ended."""

    after_s: float
    user: str
    steps: tuple[Step, ...]
    reply: str
    model_s: float

    @property
    def messages(self) -> int:
        return 2 + sum(2 + bool(step.say) for step in self.steps)


def turns(messages: int, seed: int = SEED) -> Iterator[Turn]:
    """As many as have so many messages, or a few more."""
    chance, texts, made = random.Random(seed), Texts(seed), 0

    def text(kind: str) -> str:
        mu, sigma, most = SIZES[kind]
        return texts.text(max(8, min(most, int(chance.lognormvariate(mu, sigma)))))

    def step() -> Step:
        say = text("say") if chance.random() < SAYS else ""
        seconds = chance.uniform(*MODEL_S), chance.uniform(*TOOL_S)
        return Step(say, chance.choice(TOOLS), text("input"), text("result"), *seconds)

    while made < messages:
        count = min(STEPS_MAX, int(chance.lognormvariate(STEPS_MU, STEPS_SIGMA)))
        steps = tuple(step() for _ in range(count))
        turn = Turn(
            chance.lognormvariate(USER_MU, USER_SIGMA), text("user"), steps, text("say"), chance.uniform(*MODEL_S)
        )
        made += turn.messages
        yield turn
