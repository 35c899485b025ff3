import type { Command, ResourceLimits } from "../domain/command.ts"
import { assertValidCommand, invalidCommand } from "../domain/command-validation.ts"
import { commandWords } from "../exec/words.ts"
import type { CommandForm } from "./service.ts"

/** What a person typed, as a command. The configured limits hold where the person named none. */
export function typedCommand(
  words: readonly string[],
  form: CommandForm,
  useShell: boolean,
  limits: ResourceLimits,
): Command {
  const [executable = "", ...rest] = argvOf(words, form, useShell)
  return assertValidCommand({
    executable,
    arguments: rest,
    workingDirectory: form.cwd ?? null,
    environment: form.environment,
    timeoutMs: form.timeoutMs ?? null,
    resourceLimits: { ...limits, memoryBytesMax: form.memoryBytesMax ?? limits.memoryBytesMax },
  })
}

function argvOf(words: readonly string[], form: CommandForm, useShell: boolean): readonly string[] {
  const [only = ""] = words
  if (useShell && words.length > 1)
    throw invalidCommand([
      { property: "executable", message: "with a shell, give the script as one quoted string" },
    ])
  if (useShell || form.isLiteral || words.length > 1 || only.trim() === "") return words
  return commandWords(only)
}
