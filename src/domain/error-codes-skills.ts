import type { ErrorCode } from "./error-code.ts"

/** Of skills and the tasks that they do. */
export const skillErrorCodes: readonly ErrorCode[] = [
  {
    code: "ACODE-SKILL-001",
    meaning: "There is no such skill, or its SKILL.md cannot be used.",
    action: "`acode skills list` shows every skill, where it was found and what is wrong with it.",
  },
]
