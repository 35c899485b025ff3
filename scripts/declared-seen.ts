import { readFileSync } from "node:fs"
import { cliCommands } from "../src/cli/commands/table.ts"
import { globalFlags } from "../src/cli/parse/flags.ts"
import { listConfigKeys } from "../src/config/reference.ts"
import { errorCodes } from "../src/domain/error-codes.ts"
import { manifest } from "../src/domain/events/manifest.ts"
import { execExitCodes, exitCodes } from "../src/domain/exit-codes.ts"
import { unjudged, unseenExceptions } from "../test/support/declared/declared-exceptions.ts"
import { readSeen, type SeenKind } from "../test/support/declared/seen.ts"
import { lackOf } from "./skip-reasons.ts"

/**
 * Fails, after a whole run of the tests, when something that the documentation lists did not happen in any of them, or
 * when something happened that the list of exceptions says does not.
 */
const [seenDirectory = "", reportPath = ""] = process.argv.slice(2)
const seen = readSeen(seenDirectory)
const listed: readonly string[] = [
  ...Object.keys(errorCodes).map(code => line("error", code)),
  ...numbers("exit", exitCodes),
  ...numbers("exec exit", execExitCodes),
  ...manifest.definitions.map(({ type }) => line("event", type)),
  ...listConfigKeys().flatMap(({ key, type, default: usual }) =>
    type === JSON.stringify(usual) ? [] : [line("key", key)],
  ),
  ...Object.keys(globalFlags).map(name => line("flag", `--${name}`)),
  ...cliCommands.flatMap(({ name, flags }) =>
    Object.keys(flags).map(flag => line("flag", `${name} --${flag}`)),
  ),
]
const declared = new Set(listed.filter(each => !unjudged.has(each)))

const lacking = lackOf(readFileSync(reportPath, "utf8"))
if (lacking === null) judge()
else print(`not judged whether everything that is declared happened: ${lacking}`)

function judge(): void {
  const exceptions = new Set(Object.keys(unseenExceptions))
  const unseen = [...declared].filter(each => !seen.has(each) && !exceptions.has(each))
  const stale = [...exceptions].filter(each => seen.has(each) || !declared.has(each))
  for (const each of unseen) print(`declared, and seen in no test: ${each}`)
  for (const each of stale) print(`take it off the exceptions, it is not declared or was seen: ${each}`)
  process.exitCode = unseen.length + stale.length > 0 ? 1 : 0
}

function numbers(
  kind: SeenKind,
  table: Readonly<Record<string, { readonly code: number }>>,
): readonly string[] {
  return Object.values(table).map(({ code }) => line(kind, String(code)))
}

function line(kind: SeenKind, name: string): string {
  return `${kind}: ${name}`
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
