import { describe, expect, test } from "bun:test"
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { isTrusted, type TrustSubject, trustProject } from "../../src/config/trust.ts"
import { fixedClock } from "../support/fixed-clock.ts"
import { testWhere } from "../support/requirement.ts"
import { type TempWorkspace, tempWorkspace } from "../support/workspace/temp-workspace.ts"
import { failureOf } from "./config-fixture.ts"

const first = `sha256:${"11".repeat(32)}`
const second = `sha256:${"22".repeat(32)}`
const clock = fixedClock()
const needsOtherUser = testWhere(process.getuid?.() === 0 ? "root may read everything" : null)

function subjectOf(workspace: TempWorkspace): TrustSubject {
  const configPath = join(workspace.root, ".agent", "config.yml")
  return { workspaceRoot: workspace.root, configPath, dataHome: workspace.dataHome }
}

function onlyRecord(workspace: TempWorkspace): string {
  const directory = join(workspace.dataHome, "acode", "trust")
  const names = readdirSync(directory)
  expect(names).toHaveLength(1)
  return join(directory, names[0] ?? "")
}

describe("trust", () => {
  test("nothing is trusted before a person says so", () => {
    using workspace = tempWorkspace()
    expect(isTrusted(subjectOf(workspace), first)).toBe(false)
  })

  test("exactly the content that was shown is trusted, in exactly this workspace", () => {
    using workspace = tempWorkspace()
    using other = tempWorkspace()
    const subject = subjectOf(workspace)
    trustProject(subject, first, clock)
    expect(isTrusted(subject, first)).toBe(true)
    expect(isTrusted(subject, second)).toBe(false)
    expect(isTrusted({ ...subject, workspaceRoot: other.root }, first)).toBe(false)
    expect(isTrusted({ ...subject, configPath: join(workspace.root, "other.yml") }, first)).toBe(false)
    expect(isTrusted({ ...subject, dataHome: other.dataHome }, first)).toBe(false)
  })

  test("trusting a new content takes the trust away from the old one", () => {
    using workspace = tempWorkspace()
    const subject = subjectOf(workspace)
    trustProject(subject, first, clock)
    trustProject(subject, second, clock)
    expect([isTrusted(subject, first), isTrusted(subject, second)]).toEqual([false, true])
  })

  test("two files of one workspace are trusted one by one", () => {
    using workspace = tempWorkspace()
    const subject = subjectOf(workspace)
    const other = { ...subject, configPath: join(workspace.root, "ci.yml") }
    trustProject(subject, first, clock)
    trustProject(other, second, clock)
    expect([isTrusted(subject, first), isTrusted(other, second)]).toEqual([true, true])
  })

  test("a workspace reached through a symlink is the same workspace", () => {
    using workspace = tempWorkspace()
    const link = join(workspace.outside, "link")
    symlinkSync(workspace.root, link)
    trustProject(subjectOf(workspace), first, clock)
    expect(isTrusted({ ...subjectOf(workspace), workspaceRoot: link }, first)).toBe(true)
  })

  test("a workspace that is moved away has to be trusted again", () => {
    using workspace = tempWorkspace()
    trustProject(subjectOf(workspace), first, clock)
    const moved = join(workspace.outside, "moved")
    renameSync(workspace.root, moved)
    expect(isTrusted({ ...subjectOf(workspace), workspaceRoot: moved }, first)).toBe(false)
  })

  test("the record is readable for its owner alone and says what was trusted when", () => {
    using workspace = tempWorkspace()
    trustProject(subjectOf(workspace), first, clock)
    const path = onlyRecord(workspace)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(join(path, "..")).mode & 0o777).toBe(0o700)
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({
      version: 1,
      workspace: workspace.root,
      file: join(workspace.root, ".agent", "config.yml"),
      hash: first,
      trustedAt: "2026-01-02T03:04:05.678Z",
    })
  })

  test.each([
    ["the directory of the records", 0o755, (path: string) => join(path, "..")],
    ["the directory of the records to its group", 0o770, (path: string) => join(path, "..")],
    ["the directory around it", 0o777, (path: string) => join(path, "..", "..")],
    ["the record itself", 0o644, (path: string) => path],
    ["the record for writing", 0o622, (path: string) => path],
  ])("a record is refused when %s is open to others", async (_what, mode, target) => {
    using workspace = tempWorkspace()
    trustProject(subjectOf(workspace), first, clock)
    chmodSync(target(onlyRecord(workspace)), mode)
    const report = await failureOf(() => isTrusted(subjectOf(workspace), first))
    expect(report).toMatchObject({ kind: "integrity", code: "ACODE-SEC-006" })
    expect(report.hint).toContain("chmod")
  })

  test("trust is not recorded where others can write", async () => {
    using workspace = tempWorkspace()
    mkdirSync(join(workspace.dataHome, "acode", "trust"), { recursive: true, mode: 0o700 })
    chmodSync(join(workspace.dataHome, "acode", "trust"), 0o777)
    const report = await failureOf(() => trustProject(subjectOf(workspace), first, clock))
    expect(report.code).toBe("ACODE-SEC-006")
    expect(readdirSync(join(workspace.dataHome, "acode", "trust"))).toEqual([])
  })

  test("a symlink in the place of the directory is refused for reading and for writing", async () => {
    using workspace = tempWorkspace()
    const subject = subjectOf(workspace)
    trustProject(subject, first, clock)
    const directory = join(workspace.dataHome, "acode", "trust")
    const elsewhere = join(workspace.outside, "elsewhere")
    renameSync(directory, elsewhere)
    symlinkSync(elsewhere, directory)
    expect((await failureOf(() => isTrusted(subject, first))).code).toBe("ACODE-SEC-006")
    expect((await failureOf(() => trustProject(subject, second, clock))).code).toBe("ACODE-SEC-006")
  })

  test("a symlink or a FIFO in the place of the record is refused and never waited for", async () => {
    using workspace = tempWorkspace()
    const subject = subjectOf(workspace)
    trustProject(subject, first, clock)
    const path = onlyRecord(workspace)
    renameSync(path, `${path}.kept`)
    symlinkSync(`${path}.kept`, path)
    expect((await failureOf(() => isTrusted(subject, first))).code).toBe("ACODE-SEC-006")
    renameSync(path, `${path}.link`)
    Bun.spawnSync(["mkfifo", "-m", "600", path])
    expect((await failureOf(() => isTrusted(subject, first))).code).toBe("ACODE-SEC-006")
  })

  test.each(["", "not json", "[]", "null", '{"hash":1}', "x".repeat(70_000)])(
    "a record that says %.20p trusts nothing",
    text => {
      using workspace = tempWorkspace()
      const subject = subjectOf(workspace)
      trustProject(subject, first, clock)
      writeFileSync(onlyRecord(workspace), text)
      expect(isTrusted(subject, first)).toBe(false)
    },
  )

  test("records inside the workspace count for nothing and cannot be made", async () => {
    using workspace = tempWorkspace()
    const subject = { ...subjectOf(workspace), dataHome: join(workspace.root, "data") }
    mkdirSync(subject.dataHome)
    const report = await failureOf(() => trustProject(subject, first, clock))
    expect(report.code).toBe("ACODE-SEC-006")
    expect(report.hint).toContain(`ACODE_TRUST_PROJECT=${first}`)
    expect(isTrusted(subject, first)).toBe(false)
    expect(readdirSync(subject.dataHome)).toEqual([])
  })

  test("a data home that is a symlink into the workspace is inside it too", () => {
    using workspace = tempWorkspace()
    const link = join(workspace.outside, "data-link")
    mkdirSync(join(workspace.root, "data"))
    symlinkSync(join(workspace.root, "data"), link)
    expect(() => trustProject({ ...subjectOf(workspace), dataHome: link }, first, clock)).toThrow(
      "inside the workspace",
    )
  })

  needsOtherUser("a place that cannot be written is told with the other way to trust", async () => {
    using workspace = tempWorkspace()
    chmodSync(workspace.dataHome, 0o500)
    const report = await failureOf(() => trustProject(subjectOf(workspace), first, clock))
    expect(report).toMatchObject({ code: "ACODE-SEC-006" })
    expect(report.hint).toContain("ACODE_TRUST_PROJECT")
  })

  test("a file where the directory belongs is a failure, not a crash", async () => {
    using workspace = tempWorkspace()
    writeFileSync(join(workspace.dataHome, "acode"), "")
    expect((await failureOf(() => trustProject(subjectOf(workspace), first, clock))).code).toBe(
      "ACODE-SEC-006",
    )
    expect(isTrusted(subjectOf(workspace), first)).toBe(false)
  })
})
