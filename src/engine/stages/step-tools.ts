import { finishTool } from "../../domain/pipeline/claim.ts"

const reading = ["read_file", "list_directory", "search_code", "glob"]
const writing = ["write_file", "create_file", "modify_file"]

/** Everything an executor may ever call. */
export const allStepTools: readonly string[] = [
  ...reading,
  ...writing,
  "delete_file",
  "run_command",
  finishTool,
]

const write = [...reading, ...writing, "run_command", finishTool]

const byAction: Readonly<Record<string, readonly string[]>> = {
  READ_FILE: [...reading, finishTool],
  ANALYZE_CODE: [...reading, finishTool],
  RUN_COMMAND: [...reading, "run_command", finishTool],
  WRITE_FILE: write,
  MODIFY_FILE: write,
  CREATE_FILE: write,
  CREATE_DIRECTORY: write,
  DELETE_FILE: [...reading, "delete_file", "run_command", finishTool],
}

/** What a step of this action is offered. A step that generates or mends code may need all of them. */
export function toolsForAction(action: string | null): readonly string[] {
  return (action === null ? undefined : byAction[action]) ?? allStepTools
}
