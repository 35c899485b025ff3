import { lstatSync, realpathSync } from "node:fs"
import { join } from "node:path"
import { linkedRepository } from "../../base/git-directory.ts"
import { Failure } from "../../domain/failure.ts"
import type { Confinement, Protection } from "../contract.ts"
import { byDepth, isWithin } from "../tree/paths.ts"
import type { TreeSnapshot } from "../tree/tree-snapshot.ts"
import { isShown, type Mount, protectWorkspace } from "./mounts.ts"
import { hiddenResolverFile, type PrivateEntry, type SystemView } from "./system-view.ts"
import { credentialMasks, type FindToolchains } from "./toolchains.ts"

export interface ViewSettings {
  readonly home: string
  /** The environment acode itself was started with. */
  readonly hostEnvironment: Readonly<Record<string, string>>
  readonly protection: Protection
  /** Directories nothing confined may see: the state of all workspaces, keys and anchors. */
  readonly stateDirectories: readonly string[]
  /** The paths of `execution.readable_paths`. */
  readonly readablePaths: readonly string[]
}

export interface ViewQuery {
  readonly settings: ViewSettings
  readonly confinement: Confinement
  readonly snapshot: TreeSnapshot
  readonly privateEntries: FindPrivateEntries
  readonly toolchains: FindToolchains
  readonly systemView: () => SystemView
}

/** Entries below a system directory that only its owner may read, down to a depth. */
export type FindPrivateEntries = (directory: string, depthMax: number) => readonly PrivateEntry[]

/** Everything the command sees, in the order in which it is mounted. */
export function confinedView({
  settings,
  confinement,
  snapshot,
  privateEntries,
  toolchains,
  systemView,
}: ViewQuery): readonly Mount[] {
  const { workspaceRoot: root } = confinement
  const system = systemView()
  const shown = [
    ...systemMounts(system, privateEntries, confinement),
    ...temporaryMounts(confinement.environment),
    ...homeMounts(settings, root, false),
    ...readableMounts(system, settings, root, toolchains),
    { kind: "writable", path: root } as const,
    ...protectWorkspace(root, maskableEntries(settings, snapshot, confinement), confinement.writable),
    ...homeMounts(settings, root, true),
    ...openedOutside(confinement).map((path): Mount => ({ kind: "writable", path })),
  ]
  return [...shown, ...credentialMounts(settings, confinement, shown), ...stateMounts(settings, shown)]
}

/** Throws for unsafe paths, before anything is listed or made: a workspace may be the whole disk. */
export function refuseUnsafePaths(settings: ViewSettings, confinement: Confinement): void {
  const outside = openedOutside(confinement)
  for (const path of [confinement.workspaceRoot, ...outside]) refuseSystemRoot(path, settings.home)
  for (const path of confinement.writable) refuseState(path, settings)
  for (const path of outside) refuseMissing(path)
}

/** Returns the repositories outside that `--writable .git` means in a linked worktree or submodule. */
function openedOutside({ workspaceRoot, writable }: Confinement): readonly string[] {
  const opensGit = writable.some(path => isWithin(`${workspaceRoot}/.git`, path))
  const linked = opensGit ? linkedGitDirectories(workspaceRoot) : []
  return [...writable, ...linked].filter(path => !isWithin(path, workspaceRoot))
}

/** The directories outside a linked worktree or submodule without which git does not work in it. */
function linkedGitDirectories(root: string): readonly string[] {
  const linked = linkedRepository(root)
  return linked === null ? [] : [...new Set([linked.common, linked.directory])]
}

function systemMounts(
  view: SystemView,
  privateEntries: FindPrivateEntries,
  confinement: Confinement,
): readonly Mount[] {
  const asRoot = process.geteuid?.() === 0
  const secrets = asRoot
    ? [...privateEntries("/etc", depthOfConfiguration), ...privateEntries("/opt", 1)]
    : []
  const resolver = confinement.network === "host" ? hiddenResolverFile(view.directories) : null
  return [
    ...view.directories.map((path): Mount => ({ kind: "readOnly", path })),
    ...view.links.map(({ path, target }): Mount => ({ kind: "link", path, target })),
    ...secrets.map(
      ({ path, kind }): Mount =>
        kind === "directory" ? { kind: "scratch", path, mode: 0 } : { kind: "hiddenFile", path },
    ),
    ...["/tmp", "/var/tmp"].map((path): Mount => ({ kind: "scratch", path, mode: 0o1777 })),
    { kind: "scratch", path: "/run", mode: 0o755 },
    { kind: "link", path: "/var/run", target: "../run" },
    ...(resolver === null ? [] : [{ kind: "readOnly", path: resolver } as const]),
  ]
}

/** HOME is an empty place to write. Inside the workspace it comes after it, or the real one would be bound again. */
function homeMounts(settings: ViewSettings, root: string, inWorkspace: boolean): readonly Mount[] {
  const { home } = settings
  if (home === root || isWithin(home, root) !== inWorkspace) return []
  if (coversSystem(home)) return []
  return [{ kind: "scratch", path: home, mode: 0o700 }]
}

/** The directory for temporary files that the environment names, when it lies in memory that is empty inside. */
function temporaryMounts(environment: Readonly<Record<string, string>>): readonly Mount[] {
  const named = new Set(
    ["TMPDIR", "TMP", "TEMP"].flatMap(name => environment[name]?.replace(/\/+$/, "") ?? []),
  )
  return [...named]
    .filter(path => ["/tmp", "/var/tmp", "/run"].some(base => path !== base && isWithin(path, base)))
    .map((path): Mount => ({ kind: "scratch", path, mode: 0o1777 }))
}

function readableMounts(
  system: SystemView,
  settings: ViewSettings,
  root: string,
  toolchains: FindToolchains,
): readonly Mount[] {
  const asked = [...settings.readablePaths, ...linkedGitDirectories(root)].filter(
    path => !isWithin(path, root) && lstatSync(path, { throwIfNoEntry: false }) !== undefined,
  )
  const bound = asked.sort(byDepth).map((path): Mount => ({ kind: "readOnly", path }))
  const installed = toolchains({
    home: settings.home,
    environment: settings.hostEnvironment,
    protection: settings.protection,
    shown: [...system.directories, ...system.links.map(({ path }) => path), ...asked, root],
    kept: [settings.home, ...settings.stateDirectories],
  })
  return [...bound, ...installed]
}

/** Masks credentials, except for what a person opened by its own name or works in. */
function credentialMounts(
  { home, hostEnvironment: environment, protection, readablePaths }: ViewSettings,
  { workspaceRoot, writable }: Confinement,
  shown: readonly Mount[],
): readonly Mount[] {
  const isMeant = (path: string) =>
    writable.some(opened => isWithin(path, opened)) ||
    [workspaceRoot, ...readablePaths, ...writable].some(opened => isWithin(opened, path))
  return credentialMasks({
    home,
    environment,
    places: protection.homeCredentials,
    isShown: path => isShown(shown, path) && !isMeant(path),
  })
}

/** Yields the entries to mask. A person may have opened a link by its own name or by its target. */
function* maskableEntries(
  { protection }: ViewSettings,
  snapshot: TreeSnapshot,
  { workspaceRoot, writable }: Confinement,
) {
  let askedCount = 0
  for (const entry of [...snapshot.protectedEntries.values()].sort((a, b) => byDepth(a.path, b.path))) {
    const isAsked = entry.isForGit === undefined && protection.isAsked(entry.path)
    // Of instructions for assistants there may be one in each package of thousands; the others are compared afterwards.
    if (entry.level === "asked" || (isAsked && ++askedCount > askedMasksMax)) continue
    if (entry.stamp.kind !== "link") yield entry
    // It is checked afterwards, and its target has an entry of its own.
    else if (entry.isForGit === "named" || isAsked) continue
    else if (!isOpened(join(workspaceRoot, entry.path), writable))
      throw linkFailure(workspaceRoot, entry.path)
  }
}

/** Each takes a mount for itself and one for its directory, and bubblewrap looks through all of them each time. */
const askedMasksMax = 100

function isOpened(link: string, writable: readonly string[]): boolean {
  try {
    const target = writable.length === 0 ? link : realpathSync(link)
    return writable.some(path => isWithin(target, path))
  } catch {
    // Its target does not exist, so it cannot have been opened.
    return false
  }
}

function linkFailure(root: string, path: string): Failure {
  return new Failure({
    kind: "confinement",
    code: "ACODE-SEC-003",
    message: `${path} is protected and a symbolic link, which no mask can cover`,
    where: join(root, path),
    hint: `replace the link by what it points to, or open it for this command with --writable ${path}`,
  })
}

/** Masks the state of acode. Comes last, so that no earlier mount shows it. */
function stateMounts(settings: ViewSettings, shown: readonly Mount[]): readonly Mount[] {
  return settings.stateDirectories
    .filter(
      path => isShown(shown, path) && lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true,
    )
    .flatMap((path): readonly Mount[] => [
      { kind: "scratch", path, mode: 0o555 },
      { kind: "frozen", path },
    ])
}

function refuseState(path: string, settings: ViewSettings): void {
  const state = settings.stateDirectories.find(directory => isWithin(path, directory))
  if (state === undefined) return
  throw new Failure({
    kind: "denied",
    code: "ACODE-SEC-003",
    message: `${path} holds acode's own records and cannot be opened to a command`,
    where: state,
    hint: "choose another path for --writable",
  })
}

function refuseMissing(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return
  throw new Failure({
    kind: "usage",
    code: "ACODE-EXE-007",
    message: `${path} does not exist, so it cannot be opened to a command`,
    where: path,
    hint: "create it first, or open the directory it will be in",
  })
}

/** A root that holds system directories would bring them back writable, `/proc` and `/dev` of the host with them. */
function refuseSystemRoot(path: string, home: string): void {
  if (!coversSystem(path)) return
  throw new Failure({
    kind: "confinement",
    code: "ACODE-EXE-010",
    message: `${path} holds system directories, which a confined command may not write`,
    where: path,
    hint: `work in a directory of its own, for example below ${home}`,
  })
}

function coversSystem(path: string): boolean {
  return ["/usr", "/etc", "/proc", "/dev", "/sys", "/run"].some(directory => isWithin(directory, path))
}

/** Deeper than any configuration nests; only there so that a walk ends. */
const depthOfConfiguration = 16
