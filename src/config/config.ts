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
  /** The file of `--config FILE`, which replaces the project file. */
  readonly configFile: string | null
  /** Values given on the command line, by dotted key. */
  readonly values: Readonly<Record<string, Json>>
}

export interface LoadedConfig {
  readonly values: Config
  /** The source of each value, by dotted key. */
  readonly origins: ReadonlyMap<string, ConfigOrigin>
  /** Lines that a surface prints once. */
  readonly notices: readonly string[]
  readonly userFile: ConfigFileState
  readonly projectFile: ProjectFileState
}

export interface ConfigFileState {
  readonly path: string
  /** The path for messages: relative to the workspace or to the home directory. */
  readonly shown: string
  readonly exists: boolean
}

export interface ProjectFileState extends ConfigFileState {
  /** The `sha256:…` of the bytes that were read; null without a file. */
  readonly hash: string | null
  readonly trusted: boolean
  /** The keys that would loosen security compared with the configuration without the file, if the file were trusted. */
  readonly loosens: readonly string[]
}

/** The paths of the files. `loosens` is null, because the project's file was not validated. */
export interface ConfigFiles {
  readonly userFile: ConfigFileState
  readonly projectFile: Omit<ProjectFileState, "loosens"> & { readonly loosens: readonly string[] | null }
}

/**
 * Loads the configuration in force: command line, environment, project file, user file, default, in this order. Throws
 * one Failure with every problem of all sources. Without files it loads neither the YAML parser nor the schemas.
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

/** Returns the same files without validating them, for messages that name the file to correct. */
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

interface CheckedSource {
  readonly leaves: Leaves
  readonly problems: readonly ConfigProblem[]
}

const noLeaves: Leaves = new Map()

async function readFileLayer(
  source: ConfigSource,
  cache: ConfigCache,
): Promise<CheckedSource & { readonly hash: string | null }> {
  const read = readConfigFile(source)
  if (read.kind === "absent") return { leaves: noLeaves, problems: [], hash: null }
  if (read.kind === "unusable") return { leaves: noLeaves, problems: [read.problem], hash: null }
  const known = cache.read(read.hash)
  if (known !== null) return { leaves: known, problems: [], hash: read.hash }
  const { checkConfigText } = await import("./load.ts")
  const { leaves, problems } = await checkConfigText(read.text, source.shown)
  if (leaves !== null) cache.write(read.hash, leaves)
  return { leaves: leaves ?? noLeaves, problems, hash: read.hash }
}

async function checkOverrides(overrides: readonly Override[]): Promise<CheckedSource> {
  if (overrides.length === 0) return { leaves: noLeaves, problems: [] }
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
  return `${source.shown} is not trusted, so it cannot loosen ${loosens.join(", ")}; \`acode config trust\` trusts it`
}

function stateOf({ path, shown }: ConfigSource): Pick<ConfigFileState, "path" | "shown"> {
  return { path, shown }
}

/** The values of files that were valid, so that the same file is read again without the parser and the schemas. */
interface ConfigCache {
  /** Returns the values of the file with this hash, or null when the cache does not hold them. */
  read(fileHash: string): Leaves | null
  write(fileHash: string, leaves: Leaves): void
}

/**
 * Returns a cache whose entries are named by the hash of the file and by the program that found it valid, because
 * another build may have other schemas. Sources change too often for that, so only the compiled program writes
 * entries.
 */
export function configCache(
  cacheHome: string,
  programOf: () => string | null = lazily(compiledProgram),
): ConfigCache {
  const entryPath = (fileHash: string): string | null => {
    const program = programOf()
    if (program === null) return null
    return join(cacheHome, "acode", "config", `${sha256Hex(`${program}\n${fileHash}`)}.json`)
  }
  return {
    read: fileHash => {
      const path = entryPath(fileHash)
      const text = path === null ? null : readKept(path)
      return text === null ? null : leavesIn(text, fileHash)
    },
    write: (fileHash, leaves) => {
      const path = entryPath(fileHash)
      if (path !== null) keep(path, JSON.stringify({ fileHash, leaves: [...leaves] }))
    },
  }
}

/** Returns a text that differs for each build, or null for a program that runs from its sources. */
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
    // The entry is damaged: the configuration file itself is read again.
    return null
  }
}
