import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, realpathSync, symlinkSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { repositoryRoot } from "../support/acode.ts"
import {
  type FakeCheckout,
  type FakeRunOptions,
  fakeCheckout,
  setTraps,
} from "../support/workspace/fake-checkout.ts"
import { type TempWorkspace, tempWorkspace } from "../support/workspace/temp-workspace.ts"

const launcherFiles = ["bin/acode", "scripts/pinned-bun.sh", "tsconfig.json"]

/** Tells how it was started. */
const program = `
import { answer } from "./library.ts"
const { pid, argv, env } = process
const { EVIL, BUN_OPTIONS, BUN_RUNTIME_TRANSPILER_CACHE_PATH: cache } = env
if (argv[2] === "signal") process.kill(pid, "SIGTERM")
if (argv[2] === "status") process.exit(Number(argv[3]))
process.stdout.write(JSON.stringify({ answer, pid, argv: argv.slice(2), cwd: process.cwd(), EVIL, BUN_OPTIONS, cache }))
`

let checkout: FakeCheckout
let elsewhere: TempWorkspace
let launcher = ""

beforeAll(() => {
  elsewhere = tempWorkspace()
  checkout = fakeCheckout(launcherFiles)
  checkout.write("src/main.ts", program)
  checkout.write("src/library.ts", "export const answer = 42\n")
  launcher = join(checkout.root, "bin/acode")
})

afterAll(() => {
  checkout[Symbol.dispose]()
  elsewhere[Symbol.dispose]()
})

function told(argv: readonly string[], options: FakeRunOptions = {}) {
  const { stdout, stderr } = checkout.run(argv, { cwd: elsewhere.root, ...options })
  expect(stderr).toBe("")
  return JSON.parse(stdout)
}

describe("bin/acode finds its checkout", () => {
  test("from another directory, keeping the current one and every argument as it is", () => {
    const args = ["exec", "--", "printf", "%s", "a b", "", "--no-env-file", "*"]
    expect(told([launcher, ...args])).toMatchObject({ answer: 42, argv: args, cwd: elsewhere.root })
  })

  test("through a chain of absolute and relative symlinks, and through a linked directory", () => {
    const links = mkdtempSync(join(elsewhere.root, "links -"))
    symlinkSync(launcher, join(links, "first"))
    symlinkSync("first", join(links, "second"))
    symlinkSync(join("..", basename(links), "second"), join(links, "third"))
    symlinkSync(join(checkout.root, "bin"), join(links, "directory"))
    for (const name of ["first", "second", "third", "directory/acode"])
      expect(told([join(links, name)]).answer).toBe(42)
  })

  test("by a relative path, by PATH, and with CDPATH set to mislead it", () => {
    const bin = join(checkout.root, "bin")
    const env = { CDPATH: elsewhere.root, PATH: `${bin}:${process.env["PATH"]}` }
    expect(told(["bin/acode"], { cwd: checkout.root, env }).answer).toBe(42)
    expect(told(["/bin/sh", "-c", "acode"], { env }).answer).toBe(42)
    expect(told(["/bin/sh", "acode"], { cwd: bin, env }).answer).toBe(42)
  })
})

/** A project with acode among its packages, and nothing that acode needs. */
function installedPackage(): FakeCheckout {
  const project = fakeCheckout([], "missing")
  for (const file of [...launcherFiles, "package.json"]) {
    project.write(`node_modules/acode/${file}`, "")
    copyFileSync(join(repositoryRoot, file), join(project.root, "node_modules/acode", file))
  }
  project.write("node_modules/acode/src/main.ts", "process.stdout.write(process.execPath)\n")
  project.write("node_modules/.bin/.keep", "")
  symlinkSync("../acode/bin/acode", join(project.root, "node_modules/.bin/acode"))
  return project
}

describe("bin/acode of an installed package finds its Bun", () => {
  const installedBun = realpathSync(join(repositoryRoot, "node_modules/bun"))
  const other = '{\n  "name": "bun",\n  "version": "0.0.1"\n}\n'

  function link(project: FakeCheckout, path: string, target = installedBun): void {
    mkdirSync(dirname(join(project.root, path)), { recursive: true })
    symlinkSync(target, join(project.root, path))
  }

  test("beside it, below it, or beside the project, and takes no other version for it", () => {
    for (const place of ["node_modules/bun", "node_modules/acode/node_modules/bun", "../node_modules/bun"]) {
      using outer = fakeCheckout([], "missing")
      using project = installedPackage()
      const moved = join(outer.root, "project")
      cpSync(project.root, moved, { recursive: true, verbatimSymlinks: true })
      if (!place.startsWith("node_modules/bun")) outer.write("project/node_modules/bun/package.json", other)
      link(outer, join("project", place))
      const run = outer.run([join(moved, "node_modules/.bin/acode")], { cwd: "/" })
      expect({ place, ...run, pid: 0 }).toMatchObject({ place, exitCode: 0, stderr: "" })
      expect(run.stdout).toBe(realpathSync(join(installedBun, "bin/bun.exe")))
    }
  })

  test("where packages are links and what they need lies beside the real one, without install scripts", () => {
    using project = installedPackage()
    const store = "node_modules/.store/bun/node_modules"
    project.write(`${store}/bun/bin/bun.exe`, "#!/bin/sh\nexit 1\n", 0o755)
    copyFileSync(join(installedBun, "package.json"), join(project.root, store, "bun/package.json"))
    link(project, "node_modules/bun", join(project.root, store, "bun"))
    link(project, `${store}/@oven/bun-here/bin/bun`, process.execPath)
    expect(project.run(["node_modules/.bin/acode"]).stdout).toBe(realpathSync(process.execPath))
  })
})

describe("bin/acode becomes acode", () => {
  test("with the pid, the exit status and the signal of the program", () => {
    const child = checkout.run([launcher])
    expect(JSON.parse(child.stdout).pid).toBe(child.pid)
    expect(checkout.run([launcher, "status", "42"]).exitCode).toBe(42)
    expect(checkout.run([launcher, "signal"]).signal).toBe("SIGTERM")
  })

  test("with a transpiler cache in the checkout and nothing of it in HOME", () => {
    const home = mkdtempSync(join(elsewhere.outside, "home-"))
    const cache = join(checkout.root, "node_modules/.cache/acode")
    expect(told([launcher], { env: { HOME: home } }).cache).toBe(cache)
    expect([...new Bun.Glob("**").scanSync({ cwd: home, dot: true })]).toEqual([])
  })
})

describe("a hostile current directory", () => {
  test("has no say: .env, bunfig.toml, tsconfig.json and package.json are not read", () => {
    const trap = mkdtempSync(join(elsewhere.outside, "trap-"))
    setTraps(trap)
    const below = join(trap, "deep/er")
    mkdirSync(below, { recursive: true })
    for (const cwd of [trap, below]) {
      const seen = told([launcher, "a"], { cwd, env: { HOME: trap, XDG_CONFIG_HOME: trap } })
      expect({ answer: seen.answer, evil: seen.EVIL, argv: seen.argv }).toEqual({
        answer: 42,
        evil: undefined,
        argv: ["a"],
      })
    }
  })

  test("nor have the options the caller keeps for Bun programs of their own", () => {
    const preload = elsewhere.write("preload.ts", 'process.stdout.write("PRELOADED")\n')
    expect(told([launcher], { env: { BUN_OPTIONS: `--preload=${preload}` } }).BUN_OPTIONS).toBeUndefined()
  })
})

describe("a checkout that cannot start", () => {
  test("says to run npm ci, and exits 1, or 125 for exec", () => {
    using bare = fakeCheckout(launcherFiles, "missing")
    const plain = bare.run(["bin/acode", "runs", "list"])
    expect(plain.exitCode).toBe(1)
    expect(plain.stderr).toContain("npm ci")
    expect(bare.run(["bin/acode", "-C", "/", "exec", "true"]).exitCode).toBe(125)
  })

  test("still starts when install scripts did not run: the platform package holds the program", () => {
    using scriptless = fakeCheckout(launcherFiles, "missing")
    symlinkSync(join(checkout.root, "src"), join(scriptless.root, "src"))
    scriptless.write("node_modules/bun/bin/bun.exe", "#!/bin/sh\nexit 1\n", 0o755)
    const platform = scriptless.write("node_modules/@oven/bun-here/bin/README", "")
    symlinkSync(process.execPath, join(platform, "../bun"))
    expect(JSON.parse(scriptless.run(["bin/acode"]).stdout).answer).toBe(42)
  })

  test("that is an installed package says to install it again", () => {
    using project = installedPackage()
    const { exitCode, stderr } = project.run(["node_modules/.bin/acode", "status"])
    expect(exitCode).toBe(1)
    expect(stderr).toContain("install acode again")
  })

  test("tells a loop of symlinks from a missing file", () => {
    symlinkSync("loop-b", join(elsewhere.root, "loop-a"))
    symlinkSync("loop-a", join(elsewhere.root, "loop-b"))
    const looped = checkout.run(["/bin/sh", "-c", `. ${launcher}`, join(elsewhere.root, "loop-a")])
    expect(looped.exitCode).toBe(1)
    expect(looped.stderr).toContain("leads nowhere")
  })
})
