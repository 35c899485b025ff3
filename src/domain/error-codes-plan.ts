import type { ErrorCode } from "./error-code.ts"

/** Of plans and their steps: E0 of the plan, E1 of what a step insists on, E2 of its call, E3 of its tool. */
export const planErrorCodes: readonly ErrorCode[] = [
  {
    code: "E001",
    meaning: "The plan is not valid; everything that is wrong with it is listed with its place.",
    action:
      "Correct what is listed; `acode plan validate FILE` repeats it, `acode schema plan` is the format.",
  },
  {
    code: "E002",
    meaning: "The plan is not approved: nobody approved it, it was changed since, or the approval expired.",
    action: "Read it with `acode plan show FILE` and approve it with `acode plan approve FILE`.",
  },
  {
    code: "E003",
    meaning: "The approval that was named is of another plan.",
    action:
      "Leave the approval out to use the one of this plan, or approve it with `acode plan approve FILE`.",
  },
  {
    code: "E101",
    meaning: "A step insists on a file that does not exist; its tool was not called.",
    action: "Check the path in the arguments of the step, or let an earlier step make the file.",
  },
  {
    code: "E102",
    meaning: "A step insists on a project, and no project file was found; its tool was not called.",
    action: "Run the plan in the directory of the project, chosen with -C.",
  },
  {
    code: "E103",
    meaning:
      "A step insists on a code index, and there is none. Belongs to the code tools of a later version.",
    action: "Leave the precondition out; no tool of this version needs an index.",
  },
  {
    code: "E104",
    meaning: "A step insists on a symbol that was not found. Belongs to the code tools of a later version.",
    action: "Leave the precondition out; no tool of this version looks symbols up.",
  },
  {
    code: "E105",
    meaning: "A step asks for confirmation, and it was refused or nobody was there to give it.",
    action: "Run the plan at a terminal and confirm the step; --yes does not answer it.",
  },
  {
    code: "E201",
    meaning: "The tool is not one that a plan may call.",
    action: "Use a tool of the list in the documentation; names are exact.",
  },
  {
    code: "E202",
    meaning: "An argument of a tool is missing, wrong or not known to the tool.",
    action: "Give exactly the arguments of the tool; none is added, dropped or converted.",
  },
  {
    code: "E301",
    meaning: "A file that was to be read does not exist.",
    action: "Check the path, which is relative to the workspace.",
  },
  {
    code: "E302",
    meaning: "A file could not be written: permission denied.",
    action: "Check owner and mode of the file and of its directory.",
  },
  {
    code: "E303",
    meaning:
      "The program that changes code by symbol is missing. Belongs to the code tools of a later version.",
    action: "Use modify_file, which needs no further program.",
  },
  {
    code: "E304",
    meaning: "The compiler check found errors. Belongs to the code tools of a later version.",
    action: "Use run_command with the compiler of the project.",
  },
]

/** Of steps, whoever chose their calls. */
export const stepErrorCodes: readonly ErrorCode[] = [
  {
    code: "ACODE-EXEC-001",
    meaning: "A step failed, and what depends on it was not run.",
    action: "`acode session show ID` tells what happened; correct the cause and run again.",
  },
  {
    code: "ACODE-EXEC-002",
    meaning: "A tool ran and failed.",
    action: "Read its output with `acode evidence show ID`.",
  },
  {
    code: "ACODE-EXEC-003",
    meaning: "A step took as many turns of the model as it may, and is not finished.",
    action: "Allow it more with `acode resume --max-turns N`, or make the step smaller.",
  },
  {
    code: "ACODE-EXEC-004",
    meaning: "A step reached for something outside the workspace, protected, or not allowed by policy.",
    action: "`acode policy check -- PROGRAM` tells the rule; change the step, or the rule if it is wrong.",
  },
  {
    code: "ACODE-EXEC-005",
    meaning: "An action of a step was not approved.",
    action: "Approve it when asked, or grant its scope with --yes.",
  },
  {
    code: "ACODE-EXEC-006",
    meaning: "A step did not end in its time and was stopped.",
    action: "Give it more time with timeout_seconds, or make the step smaller.",
  },
  {
    code: "ACODE-EXEC-007",
    meaning: "A tool was called with parameters it cannot work with.",
    action: "Correct the parameters the message names.",
  },
]
