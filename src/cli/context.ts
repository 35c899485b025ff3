import type { AppService } from "../app/service.ts"
import type { AppEnvironment } from "../config/environment.ts"
import type { Output } from "./output.ts"
import type { GlobalFlags } from "./parse/flags.ts"
import type { TerminalUse } from "./terminal/terminal.ts"

/** What every command gets: where to print, what was said globally, and a way to the service when it needs one. */
export interface CliContext {
  readonly globals: GlobalFlags
  readonly output: Output
  readonly environment: AppEnvironment
  readonly terminal: TerminalUse
  /** Constructed on first use: `redact` and `schema` never pay for it. */
  service(): Promise<AppService>
}
