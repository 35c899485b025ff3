import type { Command, EnvironmentMode } from "../domain/command.ts"
import type { RecordedCommand } from "../domain/command-result.ts"
import type { EnvironmentRules, Redactor } from "../policy/contract.ts"

export interface RecordedForm {
  readonly workingDirectory: string
  readonly timeoutMs: number
  readonly shell: boolean
  readonly environmentMode: EnvironmentMode
}

/** What the record may show of a variable whose name says that it is a secret: that it was set. */
const hiddenValue = "[REDACTED:environment]"

/** The command as it may be written down: no secret, no path of this machine that the person did not type. */
export function recordedCommand(
  command: Command,
  form: RecordedForm,
  redactor: Redactor,
  rules: EnvironmentRules,
): RecordedCommand {
  const variable = ([name, value]: [string, string | null]): [string, string | null] => {
    if (value === null) return [name, null]
    return [name, rules.isSecretName(name) ? hiddenValue : redactor.redactText(value)]
  }
  return {
    executable: redactor.redactText(command.executable),
    arguments: command.arguments.map(argument => redactor.redactText(argument)),
    workingDirectory: redactor.redactText(form.workingDirectory),
    timeoutMs: form.timeoutMs,
    shell: form.shell,
    environmentMode: form.environmentMode,
    environment: Object.fromEntries(Object.entries(command.environment).map(variable)),
    resourceLimits: { ...command.resourceLimits },
  }
}

/** Values a person gave to this command alone and whose names call them secret: its output must not show them. */
export function secretValuesOf(command: Command, rules: EnvironmentRules): readonly string[] {
  return Object.entries(command.environment).flatMap(([name, value]) =>
    value !== null && rules.isSecretName(name) ? [value] : [],
  )
}
