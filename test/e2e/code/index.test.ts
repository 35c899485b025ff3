import { Database } from "bun:sqlite"
import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { tryLock } from "../../../src/base/libc.ts"
import { type AcodeRun, acodeProgram, repositoryRoot, runAcode } from "../../support/acode.ts"
import { check } from "../../support/checker/checker.ts"
import { crashes } from "../../support/crash/crash.ts"
import { eventually } from "../../support/eventually.ts"
import { testWhere } from "../../support/requirement.ts"
import { mountSkip, readOnlyMount, smallDisk } from "../../support/workspace/mount-namespace.ts"
import { type TempWorkspace, tempWorkspace } from "../../support/workspace/temp-workspace.ts"

let workspace: TempWorkspace
beforeEach(() => {
  workspace = tempWorkspace({ git: true })
})
afterEach(() => workspace[Symbol.dispose]())

const acode = (...args: string[]): Promise<AcodeRun> =>
  runAcode(args, { cwd: workspace.root, env: workspace.environment })

async function rows(...args: string[]): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { stdout, exitCode, stderr } = await acode(...args, "--json")
  expect([exitCode, stderr]).toEqual([0, expect.any(String)])
  return JSON.parse(stdout).rows
}

/** The parser of acode itself, as a workspace with code of its own. */
function copySources(): readonly string[] {
  const source = join(repositoryRoot, "src", "code")
  const names = readdirSync(source, { recursive: true, encoding: "utf8" }).filter(name =>
    name.endsWith(".ts"),
  )
  for (const name of names) workspace.write(`src/${name}`, readFileSync(join(source, name)))
  return names.map(name => `src/${name}`)
}

describe("acode refs", () => {
  test("finds each place that a search of the words finds, but for comments and strings", async () => {
    const paths = copySources()
    // A question updates the index for a bounded time, which a busy machine may exceed.
    await acode("index")
    for (const name of ["CodeLanguage", "decodeSource", "symbolsOf", "namedChildren"]) {
      const found = (await rows("refs", name)).map(row => `${row["from_file_path"]}:${row["line"]}`)
      const searched = paths.flatMap(path =>
        readFileSync(join(workspace.root, path), "utf8")
          .split("\n")
          .flatMap((line, index) => {
            const code = line.replace(/\/\/.*|^\s*(\/\*)?\*.*|"[^"]*"|`[^`]*`/g, "")
            return [...code.matchAll(new RegExp(`\\b${name}\\b`, "g"))].map(() => `${path}:${index + 1}`)
          }),
      )
      expect(searched.length).toBeGreaterThan(0)
      expect(found.toSorted()).toEqual(searched.toSorted())
    }
    const spans = await rows("refs", "decodeSource", "--from", "src/parser.ts")
    const bytes = readFileSync(join(workspace.root, "src/parser.ts"))
    expect(
      spans.map(({ byte_start, byte_end }) =>
        bytes.subarray(Number(byte_start), Number(byte_end)).toString(),
      ),
    ).toEqual(["decodeSource", "decodeSource"])
    expect(await rows("refs", "no_such_name")).toEqual([])
  })

  test("sees what changed, what is gone and what is new, without being told", async () => {
    workspace.write("a.py", "def first():\n    pass\n")
    workspace.write("b.py", "from a import first\nfirst()\n")
    expect(await rows("refs", "first")).toHaveLength(3)
    workspace.write("a.py", "def second():\n    pass\n")
    rmSync(join(workspace.root, "b.py"))
    workspace.write("bin/tool", "#!/bin/sh\nsecond() { :; }\nsecond\n")
    Bun.spawnSync(["chmod", "+x", join(workspace.root, "bin/tool")])
    expect(await rows("refs", "first")).toEqual([])
    expect((await rows("refs", "second")).map(row => row["from_file_path"])).toEqual([
      "a.py",
      "bin/tool",
      "bin/tool",
    ])
  })
})

describe("acode symbols", () => {
  test("knows every language, also in the compiled program, which embeds the grammars", async () => {
    const fixtures = join(repositoryRoot, "test", "code", "fixtures")
    const names = readdirSync(fixtures).filter(name => name !== "symbols.txt")
    for (const name of names) workspace.write(name.replace(/\.txt$/, ""), readFileSync(join(fixtures, name)))
    const { stdout } = await acode("index", "--json")
    expect(JSON.parse(stdout)).toEqual({ files: names.length, parsed: names.length, removed: 0, missing: 0 })
    expect((await rows("index", "--problems")).filter(row => row["unparsed"] !== null)).toEqual([])
    expect((await rows("refs", "deliver")).length).toBeGreaterThan(1)
  })

  test("names each with its span, and says why a file has none", async () => {
    const text = "class Größe:\n    def f(self):\n        return 1\n"
    workspace.write("a.py", text)
    const found = await rows("symbols", "a.py")
    expect(
      found.map(row => [row["kind"], row["name"], row["container"], row["line_start"], row["line_end"]]),
    ).toEqual([
      ["class", "Größe", null, 1, 3],
      ["method", "f", "Größe", 2, 3],
    ])
    expect(
      found.map(row =>
        Buffer.from(text).subarray(Number(row["byte_start"]), Number(row["byte_end"])).toString(),
      ),
    ).toEqual([text.trim(), "def f(self):\n        return 1"])
    expect((await acode("symbols", "a.py")).stdout).toContain("Größe.f")
    workspace.write("notes.txt", "nothing")
    workspace.write("old.py", Buffer.from([0x61, 0xe4, 0x0a]))
    for (const path of ["notes.txt", "old.py"]) {
      const { exitCode, stderr } = await acode("symbols", path)
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining("ACODE-CODE-001")])
    }
    const { stdout } = await acode("index", "--problems")
    expect(stdout).toContain("old.py  python  it is not UTF-8")
    expect((await acode("index", "--problems", "--json")).stdout).toContain('"unparsed": "it is not UTF-8"')
  })

  test("leaves out what git ignores, what is excluded and what is too large", async () => {
    workspace.write(".gitignore", "build/\n")
    workspace.write("build/a.py", "def shared(): pass\n")
    workspace.write("generated/a.py", "def shared(): pass\n")
    workspace.write("large.py", `def shared(): pass\n${"# more\n".repeat(400)}`)
    workspace.write("small.py", "def shared(): pass\n")
    workspace.write(
      ".agent/config.yml",
      'schema_version: "1"\ncode:\n  exclude: ["generated/**"]\n  max_file_kb: 1\n',
    )
    expect((await rows("refs", "shared")).map(row => row["from_file_path"])).toEqual(["small.py"])
    workspace.write(".agent/config.yml", 'schema_version: "1"\ncode:\n  enabled: false\n')
    const { exitCode, stderr } = await acode("refs", "shared")
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("E103")])
  })
})

describe("acode outline", () => {
  test("names what other files use first, within the budget", async () => {
    copySources()
    const short = (await acode("outline", "--budget", "100")).stdout
    expect(short.length).toBeLessThan(440)
    expect(short).toContain("export interface CodeLanguage")
    const { stdout } = await acode("outline", "src/languages", "--budget", "1000", "--json")
    const { text, shownSymbols, symbols } = JSON.parse(stdout)
    expect(text).toContain("src/languages/bash.ts:")
    expect(text).not.toContain("src/parser.ts")
    expect(shownSymbols).toBeLessThanOrEqual(symbols)
  })
})

describe("acode index --watch", () => {
  test("reports each change as a line until it is interrupted, also while another acode has the index", async () => {
    workspace.write("a.py", "def one(): pass\n")
    await using watching = startWatch()
    const reported = (count: number) =>
      eventually(`update ${count}`, () => watching.updates().length >= count)
    await reported(1)
    workspace.write("b.py", "def two(): pass\n")
    await reported(2)
    const lock = openSync(workspace.state("code.db.lock"), "a")
    await eventually("the lock is free", () => tryLock(lock, "exclusive"))
    rmSync(join(workspace.root, "a.py"))
    expect((await acode("refs", "one", "--no-update")).stdout).toContain("a.py:1")
    closeSync(lock)
    await reported(3)
    expect(watching.updates()).toEqual([
      { files: 1, parsed: 1, removed: 0, missing: 0 },
      { files: 2, parsed: 1, removed: 0, missing: 0 },
      { files: 1, parsed: 0, removed: 1, missing: 0 },
    ])
    watching.child.kill("SIGINT")
    expect(await watching.child.exited).toBe(130)
  })

  function startWatch() {
    const child = Bun.spawn([acodeProgram(), "index", "--watch", "--json"], {
      cwd: workspace.root,
      env: workspace.environment,
      stdout: "pipe",
      stderr: "inherit",
    })
    let output = ""
    const reading = (async () => {
      for await (const chunk of child.stdout) output += new TextDecoder().decode(chunk)
    })()
    return {
      child,
      updates: () =>
        output
          .split("\n")
          .slice(0, -1)
          .map(line => JSON.parse(line)),
      [Symbol.asyncDispose]: async () => {
        child.kill("SIGKILL")
        await reading
      },
    }
  }
})

describe("an index that cannot be changed", () => {
  test("answers --no-update as it is and says how much changed; without an index there is E103", async () => {
    workspace.write("a.py", "def one(): pass\n")
    const none = await acode("refs", "one", "--no-update")
    expect([none.exitCode, none.stderr]).toEqual([2, expect.stringContaining("E103")])
    await acode("index")
    workspace.write("a.py", "def one(): one()\n")
    workspace.write("b.py", "one()\n")
    for (const verb of [["refs", "one"], ["symbols", "a.py"], ["outline"]]) {
      const { exitCode, stderr } = await acode(...verb, "--no-update")
      expect([verb, exitCode, stderr]).toEqual([
        verb,
        0,
        expect.stringContaining("2 changed files not parsed"),
      ])
    }
    expect(JSON.parse((await acode("refs", "one", "--no-update", "--json")).stdout)).toMatchObject({
      stale: true,
      missingFiles: 2,
      rows: [{ from_file_path: "a.py", byte_start: 4, byte_end: 7, line: 1, match: "name" }],
    })
    expect(await rows("refs", "one")).toHaveLength(3)
  })

  const mountTest = testWhere(mountSkip())
  mountTest("because its disk is read-only still answers; without an index the reason is said", async () => {
    workspace.write("a.py", "def one(): pass\n")
    await acode("status")
    mkdirSync(workspace.state(), { recursive: true })
    const through = readOnlyMount(workspace.outside)
    const inMount = (...args: string[]) =>
      runAcode(args, { cwd: workspace.root, env: workspace.environment, through })
    const none = await inMount("refs", "one")
    expect([none.exitCode, none.stderr]).toEqual([2, expect.stringMatching(/E103.*cannot be written/)])
    await acode("index")
    workspace.write("b.py", "one()\n")
    const { exitCode, stdout, stderr } = await inMount("refs", "one")
    expect([exitCode, stdout, stderr]).toEqual([
      0,
      "a.py:1\n",
      expect.stringContaining("1 changed file not parsed"),
    ])
    expect((await inMount("index")).exitCode).toBe(2)
  })

  mountTest(
    "because its disk is full keeps what was recorded and says so",
    async () => {
      const body = `# ${"x".repeat(20)}\n`.repeat(300)
      for (let file = 0; file < 60; file++) {
        const uses = Array.from({ length: 400 }, (_, index) => `name_${file}_${index}()\n`).join("")
        workspace.write(`${file}.py`, `def name_${file}(): pass\n${uses}${body}`)
      }
      await acode("status")
      mkdirSync(workspace.state(), { recursive: true })
      const owned = ["sh", "-c", 'chmod 700 "$0" && exec "$@"', workspace.state()]
      const disk = [...smallDisk(workspace.state(), 600_000), ...owned]
      const { exitCode, stderr, stdout } = await runAcode(["index"], {
        cwd: workspace.root,
        env: workspace.environment,
        through: disk,
      })
      expect([exitCode, stdout, stderr]).toEqual([
        1,
        "",
        expect.stringMatching(/ACODE-(DB-004|FS-010)[\s\S]*→/),
      ])
      await acode("index")
      expect(await rows("refs", "name_59_59")).toHaveLength(1)
    },
    90_000,
  )
})

describe("the index of a workspace", () => {
  test("is another process's while that one changes it: old answers, and no answer before there are any", async () => {
    workspace.write("a.py", "def one(): pass\n")
    await acode("status")
    mkdirSync(workspace.state(), { recursive: true })
    const lock = openSync(workspace.state("code.db.lock"), "a")
    expect(tryLock(lock, "exclusive")).toBe(true)
    const refused = await acode("refs", "one")
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining("ACODE-CODE-003")])
    closeSync(lock)
    expect(await rows("refs", "one")).toHaveLength(1)
    workspace.write("b.py", "one()\n")
    const again = openSync(workspace.state("code.db.lock"), "a")
    expect(tryLock(again, "exclusive")).toBe(true)
    const { stdout, stderr } = await acode("refs", "one", "--json")
    expect(JSON.parse(stdout)).toMatchObject({
      stale: true,
      missingFiles: 1,
      rows: [{ from_file_path: "a.py" }],
    })
    expect(stderr).toContain("1 changed file not parsed yet")
    closeSync(again)
  })

  test("is made anew when it is damaged, and by --rebuild", async () => {
    workspace.write("a.py", "def one(): pass\n")
    expect(JSON.parse((await acode("index", "--json")).stdout)).toEqual({
      files: 1,
      parsed: 1,
      removed: 0,
      missing: 0,
    })
    expect((await acode("index")).stdout).toBe("1 file indexed: 0 parsed now, 0 removed\n")
    expect((await acode("index", "--rebuild")).stdout).toBe("1 file indexed: 1 parsed now, 0 removed\n")
    writeFileSync(workspace.state("code.db"), "damaged".repeat(1000))
    expect(await rows("refs", "one")).toHaveLength(1)
  })

  test("is made anew when a table was lost, which only a question notices", async () => {
    workspace.write("a.py", "def one(): pass\n")
    await acode("index")
    {
      using db = new Database(workspace.state("code.db"))
      db.run("DROP TABLE uses")
    }
    expect(await rows("refs", "one")).toHaveLength(1)
  })

  test("survives kill -9 at every point: the next question is answered in full", async () => {
    workspace.write("a.py", "def one(): pass\n")
    await acode("index")
    let points = 0
    for await (const { crashed } of crashes(failpoint =>
      runAcode(["index", "--rebuild"], {
        cwd: workspace.root,
        env: { ...workspace.environment, ...failpoint },
      }),
    )) {
      expect(await rows("refs", "one")).toHaveLength(1)
      if (crashed) points++
    }
    expect(points).toBeGreaterThan(5)
    await check(workspace)
  }, 60_000)
})
