import type { ErrorCode } from "./error-code.ts"
import { approvalErrorCodes } from "./error-codes-approvals.ts"
import { changeErrorCodes } from "./error-codes-changes.ts"
import { modelErrorCodes } from "./error-codes-model.ts"
import { planErrorCodes, stepErrorCodes } from "./error-codes-plan.ts"
import { sessionErrorCodes } from "./error-codes-session.ts"
import { skillErrorCodes } from "./error-codes-skills.ts"

/** Every code there is, in the order of the error page. */
export const errorCodes: readonly ErrorCode[] = [
  {
    code: "ACODE-EXE-001",
    meaning: "The program was not found.",
    action: "Check its spelling and that it is on PATH; a script in the workspace is named with its path.",
  },
  {
    code: "ACODE-EXE-002",
    meaning: "The command did not end before its deadline and was killed with everything it started.",
    action: "Give it more time with --timeout or execution.default_timeout_seconds.",
  },
  {
    code: "ACODE-EXE-003",
    meaning: "The process failed: it ended with a code other than 0 or was killed by a signal.",
    action: "Read its output with `acode runs show ID --full-output`.",
  },
  {
    code: "ACODE-EXE-004",
    meaning: "The output is larger than the limit; its head and tail, true size and hash were kept.",
    action: "Read the artifact, or raise execution.max_output_kb or --max-output.",
  },
  {
    code: "ACODE-EXE-005",
    meaning: "Permission denied: the program exists and may not be executed.",
    action: "Make it executable with chmod +x, or run it through its interpreter.",
  },
  {
    code: "ACODE-EXE-006",
    meaning: "The working directory is missing or is not a directory.",
    action: "Name an existing directory inside the workspace with --cwd.",
  },
  {
    code: "ACODE-EXE-007",
    meaning: "The command is not valid; the message lists everything that is wrong with it.",
    action: "Correct the named properties; `acode exec --help` shows the accepted forms.",
  },
  {
    code: "ACODE-EXE-008",
    meaning: "Too many commands are waiting for a free slot.",
    action: "Start fewer at once, or raise execution.max_concurrent or execution.max_queued.",
  },
  {
    code: "ACODE-EXE-009",
    meaning: "The command was cancelled and everything it started was ended.",
    action: "Run it again if it is still wanted.",
  },
  {
    code: "ACODE-EXE-010",
    meaning: "The sandbox that was asked for is not available on this machine.",
    action: "`acode doctor` says what is missing; a person may choose --sandbox none.",
  },
  {
    code: "ACODE-EXE-011",
    meaning: "The program exists on this machine and is not visible inside the sandbox.",
    action: "Add the directory the message names to execution.readable_paths.",
  },
  {
    code: "ACODE-EXE-012",
    meaning: "A limit on memory or processes ended the command.",
    action: "Raise --memory or execution.limits, or make the command need less.",
  },
  {
    code: "ACODE-EXE-013",
    meaning: "acode itself ended while the command ran; how far the command came is not known.",
    action: "Look at what it left in the workspace and run it again if that is safe.",
  },
  {
    code: "ACODE-EXE-014",
    meaning: "The command is still running, so there is no result to show yet.",
    action: "Ask again when it has ended; `acode runs list` shows when.",
  },
  ...stepErrorCodes,
  {
    code: "ACODE-DB-001",
    meaning: "The workspace database cannot be opened or created.",
    action:
      "Check that the directory it names belongs to this user and lies on a working disk; `acode doctor` tells more.",
  },
  {
    code: "ACODE-DB-002",
    meaning: "The workspace database is locked by another process.",
    action: "Wait for the other acode to finish, or end it, and try again.",
  },
  {
    code: "ACODE-DB-003",
    meaning: "The workspace database is read-only, so nothing can be recorded and nothing is run.",
    action: "Make the directory it names writable, or choose another one with ACODE_STATE_DIR.",
  },
  {
    code: "ACODE-DB-004",
    meaning: "There is no space left to record what happens.",
    action:
      "Free disk space; `acode storage free` removes the oldest of what acode keeps. Nothing recorded so far is lost.",
  },
  {
    code: "ACODE-DB-005",
    meaning: "The workspace database is damaged.",
    action: "Keep the file, restore a backup, or move it away to start a new history.",
  },
  {
    code: "ACODE-DB-006",
    meaning: "The workspace database was written by a newer version of acode.",
    action: "Update acode; an older one would misread it.",
  },
  {
    code: "ACODE-DB-007",
    meaning: "An event was refused: somebody else has written to the stream or taken it over.",
    action: "Look at `acode runs list` for what was recorded, and run the command again if needed.",
  },
  {
    code: "ACODE-DB-008",
    meaning: "The workspace is not on a local file system, where a history can be kept safely.",
    action: "Work on a copy of the workspace on a local disk.",
  },
  {
    code: "ACODE-SEC-001",
    meaning: "The key that signs the history of this workspace is missing.",
    action: "Restore $XDG_DATA_HOME/acode/keys from a backup; without it nothing can be verified.",
  },
  {
    code: "ACODE-SEC-002",
    meaning: "The signing key is not the one this history was written with.",
    action: "Put the original key back; `acode audit verify` says what still verifies.",
  },
  {
    code: "ACODE-SEC-003",
    meaning: "The path is protected and may not be touched.",
    action: "A person can open one path for one command with --writable PATH.",
  },
  {
    code: "ACODE-SEC-004",
    meaning: "The integrity check failed: something was changed outside acode.",
    action: "`acode audit verify` names the first event that does not match; keep the files for inspection.",
  },
  {
    code: "ACODE-SEC-005",
    meaning: "The path leads outside the workspace.",
    action: "Use a path inside the workspace, or choose another workspace with -C.",
  },
  {
    code: "ACODE-SEC-006",
    meaning: "The place where acode keeps state has unsafe permissions, or a symlink stands there.",
    action: "Make it yours alone: a real directory, chmod 700, and its files chmod 600.",
  },
  {
    code: "ACODE-SEC-007",
    meaning: "Redacted text would be written to a file: a secret would be lost, or end in the wrong place.",
    action: "Leave lines with [REDACTED:…] as they were shown, or leave them out of the change.",
  },
  {
    code: "ACODE-CFG-001",
    meaning: "A configuration file cannot be read or written.",
    action: "Check its permissions and that it is a regular file that stays inside the workspace.",
  },
  {
    code: "ACODE-CFG-002",
    meaning: "A configuration file is not valid YAML, or uses a part of YAML that is not supported.",
    action: "Correct the named line: one document, no duplicate keys, no tags, no merge keys, UTF-8.",
  },
  {
    code: "ACODE-CFG-003",
    meaning: "Configuration values are not valid; the message lists all of them with what is allowed.",
    action: "Correct the named keys; `acode schema config` describes every one.",
  },
  {
    code: "ACODE-CFG-004",
    meaning: "A configuration file is too large or nested too deeply.",
    action: "Keep it below 1 MB, 20 levels, 1000 keys and 100 aliases.",
  },
  {
    code: "ACODE-CFG-005",
    meaning: "There is no such configuration key.",
    action: "`acode config show` lists all keys.",
  },
  ...changeErrorCodes,
  ...approvalErrorCodes,
  ...sessionErrorCodes,
  ...modelErrorCodes,
  {
    code: "ACODE-CLI-001",
    meaning: "There is no such command.",
    action: "`acode --help` lists all commands.",
  },
  {
    code: "ACODE-CLI-002",
    meaning: "A flag is unknown or its value is malformed.",
    action: "`acode COMMAND --help` lists its flags; what follows -- is passed on untouched.",
  },
  {
    code: "ACODE-CLI-003",
    meaning: "An argument is missing, or there is one too many.",
    action: "`acode COMMAND --help` shows the accepted forms with examples.",
  },
  {
    code: "ACODE-CLI-004",
    meaning: "Nothing is recorded under this id.",
    action: "`acode runs list` shows the ids of this workspace.",
  },
  {
    code: "ACODE-CLI-005",
    meaning: "The shortened id fits more than one thing.",
    action: "Type more of it; the message lists what it fits.",
  },
  {
    code: "ACODE-CLI-006",
    meaning: "The workspace is not a directory that can be opened.",
    action: "Name an existing directory with -C.",
  },
  {
    code: "ACODE-CLI-007",
    meaning: "The output of acode cannot be written to where it is sent.",
    action: "Make room on that disk, or send it elsewhere; what was done is recorded all the same.",
  },
  {
    code: "ACODE-CLI-008",
    meaning: "The workspace is the whole disk, a home directory, or a directory of the system.",
    action: "Work in a directory of its own, or add --allow-broad-workspace.",
  },
  {
    code: "ACODE-SYS-001",
    meaning: "The system has no more memory, processes or open files to give.",
    action: "End other programs, or raise the limit that the message names.",
  },
  {
    code: "ACODE-INT-001",
    meaning: "acode made a mistake.",
    action: "Nothing recorded is lost; please report it with what you typed.",
  },
  ...skillErrorCodes,
  ...planErrorCodes,
]
