import { chmodSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { statePlaces } from "../../../src/app/state/state-directory.ts"

export interface TempWorkspace extends Disposable {
  /** The workspace itself: real path, empty but for what was asked for. */
  readonly root: string
  /** The directory around it, for what must lie outside the workspace. */
  readonly outside: string
  /** Keys, anchors and trust of this workspace alone. */
  readonly dataHome: string
  readonly configHome: string
  readonly stateHome: string
  /** A path below the state that acode keeps of this workspace. */
  state(...names: string[]): string
  /** A whole environment for a child: nothing of the person who runs the tests but PATH and HOME. */
  readonly environment: Readonly<Record<string, string>>
  /** Writes a file below the workspace, parents included, and gives its path. */
  write(path: string, content: string | Uint8Array): string
}

export interface TempWorkspaceOptions {
  readonly git?: boolean
  readonly files?: Readonly<Record<string, string>>
}

/** A fresh workspace with state directories of its own; `using` removes it. */
export function tempWorkspace(options: TempWorkspaceOptions = {}): TempWorkspace {
  const outside = realpathSync(mkdtempSync(join(tmpdir(), "acode-")))
  const directory = (name: string): string => {
    const path = join(outside, name)
    mkdirSync(path, { mode: 0o700 })
    return path
  }
  const root = directory("workspace")
  const configHome = directory("config")
  const dataHome = directory("data")
  const cacheHome = directory("cache")
  const stateHome = directory("state")
  const homes = { xdgDataHome: dataHome, xdgStateHome: stateHome, stateDirectory: null }
  const write = (path: string, content: string | Uint8Array): string => {
    const target = join(root, path)
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, content)
    return target
  }
  for (const [path, content] of Object.entries(options.files ?? {})) write(path, content)
  if (options.git === true) initGit(root)
  return {
    root,
    outside,
    dataHome,
    configHome,
    stateHome,
    state: (...names) => join(statePlaces(root, homes).stateDirectory, ...names),
    environment: {
      PATH: process.env["PATH"] ?? "/usr/bin:/bin",
      HOME: process.env["HOME"] ?? "/",
      LANG: "C.UTF-8",
      TMPDIR: tmpdir(),
      XDG_CONFIG_HOME: configHome,
      XDG_DATA_HOME: dataHome,
      XDG_CACHE_HOME: cacheHome,
      XDG_STATE_HOME: stateHome,
    },
    write,
    [Symbol.dispose]: () => removeTree(outside),
  }
}

/** Makes an empty repository, as `git init` does, also where git is not installed. */
export function initRepository(directory: string): void {
  for (const path of ["objects/info", "objects/pack", "refs/heads", "refs/tags", "info", "hooks"])
    mkdirSync(join(directory, ".git", path), { recursive: true })
  writeFileSync(join(directory, ".git/HEAD"), "ref: refs/heads/main\n")
  const config = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"
  writeFileSync(join(directory, ".git/config"), config)
}

/** Makes the workspace a repository. Without git it commits nothing: most tests only need the directory. */
function initGit(root: string): void {
  initRepository(root)
  if (Bun.which("git") === null) return
  const identity = ["-c", "user.name=Test", "-c", "user.email=test@example.invalid"]
  for (const args of [
    ["add", "-A"],
    [...identity, "commit", "-q", "--allow-empty", "-m", "first"],
  ]) {
    const { exitCode, stderr } = Bun.spawnSync(["git", ...args], { cwd: root, stderr: "pipe" })
    if (exitCode !== 0) throw new Error(`git ${args.join(" ")}: ${stderr.toString()}`)
  }
}

/** Removes directories without write permission too, which tests of read-only state leave behind. */
function removeTree(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true })
  } catch {
    // Not root, and a directory inside forbids writing: open all of them, then try once more.
    makeWritable(path)
    rmSync(path, { recursive: true, force: true })
  }
}

function makeWritable(directory: string): void {
  chmodSync(directory, 0o700)
  for (const entry of readdirSync(directory, { withFileTypes: true }))
    if (entry.isDirectory()) makeWritable(join(directory, entry.name))
}
