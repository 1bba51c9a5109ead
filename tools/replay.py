"""Prints what each command of a scenario gives, a JSON line each: `python tools/replay.py FILE`.

States stand whole where an expected file has their hash; `--sha` prints them as an expected file does.
"""

import argparse
import os
import sys
from pathlib import Path

import orjson

from eukhe.model.scenario import ScenarioError, expected_form, replay


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, help="a .scenario file")
    parser.add_argument("--sha", action="store_true", help="states with their hash, as expected files have them")
    args = parser.parse_args()
    try:
        with args.file.open(encoding="utf-8") as lines:
            for result in replay(lines):
                shown = expected_form(result, whole=True) if args.sha else result
                sys.stdout.buffer.write(orjson.dumps(shown, option=orjson.OPT_APPEND_NEWLINE))
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read it has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except UnicodeDecodeError as error:
        print(f"replay: {args.file} is no text in UTF-8: {error.reason}", file=sys.stderr)
        return 1
    except (ScenarioError, OSError) as error:
        print(f"replay: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
