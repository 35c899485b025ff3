import { beforeAll } from "bun:test"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { systemClock } from "../../src/base/clock.ts"
import { type Exit, spawn } from "../../src/base/spawn.ts"
import { unlimited } from "../../src/domain/command.ts"
import type {
  CleanUpReport,
  Confinement,
  ProcessTree,
  Protection,
  ProtectionLevel,
  Sandbox,
} from "../../src/sandbox/contract.ts"
import { findCandidates } from "../../src/sandbox/mechanisms.ts"
import type { ConfinedSettings } from "../../src/sandbox/settings.ts"
import { describeWhere } from "../support/requirement.ts"

/** A workspace, a home and a sandbox of their own, in a temporary directory. */
export interface Room {
  readonly base: string
  readonly root: string
  readonly home: string
  readonly settings: ConfinedSettings
  readonly sandbox: Sandbox
  write(path: string, content?: string): void
  remove(): void
}

/** Every way to confine a command, with the reason why it does not work here. */
export const sandboxKinds = await Promise.all(
  findCandidates("/nonexistent").map(async candidate => {
    const probe = await candidate.probe()
    return { kind: candidate.kind, candidate, probe, missing: probe.kind === "none" ? probe.reason : null }
  }),
)

type RoomKind = (typeof sandboxKinds)[number]["kind"]

const current: { kind: RoomKind } = { kind: "bwrap" }

/** Describes what holds whichever way a command is confined: each room that is opened inside has that sandbox. */
export function inEverySandbox(
  title: string,
  body: (kind: RoomKind) => void,
  needs: string | null = null,
): void {
  for (const { kind, missing } of sandboxKinds.filter(each => each.kind !== "reduced"))
    describeWhere(missing ?? needs)(`${title} (${kind})`, () => {
      beforeAll(() => {
        current.kind = kind
      })
      body(kind)
    })
}

export function openRoom(changes: Partial<ConfinedSettings> = {}, kind: RoomKind = current.kind): Room {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "acode-sandbox-")))
  const root = join(base, "workspace")
  const home = join(base, "home")
  for (const directory of [join(root, ".agent"), join(home, ".ssh"), join(home, ".data", "keys")])
    mkdirSync(directory, { recursive: true })
  writeFileSync(join(home, ".ssh", "id_rsa"), "home-secret")
  writeFileSync(join(home, ".data", "keys", "log.key"), "signing-secret")
  writeFileSync(join(root, ".agent", "workspace.db"), "database-secret")
  const settings: ConfinedSettings = {
    clock: systemClock,
    unixSockets: "deny",
    home,
    hostEnvironment: { PATH: "/usr/local/bin:/usr/bin:/bin" },
    protection: testProtection,
    stateDirectories: [join(root, ".agent"), join(home, ".data")],
    readablePaths: [],
    dependencyDirectories: ["node_modules"],
    workDirectory: join(root, ".agent", "sandbox"),
    submodules: () => [],
    quarantineDirectory: join(root, ".agent", "quarantine"),
    onSetupFailed: () => undefined,
    resolveHost: () => Promise.reject(new Error("no name is to be looked up")),
    ...changes,
  }
  return {
    base,
    root,
    home,
    settings,
    sandbox: sandboxOf(kind, settings),
    write: (path, content = "") => {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), content)
    },
    remove: () => rmSync(base, { recursive: true, force: true }),
  }
}

function sandboxOf(kind: RoomKind, settings: ConfinedSettings): Sandbox {
  const found = sandboxKinds.find(each => each.kind === kind)
  if (found === undefined) throw new Error(`no sandbox ${kind}`)
  return found.candidate.create(settings, found.probe)
}

/** A small stand-in for policy's table: enough names of each kind. */
export const testProtection: Protection = {
  classify: path => {
    let level: ProtectionLevel = "open"
    for (const name of path.toLowerCase().split("/")) {
      if (hiddenNames.includes(name) || name.endsWith(".pem")) return "hidden"
      if (readOnlyNames.includes(name)) level = "noWrite"
    }
    return level
  },
  isAsked: path => /(^|\/)(\.github|AGENTS\.md)(\/|$)/.test(path),
  homeCredentials: [".ssh", ".cargo/credentials", ".nvm/versions/node/*/etc/npmrc", ".config/uv"],
  topLevelNames: [
    { name: ".git", kind: "directory", hidden: false },
    { name: ".vscode", kind: "directory", hidden: false },
    { name: ".claude", kind: "directory", hidden: false },
    { name: ".npmrc", kind: "file", hidden: false },
    { name: "secrets", kind: "directory", hidden: true },
  ],
}

const readOnlyNames = [".git", ".vscode", ".claude", ".npmrc", ".agent"]
const hiddenNames = [".env", "secrets", "private", "id_rsa", "credentials.toml", ".ssh"]

export interface Ran {
  readonly exit: Exit
  readonly stdout: string
  readonly stderr: string
  readonly report: CleanUpReport
  readonly tree: ProcessTree
}

export function confinementOf(
  room: Room,
  argv: readonly string[],
  changes: Partial<Confinement> = {},
): Confinement {
  return {
    argv,
    environment: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: room.home },
    workspaceRoot: room.root,
    cwd: room.root,
    network: "none",
    writable: [],
    asked: null,
    limits: unlimited,
    layers: null,
    ...changes,
  }
}

/** Runs a command to its end the way the runner does. `during` is called as soon as the program may start. */
export async function run(
  room: Pick<Room, "sandbox">,
  confinement: Confinement,
  during: (tree: ProcessTree, pid: number) => Promise<void> | void = () => undefined,
): Promise<Ran> {
  const launch = await room.sandbox.prepare(confinement)
  const child = spawn({ ...launch.spawn, stdin: "null", stdout: "pipe", stderr: "pipe" })
  try {
    const output = Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    const tree = await launch.attach(child)
    try {
      await during(tree, child.pid)
    } catch (error) {
      await tree.kill()
      throw error
    }
    const exit = await child.exited
    await tree.settle()
    const [stdout, stderr] = await output
    return { exit, stdout, stderr, tree, report: await launch.cleanUp() }
  } finally {
    child.close()
    await launch.cleanUp()
  }
}

/** Runs a shell script in the room. */
export function sh(room: Room, script: string, changes: Partial<Confinement> = {}): Promise<Ran> {
  return run(room, confinementOf(room, ["/bin/sh", "-c", script], changes))
}
