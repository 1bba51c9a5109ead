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
DEADLINE_VIEW_BYTES_MAX: Final = 256_000  # of a view whose unbuilt lines show their messages (D14)
DEADLINE_LINE_BYTES_MIN: Final = 32
VIEW_BYTES_MIN: Final = 8_000  # the smallest memory.viewBytes that settings accept

# The queue (rules 38, 39, D5)
JOBS_MAX: Final = 8
RETRY_TICK_S: Final = 10
CALL_DEADLINE_S: Final = 600
OUTAGE_PAUSE_S: Final = 10  # after a first outage without a retry-after; then twice as long each time (D13)
OUTAGE_PAUSE_MAX_S: Final = 300

# The prefix gate (rule 30)
PREFIX_WRITER_S: Final = 120  # without a response; then the next waiter writes
PREFIX_WARM_S: Final = 240  # after the last read

# Worker processes
WORKER_IDLE_S: Final = 30
WORKER_START_S: Final = 20.0  # within which a worker is there, the fork server's own start included
WORKER_STARTS_MAX: Final = 2  # tries to start one, each with a new fork server
WHY_CHARS_MAX: Final = 1_000  # of what a worker says of a failed call
SCRIPTED_HUGE_BYTES: Final = 100_000_000  # of a scripted model's huge reply
SCRIPTED_LONG_BYTES: Final = 1_300  # of its line that is too long
WORKER_REPLY_BYTES_MAX: Final = 1_000_000  # of one event that a worker sends
REPLY_CHARS_MAX: Final = 100_000  # of a line's reply; a longer one is a failed call

TURN_REPORT_BYTES_MAX: Final = 33_554_432  # of one event of a turn's call
TURN_REPLY_CHARS_MAX: Final = 4_000_000  # of a turn's reply, thoughts and tools' inputs included

# Models' providers
PROVIDER_CONNECT_S: Final = 20.0
KEY_CHARS_MIN: Final = 6  # of a provider's key, to be kept out of what is said
RETRY_AFTER_MAX_S: Final = 86_400.0  # that a provider may ask for
PROVIDER_SILENCE_S: Final = 300.0  # without a piece of a reply; pings are none
STREAM_LINE_BYTES_MAX: Final = 8_388_608  # of one line of a stream, or of a reply in one piece
ERROR_BODY_BYTES_MAX: Final = 65_536  # read of a response that says why there is none
ERROR_WORDS_CHARS_MAX: Final = 400  # of a provider's words that are passed on
OUTPUT_TOKENS: Final = 128_000  # the most that a reply may have, of most models
OUTPUT_TOKENS_OLDER: Final = 64_000
OUTPUT_TOKENS_O: Final = 100_000
OUTPUT_TOKENS_GPT_4_1: Final = 32_768
OUTPUT_TOKENS_GPT_4: Final = 16_384
THINKING_TOKENS_MIN: Final = 1_024  # the smallest budget that a provider takes
THINKING_TOKENS: Final = {  # by effort, of models that take a budget
    "minimal": 1_024,
    "low": 4_096,
    "medium": 10_240,
    "high": 20_480,
    "xhigh": 28_672,
    "max": 32_768,
}
THINKING_SHARE_MAX: Final = 0.8  # of a reply's tokens, so that some are left for what is said

# A turn
TURN_REQUESTS_MAX: Final = 500  # of one turn or subagent
TURN_STATUS_S: Final = 1.0  # between two looks at what a turn waits for
TURN_TRIES_MAX: Final = 5  # to get a request answered
TURN_RETRY_S: Final = 1.0  # before the second; then twice as long each time
RETRY_SAID_S: Final = 2  # until a call is sent again, from which on that is said also where nobody watches
TURN_RETRY_AFTER_MAX_S: Final = 120.0  # a provider that wants to be left alone for longer ends the turn
AGENTS_MAX: Final = 8  # subagents of one client that work at a time; more wait
CLIENT_END_S: Final = 5.0  # in which a client that ends is still told that what it said has arrived

STDIN_BYTES_MAX: Final = 10_000_000  # that a turn's text may be given by a pipe
STDIN_SAID_S: Final = 2.0  # without a byte of it; then it is said what is waited for

# Answers without a model (builtin/recall)
RECALL_ROUNDS_MAX: Final = 4  # of looks into the memory
RECALL_LOOKS: Final = 4  # of one round
RECALL_SEARCH_WORDS: Final = 3  # of the question's rarest, of which two at a time are searched for
RECALL_HITS_READ: Final = 8  # of the searches' hits that are read whole
RECALL_ENOUGH_SHARE: Final = 0.75  # of the worth of a question's words in one passage: then it looks no further
RECALL_NEWS_MIN: Final = 2  # words besides the question's, without which a sentence says nothing
RECALL_LINE_WEIGHT: Final = 0.5  # of what a summary says, beside a message's own words
RECALL_CALL_WEIGHT: Final = 0.6  # of a tool's call: it asks
RECALL_WORTH_SHARE: Final = 0.3  # of the best passage's worth: one with less is not shown
RECALL_PASSAGES_SHOWN: Final = 5
RECALL_PASSAGE_CHARS_MAX: Final = 600
RECALL_PIECE_CHARS_MAX: Final = 300  # of a sentence, or line, of a passage

# What a model is sent (section 6)
NODE_WORDS: Final = 70  # that a line has room for, about
LINE_TOKENS_MAX: Final = 16_384  # of a line's reply, thinking included
TURN_TOKENS_MAX: Final = 32_768  # of one reply of a turn, thinking included
INSTRUCTIONS_BYTES_MAX: Final = 65_536  # of the user's AGENTS.md, which every call carries
PROMPT_BYTES_MAX: Final = 131_072  # of a file of `memory.prompts`
FOLDER_INSTRUCTIONS_CHARS_MAX: Final = 30_000  # of a folder's AGENTS.md that a turn is shown
FOLDER_INSTRUCTIONS_BYTES_MAX: Final = 1_000_000  # of it that is read
GIT_FILE_BYTES_MAX: Final = 4_096  # of .git/HEAD
GIT_BRANCH_CHARS_MAX: Final = 200
GIT_COMMIT_DIGITS: Final = 12  # that name a commit where there is no branch

# The socket (section 7)
PROTOCOL: Final = 2  # 2: the orders of turns, and keys in a client's first words
FRAME_HEAD_BYTES: Final = 4  # the length that stands before a frame
FRAME_BYTES_MAX: Final = 134_217_728
CLIENT_WINDOW_BYTES: Final = 167_772_160  # received of one client and not yet dealt with
CLIENT_BEHIND_BYTES_MAX: Final = 67_108_864  # sent to one client and not yet read by it
FRAME_OVERHEAD_BYTES: Final = 1_024  # counted for every frame on top of its own
SOCKET_PATH_BYTES_MAX: Final = 100  # macOS has 103, Linux 107
SOCKET_DIGEST_BYTES: Final = 8  # of a chat's path, which names its socket where that path is too long for one
SOCKET_READ_BYTES: Final = 262_144  # read at a time of one connection
CLIENTS_MAX: Final = 256  # connected at a time; more wait for one of these to go
HANDLES_KEPT: Final = 64  # file handles of the owner's that clients do not take: for logs, index, workers
CLIENTS_QUEUED_MAX: Final = 128  # that wait
ACCEPT_AGAIN_S: Final = 0.2  # after a client could not be let in, as without a free file handle
HELLO_WAIT_S: Final = 60  # in which a client must have said who it is
DROP_S: Final = 1.0  # in which a client that is dropped may read what it was sent
CONNECT_RETRY_S: Final = 0.01  # between two tries of a client while too many wait
OWNER_IDLE_S: Final = 600  # without a client; then a background owner leaves
OWNER_BUSY_S: Final = 10  # between two looks whether one that was to leave has finished its queue
OWNER_SILENT_S: Final = 5  # without an answer; then a client says that the owner seems to be stopped
OWNER_LOG_BYTES_MAX: Final = 1_000_000  # of owner.log; the next owner begins another
OWNER_LOOK_S: Final = 0.02  # between two looks for an owner's address
OWNERS_LOST_SAID: Final = 3  # that have ended while a command asked them; then it says so
OWNERS_LOST_MAX: Final = 20  # that end one after the other without an answer to a client; then it gives up

# The log (rules 6, 9, 10)
FORMAT_VERSION: Final = 1
TOOL_RESULT_CHARS_MAX: Final = 30_000
PIECE_CHARS_MAX: Final = 29_000
PIECE_SEARCH_CHARS: Final = 2_000  # a piece ends after the last newline of its last so many characters
KEY_BYTES_MAX: Final = 200
IMAGE_NAME_DIGITS: Final = 12  # of its SHA-256, in the mark that the text carries
IMAGE_BYTES_MAX: Final = 20_000_000
HOME_MODE: Final = 0o700
FILE_MODE: Final = 0o600

# Secrets (D16)
SECRET_VALUE_CHARS_MIN: Final = 8  # of a value of the environment that is hidden
SECRET_WORDS_CHARS_MIN: Final = 32  # of one that is made of words
SECRET_NUMBER_CHARS_MIN: Final = 16  # of one that is a number
SECRET_CHARS_MAX: Final = 4_096
SECRET_PEM_CHARS_MAX: Final = 20_000
SECRET_HELD_CHARS_MAX: Final = 32_768  # of a stream that may be a secret's beginning; then it is let go
SECRET_OPEN_CHARS_MAX: Final = 20_200  # of a stream's end that are looked at for such a beginning
SECRET_DIGEST_DIGITS: Final = 8
SECRET_NAME_CHARS_MAX: Final = 64  # of a kind, in a mark
SECRETS_KEPT_MAX: Final = 10_000  # whose marks can be turned back

# Tools
TOOLS_CLOSE_S: Final = 5.0  # in which a tool's thread may end, once it is stopped
TOOL_NAME_BYTES: Final = 8  # of the name of a file that is to take another's place
TOOL_SNIFF_BYTES: Final = 65_536  # of a file, by which it is told what it is
BASH_TIMEOUT_S: Final = 120
BASH_TIMEOUT_S_MAX: Final = 3_600
BASH_LINGER_S: Final = 0.2  # in which what a shell left running may still say something
BASH_LOOK_S: Final = 0.05  # between two looks whether it has ended, where the system does not say so
TOOL_READ_BYTES: Final = 65_536  # read at a time of what a tool prints
TOOL_SAID_S: Final = 0.05  # between two pieces that are shown of it
TOOL_SAID_CHARS_MAX: Final = 8_000  # of each
TOOL_LINE_CHARS_MAX: Final = 4_096  # of a line that is written over, as a bar of progress is
TOOL_FILE_BYTES_MAX: Final = 20_000_000  # of a file that is edited
TOOL_READ_LINES: Final = 2_000  # of a file, where it is not said how many
TOOL_READ_CHARS_MAX: Final = 28_000  # of a file, in one part; so that what is said of it fits too
TOOL_READ_AHEAD_BYTES_MAX: Final = 4_000_000  # read to tell how much is left
TOOL_READ_LINE_CHARS_MAX: Final = 4_000  # of each of its lines
TOOL_FOLDER_NAMES_MAX: Final = 1_000
DIFF_LINES_MAX: Final = 200  # of a change that is shown
DIFF_CHARS_MAX: Final = 12_000
DIFF_CONTEXT_LINES: Final = 3
DIFF_MATCHED_LINES_MAX: Final = 4_000  # of both sides, in which lines that are alike are looked for
EDIT_PLACES_SHOWN: Final = 10
EDIT_NEAR_CHARS_MAX: Final = 200  # of a line that is nearest to what was not found
EDIT_NEAR_LINES_MAX: Final = 4_000  # that are looked at for it
EDIT_NEAR_SHARE: Final = 0.6  # alike, at least
IMAGE_SIDE_PIXELS_MAX: Final = 8_000  # a larger one is refused by providers
ALLOWED_BYTES_MAX: Final = 1_000_000  # of the rules that a chat remembers

# Import
REPEAT_CHARS_MIN: Final = 281  # a longer text than 280 characters that repeats an earlier one comes in once
READ_BLOCK_BYTES: Final = 1_048_576  # read at a time of a long line
DETECT_LINES_MAX: Final = 1_000  # first lines of a file by which its format is told
DETECT_LINE_BYTES_MAX: Final = 67_108_864  # a longer line does not help to tell it
MEND_TRIES_MAX: Final = 10_000  # places in a broken line where no record begins, until the rest is given up
CATALOG_CACHE_KIB: Final = 16_384  # of the temporary table of all records
ID_BYTES_MAX: Final = 64  # a longer id of a record is known by its digest
ID_DIGEST_BYTES: Final = 16
DIGEST_CHARS_MAX: Final = 4_096  # of each text of a record count for its id, where it has none of its own
MILLISECONDS: Final = 1_000  # in a second

IMPORT_INDEX_MESSAGES: Final = 1_000  # between two times that the index takes in what was imported
SKIPPED_SHOWN: Final = 20  # unreadable parts that an import lists one by one

# Settings (section 8)
SETTLE_TIMEOUT_MS: Final = 20_000
SETTLE_TIMEOUT_MS_MAX: Final = 600_000
VIEW_BYTES_MAX: Final = DEADLINE_VIEW_BYTES_MAX  # the largest memory.viewBytes
DAILY_USD_MAX: Final = 1_000_000
SETTINGS_BYTES_MAX: Final = 1_000_000  # a larger settings.json is none

# The planner's arithmetic
LEVELS_MAX: Final = 64  # a chat of 2^64 messages; due is compared as whole 2^-64ths
LOST: Final = "(lost)"  # what a message reads as whose line is gone
LOST_BYTES: Final = len(LOST)

# Reading the logs
READ_CHUNK_BYTES: Final = 1 << 20
JUMP_IDS_MAX: Final = 10_000_000  # a line whose id is further ahead of the next is no message of the chat
LINE_RECORDS_MAX: Final = 10_000  # that are looked for on a line which is broken
NODE_BITS_MAX: Final = 61  # of a node's level and index: its messages' ids stay below 2^62, the index's keys below 2^63
VOID_NODES: Final = 1_000  # that one line voids
PROBLEMS_MAX: Final = 100  # kept of one opening; the others are counted
PROBLEMS_SHOWN: Final = 5  # of these, where a command is about something else

LOCK_WAIT_S: Final = 2.0  # a reader holds the lock for less, while it mends the index

# The index
INDEX_PROBLEMS_SHOWN: Final = 3  # wrong places of the index that a verification lists one by one
INDEX_VERSION: Final = 3
INDEX_BUSY_S: Final = 5.0  # how long a connection waits for another's write
INDEX_CACHE_KIB: Final = 65_536
INDEX_WAL_PAGES: Final = 4_096
INDEX_DIGEST_BYTES: Final = 16
INDEX_OPEN_COMMIT_ROWS: Final = 100_000  # while it is fed from the logs
INDEX_FEED_ROWS: Final = 1_000  # go in as one
INDEX_COMMIT_ROWS: Final = 4_000
INDEX_COMMIT_S: Final = 0.2  # how long a row waits at most for others to be committed with
INDEX_RANKED_MAX: Final = 20_000  # hits of a search that are ranked, the newest
SEARCH_WORDS_MAX: Final = 64  # of a search; more are left out

# Looking into the memory (rules 52 to 56, D15)
LOOK_HITS_MAX: Final = 10  # of a search, or around a time
LOOK_CHARS_MAX: Final = 1_000_000  # of a message, which only another program logs longer
LOOK_IMAGES_BYTES_MAX: Final = 24_000_000  # of all images of a message that are shown
LOOK_ID_MAX: Final = 1 << 62  # that may be asked for
LOOK_WORDS_CHARS_MAX: Final = 10_000
LOOK_DATE_CHARS_MAX: Final = 200
SNIPPET_CHARS_MAX: Final = 200  # of a hit's text that are shown
SNIPPET_BEFORE_CHARS: Final = 60  # of these before the first of the words
NOON_HOUR: Final = 12
DAYTIME_HOURS: Final = {"midnight": 0, "morning": 9, "noon": 12, "afternoon": 15, "evening": 20, "night": 23}
MONTHS_A_YEAR: Final = 12

# Subagents' logs (rule 54)
AGENT_NAME_CHARS_MAX: Final = 40
AGENT_WANTED_CHARS_MAX: Final = 1_000  # of the name that is wanted
AGENT_HEAD_BYTES_MAX: Final = 4_096  # of a log's first line
AGENT_LOGS_KEPT: Final = 64  # whose keys are kept in memory; of others they are read again

# The command line
EXIT_FAILED: Final = 1
EXIT_SIGNALLED: Final = 128  # and the signal's number
EXIT_INTERRUPTED: Final = 130  # 128 and SIGINT's number, as shells have it
EXIT_PIPE_CLOSED: Final = 141  # 128 and SIGPIPE's
BYTES_PER_MB: Final = 1_000_000
LOGS_BAR_BYTES: Final = 20_000_000  # of logs that are read with a bar; fewer take no time
PROGRESS_LINE_S: Final = 5.0  # between two plain lines of progress, where there is no terminal to draw on
FREE_NODES_A_WRITE: Final = 10_000  # of those that a crash lost, or another program did not write
VIEW_SAVE_S: Final = 0.5  # after which a view that has changed is saved; after a batch, at once
CHECKPOINT_MESSAGES: Final = 4_096  # messages between two checkpoints of the planner's state

# The line writer that needs no model (builtin/extract). Worths are points without a unit, compared with each other.
EXTRACT_KIND_WORTH: Final = {"user": 12, "note": 6, "work": 5, "eukhe": 5, "echo": 3, "tool": 3}
EXTRACT_PLAIN_BOOST: Final = 4  # a clause like any other; the boosts below are measured against it
EXTRACT_ERROR_BOOST: Final = 18  # an error, a failed test, a refusal
EXTRACT_COUNT_BOOST: Final = 14  # a result's summary: how many passed, files changed
EXTRACT_HEAD_BOOST: Final = 12  # how a text begins
EXTRACT_LAST_BOOST: Final = 8  # how it ends
EXTRACT_OUTCOME_BOOST: Final = 3  # added: it tells of a result
EXTRACT_DECISION_BOOST: Final = 3  # added: it tells of a wish, a reason, a decision
EXTRACT_FILLER_BOOST: Final = 1  # "Let me look at", "Would you like me to"
EXTRACT_EDIT_BOOST: Final = 3  # a line that an edit puts in
EXTRACT_CODE_BOOST: Final = 2  # a line of code
EXTRACT_NAME_WORTH: Final = 6  # an identifier
EXTRACT_CAPITALS_WORTH: Final = 5
EXTRACT_MIXED_WORTH: Final = 3  # letters and digits
EXTRACT_LONG_WORD_WORTH: Final = 4  # a capitalized word, too
EXTRACT_WORD_WORTH: Final = 3
EXTRACT_SHORT_WORD_WORTH: Final = 2
EXTRACT_LONG_WORD_CHARS: Final = 8
EXTRACT_WORD_CHARS: Final = 5
EXTRACT_SHORT_WORD_CHARS: Final = 3  # shorter ones are worth 1
EXTRACT_NAME_EVEN: Final = 6  # added to the worth of a name's kind: alone, names of all kinds are nearer to each other
EXTRACT_CLAUSE_GAIN: Final = 6  # what a clause says apart from its names
EXTRACT_CLAUSE_OVERHEAD_BYTES: Final = 32  # counted for every clause: many short ones say less than one long one
EXTRACT_NAME_OVERHEAD_BYTES: Final = 24  # likewise for every name
EXTRACT_OFTEN_MAX: Final = 5  # a name in so many clauses less one, or more, is what a text is about
EXTRACT_NAME_CHARS_MIN: Final = 4  # a shorter one is listed only where it holds a digit
EXTRACT_HEADING_BOOST: Final = 1
EXTRACT_NAME_BYTES_MAX: Final = 56  # a longer one is not listed
EXTRACT_PHRASE_PERCENT: Final = 50  # of a message's line for whole clauses, while others have only their names listed
EXTRACT_USER_PHRASE_PERCENT: Final = 88  # the user's words: near verbatim
EXTRACT_MERGE_PHRASE_PERCENT: Final = 55
EXTRACT_LISTED_BOOST: Final = 7  # of the first names of a list; every second one has 1 less, down to a line of code's
EXTRACT_FILE_NAME_WORTH: Final = 8
EXTRACT_CODE_NAME_WORTH: Final = 3
EXTRACT_CUT_BYTES_MIN: Final = 48  # a clause is not cut to less than this
EXTRACT_GLUED_BYTES_MAX: Final = 240  # two clauses that belong together are one piece up to this
EXTRACT_LEAD_BYTES_MAX: Final = 64  # a heading that turns what stands under it goes before each of its lines
EXTRACT_RUNS_MAX: Final = 5  # tags of a line in the order of the messages; more are gathered by kind
EXTRACT_PATH_PARTS: Final = 3  # of a path in a merge
EXTRACT_FIELD_CHARS_MAX: Final = 200  # a call's field that is shown whole
EXTRACT_HEAD_BYTES_MAX: Final = 300  # of a call: its name and what it touches
EXTRACT_FIELDS_MAX: Final = 512  # values read from one JSON object
EXTRACT_PREFIX_CHARS_MIN: Final = 8  # what all lines of a result begin with is said once, from this length
EXTRACT_PREFIX_LINES_MIN: Final = 4

# Zooming by a question's words
DEMO_ZOOMS_MAX: Final = 16
SEEK_NEIGHBOUR_SHARE: Final = 0.3  # of the better neighbour's promise
SEEK_LEVEL_PROMISE: Final = 0.6  # promised by every level
SEEK_SEEN_HALF: Final = 0.5  # added to how many lines have a word, so that none is divided by nothing
SEEK_FULL_BYTES: Final = 4  # a line that leaves no more room than this is full
SEEK_HASH_CHARS_MIN: Final = 6  # letters and digits in one word of this length are a name, not to be taken apart
SEEK_STEM_CHARS_MIN: Final = 3  # what an ending leaves of a word

# Actors
CRASH_MESSAGES: Final = 20  # the last messages of an actor that a crash tells
CRASH_MESSAGE_CHARS_MAX: Final = 2_000  # of each
STATUS_WAIT_S: Final = 1.0  # how long `chat status` waits for the owner's word
STATUS_EVERY_S: Final = 0.1  # between two looks at how far the planner is
BEGIN_WAIT_S: Final = 600  # how long the actors may take to start: another program's chat gets its free nodes then
EDGE_WAIT_S: Final = 60  # how long the program waits for an actor's answer
TIMERS_STALE_MAX: Final = 256  # timers taken back that may stay in the heap

# The simulator
SIM_STEPS_SHOWN: Final = 30  # the last steps of a run that failed
SIM_EARLY_S: Final = 1.0  # a timer due within this may go off while others could go on
SIM_EARLY_ODDS: Final = 16  # one step in so many is such a timer
SIM_STEP_CHARS_MAX: Final = 160  # of a step that is shown
SIM_RUNS: Final = 100  # of `eukhe chaos`
SIM_RUNS_A_TASK: Final = 4  # that a process takes at a time
SIM_SHRINK_RUNS_MAX: Final = 600  # tried to shorten one that failed
SIM_STEPS: Final = 3_000  # of a run's safety phase
SIM_FULL_EVERY_STEPS: Final = 64  # between two full checks
SIM_HOUR_S: Final = 3_600
SIM_DAY_S: Final = 86_400
SIM_LINE_BYTES_MIN: Final = 40
SIM_LONG_REPLY_BYTES: Final = 1_300
SIM_OUTAGE_S: Final = 1_200  # an outage's length, at most
SIM_COME_AGAIN_S: Final = 1.0  # after which a client that found no owner looks again, at most
SIM_AT_ONCE_MAX: Final = 4  # orders of a client
SIM_DEAF_S: Final = 600.0  # for which a client does not read
SIM_LATE_FRAME_S: Final = 300.0  # by which a frame is late, at most
SIM_TURN_S: Final = 30.0  # that a turn's call, or a tool, takes at most
SIM_PATIENCE_S: Final = 600.0  # after which a user stops what never ends
SIM_TALK_S: Final = 20_000.0  # within which a turn and its subagents end where nothing goes wrong
SIM_TALKERS_MAX: Final = 3
SIM_MESSAGES_MIN: Final = 20
SIM_MESSAGES_MAX: Final = 80  # that clients choose to log, about
SIM_CLIENTS_MAX: Final = 4
SIM_STOPPED_S: Final = 900.0  # for which an owner is stopped, at most
SIM_CALM_STEPS_MAX: Final = 60_000  # of the phase without faults
SIM_ANSWER_S: Final = {  # within which an order is answered where nothing goes wrong
    "Append": 60.0,
    "Wait": 80.0,
    "Settle": 300_000.0,  # every call one after the other
    "AskStatus": 60.0,
    "ReadView": 60.0,
    "EnterPrefix": 700.0,
    "Look": 60.0,
    "BeginAgent": 60.0,
    "AgentSaid": 60.0,
    "StopOwner": 60.0,
}
SIM_WINDOW_BYTES: Final = 16_000  # that a client may be ahead: more than its calls at the gate take
SIM_BEHIND_BYTES: Final = 3_000  # that one may be behind

# The model of a provider's prompt cache
CACHE_MARKS_MAX: Final = 4  # of a request
CACHE_LOOK_BACK_POSITIONS: Final = 20  # that are looked at from a mark, the marked block's own among them
CACHE_LIFE_S: Final = 300.0  # after the start of the last request that wrote or read an entry
CACHE_TOKENS_MIN: Final = {  # of a prefix that is cached, by how a model's name begins
    "claude-fable": 512,
    "claude-mythos": 512,
    "claude-mythos-preview": 2_048,
    "claude-opus": 512,
    "claude-opus-4-5": 4_096,
    "claude-opus-4-6": 4_096,
    "claude-opus-4-7": 2_048,
    "claude-opus-4-8": 1_024,
    "claude-sonnet-5": 1_024,
    "claude-sonnet-5-5": 512,
    "claude-sonnet-4": 1_024,
    "claude-haiku-4-5": 4_096,
    "claude-haiku-5-5": 512,
}
CACHE_TOKENS_MIN_UNKNOWN: Final = 4_096  # of a model that is not in the table: the most that any has
CACHE_TOKEN_BYTES: Final = 4  # that are one token
CACHE_IMAGE_TOKENS: Final = 1_600  # of an image
AUTOMATIC_CACHE_TOKENS_MIN: Final = 1_024  # of a prefix that is cached without marks
AUTOMATIC_CACHE_STEP_TOKENS: Final = 128
