import { existsSync, statSync } from "node:fs"
import { join } from "node:path"
import { type Json, sha256Hex } from "../base/canonical.ts"
import { lazily } from "../base/lazy.ts"
import { type AppEnvironment, environmentOverrides, type Override } from "./environment.ts"
import { type ConfigSource, configSources, readConfigFile } from "./file.ts"
import { keep, readKept } from "./kept-file.ts"
import { defaultLeaves, documentOf, type Leaves } from "./keys.ts"
import { type ConfigLayer, type ConfigOrigin, looseningKeys, mergeLayers } from "./merge.ts"
import { type ConfigProblem, configFailure } from "./problem.ts"
import type { Config } from "./schema.ts"
import { isTrusted, type TrustSubject } from "./trust.ts"

export interface ConfigRequest {
  readonly workspaceRoot: string
  readonly environment: AppEnvironment
  readonly flags: ConfigFlags
}

export interface ConfigFlags {
  /** `--config FILE`: stands in for the project file. */
  readonly configFile: string | null
  /** Values given on the command line, by dotted key. */
  readonly values: Readonly<Record<string, Json>>
}

export interface LoadedConfig {
  readonly values: Config
  /** Where each value comes from, by dotted key. */
  readonly origins: ReadonlyMap<string, ConfigOrigin>
  /** Lines a person is told once. */
  readonly notices: readonly string[]
  readonly userFile: ConfigFileState
  readonly projectFile: ProjectFileState
}

export interface ConfigFileState {
  readonly path: string
  /** The path as a person knows it: relative to the workspace or to the home directory. */
  readonly shown: string
  readonly exists: boolean
}

export interface ProjectFileState extends ConfigFileState {
  /** `sha256:…` of the very bytes that were read; null when there is no file. */
  readonly hash: string | null
  readonly trusted: boolean
  /** Keys that loosen security over what holds without the file: what trusting it lets in. */
  readonly loosens: readonly string[]
}

/** Where the files are. What the project's would loosen is not known before it is read. */
export interface ConfigFiles {
  readonly userFile: ConfigFileState
  readonly projectFile: Omit<ProjectFileState, "loosens"> & { readonly loosens: readonly string[] | null }
}

/**
 * The configuration in force: command line, environment, project file, user file, default, in this order. Throws one
 * Failure with everything that is wrong in all of them. Without files it loads neither the YAML parser nor schemas.
 */
export async function loadConfig(request: ConfigRequest): Promise<LoadedConfig> {
  const { workspaceRoot, environment, flags } = request
  const sources = configSources(workspaceRoot, environment, flags.configFile)
  const cache = configCache(environment.xdgCacheHome)
  const user = await readFileLayer(sources.user, cache)
  const project = await readFileLayer(sources.project, cache)
  const variables = await checkOverrides(environmentOverrides(environment.host))
  const line = await checkOverrides(flagOverrides(flags))
  const problems = [user, project, variables, line].flatMap(part => part.problems)
  if (problems.length > 0) throw configFailure(problems)

  const subject = { workspaceRoot, configPath: sources.project.path, dataHome: environment.xdgDataHome }
  const trusted = project.hash !== null && isProjectTrusted(subject, project.hash, environment)
  const userLayer: ConfigLayer = { origin: "user", leaves: user.leaves, isTrusted: true }
  const loosens = looseningKeys(mergeLayers([userLayer]).leaves, project.leaves)
  const { leaves, origins } = mergeLayers([
    userLayer,
    { origin: "project", leaves: project.leaves, isTrusted: trusted },
    { origin: "environment", leaves: variables.leaves, isTrusted: true },
    { origin: "flag", leaves: line.leaves, isTrusted: true },
  ])
  return {
    // Every source was validated by the schema, and every key has a default: the compiler cannot see either.
    values: documentOf(leaves) as unknown as Config,
    origins,
    notices: trusted || loosens.length === 0 ? [] : [untrustedNotice(sources.project, loosens)],
    userFile: { ...stateOf(sources.user), exists: user.hash !== null },
    projectFile: {
      ...stateOf(sources.project),
      exists: project.hash !== null,
      hash: project.hash,
      trusted,
      loosens,
    },
  }
}

/** The same files, whatever they say: for whoever has to find the one to correct. */
export function configFiles({ workspaceRoot, environment, flags }: ConfigRequest): ConfigFiles {
  const { user, project } = configSources(workspaceRoot, environment, flags.configFile)
  const read = readConfigFile(project)
  const hash = read.kind === "read" ? read.hash : null
  const subject = { workspaceRoot, configPath: project.path, dataHome: environment.xdgDataHome }
  return {
    userFile: { ...stateOf(user), exists: existsSync(user.path) },
    projectFile: {
      ...stateOf(project),
      exists: existsSync(project.path),
      hash,
      trusted: hash !== null && isProjectTrusted(subject, hash, environment),
      loosens: null,
    },
  }
}

interface CheckedPart {
  readonly leaves: Leaves
  readonly problems: readonly ConfigProblem[]
}

const nothing: Leaves = new Map()

async function readFileLayer(
  source: ConfigSource,
  cache: ConfigCache,
): Promise<CheckedPart & { readonly hash: string | null }> {
  const read = readConfigFile(source)
  if (read.kind === "absent") return { leaves: nothing, problems: [], hash: null }
  if (read.kind === "unusable") return { leaves: nothing, problems: [read.problem], hash: null }
  const known = cache.read(read.hash)
  if (known !== null) return { leaves: known, problems: [], hash: read.hash }
  const { checkConfigText } = await import("./load.ts")
  const { leaves, problems } = await checkConfigText(read.text, source.shown)
  if (leaves !== null) cache.write(read.hash, leaves)
  return { leaves: leaves ?? nothing, problems, hash: read.hash }
}

async function checkOverrides(overrides: readonly Override[]): Promise<CheckedPart> {
  if (overrides.length === 0) return { leaves: nothing, problems: [] }
  const { validateLeaf } = await import("./load.ts")
  const problems: ConfigProblem[] = []
  for (const { key, value, source } of overrides)
    for (const { message, allowed } of await validateLeaf(key, value))
      problems.push({ code: "ACODE-CFG-003", source, line: null, column: null, key, message, allowed })
  return { leaves: new Map(overrides.map(({ key, value }) => [key, value])), problems }
}

function flagOverrides(flags: ConfigFlags): Override[] {
  return Object.entries(flags.values).map(([key, value]) => ({ key, value, source: "command line" }))
}

function isProjectTrusted(subject: TrustSubject, hash: string, environment: AppEnvironment): boolean {
  return environment.trustProject === hash || isTrusted(subject, hash)
}

function untrustedNotice(source: ConfigSource, loosens: readonly string[]): string {
  return `${source.shown} is not trusted, so it cannot loosen ${loosens.join(", ")}; \`acode config trust\` accepts it`
}

function stateOf({ path, shown }: ConfigSource): Pick<ConfigFileState, "path" | "shown"> {
  return { path, shown }
}

/** What valid files said, so that the parser and the schemas need not be loaded to read the same file again. */
interface ConfigCache {
  /** Null when it is not known. */
  read(fileHash: string): Leaves | null
  write(fileHash: string, leaves: Leaves): void
}

/**
 * By the hash of the file and by the very program that found it valid: another one may ask for something else. The
 * sources change too often for that, so only the compiled program keeps anything.
 */
export function configCache(
  cacheHome: string,
  programOf: () => string | null = lazily(compiledProgram),
): ConfigCache {
  const placeOf = (fileHash: string): string | null => {
    const program = programOf()
    if (program === null) return null
    return join(cacheHome, "acode", "config", `${sha256Hex(`${program}\n${fileHash}`)}.json`)
  }
  return {
    read: fileHash => {
      const path = placeOf(fileHash)
      const text = path === null ? null : readKept(path)
      return text === null ? null : leavesIn(text, fileHash)
    },
    write: (fileHash, leaves) => {
      const path = placeOf(fileHash)
      if (path !== null) keep(path, JSON.stringify({ fileHash, leaves: [...leaves] }))
    },
  }
}

/** Tells one build from another; null for what is run from its sources. */
function compiledProgram(): string | null {
  if (!Bun.main.startsWith("/$bunfs/")) return null
  const { size, mtimeMs, ino } = statSync(process.execPath)
  return `${process.execPath} ${size} ${mtimeMs} ${ino}`
}

function leavesIn(text: string, fileHash: string): Leaves | null {
  try {
    const kept = JSON.parse(text)
    if (kept.fileHash !== fileHash || !Array.isArray(kept.leaves)) return null
    const leaves: Leaves = new Map(kept.leaves)
    return [...leaves.keys()].every(key => defaultLeaves.has(key)) ? leaves : null
  } catch {
    // Damaged: the file itself is read again.
    return null
  }
}
