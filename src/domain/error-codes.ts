/** What an error code means, and what the user can do about it. */
interface ErrorEntry {
  readonly meaning: string
  readonly action: string
}

/** All error codes, in the order of docs/errors.md, which is generated from this table. */
export const errorCodes = {
  "ACODE-EXE-001": {
    meaning: "The program was not found.",
    action: "Check its spelling and that it is on PATH; a script in the workspace is named with its path.",
  },
  "ACODE-EXE-002": {
    meaning: "The command did not end before its deadline and was killed with everything it started.",
    action: "Give it more time with --timeout or execution.default_timeout_seconds.",
  },
  "ACODE-EXE-003": {
    meaning: "The process failed: it ended with a code other than 0 or was killed by a signal.",
    action: "Read its output with `acode runs show ID --full-output`.",
  },
  "ACODE-EXE-004": {
    meaning: "The output is larger than the limit; its head and tail, true size and hash were kept.",
    action: "Read the artifact, or raise execution.max_output_kb or --max-output.",
  },
  "ACODE-EXE-005": {
    meaning: "Permission denied: the program exists and may not be executed.",
    action: "Make it executable with chmod +x, or run it through its interpreter.",
  },
  "ACODE-EXE-006": {
    meaning: "The working directory is missing or is not a directory.",
    action: "Name an existing directory inside the workspace with --cwd.",
  },
  "ACODE-EXE-007": {
    meaning: "The command is not valid; the message lists everything that is wrong with it.",
    action: "Correct the named properties; `acode exec --help` shows the accepted forms.",
  },
  "ACODE-EXE-008": {
    meaning: "Too many commands are waiting for a free slot.",
    action: "Start fewer at once, or raise execution.max_concurrent or execution.max_queued.",
  },
  "ACODE-EXE-009": {
    meaning: "The command was cancelled and everything it started was ended.",
    action: "Run it again if it is still wanted.",
  },
  "ACODE-EXE-010": {
    meaning: "The sandbox that was asked for is not available on this machine.",
    action: "`acode doctor` says what is missing; a person may choose --sandbox none.",
  },
  "ACODE-EXE-011": {
    meaning: "The program exists on this machine and is not visible inside the sandbox.",
    action: "Add the directory the message names to execution.readable_paths.",
  },
  "ACODE-EXE-012": {
    meaning: "A limit on memory or processes ended the command.",
    action: "Raise --memory or execution.limits, or make the command need less.",
  },
  "ACODE-EXE-013": {
    meaning: "acode itself ended while the command ran; how far the command came is not known.",
    action: "Look at what it left in the workspace and run it again if that is safe.",
  },
  "ACODE-EXE-014": {
    meaning: "The command is still running, so there is no result to show yet.",
    action: "Ask again when it has ended; `acode runs list` shows when.",
  },
  "ACODE-EXEC-001": {
    meaning: "A step failed, and what depends on it was not run.",
    action: "`acode session show ID` tells what happened; correct the cause and run again.",
  },
  "ACODE-EXEC-002": {
    meaning: "A tool ran and failed.",
    action: "Read its output with `acode evidence show ID`.",
  },
  "ACODE-EXEC-003": {
    meaning: "A step took as many turns of the model as it may, and is not finished.",
    action: "Allow it more with `acode resume --max-turns N`, or make the step smaller.",
  },
  "ACODE-EXEC-004": {
    meaning: "A step reached for something outside the workspace, protected, or not allowed by policy.",
    action: "`acode policy check -- PROGRAM` tells the rule; change the step, or the rule if it is wrong.",
  },
  "ACODE-EXEC-005": {
    meaning: "An action of a step was not approved.",
    action: "Approve it when asked, or grant its scope with --yes.",
  },
  "ACODE-EXEC-006": {
    meaning: "A step did not end in its time and was stopped.",
    action: "Give it more time with timeout_seconds, or make the step smaller.",
  },
  "ACODE-EXEC-007": {
    meaning: "A tool was called with parameters it cannot work with.",
    action: "Correct the parameters the message names.",
  },
  "ACODE-DB-001": {
    meaning: "The workspace database cannot be opened or created.",
    action:
      "Check that the directory it names belongs to this user and lies on a working disk; `acode doctor` tells more.",
  },
  "ACODE-DB-002": {
    meaning: "The workspace database is locked by another process.",
    action: "Wait for the other acode to finish, or end it, and try again.",
  },
  "ACODE-DB-003": {
    meaning: "The workspace database is read-only, so nothing can be recorded and nothing is run.",
    action: "Make the directory it names writable, or choose another one with ACODE_STATE_DIR.",
  },
  "ACODE-DB-004": {
    meaning: "There is no space left to record what happens.",
    action:
      "Free disk space; `acode storage free` removes the oldest of what acode keeps. Nothing recorded so far is lost.",
  },
  "ACODE-DB-005": {
    meaning: "The workspace database is damaged.",
    action: "Keep the file, restore a backup, or move it away to start a new history.",
  },
  "ACODE-DB-006": {
    meaning: "The workspace database was written by a newer version of acode.",
    action: "Update acode; an older one would misread it.",
  },
  "ACODE-DB-007": {
    meaning: "An event was refused: somebody else has written to the stream or taken it over.",
    action: "Look at `acode runs list` for what was recorded, and run the command again if needed.",
  },
  "ACODE-DB-008": {
    meaning: "The workspace is not on a local file system, where a history can be kept safely.",
    action: "Work on a copy of the workspace on a local disk.",
  },
  "ACODE-SEC-001": {
    meaning: "The key that signs the history of this workspace is missing.",
    action: "Restore $XDG_DATA_HOME/acode/keys from a backup; without it nothing can be verified.",
  },
  "ACODE-SEC-002": {
    meaning: "The signing key is not the one this history was written with.",
    action: "Put the original key back; `acode audit verify` says what still verifies.",
  },
  "ACODE-SEC-003": {
    meaning: "The path is protected and may not be touched.",
    action: "A person can open one path for one command with --writable PATH.",
  },
  "ACODE-SEC-004": {
    meaning: "The integrity check failed: something was changed outside acode.",
    action: "`acode audit verify` names the first event that does not match; keep the files for inspection.",
  },
  "ACODE-SEC-005": {
    meaning: "The path leads outside the workspace.",
    action: "Use a path inside the workspace, or choose another workspace with -C.",
  },
  "ACODE-SEC-006": {
    meaning: "The place where acode keeps state has unsafe permissions, or a symlink stands there.",
    action: "Make it yours alone: a real directory, chmod 700, and its files chmod 600.",
  },
  "ACODE-SEC-007": {
    meaning: "Redacted text would be written to a file: a secret would be lost, or end in the wrong place.",
    action: "Leave lines with [REDACTED:…] as they were shown, or leave them out of the change.",
  },
  "ACODE-SEC-008": {
    meaning: "Configuration refuses the network that a command asked for.",
    action: "Ask for no network or for other hosts, or change the rule or setting that the message names.",
  },
  "ACODE-CFG-001": {
    meaning: "A configuration file cannot be read or written.",
    action: "Check its permissions and that it is a regular file that stays inside the workspace.",
  },
  "ACODE-CFG-002": {
    meaning: "A configuration file is not valid YAML, or uses a part of YAML that is not supported.",
    action: "Correct the named line: one document, no duplicate keys, no tags, no merge keys, UTF-8.",
  },
  "ACODE-CFG-003": {
    meaning: "Configuration values are not valid; the message lists all of them with what is allowed.",
    action: "Correct the named keys; `acode schema config` describes every one.",
  },
  "ACODE-CFG-004": {
    meaning: "A configuration file is too large or nested too deeply.",
    action: "Keep it below 1 MB, 20 levels, 1000 keys and 100 aliases.",
  },
  "ACODE-CFG-005": {
    meaning: "There is no such configuration key.",
    action: "`acode config show` lists all keys.",
  },
  "ACODE-FS-001": {
    meaning: "The path is malformed: empty, too long, or written so that it does not look like what it is.",
    action: "Give a plain path relative to the workspace, with / between names.",
  },
  "ACODE-FS-002": {
    meaning: "The file does not exist.",
    action: "List the directory to see what is there.",
  },
  "ACODE-FS-003": {
    meaning: "It is not a regular file, but a directory, a device or the like.",
    action: "Name a regular file.",
  },
  "ACODE-FS-004": {
    meaning: "The file has several names (hard links), and one may be outside the workspace.",
    action: "Make it a file of its own: cp it and mv the copy back.",
  },
  "ACODE-FS-005": {
    meaning: "Permission denied: this user may not read or change the file.",
    action: "Check owner and mode of the file and of its directory.",
  },
  "ACODE-FS-006": {
    meaning: "The file is too large to be handled whole.",
    action: "Ask for a range of lines, or use a command.",
  },
  "ACODE-FS-007": {
    meaning: "The file is not what it was when it was read; somebody changed it meanwhile.",
    action: "Read it again and repeat the change on what it holds now.",
  },
  "ACODE-FS-008": {
    meaning: "Something of this name exists already.",
    action: "Choose another name, or modify the file that is there.",
  },
  "ACODE-FS-009": {
    meaning: "The file is not text, or its encoding lacks a character of the new text.",
    action: "Use a command that understands this kind of file.",
  },
  "ACODE-FS-010": {
    meaning: "The disk is full, read-only or failing; the file is as it was.",
    action: "Make room or make the file system writable, then try again.",
  },
  "ACODE-PAT-001": {
    meaning: "The patch cannot be read.",
    action: "Send a unified diff with @@ lines, or edits with search and replace.",
  },
  "ACODE-PAT-002": {
    meaning: "The patch does not fit the file; the message shows what was expected and what is there.",
    action: "Read the file again and repeat the change on what it holds now.",
  },
  "ACODE-PAT-003": {
    meaning: "The patch asks for something that is not supported, such as a rename or a binary change.",
    action: "Write the new file and delete the old one instead.",
  },
  "ACODE-PAT-004": {
    meaning: "The change fits more than one place of the file.",
    action: "Include more of the lines around the change.",
  },
  "ACODE-PAT-005": {
    meaning: "The patch makes a file that exists, or changes or deletes one that does not.",
    action: "Check whether the file is to be made, changed or deleted.",
  },
  "ACODE-YES-001": {
    meaning: "--yes names a scope that does not exist.",
    action: "Use one of the scopes the message lists.",
  },
  "ACODE-YES-002": {
    meaning: "A scope of --yes has a modifier it does not know.",
    action: "Leave the modifier out, or use one of that scope.",
  },
  "ACODE-YES-003": {
    meaning: "--yes=all was given without --ack-danger.",
    action: "Name the scopes that are needed, or add --ack-danger.",
  },
  "ACODE-YES-004": {
    meaning: "A scope of --yes is empty.",
    action: "Separate scopes by single commas.",
  },
  "ACODE-YES-005": {
    meaning: "--yes=none contradicts the other scopes.",
    action: "Give none alone, or leave it out.",
  },
  "ACODE-APPR-001": {
    meaning: "There is no approval request of this id.",
    action: "`acode approvals list` shows what waits for an answer.",
  },
  "ACODE-APPR-002": {
    meaning: "The request was answered already, has expired, or belongs to a session that has ended.",
    action: "Look at it with `acode approvals show ID`; what still needs an answer asks again.",
  },
  "ACODE-APPR-003": {
    meaning:
      "What was approved is no longer what would be done: the action, its target or the policy changed.",
    action: "Look at the new request and answer that one.",
  },
  "ACODE-APPR-004": {
    meaning: "The approval has expired or was used before it could be acted upon.",
    action: "Approve it again, and sooner.",
  },
  "ACODE-APPR-005": {
    meaning:
      "Parts of what would be done are not in the record, because they look like secrets or were removed, so nobody can see them here.",
    action: "Approve it at the terminal that asks, or resume the session at one.",
  },
  "ACODE-ORCH-001": {
    meaning: "A stage failed: a check or a review that nothing is left to try for, or one without a verdict.",
    action: "`acode session show` tells what it was doing and why it failed.",
  },
  "ACODE-ORCH-002": {
    meaning: "A stage did not end before its deadline.",
    action: "Give it more time with its --…-timeout flag, or make the task smaller, then resume.",
  },
  "ACODE-ORCH-003": {
    meaning: "The session took as many cycles as it may and did not reach its goal.",
    action: "Look at what the last cycle failed on; --max-cycles allows more.",
  },
  "ACODE-ORCH-004": {
    meaning:
      "The session needs a person: it makes no progress, its retries or tokens are spent, or nobody knows what a call did.",
    action: "Look at it with `acode session show`, answer or mend what it names, then resume.",
  },
  "ACODE-ORCH-005": {
    meaning: "What a stage must know does not fit into its share of the context.",
    action:
      "Make the task or its files smaller, or raise --max-context-tokens or model.parameters.context_window.",
  },
  "ACODE-ORCH-006": {
    meaning: "A stage cannot follow the one before it.",
    action: "`acode session validate` shows where the session stands.",
  },
  "ACODE-ORCH-007": {
    meaning: "The session was cancelled.",
    action: "What it did until then is in `acode session show`; `acode session undo` puts it back.",
  },
  "ACODE-ORCH-008": {
    meaning: "Another acode works in this workspace; two at a time would spoil each other's changes.",
    action: "Wait until it is done, or stop it; `acode session list` shows what runs.",
  },
  "ACODE-UNDO-001": {
    meaning: "There is nothing to undo: the session changed nothing that is left.",
    action: "`acode session show` tells what a session changed; name another one.",
  },
  "ACODE-UNDO-002": {
    meaning: "The session was undone already.",
    action: "Run the plan again to have its changes back.",
  },
  "ACODE-UNDO-003": {
    meaning:
      "The session has a call without an outcome: its process died in the middle of it, or makes it now.",
    action: "`acode resume` goes on with it and `acode cancel` ends it; then it can be undone.",
  },
  "ACODE-MODEL-001": {
    meaning: "No model server was found or reached: none runs here, or the configured one does not answer.",
    action:
      "Start one (`ollama serve`, LM Studio, `llama-server`) or set model.endpoint; `acode doctor` looks.",
  },
  "ACODE-MODEL-002": {
    meaning: "A script is not valid; the message lists everything that is wrong with it.",
    action: "Correct what is named; `acode schema script` describes the format.",
  },
  "ACODE-MODEL-003": {
    meaning: "A recording cannot be replayed or written on: it holds something else, or a damaged line.",
    action: "Name a file that --record has written, or record to a new one.",
  },
  "ACODE-MODEL-004": {
    meaning:
      "The mode forbids it: a server that is not on this machine, or a mode that is not possible here.",
    action:
      "Use a model of this machine, or let one session use another: --mode burst --model PROVIDER/NAME.",
  },
  "ACODE-MODEL-005": {
    meaning: "Burst lacks a consent: nobody named, in this session, the provider that may get what leaves.",
    action: "Type it with the provider: --mode burst --model anthropic/NAME.",
  },
  "ACODE-MODEL-006": {
    meaning: "The server answered in a way that cannot be used; perhaps it is no model server of that kind.",
    action: "Check model.endpoint and model.provider; `acode models probe` shows what the server does.",
  },
  "ACODE-MODEL-007": {
    meaning: "The server has no such model, or none was named where one has to be.",
    action: "Name one that is there, with --model or model.name; `acode models list` shows them.",
  },
  "ACODE-MODEL-008": {
    meaning: "The server needs an API key: none is set, or it refuses the one that is.",
    action: "Set the variable that the message names to a key of that provider.",
  },
  "ACODE-CLI-001": {
    meaning: "There is no such command.",
    action: "`acode --help` lists all commands.",
  },
  "ACODE-CLI-002": {
    meaning: "A flag is unknown or its value is malformed.",
    action: "`acode COMMAND --help` lists its flags; what follows -- is passed on untouched.",
  },
  "ACODE-CLI-003": {
    meaning: "An argument is missing, or there is one too many.",
    action: "`acode COMMAND --help` shows the accepted forms with examples.",
  },
  "ACODE-CLI-004": {
    meaning: "Nothing is recorded under this id.",
    action: "`acode runs list` shows the ids of this workspace.",
  },
  "ACODE-CLI-005": {
    meaning: "The shortened id fits more than one thing.",
    action: "Type more of it; the message lists what it fits.",
  },
  "ACODE-CLI-006": {
    meaning: "The workspace is not a directory that can be opened.",
    action: "Name an existing directory with -C.",
  },
  "ACODE-CLI-007": {
    meaning: "The output of acode cannot be written to where it is sent.",
    action: "Make room on that disk, or send it elsewhere; what was done is recorded all the same.",
  },
  "ACODE-CLI-008": {
    meaning: "The workspace is the whole disk, a home directory, or a directory of the system.",
    action: "Work in a directory of its own, or add --allow-broad-workspace.",
  },
  "ACODE-SYS-001": {
    meaning: "The system has no more memory, processes or open files to give.",
    action: "End other programs, or raise the limit that the message names.",
  },
  "ACODE-INT-001": {
    meaning: "acode made a mistake.",
    action: "Nothing recorded is lost; please report it with what you typed.",
  },
  "ACODE-SKILL-001": {
    meaning: "There is no such skill, or its SKILL.md cannot be used.",
    action: "`acode skills list` shows every skill, where it was found and what is wrong with it.",
  },
  "ACODE-SKILL-002": {
    meaning:
      "There is no such task, its file cannot be read as one, or its status does not allow what was asked.",
    action: "`acode agent list` shows all tasks and what is wrong with them.",
  },
  "ACODE-SKILL-003": {
    meaning:
      "A task was not completed; the message begins with the reason, such as SKILL_NOT_FOUND or API_TIMEOUT.",
    action:
      "`acode agent show TASK` says what happened; after it is corrected, `acode agent reset TASK --reason WHY`.",
  },
  "ACODE-SKILL-004": {
    meaning: "A pipeline is not valid; the message lists everything that is wrong with it, with its place.",
    action: "Correct what is named; `acode schema pipeline` describes the format.",
  },
  // Plans and their steps: E0 the plan, E1 what a step requires, E2 its call, E3 its tool.
  E001: {
    meaning: "The plan is not valid; everything that is wrong with it is listed with its place.",
    action:
      "Correct what is listed; `acode plan validate FILE` repeats it, `acode schema plan` is the format.",
  },
  E002: {
    meaning: "The plan is not approved: nobody approved it, it was changed since, or the approval expired.",
    action: "Read it with `acode plan show FILE` and approve it with `acode plan approve FILE`.",
  },
  E003: {
    meaning: "The approval that was named is of another plan.",
    action:
      "Leave the approval out to use the one of this plan, or approve it with `acode plan approve FILE`.",
  },
  E101: {
    meaning: "A step insists on a file that does not exist; its tool was not called.",
    action: "Check the path in the arguments of the step, or let an earlier step make the file.",
  },
  E102: {
    meaning: "A step insists on a project, and no project file was found; its tool was not called.",
    action: "Run the plan in the directory of the project, chosen with -C.",
  },
  E103: {
    meaning:
      "A step insists on a code index, and there is none. Belongs to the code tools of a later version.",
    action: "Leave the precondition out; no tool of this version needs an index.",
  },
  E104: {
    meaning: "A step insists on a symbol that was not found. Belongs to the code tools of a later version.",
    action: "Leave the precondition out; no tool of this version looks symbols up.",
  },
  E105: {
    meaning: "A step asks for confirmation, and it was refused or nobody was there to give it.",
    action: "Run the plan at a terminal and confirm the step; --yes does not answer it.",
  },
  E201: {
    meaning: "The tool is not one that a plan may call.",
    action: "Use a tool of the list in the documentation; names are exact.",
  },
  E202: {
    meaning: "An argument of a tool is missing, wrong or not known to the tool.",
    action: "Give exactly the arguments of the tool; none is added, dropped or converted.",
  },
  E301: {
    meaning: "A file that was to be read does not exist.",
    action: "Check the path, which is relative to the workspace.",
  },
  E302: {
    meaning: "A file could not be written: permission denied.",
    action: "Check owner and mode of the file and of its directory.",
  },
  E303: {
    meaning:
      "The program that changes code by symbol is missing. Belongs to the code tools of a later version.",
    action: "Use modify_file, which needs no further program.",
  },
  E304: {
    meaning: "The compiler check found errors. Belongs to the code tools of a later version.",
    action: "Use run_command with the compiler of the project.",
  },
} as const satisfies Readonly<Record<string, ErrorEntry>>

/** A code of the table. A failure with any other code does not compile. */
export type ErrorCode = keyof typeof errorCodes

/** Returns whether a text, for example a code read from a recorded event, is a code of the table. */
export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(errorCodes, text)
}
