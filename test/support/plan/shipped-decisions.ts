import type { CategoryDefaults } from "../../../src/policy/decision.ts"

/** The decisions that follow from the default configuration. */
export const shippedDefaults: CategoryDefaults = {
  FILE_READ: "auto",
  FILE_WRITE: "prompt",
  FILE_DELETE: "prompt",
  DIRECTORY_CREATE: "auto",
  TERMINAL_COMMAND: "prompt",
  EXTERNAL_REQUEST: "prompt",
}
