import { afterEach, beforeEach, expect, test } from "bun:test"
import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { missingProgram, testWhere } from "../support/requirement.ts"
import { inEverySandbox, openRoom, type Room, sh } from "./room.ts"

const pythonTest = testWhere(missingProgram("/usr/bin/python3"))

inEverySandbox("protected names a confined command creates", () => {
  let room: Room
  beforeEach(() => {
    room = openRoom()
  })
  afterEach(() => room.remove())

  const has = (path: string) => existsSync(join(room.root, path))

  test("are moved to quarantine with their content and reported", async () => {
    const ran = await sh(
      room,
      "mkdir -p lib/.git/hooks; echo payload > lib/.git/hooks/post-checkout; echo x > .npmrc",
    )
    expect(ran.exit.exitCode).toBe(0)
    expect(ran.report.quarantined).toEqual([".npmrc", "lib/.git"])
    expect(has("lib/.git")).toBe(false)
    expect(has(".npmrc")).toBe(false)
    expect(has("lib")).toBe(true)
    const kept = join(room.root, ran.report.quarantine ?? "", "lib/.git/hooks/post-checkout")
    expect(readFileSync(kept, "utf8")).toBe("payload\n")
  })

  test("are found when they came with a renamed parent", async () => {
    const ran = await sh(room, "mkdir -p a/b; mkdir a/b/.git; mkdir deep; mv a deep/renamed")
    expect(ran.report.quarantined).toEqual(["deep/renamed/b/.git"])
    expect(has("deep/renamed/b")).toBe(true)
  })

  test("are found in any spelling of their case", async () => {
    const ran = await sh(room, "mkdir -p x/.GIT; echo > .Env")
    expect(ran.report.quarantined).toEqual([".Env", "x/.GIT"])
  })

  test("are found behind a directory the command closed", async () => {
    const ran = await sh(room, "mkdir -p shut/.git; chmod 000 shut")
    expect(ran.report.quarantined).toEqual(["shut/.git"])
    expect(lstatSync(join(room.root, "shut")).mode & 0o777).toBe(0)
    chmodSync(join(room.root, "shut"), 0o700)
  })

  test("are moved as links, not as what the links point to", async () => {
    const ran = await sh(room, "mkdir x; ln -s /etc x/.git; ln -s /etc/passwd x/.env")
    expect(ran.report.quarantined).toEqual(["x/.env", "x/.git"])
    const kept = join(room.root, ran.report.quarantine ?? "", "x/.git")
    expect(lstatSync(kept).isSymbolicLink()).toBe(true)
    expect(existsSync("/etc/passwd")).toBe(true)
  })

  test("are named after the execution, and a second time beside the first", async () => {
    const environment = { PATH: "/usr/bin:/bin", HOME: room.home, ACODE_EXECUTION_ID: "exe_1" }
    const first = await sh(room, "echo > .npmrc", { environment })
    const second = await sh(room, "echo > .npmrc", { environment })
    expect([first.report.quarantine, second.report.quarantine]).toEqual([
      ".agent/quarantine/exe_1",
      ".agent/quarantine/exe_1-2",
    ])
  })

  test("that are always asked about are open to a person, and protected where somebody can be asked", async () => {
    for (let count = 0; count < 150; count++) room.write(`packages/p${count}/AGENTS.md`, "one\n")
    const script =
      "for f in packages/*/AGENTS.md; do echo two 2>/dev/null > $f; done; echo x > sub/AGENTS.md; true"
    room.write("sub/a", "x")
    const count = (text: string) =>
      [...new Bun.Glob("packages/*/AGENTS.md").scanSync(room.root)].filter(
        path => readFileSync(join(room.root, path), "utf8") === text,
      ).length

    const guarded = await sh(room, script, { asked: [] })

    expect([guarded.report.quarantined, guarded.report.asked?.length, count("one\n")]).toEqual([
      ["sub/AGENTS.md"],
      50,
      100,
    ])
    const own = await sh(room, script)
    expect([own.report.quarantined, own.report.asked?.length, count("two\n")]).toEqual([[], 151, 150])
  })

  test("do not include what was there before and stayed", async () => {
    room.write("sub/.git/config", "x")
    room.write("keys/a.pem", "x")
    const ran = await sh(room, "echo > sub/new; echo > keys/other; mkdir -p fresh/dir")
    expect(ran.report).toEqual({ quarantined: [], quarantine: null })
    expect(has("fresh/dir")).toBe(true)
  })

  test("may be as many and as strange as they like", async () => {
    const script = `i=0; while [ $i -lt 60 ]; do mkdir -p "n$i/.git"; i=$((i+1)); done
      mkdir -p "odd name
with newline/.env"; mkfifo .npmrc; mkfifo pipe`
    const ran = await sh(room, script)
    expect(ran.report.quarantined).toHaveLength(62)
    expect(ran.report.left).toBeUndefined()
    expect(has("pipe")).toBe(true)
  }, 20_000)

  pythonTest("are found below a path that is longer than the system takes", async () => {
    const program =
      "import os\nfor _ in range(30): os.mkdir('d' * 200); os.chdir('d' * 200)\nos.mkdir('.git')"
    const ran = await sh(room, `/usr/bin/python3 -c "${program}"`)
    expect(ran.exit.exitCode).toBe(0)
    expect(ran.report.quarantined).toHaveLength(1)
    const depth = ran.report.quarantined[0]?.split("/").length ?? 0
    expect(depth).toBeLessThan(20)
    expect(existsSync(join(room.root, ran.report.quarantined[0] ?? ""))).toBe(false)
  })
})

inEverySandbox("what a person opened for a command", () => {
  let room: Room
  beforeEach(() => {
    room = openRoom()
  })
  afterEach(() => room.remove())

  test("may be written although it is protected, and stays", async () => {
    room.write(".git/config", "old")
    const ran = await sh(room, "echo new > .git/config; mkdir .git/hooks", {
      writable: [join(room.root, ".git")],
    })
    expect(ran.exit.exitCode).toBe(0)
    expect(ran.report.quarantined).toEqual([])
    expect(readFileSync(join(room.root, ".git/config"), "utf8")).toBe("new\n")
  })

  test("may be created where it was missing, with no placeholder in the way", async () => {
    const ran = await sh(room, "mkdir .vscode && echo x > .vscode/settings.json; echo y > .env; cat .env", {
      writable: [join(room.root, ".vscode"), join(room.root, ".env")],
    })
    expect(ran.stdout).toBe("y\n")
    expect(ran.report.quarantined).toEqual([])
    expect(existsSync(join(room.root, ".vscode/settings.json"))).toBe(true)
  })

  test("opens nothing beside it", async () => {
    room.write(".git/config", "old")
    room.write(".git/hooks/pre-commit", "old")
    const ran = await sh(room, "echo x > .git/hooks/pre-commit; echo x > .git/config", {
      writable: [join(room.root, ".git/hooks")],
    })
    expect(ran.exit.exitCode).not.toBe(0)
    expect(readFileSync(join(room.root, ".git/hooks/pre-commit"), "utf8")).toBe("x\n")
    expect(readFileSync(join(room.root, ".git/config"), "utf8")).toBe("old")
  })

  test("may lie outside the workspace", async () => {
    const outside = join(room.base, "outside")
    mkdirSync(outside)
    const ran = await sh(room, `echo x > ${outside}/written`, { writable: [outside] })
    expect(ran.exit.exitCode).toBe(0)
    expect(existsSync(join(outside, "written"))).toBe(true)
  })

  test("is never the state of acode, nor something that is not there", async () => {
    const state = sh(room, "true", { writable: [join(room.root, ".agent/artifacts")] })
    await expect(state).rejects.toThrow("holds acode's own records")
    const missing = sh(room, "true", { writable: [join(room.base, "nowhere")] })
    await expect(missing).rejects.toThrow("does not exist")
  })

  test("lifts the refusal of a protected link, by its name or by its target", async () => {
    room.write("config/real.txt", "value")
    symlinkSync("config/real.txt", join(room.root, ".npmrc"))
    await expect(sh(room, "true")).rejects.toThrow(".npmrc is protected and a symbolic link")
    for (const path of [".npmrc", "config/real.txt"]) {
      const ran = await sh(room, "cat .npmrc", { writable: [join(room.root, path)] })
      expect(ran.stdout).toBe("value")
    }
  })
})
