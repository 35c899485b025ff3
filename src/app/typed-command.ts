import { existsSync } from "node:fs"
import { isAbsolute, resolve } from "node:path"
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

/** A directory that a person typed, as a path from the root: relative ones count from where acode was called. */
export function typedDirectory(calledFrom: string, typed: string | undefined): string {
  if (typed === undefined || typed === "") return calledFrom
  // Not normalised: where `link/..` leads is for the kernel to say.
  return isAbsolute(typed) || calledFrom === "." ? typed : `${calledFrom}/${typed}`
}

/**
 * A path that a person opens for a command. Relative ones count from where acode was called; a name that is not there,
 * such as `.git` in a directory of a repository, may be one of the root. `./name` is always the one right here.
 */
export function typedOpening(root: string, calledFrom: string, typed: string): string {
  const here = resolve(root, calledFrom, typed)
  if (/^\.{0,2}\//.test(typed) || existsSync(here)) return here
  const atRoot = resolve(root, typed)
  return existsSync(atRoot) ? atRoot : here
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
