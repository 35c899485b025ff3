import { describe, expect, test } from "bun:test"
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { testWhere } from "../support/requirement.ts"
import { configFixture, executionYaml, failureOf } from "./config-fixture.ts"

const asPerson = testWhere(process.getuid?.() === 0 ? "root may read everything" : null)
const valid = executionYaml("max_concurrent: 2")

describe("what stands at the path of the project file", () => {
  test("may be a symlink that stays inside the workspace", async () => {
    using fixture = configFixture()
    fixture.workspace.write("shared/acode.yml", valid)
    symlinkSync("../shared/acode.yml", fixture.projectPath)
    expect((await fixture.load()).values.execution.max_concurrent).toBe(2)
  })

  test("may not be a symlink out of the workspace, not even to a valid file", async () => {
    using fixture = configFixture()
    const outside = join(fixture.workspace.outside, "outside.yml")
    writeFileSync(outside, valid)
    symlinkSync(outside, fixture.projectPath)
    const report = await failureOf(() => fixture.load())
    expect(report).toMatchObject({ kind: "config", code: "ACODE-CFG-001", where: ".agent/config.yml" })
    expect(report.message).toContain("is a symlink that leaves the workspace")
  })

  test("may not be reached through a directory that is a symlink out of the workspace", async () => {
    using fixture = configFixture()
    const elsewhere = join(fixture.workspace.outside, "elsewhere")
    mkdirSync(elsewhere)
    writeFileSync(join(elsewhere, "config.yml"), valid)
    rmSync(join(fixture.workspace.root, ".agent"), { recursive: true })
    symlinkSync(elsewhere, join(fixture.workspace.root, ".agent"))
    expect((await failureOf(() => fixture.load())).message).toContain("leaves the workspace")
  })

  test("may not be a sibling directory whose name starts like the workspace", async () => {
    using fixture = configFixture()
    const sibling = `${fixture.workspace.root}-other`
    mkdirSync(sibling)
    writeFileSync(join(sibling, "config.yml"), valid)
    symlinkSync(join(sibling, "config.yml"), fixture.projectPath)
    expect((await failureOf(() => fixture.load())).message).toContain("leaves the workspace")
  })

  test.each([
    [
      "a symlink to nothing",
      (path: string) => symlinkSync("missing.yml", path),
      "is a symlink to a missing file",
    ],
    [
      "a symlink to itself",
      (path: string) => symlinkSync("config.yml", path),
      "is a symlink that points to itself",
    ],
    ["a directory", (path: string) => mkdirSync(path), "is a directory, not a file"],
    ["a FIFO nobody writes to", (path: string) => run("mkfifo", path), "is a FIFO, not a file"],
    ["a device", (path: string) => symlinkSync("/dev/zero", path), "leaves the workspace"],
  ])("%s is a clear error and never waited for", async (_what, make, message) => {
    using fixture = configFixture()
    make(fixture.projectPath)
    const report = await failureOf(() => fixture.load())
    expect(report).toMatchObject({ kind: "config", code: "ACODE-CFG-001", where: ".agent/config.yml" })
    expect(report.message).toContain(message)
  })

  test("a socket is a clear error", async () => {
    using fixture = configFixture()
    const server = Bun.listen({ unix: fixture.projectPath, socket: { data: () => undefined } })
    try {
      expect((await failureOf(() => fixture.load())).message).toContain("is a socket, not a file")
    } finally {
      server.stop(true)
    }
  })

  test("a device named by a person is a clear error", async () => {
    using fixture = configFixture()
    const report = await failureOf(() => fixture.load({ flags: { configFile: "/dev/zero" } }))
    expect(report.message).toContain("is a device, not a file")
  })

  test("a file in the place of its directory is a clear error", async () => {
    using fixture = configFixture()
    rmSync(join(fixture.workspace.root, ".agent"), { recursive: true })
    fixture.workspace.write(".agent", "not a directory")
    expect((await failureOf(() => fixture.load())).message).toContain("one of its parents is not a directory")
  })

  asPerson("a file without permission to read is a clear error", async () => {
    using fixture = configFixture()
    fixture.project(valid)
    chmodSync(fixture.projectPath, 0)
    expect((await failureOf(() => fixture.load())).message).toContain("permission denied")
  })
})

describe("the content of a file", () => {
  test.each([
    ["a byte order mark", `\ufeff${valid}`],
    ["Windows line ends", valid.replaceAll("\n", "\r\n")],
    ["both", `\ufeff${valid.replaceAll("\n", "\r\n")}`],
    ["no newline at its end", valid.trimEnd()],
    ["a document marker", `---\n${valid}...\n`],
    ["JSON", '{"schema_version": "1", "execution": {"max_concurrent": 2}}'],
  ])("may have %s", async (_what, text) => {
    using fixture = configFixture()
    fixture.project(text)
    expect((await fixture.load()).values.execution.max_concurrent).toBe(2)
  })

  test.each([
    ["Latin-1", Buffer.from("# caf\u00e9\n", "latin1")],
    ["UTF-16", Buffer.from(`\ufeff${valid}`, "utf16le")],
    ["a lone continuation byte", Buffer.from([0x80])],
  ])("may not be %s", async (_what, bytes) => {
    using fixture = configFixture()
    fixture.project(bytes)
    const report = await failureOf(() => fixture.load())
    expect(report).toMatchObject({ kind: "config", code: "ACODE-CFG-002" })
    expect(report.message).toContain("is not UTF-8 text")
  })

  test("may be 1 MB and not a byte more", async () => {
    using fixture = configFixture()
    const comment = "#".repeat(1024 * 1024 - valid.length)
    fixture.project(valid + comment)
    expect((await fixture.load()).values.execution.max_concurrent).toBe(2)
    fixture.project(`${valid}${comment}#`)
    const report = await failureOf(() => fixture.load())
    expect(report.code).toBe("ACODE-CFG-004")
    expect(report.message).toContain("is larger than 1 MB")
  })

  test("is hashed as the bytes that were read, byte order mark included", async () => {
    using fixture = configFixture()
    fixture.project(valid)
    const { hash } = (await fixture.load()).projectFile
    fixture.project(`\ufeff${valid}`)
    const marked = (await fixture.load()).projectFile.hash
    expect(hash).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect(marked).not.toBe(hash)
  })
})

describe("the user file", () => {
  test("may be a symlink to wherever a person keeps it", async () => {
    using fixture = configFixture()
    const dotfiles = join(fixture.workspace.outside, "dotfiles.yml")
    writeFileSync(dotfiles, valid)
    symlinkSync(dotfiles, fixture.userPath)
    expect((await fixture.load()).values.execution.max_concurrent).toBe(2)
  })

  test("may not be writable by every user, because it loosens security without being trusted", async () => {
    using fixture = configFixture()
    fixture.user(valid)
    chmodSync(fixture.userPath, 0o666)
    const report = await failureOf(() => fixture.load())
    expect(report).toMatchObject({ code: "ACODE-CFG-001", where: "~/config/acode/config.yml" })
    expect(report.message).toContain("can be written by every user")
    chmodSync(fixture.userPath, 0o664)
    expect((await fixture.load()).values.execution.max_concurrent).toBe(2)
  })

  test("is named as it is when it lies outside the home directory", async () => {
    using fixture = configFixture()
    fixture.user("[")
    const report = await failureOf(() => fixture.load({ variables: { HOME: "/somewhere/else" } }))
    expect(report.where).toBe(`${fixture.userPath}:1:2`)
  })
})

function run(...argv: string[]): void {
  expect(Bun.spawnSync(argv).exitCode).toBe(0)
}
