import type { Workspace } from "../../workspace/contract.ts"
import { detectTestCommand } from "./detect.ts"
import { projectFiles } from "./project-files.ts"

/** Commands of a project, each as arguments; null when nobody has configured it. */
export interface ConfiguredCommands {
  readonly setup: readonly string[] | null
  readonly build: readonly string[] | null
  readonly test: readonly string[] | null
  readonly lint: readonly string[] | null
  readonly format: readonly string[] | null
  readonly start: readonly string[] | null
}

/** How the project checks itself. */
export interface Project {
  /** Runs its tests: as configured, else as its files suggest; null when neither says. */
  readonly test: readonly string[] | null
  /** What looks for mistakes without running anything: the linter, else the build. Configured, never guessed. */
  readonly check: readonly string[] | null
}

export function projectOf(commands: ConfiguredCommands, workspace: Workspace): Project {
  return {
    // Looked at when it is needed: a session may have made the project in the first place.
    get test() {
      return commands.test ?? detectTestCommand(projectFiles(workspace))
    },
    check: commands.lint ?? commands.build,
  }
}
