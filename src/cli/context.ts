import type { AppService } from "../app/service.ts"
import type { AppEnvironment } from "../config/environment.ts"
import type { Output } from "./output.ts"
import type { GlobalFlags } from "./parse/flags.ts"
import type { TerminalUse } from "./terminal/terminal.ts"

/** The context of every command: its output, the global flags, and access to the service. */
export interface CliContext {
  readonly globals: GlobalFlags
  readonly output: Output
  readonly environment: AppEnvironment
  readonly terminal: TerminalUse
  /** Constructs the service on first use: `redact` and `schema` need none. */
  service(): Promise<AppService>
}
