import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { canonicalJson } from "../../../src/base/canonical.ts"
import { cliCommands } from "../../../src/cli/commands/table.ts"
import { type ParsedLine, parseLine } from "../../../src/cli/parse/parse.ts"
import { configVariables } from "../../../src/config/environment.ts"
import { defaultLeaves, leavesOf } from "../../../src/config/keys.ts"
import { readYaml } from "../../../src/config/yaml.ts"
import { Failure } from "../../../src/domain/failure.ts"

/**
 * Records what happened in the tests: one line for each code, key or flag when it first occurs, in one file for each
 * process. After a whole run `scripts/declared-seen.ts` compares the lines with the documentation.
 */
export type SeenKind = "error" | "exit" | "exec exit" | "event" | "key" | "flag"

/** `scripts/test` says where; without it nothing is kept. */
const directory = process.env["ACODE_TEST_SEEN"] ?? null
const noted = new Set<string>()

export function noteSeen(kind: SeenKind, name: string): void {
  const line = `${kind}: ${name}\n`
  if (directory === null || noted.has(line)) return
  noted.add(line)
  mkdirSync(directory, { recursive: true })
  appendFileSync(join(directory, String(process.pid)), line)
}

/** Everything that was noted, as `noteSeen` was given it. */
export function readSeen(from: string): ReadonlySet<string> {
  const files = existsSync(from) ? readdirSync(from) : []
  const lines = files.flatMap(name => readFileSync(join(from, name), "utf8").split("\n"))
  return new Set(lines.filter(line => line !== ""))
}

export interface SeenRun {
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly exitCode: number | null
  readonly output: string
}

/** Records a run. A refused line does not count as a use of its flags, nor help text as an occurrence of a code. */
export function noteRun({ args, cwd, env, exitCode, output }: SeenRun): void {
  if (directory === null) return
  const line = parsed(args)
  const command = line?.command ?? null
  if (exitCode !== null) noteSeen(command?.name === "exec" ? "exec exit" : "exit", String(exitCode))
  const isTold = line === null || (command !== null && !line.globals.help && command.name !== "schema")
  if (isTold) noteCodes(output, args)
  if (line === null) return
  noteFlags(command?.name ?? "", line)
  if (command === null) return
  if (!/^(config|schema|doctor)/.test(command.name)) noteKeys(line, cwd, env)
}

function parsed(args: readonly string[]): ParsedLine | null {
  try {
    return parseLine(args, cliCommands)
  } catch (error) {
    if (error instanceof Failure) return null
    throw error
  }
}

const codePattern = /\b(?:ACODE-[A-Z]+-\d{3}|E[0-3]\d{2})\b/g
/** The characters scanned at each end: the error of a command follows all that it printed. */
const scannedMax = 200_000

function noteCodes(output: string, args: readonly string[]): void {
  const scanned = `${output.slice(0, scannedMax)}\n${output.slice(-scannedMax)}`
  for (const [code] of scanned.matchAll(codePattern)) if (!args.includes(code)) noteSeen("error", code)
}

function noteFlags(command: string, { flags, globals }: ParsedLine): void {
  const isGiven = (value: unknown) =>
    value !== undefined && value !== false && !(Array.isArray(value) && value.length === 0)
  for (const [name, value] of Object.entries(globals)) if (isGiven(value)) noteSeen("flag", `--${name}`)
  for (const [name, value] of Object.entries(flags))
    if (isGiven(value)) noteSeen("flag", `${command} --${name}`)
}

/** Keys with a value that is not their default, while a command ran that does more than to show them. */
function noteKeys({ globals }: ParsedLine, cwd: string, env: Readonly<Record<string, string>>): void {
  const root = globals.workspace ?? cwd
  const own = env["XDG_CONFIG_HOME"]
  const files = [
    globals.config ?? join(root, ".agent", "config.yml"),
    ...(own === undefined ? [] : [join(own, "acode", "config.yml")]),
  ]
  for (const file of files) if (existsSync(file)) noteKeysOf(readFileSync(file, "utf8"))
  for (const { variable, key } of configVariables) if (env[variable] !== undefined) noteSeen("key", key)
}

const read = new Set<string>()

function noteKeysOf(text: string): void {
  if (read.has(text)) return
  read.add(text)
  const document = readYaml(text)
  if (!("tree" in document)) return
  for (const [key, value] of leavesOf(document.tree.value))
    if (canonicalJson(value) !== canonicalJson(defaultLeaves.get(key) ?? null)) noteSeen("key", key)
}
