import { compileGlob, type Glob } from "../base/glob.ts"
import type { EffectCategory, Level } from "../domain/effect.ts"
import { coversHost, type HostPattern, readHostPattern } from "../domain/hosts.ts"

/**
 * The questions that `--yes` may answer for the user. It never answers Level 4, a protected path or a confirmation.
 */
export interface YesScopes {
  /** Answers reads and new directories. */
  readonly basic: boolean
  readonly plan: boolean
  /** Allows `--skip-verify` to leave out every check. */
  readonly skipVerify: boolean
  readonly terminal: "none" | "safe" | "all"
  /** Answers everything but the network, which has to be named itself. */
  readonly everything: boolean
  readonly files: readonly FileScope[]
  /** The network that commands may reach: all of it, or these hosts. */
  readonly network: "all" | readonly HostPattern[]
}

export interface FileScope {
  readonly category: EffectCategory
  /** The paths; null for all of them. */
  readonly only: Glob | null
}

export interface YesProblem {
  readonly code: `ACODE-YES-00${1 | 2 | 3 | 4 | 5}`
  readonly message: string
}

export type ParsedYes =
  | { readonly scopes: YesScopes; readonly problems: readonly [] }
  | { readonly scopes: null; readonly problems: readonly [YesProblem, ...YesProblem[]] }

export const noScopes: YesScopes = {
  basic: false,
  plan: false,
  skipVerify: false,
  terminal: "none",
  everything: false,
  files: [],
  network: [],
}

const fileCategories: Readonly<Record<string, EffectCategory>> = {
  file_read: "FILE_READ",
  file_write: "FILE_WRITE",
  file_delete: "FILE_DELETE",
  dir_create: "DIRECTORY_CREATE",
  dir_delete: "FILE_DELETE",
  config: "FILE_WRITE",
}
const known = [
  ...Object.keys(fileCategories),
  ...["terminal", "network", "plan", "skip_verify", "all", "none", "default"],
]

const modifiers: Readonly<Record<string, string>> = {
  test: "{test,tests,spec,__tests__,**/test,**/tests,**/spec,**/__tests__}/**",
  generated: "{dist,build,out,coverage,generated,target,**/dist,**/generated}/**",
}
const testFiles = "**/{*.test.*,*.spec.*,*_test.*,test_*.py}"
const configFiles = "**/{*.json,*.yml,*.yaml,*.toml,*.ini,*.cfg,*.conf,*.config.*,*rc,Makefile,Dockerfile}"

/** Reads the value of `--yes[=SCOPES]`; null is the bare flag. Any mistake makes it grant nothing. */
export function parseYes(value: string | null, acknowledgesDanger: boolean): ParsedYes {
  if (value === null) return { scopes: { ...noScopes, basic: true }, problems: [] }
  const problems: YesProblem[] = []
  const entries = value.split(",").map(entry => entry.trim())
  let scopes: YesScopes = noScopes
  for (const entry of entries) {
    const colon = entry.indexOf(":")
    const name = (colon < 0 ? entry : entry.slice(0, colon)).toLowerCase()
    const modifier = colon < 0 ? null : entry.slice(colon + 1)
    if (entry === "") problems.push({ code: "ACODE-YES-004", message: "a scope is empty" })
    else if (!known.includes(name))
      problems.push({
        code: "ACODE-YES-001",
        message: `"${name}" is not a scope; known are ${known.join(", ")}`,
      })
    else if (name === "all" && !acknowledgesDanger)
      problems.push({ code: "ACODE-YES-003", message: "all needs --ack-danger as well" })
    else if (name === "none" && entries.length > 1)
      problems.push({ code: "ACODE-YES-005", message: "none contradicts the other scopes" })
    else {
      const wider = widen(scopes, name, modifier)
      if (wider === null)
        problems.push({ code: "ACODE-YES-002", message: `"${modifier}" is not a modifier of ${name}` })
      else scopes = wider
    }
  }
  const [first, ...more] = problems
  return first === undefined ? { scopes, problems: [] } : { scopes: null, problems: [first, ...more] }
}

function widen(scopes: YesScopes, name: string, modifier: string | null): YesScopes | null {
  if (name === "terminal") {
    if (modifier !== null && modifier !== "safe" && modifier !== "all") return null
    const wanted = modifier === "all" || scopes.terminal === "all" ? "all" : "safe"
    return { ...scopes, terminal: wanted }
  }
  if (name === "network") return withNetwork(scopes, modifier)
  const category = fileCategories[name]
  if (category !== undefined) {
    const globs = fileGlobs(name, modifier)
    return globs === null
      ? null
      : { ...scopes, files: [...scopes.files, ...globs.map(only => ({ category, only }))] }
  }
  if (modifier !== null) return null
  if (name === "plan") return { ...scopes, plan: true }
  if (name === "skip_verify") return { ...scopes, skipVerify: true }
  if (name === "all")
    return { ...scopes, everything: true, plan: true, skipVerify: true, terminal: "all", basic: true }
  return name === "default" ? { ...scopes, basic: true } : scopes
}

/** Adds all of the network for `network`, and one entry of an allowlist for `network:HOST`. */
function withNetwork(scopes: YesScopes, modifier: string | null): YesScopes | null {
  if (modifier === null || modifier === "all") return { ...scopes, network: "all" }
  const reading = readHostPattern(modifier)
  if ("problem" in reading) return null
  return scopes.network === "all" ? scopes : { ...scopes, network: [...scopes.network, reading.pattern] }
}

function fileGlobs(name: string, modifier: string | null): (Glob | null)[] | null {
  const texts = name === "config" && modifier === null ? [configFiles] : scopeTexts(modifier)
  if (texts === null) return [null]
  const globs = texts.map(compileGlob)
  return globs.includes(null) ? null : globs
}

function scopeTexts(modifier: string | null): string[] | null {
  if (modifier === null || modifier === "all") return null
  const named = modifiers[modifier]
  if (named === undefined) return modifier === "safe" ? [""] : [modifier]
  return modifier === "test" ? [named, testFiles] : [named]
}

/** The part of a decision that a scope could answer. */
export interface Answerable {
  readonly category: EffectCategory
  readonly level: Level
  readonly path: string | null
  /** Set when the decision is about a command, or about a file that a command names. */
  readonly isCommand: boolean
  /** The part of the network that an allow would open; null for none. */
  readonly opens: Opening | null
}

/** All of the network, or one entry of an allowlist. */
export type Opening = "all" | HostPattern

/** Reports whether the scopes allow something that the user would be asked. */
export function answersYes(scopes: YesScopes, asked: Answerable): boolean {
  if (asked.level === 4) return false
  if (asked.opens !== null) {
    if (!opens(scopes, asked.opens)) return false
    if (!asked.isCommand) return true
  }
  if (scopes.everything) return true
  if (asked.isCommand)
    return (
      scopes.terminal === "all" || (scopes.terminal === "safe" && asked.level <= 2 && asked.path === null)
    )
  if (scopes.basic && asked.level === 1) return true
  return scopes.files.some(
    ({ category, only }) =>
      category === asked.category && (only === null || (asked.path !== null && only.matches(asked.path))),
  )
}

/** Reports whether the scopes open this much of the network. No other scope does, `all` included. */
export function opens({ network }: YesScopes, asked: Opening): boolean {
  if (network === "all") return true
  return asked !== "all" && network.some(granted => coversHost(granted, asked))
}
