import { lstatSync, readdirSync, realpathSync, statSync } from "node:fs"
import { dirname, isAbsolute, normalize, relative } from "node:path"
import type { Clock } from "../../base/clock.ts"
import type { Protection } from "../contract.ts"
import { byDepth, isWithin } from "../tree/paths.ts"
import type { Mount } from "./mounts.ts"

export interface ToolchainQuery {
  readonly home: string
  /** The environment acode itself was started with: what a command adds to its own must not open anything. */
  readonly environment: Readonly<Record<string, string>>
  readonly protection: Protection
  /** Directories that are shown anyway. */
  readonly shown: readonly string[]
  /** Directories that must not come into view with a parent of theirs: HOME, the state of acode. */
  readonly kept: readonly string[]
}

/** Installed programs outside the system directories, read-only, with what holds credentials in them masked. */
export function findToolchains(query: ToolchainQuery): readonly Mount[] {
  const roots = rootsOf(query)
  const shown = roots
    .filter(root => !roots.some(other => other !== root && isWithin(root, other)))
    .map((path): Mount => ({ kind: "readOnly", path }))
  return [...shown, ...shown.flatMap(({ path }) => credentialsIn(query, path))]
}

export type FindToolchains = (query: ToolchainQuery) => readonly Mount[]

/** Returns the same search with its result cached for a moment: commands often follow each other. */
export function rememberToolchains(clock: Clock, momentMs: number): FindToolchains {
  let known: {
    readonly shown: string
    readonly foundAtMs: number
    readonly mounts: readonly Mount[]
  } | null = null
  return query => {
    const shown = query.shown.join("\0")
    const foundAtMs = clock.monotonicMs()
    if (known?.shown !== shown || foundAtMs - known.foundAtMs >= momentMs)
      known = { shown, foundAtMs, mounts: findToolchains(query) }
    return known.mounts
  }
}

function rootsOf(query: ToolchainQuery): readonly string[] {
  const searchPath = searchPathOf(query.environment)
  const chosen = new Set<string>()
  const add = (path: string) => {
    if (isBindable(query, path)) chosen.add(path)
  }
  for (const toolchain of toolchains) {
    const places = placesOf(query, toolchain)
    const named = toolchain.variable !== undefined && query.environment[toolchain.variable] !== undefined
    const used = places.filter(place => named || searchPath.some(path => isWithin(path, place)))
    used.forEach(add)
    if (used.length > 0)
      for (const need of toolchain.needs ?? []) for (const place of placesNamed(query, need)) add(place)
  }
  for (const path of searchPath) if (![...chosen].some(root => isWithin(path, root))) add(path)
  for (const cache of packageCaches) add(`${query.home}/${cache}`)
  return [...chosen].sort(byDepth)
}

/** Returns the places of a toolchain by the table, or by its variable. */
function placesOf(query: ToolchainQuery, toolchain: Toolchain): readonly string[] {
  const value = toolchain.variable === undefined ? undefined : query.environment[toolchain.variable]
  // GOPATH may be a list; every other variable is one path.
  return [`${query.home}/${toolchain.directory}`, ...directoriesIn(value ?? "")]
}

function placesNamed(query: ToolchainQuery, directory: string): readonly string[] {
  const row = toolchains.find(toolchain => toolchain.directory === directory)
  return row === undefined ? [`${query.home}/${directory}`] : placesOf(query, row)
}

/** A directory that exists, is not in view yet, and would not bring HOME or the state of acode into view. */
function isBindable(query: ToolchainQuery, path: string): boolean {
  if (query.shown.some(directory => isWithin(path, directory))) return false
  if (query.kept.some(directory => isWithin(directory, path))) return false
  if (isWithin(path, query.home) && query.protection.classify(relative(query.home, path)) === "hidden")
    return false
  return isDirectory(path)
}

function credentialsIn(query: ToolchainQuery, root: string): readonly Mount[] {
  return namesIn(root).flatMap((name): readonly Mount[] => {
    const path = `${root}/${name}`
    const fromHome = isWithin(root, query.home) ? relative(query.home, path) : name
    return query.protection.classify(fromHome) === "hidden" ? hiding(path) : []
  })
}

export interface CredentialQuery {
  readonly home: string
  readonly environment: Readonly<Record<string, string>>
  readonly places: readonly string[]
  /** Returns whether the content of this path is visible inside. */
  readonly isShown: (path: string) => boolean
}

/**
 * Masks for the credentials that came into view: with a toolchain, with a directory that a person made readable, or
 * because the programs and settings of one person lie elsewhere than usual.
 */
export function credentialMasks({ home, environment, places, isShown }: CredentialQuery): readonly Mount[] {
  const named = places.flatMap(place => elsewhere(home, environment, place))
  // The settings of npm for all users of one installation lie beside its programs.
  const beside = searchPathOf(environment).map(path => `${dirname(path)}/etc/npmrc`)
  const found = [...named, ...beside].flatMap(path => (isShown(fixedPart(path)) ? matching(path) : []))
  return [...new Set(found.flatMap(path => covered(path, home)))].filter(isShown).flatMap(hiding)
}

/** A place below HOME, and where it is when a variable moves its directory. */
function elsewhere(
  home: string,
  environment: Readonly<Record<string, string>>,
  place: string,
): readonly string[] {
  const moved = [...movedByStandard, ...toolchains].flatMap(({ directory, variable }) => {
    const value = variable === undefined ? undefined : environment[variable]
    if (value === undefined || !place.startsWith(`${directory}/`)) return []
    return directoriesIn(value).map(path => `${path}${place.slice(directory.length)}`)
  })
  return [`${home}/${place}`, ...moved]
}

const movedByStandard: readonly Toolchain[] = [
  { directory: ".config", variable: "XDG_CONFIG_HOME" },
  { directory: ".local/share", variable: "XDG_DATA_HOME" },
  { directory: ".cache", variable: "XDG_CACHE_HOME" },
  { directory: ".npm-global", variable: "NPM_CONFIG_PREFIX" },
  { directory: ".gradle", variable: "GRADLE_USER_HOME" },
  { directory: ".composer", variable: "COMPOSER_HOME" },
]

function fixedPart(path: string): string {
  const star = path.indexOf("/*")
  return star < 0 ? path : path.slice(0, star)
}

/** The paths that exist; `*` stands for each name of a directory. */
function matching(path: string): readonly string[] {
  const star = path.indexOf("/*/")
  if (star < 0) return kindOf(path) === null ? [] : [path]
  const directory = path.slice(0, star)
  return namesIn(directory).flatMap(name => matching(`${directory}/${name}/${path.slice(star + 3)}`))
}

/** Returns the targets of links: a mount cannot cover a link, but its target. */
function covered(path: string, home: string): readonly string[] {
  if (kindOf(path) !== "link") return [path]
  try {
    const target = realpathSync(path)
    // A link out of the home directory leads to a file of the system, or of the workspace, which has rules of its own.
    return isWithin(target, home) ? [target] : []
  } catch {
    // It leads nowhere.
    return []
  }
}

function hiding(path: string): readonly Mount[] {
  const kind = kindOf(path)
  if (kind === null || kind === "link") return []
  return [kind === "directory" ? { kind: "scratch", path, mode: 0 } : { kind: "hiddenFile", path }]
}

function kindOf(path: string): "directory" | "link" | "file" | null {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found === undefined) return null
    return found.isDirectory() ? "directory" : found.isSymbolicLink() ? "link" : "file"
  } catch {
    // A part of the way may not be entered, and then the command cannot go there either.
    return null
  }
}

function searchPathOf(environment: Readonly<Record<string, string>>): readonly string[] {
  return [...new Set(directoriesIn(environment["PATH"] ?? ""))]
}

function directoriesIn(list: string): readonly string[] {
  return list.split(":").filter(isAbsolute).map(stripped)
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch {
    // Not ours to list, and then the command cannot either.
    return []
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  } catch {
    // A part of the way may not be entered, and then the command cannot go there either.
    return false
  }
}

function stripped(path: string): string {
  const normal = normalize(path)
  return normal.length > 1 && normal.endsWith("/") ? normal.slice(0, -1) : normal
}

/** A place below HOME where programs are installed for one person. */
interface Toolchain {
  /** Relative to HOME. */
  readonly directory: string
  /** The variable that says where it is instead. */
  readonly variable?: string
  /** Other places it does not work without, relative to HOME or named by a variable. */
  readonly needs?: readonly string[]
}

export const toolchains: readonly Toolchain[] = [
  { directory: ".nvm", variable: "NVM_DIR" },
  { directory: ".fnm", variable: "FNM_DIR" },
  { directory: ".local/share/fnm", variable: "FNM_DIR" },
  { directory: ".volta", variable: "VOLTA_HOME" },
  { directory: ".nodenv", variable: "NODENV_ROOT" },
  { directory: ".bun", variable: "BUN_INSTALL" },
  { directory: ".deno", variable: "DENO_INSTALL" },
  { directory: ".npm-global" },
  { directory: ".npm-packages" },
  { directory: ".local/share/pnpm", variable: "PNPM_HOME" },
  { directory: ".yarn/bin" },
  { directory: ".config/yarn/global" },
  { directory: ".cargo", variable: "CARGO_HOME", needs: [".rustup"] },
  { directory: ".rustup", variable: "RUSTUP_HOME" },
  { directory: ".pyenv", variable: "PYENV_ROOT" },
  { directory: ".local/share/uv", variable: "UV_PYTHON_INSTALL_DIR" },
  { directory: ".local/share/pipx", variable: "PIPX_HOME" },
  { directory: ".local/pipx" },
  { directory: ".poetry" },
  { directory: "miniconda3", variable: "CONDA_PREFIX" },
  { directory: "anaconda3", variable: "CONDA_PREFIX" },
  { directory: "miniforge3", variable: "CONDA_PREFIX" },
  { directory: ".rbenv", variable: "RBENV_ROOT" },
  { directory: ".rvm" },
  { directory: ".gem" },
  { directory: ".local/share/gem" },
  { directory: "go", variable: "GOPATH" },
  { directory: "sdk", variable: "GOROOT" },
  { directory: ".goenv", variable: "GOENV_ROOT" },
  { directory: ".sdkman", variable: "SDKMAN_DIR" },
  { directory: ".jdks", variable: "JAVA_HOME" },
  { directory: ".jenv", variable: "JENV_ROOT" },
  { directory: ".dotnet", variable: "DOTNET_ROOT" },
  { directory: ".asdf", variable: "ASDF_DATA_DIR" },
  { directory: ".local/share/mise", variable: "MISE_DATA_DIR" },
  { directory: ".proto", variable: "PROTO_HOME" },
  { directory: ".ghcup" },
  { directory: ".cabal/bin" },
  { directory: ".stack/programs" },
  { directory: ".opam", variable: "OPAMROOT" },
  { directory: ".juliaup" },
  { directory: ".elan" },
  { directory: ".nimble" },
  { directory: ".swiftly" },
  { directory: ".foundry" },
  { directory: ".composer/vendor" },
  { directory: ".config/composer/vendor" },
  { directory: "perl5" },
  { directory: ".nix-profile" },
  {
    directory: ".local/bin",
    needs: [".local/lib", ".local/share/pipx", ".local/pipx", ".local/share/uv", ".local/share/pnpm"],
  },
]

/** Package caches that builds read: without a network packages cannot be fetched again. */
const packageCaches = ["go/pkg/mod", ".m2/repository", ".nuget/packages"] as const
