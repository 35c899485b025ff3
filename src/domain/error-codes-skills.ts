import type { ErrorCode } from "./error-code.ts"

/** Of skills and the tasks that they do. */
export const skillErrorCodes: readonly ErrorCode[] = [
  {
    code: "ACODE-SKILL-001",
    meaning: "There is no such skill, or its SKILL.md cannot be used.",
    action: "`acode skills list` shows every skill, where it was found and what is wrong with it.",
  },
  {
    code: "ACODE-SKILL-002",
    meaning:
      "There is no such task, its file cannot be read as one, or its status does not allow what was asked.",
    action: "`acode agent list` shows all tasks and what is wrong with them.",
  },
  {
    code: "ACODE-SKILL-003",
    meaning:
      "A task was not completed; the message begins with the reason, such as SKILL_NOT_FOUND or API_TIMEOUT.",
    action:
      "`acode agent show TASK` says what happened; after it is corrected, `acode agent reset TASK --reason WHY`.",
  },
  {
    code: "ACODE-SKILL-004",
    meaning: "A pipeline is not valid; the message lists everything that is wrong with it, with its place.",
    action: "Correct what is named; `acode schema pipeline` describes the format.",
  },
]
