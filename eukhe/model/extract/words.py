"""Which words are worth a place in a line. Pure: no clock, disk or threads.

Nothing here knows the rest of a chat, so rarity is judged by looks: paths, identifiers, ids and numbers first, then
words that are not on a short list of everyday ones. Words that claim an outcome ("passes", "fixed") carry a clause, but
are never listed alone: out of their clause they would say more than it did.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from eukhe.limits import (
    EXTRACT_CAPITALS_WORTH,
    EXTRACT_CODE_NAME_WORTH,
    EXTRACT_FILE_NAME_WORTH,
    EXTRACT_LONG_WORD_CHARS,
    EXTRACT_LONG_WORD_WORTH,
    EXTRACT_MIXED_WORTH,
    EXTRACT_NAME_BYTES_MAX,
    EXTRACT_NAME_CHARS_MIN,
    EXTRACT_NAME_WORTH,
    EXTRACT_SHORT_WORD_CHARS,
    EXTRACT_SHORT_WORD_WORTH,
    EXTRACT_WORD_CHARS,
    EXTRACT_WORD_WORTH,
)
from eukhe.model.text import size

# Separators and letters share no character, so that a failed match never tries a word twice.
TOKEN = re.compile(r"[-#@/~.]{0,3}\w+(?:[-./:@+#'’]+\w+)*(?:\(\))?")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


OUTCOME = _words(
    """
    pass passes passed passing fail fails failed failing failure fix fixes fixed done complete completed success
    successful successfully works worked working broken break breaks resolved solved finished ready created deleted
    removed added renamed moved merged
    verified confirmed tested blocked denied rejected refused error errors wrong bug cause caused because root
    found found: result results verdict approve approved missing cannot impossible crashed
    """
)
DECISION = _words(
    """
    want wants must should shall never always don't dont instead decide decided decision prefer recommend recommended
    agree only need needs please rather must-have forbid forbidden allowed keep use rename default defaults
    """
)
TURNING = _words(
    """
    not no never none nor neither without unless except only if until but however though although instead rather yet
    cannot can't won't don't doesn't didn't isn't aren't wasn't weren't shouldn't couldn't wouldn't haven't hasn't
    nicht kein keine nie ohne außer nur falls wenn aber
    """
)
_EVERYDAY = _words(
    """
    a about above after again all also am an and another any are around as ask asked at away back be been before being
    below best better between both bit but by call called can case cases change changed changes check checked checking
    clear code come comes contains content continue correct correctly could current currently data detail details did
    different do does doing down each easy either else end ensure entry even every everything exactly example exist
    existing exists expected explain far few file files first following for from full function further general get gets
    getting give given go goes going good got great had has have having he help her here him his how i i'd i'll i'm i've
    idea implement implementation important in include includes including information input into is issue it it's its
    itself just kind know last later leave less let let's like line lines list little ll look looking looks lot made
    main make makes making many matches may maybe me mean means might mode more most move much multiple my name new next
    nice note nothing now number of off ok okay on once one ones open option options or order other our out output over
    own part perfect place point possible previous probably problem proceed progress project properly provide put
    question quick quite re read really related remain remaining right run running runs s same save say says see seem
    seems seen set several she show shown shows simple since single so some something specific start started starting
    still such sure t take taken task tasks tell text than that that's the their them then there there's these they
    they're thing things think this those through time to todo todos together too tool tools track true try trying two
    type types under understand up update updated updates updating us used user uses using value values various ve very
    via view want was way we we're well were what when where whether which while who whole why will with within word
    work would write yes you you're your zoom
    false null string int bool var func func() return const nil err self def class import package struct public static
    void this.error try catch await async fmt ctx
    available execute latest exact message messages second summary description and/or yes/no i.e e.g couldn retry focus
    basically contents anything somehow happens happen fully various exact currently following below above actual
    bash read write edit multiedit grep glob todowrite agent modified applicable successfully characters sample
    """
)
EVERYDAY = _EVERYDAY | OUTCOME | DECISION | TURNING
_EDGES = "-#@/~."
_FILE = re.compile(
    r"\.(?:c|cc|cfg|conf|cpp|cs|css|csv|env|go|h|hs|html|ini|java|js|json|jsonl|jsx|kt|lock|log|lua|md|mod|mmd|pdf|php"
    r"|png|proto|py|rb|rs|rst|scss|sh|sql|sum|svg|swift|toml|ts|tsx|txt|vue|xml|yaml|yml|zig|zip)(?::\d+)?$"
)
_SAYS_NOTHING = re.compile(
    r"-?[A-Za-z0-9]|[\d.]+m?s|\W*_+\W*|\w\.\w|\w/\w|0[ox]\w+|\d\d?:\d\d(?::\d\d)?|\w\+\w"
)  # a letter, a duration, e.g, a mode, a time
_EDGES_OF_NAMES = "-~_./"
_SHORT_NAME = re.compile(r"#\d+|v\d+|[A-Z]{2,}")


class Word(NamedTuple):
    """What a word is worth. `key`: what two spellings of a name have in common, a path's last part, a word's singular.

    `points`: 0 for an everyday one. `name`: as a list has it, a file without its folders; empty where the word says
    nothing without its clause. `name_bytes`: of that.
    """

    key: str
    points: int
    name: str
    name_bytes: int


@lru_cache(maxsize=1 << 14)
def look(token: str) -> Word:
    """A word by its looks."""
    points = _points(token)
    name = _name(token) if points else ""
    return Word(_key(token), points, name, size(name))


def words(text: str) -> list[Word]:
    """The words of a text, in their order."""
    return [look(token) for token in TOKEN.findall(text)]


def _points(token: str) -> int:
    core = _bare(token)
    lower = core.lower()
    if not core or lower in EVERYDAY or _SAYS_NOTHING.fullmatch(core):
        return 0
    if core.isdigit():
        if token[0] == "#":
            return EXTRACT_MIXED_WORTH
        return EXTRACT_SHORT_WORD_WORTH if len(core) >= EXTRACT_SHORT_WORD_CHARS else 0
    if core.isalpha():
        return _word_worth(core, lower)
    if "/" in core or _FILE.search(core):
        return EXTRACT_FILE_NAME_WORTH
    if core.upper() == core or core[0].isdigit():  # AN_ENVIRONMENT_VARIABLE, a version, an id
        return EXTRACT_FILE_NAME_WORTH if "_" in core else EXTRACT_NAME_WORTH
    if "." in core or core.isalnum():
        return EXTRACT_CODE_NAME_WORTH if core[0].islower() else EXTRACT_MIXED_WORTH
    return EXTRACT_NAME_WORTH


def _word_worth(core: str, lower: str) -> int:
    if core[1:] != lower[1:]:
        if core.isupper():
            return EXTRACT_CAPITALS_WORTH
        return EXTRACT_CODE_NAME_WORTH if core[0].islower() else EXTRACT_NAME_WORTH
    proper = 1 if core != lower else 0
    if len(core) >= EXTRACT_LONG_WORD_CHARS:
        return EXTRACT_LONG_WORD_WORTH + proper
    if len(core) >= EXTRACT_WORD_CHARS:
        return EXTRACT_WORD_WORTH + proper
    return (EXTRACT_SHORT_WORD_WORTH if len(core) >= EXTRACT_SHORT_WORD_CHARS else 0) + proper


def _name(token: str) -> str:
    core = token.strip(_EDGES_OF_NAMES)
    if _FILE.search(core):
        core = core.rpartition("/")[2]
    if not core or size(core) > EXTRACT_NAME_BYTES_MAX:
        return ""
    if len(core) < EXTRACT_NAME_CHARS_MIN and not _SHORT_NAME.fullmatch(core):
        return ""
    return core


def _key(token: str) -> str:
    core = _bare(token).removesuffix("()").rpartition("/")[2].lower()
    return core[:-1] if core.endswith("s") and core.isalpha() else core


def _bare(token: str) -> str:
    """The word without marks around it and without what an apostrophe adds."""
    return token.strip(_EDGES).replace("’", "'").partition("'")[0]
