/** The explanation of an error code, and the action it asks of the user. */
interface ErrorEntry {
  readonly meaning: string
  readonly action: string
}

/** All error codes, in the order of docs/errors.md, which is generated from this table. */
export const errorCodes = {
  "ACODE-EXE-001": {
    meaning: "The program was not found.",
    action: "Check its spelling and that it is on PATH; a script in the workspace needs its path.",
  },
  "ACODE-EXE-002": {
    meaning: "The command exceeded its timeout and was killed with everything it started.",
    action: "Give it more time with --timeout or execution.default_timeout_seconds.",
  },
  "ACODE-EXE-003": {
    meaning: "The process failed: it ended with a code other than 0 or was killed by a signal.",
    action: "Read its output with `acode runs show ID --full-output`.",
  },
  "ACODE-EXE-004": {
    meaning: "The output is larger than the limit; its head and tail, full size and hash were stored.",
    action: "Read the artifact, or raise execution.max_output_kb or --max-output.",
  },
  "ACODE-EXE-005": {
    meaning: "Permission denied: the program exists and may not be executed.",
    action: "Make it executable with chmod +x, or run it through its interpreter.",
  },
  "ACODE-EXE-006": {
    meaning: "The working directory does not exist or is not a directory.",
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
    meaning: "The requested sandbox is not available on this machine.",
    action: "`acode doctor` shows what is missing; you may choose --sandbox none.",
  },
  "ACODE-EXE-011": {
    meaning: "The program exists on this machine but is not visible inside the sandbox.",
    action: "Add the directory the message names to execution.readable_paths.",
  },
  "ACODE-EXE-012": {
    meaning: "A limit on memory or processes ended the command.",
    action: "Raise --memory or execution.limits, or make the command need less.",
  },
  "ACODE-EXE-013": {
    meaning: "acode itself ended while the command ran; it is unknown how much of the command took effect.",
    action: "Inspect what it changed in the workspace and run it again if that is safe.",
  },
  "ACODE-EXE-014": {
    meaning: "The command is still running, so it has no result yet.",
    action: "Try again when it has ended; `acode runs list` shows its state.",
  },
  "ACODE-EXEC-001": {
    meaning: "A step failed, and the steps that depend on it were not run.",
    action: "`acode session show ID` shows what happened; fix the cause and run again.",
  },
  "ACODE-EXEC-002": {
    meaning: "A tool ran and failed.",
    action: "Read its output with `acode evidence show ID`.",
  },
  "ACODE-EXEC-003": {
    meaning: "A step reached its limit of model turns without finishing.",
    action: "Allow it more with `acode resume --max-turns N`, or make the step smaller.",
  },
  "ACODE-EXEC-004": {
    meaning: "A step tried to use something outside the workspace, protected, or not allowed by policy.",
    action: "`acode policy check -- PROGRAM` shows the rule; change the step, or the rule if it is wrong.",
  },
  "ACODE-EXEC-005": {
    meaning: "An action of a step was not approved.",
    action: "Approve it when asked, or grant its scope with --yes.",
  },
  "ACODE-EXEC-006": {
    meaning: "A step exceeded its timeout and was stopped.",
    action: "Give it more time with timeout_seconds, or make the step smaller.",
  },
  "ACODE-EXEC-007": {
    meaning: "A tool was called with invalid parameters.",
    action: "Correct the parameters the message names.",
  },
  "ACODE-DB-001": {
    meaning: "The workspace database cannot be opened or created.",
    action:
      "Check that the directory in the message belongs to this user and is on a working disk; `acode doctor` shows more.",
  },
  "ACODE-DB-002": {
    meaning: "The workspace database is locked by another process.",
    action: "Wait for the other acode to finish, or end it, and try again.",
  },
  "ACODE-DB-003": {
    meaning: "The workspace database is read-only, so nothing can be recorded and nothing is run.",
    action: "Make the directory in the message writable, or choose another one with ACODE_STATE_DIR.",
  },
  "ACODE-DB-004": {
    meaning: "The disk is full, so nothing can be recorded.",
    action:
      "Free disk space; `acode storage free` removes the oldest data of acode. Nothing recorded so far is lost.",
  },
  "ACODE-DB-005": {
    meaning: "The workspace database is damaged.",
    action: "Keep a copy of the file and restore a backup, or move it away to start a new history.",
  },
  "ACODE-DB-006": {
    meaning: "The workspace database was written by a newer version of acode.",
    action: "Update acode; an older one would misread it.",
  },
  "ACODE-CODE-001": {
    meaning: "The file has no symbols: its language is not known, or it could not be parsed.",
    action: "`acode index --problems` lists the files that could not be parsed, and why.",
  },
  "ACODE-CODE-002": {
    meaning:
      "The new definition does not fit: the file would have more syntax errors, another symbol in its place, or other " +
      "symbols changed. No file was changed.",
    action: "Give one whole definition of the same name and kind, and nothing that ends the parts around it.",
  },
  "ACODE-CODE-003": {
    meaning: "Another acode is changing the code index, and there is no index to answer from yet.",
    action: "Wait until it has finished, and try again.",
  },
  "ACODE-DB-007": {
    meaning: "An event was refused: another process has written to the stream or taken it over.",
    action: "Check with `acode runs list` what was recorded, and run the command again if needed.",
  },
  "ACODE-DB-008": {
    meaning: "The workspace is not on a local file system, where a history can be kept safely.",
    action: "Work on a copy of the workspace on a local disk.",
  },
  "ACODE-SEC-001": {
    meaning: "The key that signs the history of this workspace is missing.",
    action: "Restore $XDG_DATA_HOME/acode/keys from a backup; without the key nothing can be verified.",
  },
  "ACODE-SEC-002": {
    meaning: "The signing key is not the one this history was written with.",
    action: "Restore the original key; `acode audit verify` shows what still verifies.",
  },
  "ACODE-SEC-003": {
    meaning: "The path is protected and cannot be accessed.",
    action: "Allow one path for one command with --writable PATH.",
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
    meaning: "The state directory of acode has unsafe permissions or is a symlink.",
    action: "Make it a real directory that only you can access: chmod 700, and chmod 600 for its files.",
  },
  "ACODE-SEC-007": {
    meaning:
      "Redacted text would be written to a file: a secret would be lost, or end up in the wrong place.",
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
    meaning: "The configuration key is unknown.",
    action: "`acode config show` lists all keys.",
  },
  "ACODE-FS-001": {
    meaning: "The path is malformed: empty, too long, or written in a misleading form.",
    action: "Give a plain path relative to the workspace, with / between names.",
  },
  "ACODE-FS-002": {
    meaning: "The file does not exist.",
    action: "List the directory to see what is there.",
  },
  "ACODE-FS-003": {
    meaning: "The path is not a regular file, but a directory, a device or the like.",
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
    meaning: "The file was changed after it was read.",
    action: "Read it again and repeat the change on its new content.",
  },
  "ACODE-FS-008": {
    meaning: "A file or directory with this name exists already.",
    action: "Choose another name, or modify the file that is there.",
  },
  "ACODE-FS-009": {
    meaning: "The file is not text, or its encoding lacks a character of the new text.",
    action: "Use a command that understands this kind of file.",
  },
  "ACODE-FS-010": {
    meaning: "The disk is full, read-only or failing; the file is unchanged.",
    action: "Free space or make the file system writable, then try again.",
  },
  "ACODE-PAT-001": {
    meaning: "The patch is not valid.",
    action: "Send a unified diff with @@ lines, or edits with search and replace.",
  },
  "ACODE-PAT-002": {
    meaning: "The patch does not match the file; the message shows the expected and the actual text.",
    action: "Read the file again and repeat the change on its new content.",
  },
  "ACODE-PAT-003": {
    meaning: "The patch asks for something that is not supported, such as a rename or a binary change.",
    action: "Write the new file and delete the old one instead.",
  },
  "ACODE-PAT-004": {
    meaning: "The change matches more than one location in the file.",
    action: "Include more of the lines around the change.",
  },
  "ACODE-PAT-005": {
    meaning: "The patch creates a file that exists, or changes or deletes one that does not.",
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
    meaning: "The id does not name an approval request.",
    action: "`acode approvals list` shows the open requests.",
  },
  "ACODE-APPR-002": {
    meaning: "The request was answered already, has expired, or belongs to a session that has ended.",
    action: "Inspect it with `acode approvals show ID`; an action that still needs approval asks again.",
  },
  "ACODE-APPR-003": {
    meaning: "The approval does not apply any more: the action, its target or the policy changed.",
    action: "Read the new request and answer it.",
  },
  "ACODE-APPR-004": {
    meaning: "The approval has expired or was used already.",
    action: "Approve the action again, before the approval expires.",
  },
  "ACODE-APPR-005": {
    meaning:
      "Parts of the action are not in the record, because they look like secrets or were removed, so they cannot be shown here.",
    action: "Approve it at the terminal that asks, or resume the session at a terminal.",
  },
  "ACODE-ORCH-001": {
    meaning:
      "A stage failed: a check or a review without a verdict, or one that still fails after all cycles.",
    action: "`acode session show` shows what it was doing and why it failed.",
  },
  "ACODE-ORCH-002": {
    meaning: "A stage exceeded its timeout.",
    action: "Give it more time with its --…-timeout flag, or make the task smaller, then resume.",
  },
  "ACODE-ORCH-003": {
    meaning: "The session reached its limit of cycles without reaching its goal.",
    action: "Check why the last cycle failed; --max-cycles allows more.",
  },
  "ACODE-ORCH-004": {
    meaning:
      "The session needs a person: it makes no progress, its retries or tokens are used up, or the effect of a call is unknown.",
    action: "Read `acode session show`, answer or fix what it names, then resume.",
  },
  "ACODE-ORCH-005": {
    meaning: "The input of a stage does not fit into its share of the context.",
    action:
      "Make the task or its files smaller, or raise --max-context-tokens or model.parameters.context_window.",
  },
  "ACODE-ORCH-006": {
    meaning: "A stage cannot follow the one before it.",
    action: "`acode session validate` shows the state of the session.",
  },
  "ACODE-ORCH-007": {
    meaning: "The session was cancelled.",
    action: "`acode session show` shows what it did until then; `acode session undo` restores the files.",
  },
  "ACODE-ORCH-008": {
    meaning: "Another acode works in this workspace; two at a time would overwrite each other's changes.",
    action: "Wait until it is done, or stop it; `acode session list` shows the running sessions.",
  },
  "ACODE-UNDO-001": {
    meaning: "There is nothing to undo: no change of the session is left.",
    action: "`acode session show` shows what a session changed; name another one.",
  },
  "ACODE-UNDO-002": {
    meaning: "The session was undone already.",
    action: "Run the plan again to restore its changes.",
  },
  "ACODE-UNDO-003": {
    meaning:
      "The session has a call without an outcome: its process died during the call, or is still making it.",
    action: "Continue it with `acode resume` or end it with `acode cancel`; then it can be undone.",
  },
  "ACODE-MODEL-001": {
    meaning: "No model server was found: none runs on this machine, or the configured one does not answer.",
    action:
      "Start one (`ollama serve`, LM Studio, `llama-server`) or set model.endpoint; `acode doctor` checks it.",
  },
  "ACODE-MODEL-002": {
    meaning: "A script is not valid; the message lists everything that is wrong with it.",
    action: "Correct what is named; `acode schema script` describes the format.",
  },
  "ACODE-MODEL-003": {
    meaning:
      "A recording cannot be replayed or appended to: it is another kind of file, or has a damaged line.",
    action: "Name a file written by --record, or record to a new one.",
  },
  "ACODE-MODEL-004": {
    meaning: "The mode forbids it: the server is not on this machine, or the mode is not possible here.",
    action:
      "Use a model on this machine, or allow another one for a single session: --mode burst --model PROVIDER/NAME.",
  },
  "ACODE-MODEL-005": {
    meaning: "The mode burst needs consent: name the provider that may receive data, for this session.",
    action: "Give the model with its provider: --mode burst --model anthropic/NAME.",
  },
  "ACODE-MODEL-006": {
    meaning: "The server sent an invalid answer; perhaps it is not a model server of that kind.",
    action: "Check model.endpoint and model.provider; `acode models probe` shows what the server supports.",
  },
  "ACODE-MODEL-007": {
    meaning: "The server does not have the model, or no model was named.",
    action: "Name an available model with --model or model.name; `acode models list` shows them.",
  },
  "ACODE-MODEL-008": {
    meaning: "The server needs an API key: none is set, or the server refuses it.",
    action: "Set the variable that the message names to a key of that provider.",
  },
  "ACODE-CLI-001": {
    meaning: "The command is unknown.",
    action: "`acode --help` lists all commands.",
  },
  "ACODE-CLI-002": {
    meaning: "A flag is unknown or its value is malformed.",
    action: "`acode COMMAND --help` lists its flags; arguments after -- are passed on unchanged.",
  },
  "ACODE-CLI-003": {
    meaning: "An argument is missing, or there are too many.",
    action: "`acode COMMAND --help` shows the accepted forms with examples.",
  },
  "ACODE-CLI-004": {
    meaning: "The id does not name anything recorded.",
    action: "`acode runs list` shows the ids of this workspace.",
  },
  "ACODE-CLI-005": {
    meaning: "The shortened id is ambiguous.",
    action: "Type more of it; the message lists the matches.",
  },
  "ACODE-CLI-006": {
    meaning: "The workspace is not a directory that can be opened.",
    action: "Name an existing directory with -C.",
  },
  "ACODE-CLI-007": {
    meaning: "The output of acode cannot be written.",
    action: "Free space on that disk, or redirect the output; everything done is recorded anyway.",
  },
  "ACODE-CLI-008": {
    meaning: "The workspace is the root directory, a home directory, or a system directory.",
    action: "Use a separate directory, or add --allow-broad-workspace.",
  },
  "ACODE-SYS-001": {
    meaning: "The system is out of memory, processes or open files.",
    action: "End other programs, or raise the limit that the message names.",
  },
  "ACODE-INT-001": {
    meaning: "Internal error in acode.",
    action: "Nothing recorded is lost; please report it with what you typed.",
  },
  "ACODE-SKILL-001": {
    meaning: "The skill does not exist, or its SKILL.md is not valid.",
    action: "`acode skills list` shows every skill, where it was found and what is wrong with it.",
  },
  "ACODE-SKILL-002": {
    meaning: "The task does not exist, its file is not valid, or its status does not allow the action.",
    action: "`acode agent list` shows all tasks and what is wrong with them.",
  },
  "ACODE-SKILL-003": {
    meaning:
      "A task was not completed; the message begins with the reason, such as SKILL_NOT_FOUND or API_TIMEOUT.",
    action:
      "`acode agent show TASK` shows what happened; after fixing it, `acode agent reset TASK --reason WHY`.",
  },
  "ACODE-SKILL-004": {
    meaning: "A pipeline is not valid; the message lists all problems with their locations.",
    action: "Correct what is named; `acode schema pipeline` describes the format.",
  },
  // Plans and their steps: E0 the plan, E1 what a step requires, E2 its call, E3 its tool.
  E001: {
    meaning: "The plan is not valid; the message lists all problems with their locations.",
    action:
      "Fix the listed problems; `acode plan validate FILE` lists them again, `acode schema plan` describes the format.",
  },
  E002: {
    meaning: "The plan is not approved, was changed after its approval, or the approval expired.",
    action: "Read it with `acode plan show FILE` and approve it with `acode plan approve FILE`.",
  },
  E003: {
    meaning: "The named approval belongs to another plan.",
    action: "Omit the approval to use the one of this plan, or approve it with `acode plan approve FILE`.",
  },
  E101: {
    meaning: "A step requires a file that does not exist; its tool was not called.",
    action: "Check the path in the arguments of the step, or let an earlier step create the file.",
  },
  E102: {
    meaning: "A step requires a project, and no project file was found; its tool was not called.",
    action: "Run the plan in the directory of the project, chosen with -C.",
  },
  E103: {
    meaning: "There is no code index, and it could not be made.",
    action: "Make it with `acode index`; set code.enabled to true where it is false.",
  },
  E104: {
    meaning: "A symbol that a step requires or replaces was not found.",
    action:
      "`acode symbols FILE` lists the symbols of a file; name one of them, and its kind or its container.",
  },
  E105: {
    meaning: "A step asks for confirmation, which was refused or could not be asked for.",
    action: "Run the plan at a terminal and confirm the step; --yes does not answer it.",
  },
  E201: {
    meaning: "A plan may not call this tool.",
    action: "Use a tool that the documentation lists; names must match exactly.",
  },
  E202: {
    meaning: "An argument of a tool is missing, invalid or unknown.",
    action: "Give exactly the arguments of the tool; acode does not add, drop or convert any.",
  },
  E301: {
    meaning: "A file to read does not exist.",
    action: "Check the path, which is relative to the workspace.",
  },
  E302: {
    meaning: "A file could not be written: permission denied.",
    action: "Check owner and mode of the file and of its directory.",
  },
  E303: {
    meaning: "No checker for this code can run here, so nothing is known about errors in it.",
    action:
      "Install the compiler or type checker that the message names, or name a command in code.checkers.",
  },
  E304: {
    meaning: "A checker ran and found errors.",
    action: "`acode evidence show ID` lists them; correct them and check again.",
  },
} as const satisfies Readonly<Record<string, ErrorEntry>>

/** A code of the table. A failure with any other code does not compile. */
export type ErrorCode = keyof typeof errorCodes
