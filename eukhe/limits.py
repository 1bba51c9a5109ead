"""Every number of eukhe, once, with its unit. Source: the memory's design, sections 1 to 8."""

from typing import Final

# The tree (rules 11, 12, 37, D9)
NODE_BYTES_MAX: Final = 512
TRIES_MAX: Final = 5  # calls for one line
FAILURES_MAX: Final = 3  # failed calls of a node until it is built from its input
MERGE_HALF_BYTES_MAX: Final = 255  # each half of a merge that is built from its input

# The views (rules 18, 23, 29, 33)
VIEW_CEILING_BYTES: Final = 128_000
VIEW_FLOOR_BYTES: Final = 64_000
COMPACTION_CEILING_BYTES: Final = 32_000
COMPACTION_FLOOR_BYTES: Final = 16_000
PLACEHOLDER: Final = "(not summarized yet: zoom it)"
PLACEHOLDER_BYTES: Final = len(PLACEHOLDER)
BLOCK_LINES: Final = 4
VIEW_BYTES_MIN: Final = 8_000  # the smallest memory.viewBytes that settings accept

# The queue (rules 38, 39, D5)
JOBS_MAX: Final = 8
RETRY_TICK_S: Final = 10
CALL_DEADLINE_S: Final = 600

# The log (rules 6, 9, 10)
FORMAT_VERSION: Final = 1
TOOL_RESULT_CHARS_MAX: Final = 30_000
PIECE_CHARS_MAX: Final = 29_000
PIECE_SEARCH_CHARS: Final = 2_000  # a piece ends after the last newline of its last so many characters
KEY_BYTES_MAX: Final = 200
IMAGE_NAME_DIGITS: Final = 12  # of its SHA-256, in the mark that the text carries
IMAGE_BYTES_MAX: Final = 20_000_000

# Import
REPEAT_CHARS_MIN: Final = 281  # a longer text than 280 characters that repeats an earlier one comes in once

# Settings (section 8)
SETTLE_TIMEOUT_MS: Final = 20_000
SETTLE_TIMEOUT_MS_MAX: Final = 600_000
VIEW_BYTES_MAX: Final = 256_000  # the largest memory.viewBytes: what a view may take where it can't wait (D14)
SETTINGS_BYTES_MAX: Final = 1_000_000  # a larger settings.json is none

# The planner's arithmetic
LEVELS_MAX: Final = 64  # a chat of 2^64 messages; due is compared as whole 2^-64ths
LOST: Final = "(lost)"  # what a message reads as whose line is gone
LOST_BYTES: Final = len(LOST)

# The command line
EXIT_FAILED: Final = 1
EXIT_INTERRUPTED: Final = 130  # 128 and SIGINT's number, as shells have it
EXIT_PIPE_CLOSED: Final = 141  # 128 and SIGPIPE's
PROGRESS_LINE_S: Final = 5.0  # between two plain lines of progress, where there is no terminal to draw on

# Files (section 1)
HOME_MODE: Final = 0o700
FILE_MODE: Final = 0o600
