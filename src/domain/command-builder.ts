import { type Command, type ResourceLimits, unlimited } from "./command.ts"
import { assertValidCommand } from "./command-validation.ts"

/** Starts a command: `command("npm").withArguments("test").withTimeout(60_000).build()`. */
export function command(executable: string): CommandBuilder {
  return new CommandBuilder({
    executable,
    arguments: [],
    workingDirectory: null,
    environment: {},
    timeoutMs: null,
    resourceLimits: unlimited,
  })
}

/** Each `with…` gives a new builder, so a half-built command can be shared and varied. */
class CommandBuilder {
  constructor(private readonly draft: Command) {}

  withArguments(...more: readonly string[]): CommandBuilder {
    return this.changed({ arguments: [...this.draft.arguments, ...more] })
  }

  /** Null takes a variable away. Later calls win. */
  withEnvironment(variables: Readonly<Record<string, string | null>>): CommandBuilder {
    return this.changed({ environment: { ...this.draft.environment, ...variables } })
  }

  withTimeout(timeoutMs: number): CommandBuilder {
    return this.changed({ timeoutMs })
  }

  withWorkingDirectory(workingDirectory: string): CommandBuilder {
    return this.changed({ workingDirectory })
  }

  withLimits(limits: Partial<ResourceLimits>): CommandBuilder {
    return this.changed({ resourceLimits: { ...this.draft.resourceLimits, ...limits } })
  }

  /** Validates and freezes. Throws one Failure that lists everything that is wrong. */
  build(): Command {
    return assertValidCommand(this.draft)
  }

  private changed(change: Partial<Command>): CommandBuilder {
    return new CommandBuilder({ ...this.draft, ...change })
  }
}
