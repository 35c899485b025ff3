import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { chmodSync, lstatSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { sha256Hex } from "../../../src/base/canonical.ts"
import { Failure } from "../../../src/domain/failure.ts"
import { WorkspaceRoot } from "../../../src/workspace/files/root.ts"
import { deleteFiles, removeLeftovers, writeFile } from "../../../src/workspace/files/write-file.ts"
import { recordPoints } from "../../support/crash/record-points.ts"
import { codeOf, type TestWorkspace, testWorkspace } from "../support.ts"

let ws: TestWorkspace
beforeEach(() => {
  ws = testWorkspace()
})
afterEach(() => ws[Symbol.dispose]())

const content = (text: string) => Buffer.from(text)

describe("writing a file", () => {
  test("makes it with its parents and returns what was done", () => {
    expect(writeFile(ws.root, { path: "a/b/c.txt", content: content("new") })).toEqual({
      path: "a/b/c.txt",
      created: true,
      beforeSha256: null,
      afterSha256: sha256Hex("new"),
      createdDirectories: ["a", "a/b"],
    })
    expect(ws.read("a/b/c.txt")).toBe("new")
  })

  test("replaces it and keeps its mode", () => {
    ws.put("run.sh", "old", 0o751)
    expect(writeFile(ws.root, { path: "run.sh", content: content("new") })).toMatchObject({
      created: false,
      beforeSha256: sha256Hex("old"),
      createdDirectories: [],
    })
    expect(statSync(ws.path("run.sh")).mode & 0o7777).toBe(0o751)
  })

  test("takes away the power to run as the owner", () => {
    ws.put("suid", "old", 0o4755)
    writeFile(ws.root, { path: "suid", content: content("new") })
    expect(statSync(ws.path("suid")).mode & 0o7777).toBe(0o755)
  })

  test("gives a new file the mode of the user's umask", () => {
    const mask = process.umask(0o027)
    try {
      writeFile(ws.root, { path: "masked", content: content("x") })
    } finally {
      process.umask(mask)
    }
    expect(statSync(ws.path("masked")).mode & 0o777).toBe(0o640)
  })

  test("keeps its owner where it can", () => {
    if (process.getuid?.() !== 0) {
      process.stdout.write("skipped: only root can give files to others\n")
      return
    }
    ws.put("theirs", "old")
    Bun.spawnSync(["chown", "12345:23456", ws.path("theirs")])
    writeFile(ws.root, { path: "theirs", content: content("new") })
    expect(statSync(ws.path("theirs"))).toMatchObject({ uid: 12345, gid: 23456 })
  })

  test("writes to the target of a symlink inside, and the symlink stays", () => {
    ws.put("real/file", "old")
    symlinkSync("real/file", ws.path("link"))
    symlinkSync("real", ws.path("directory"))
    expect(writeFile(ws.root, { path: "link", content: content("new") }).path).toBe("real/file")
    expect(writeFile(ws.root, { path: "directory/other", content: content("new") }).path).toBe("real/other")
    expect(lstatSync(ws.path("link")).isSymbolicLink()).toBe(true)
    expect(ws.read("real/file")).toBe("new")
  })

  test("leaves nothing else behind", () => {
    writeFile(ws.root, { path: "a.rs", content: content("1") })
    writeFile(ws.root, { path: "a.toml", content: content("2") })
    ws.put("a.tmp", "mine")
    writeFile(ws.root, { path: "a.rs", content: content("3") })
    expect(readdirSync(ws.root.path).sort()).toEqual(["a.rs", "a.tmp", "a.toml"])
    expect(ws.read("a.tmp")).toBe("mine")
  })

  test("of a name with a backslash is refused when it is new and works when it is there", () => {
    expect(codeOf(() => writeFile(ws.root, { path: "src\\a.ts", content: content("x") }))).toBe(
      "ACODE-FS-001",
    )
    ws.put("unit\\x2d.mount", "old")
    writeFile(ws.root, { path: "unit\\x2d.mount", content: content("new") })
    expect(ws.read("unit\\x2d.mount")).toBe("new")
  })

  test("below a file, at a directory and with a slash at its end is refused", () => {
    ws.put("file", "x")
    mkdirSync(ws.path("directory"))
    const code = (path: string) => codeOf(() => writeFile(ws.root, { path, content: content("x") }))
    expect(code("file/below")).toBe("ACODE-FS-002")
    expect(code("directory")).toBe("ACODE-FS-003")
    expect(code("new/")).toBe("ACODE-FS-001")
    expect(code("missing/../x")).toBe("ACODE-FS-002")
  })
})

describe("writing on a condition", () => {
  test("only if it is absent", () => {
    ws.put("there", "old")
    const request = { path: "there", content: content("new"), expected: "absent" }
    expect(codeOf(() => writeFile(ws.root, request))).toBe("ACODE-FS-008")
    expect(writeFile(ws.root, { ...request, path: "free" }).created).toBe(true)
  })

  test("only if it holds what was read", () => {
    ws.put("file", "old")
    const request = { path: "file", content: content("new"), expected: sha256Hex("old") }
    expect(writeFile(ws.root, request).afterSha256).toBe(sha256Hex("new"))
    expect(codeOf(() => writeFile(ws.root, request))).toBe("ACODE-FS-007")
    expect(codeOf(() => writeFile(ws.root, { ...request, path: "missing" }))).toBe("ACODE-FS-007")
    expect(ws.read("file")).toBe("new")
  })

  test("an edit by another process between the check and the rename is not overwritten", () => {
    ws.put("file", "old")
    const edits = {
      reach: (point: string) => (point === "file.temporary-synced" ? ws.put("file", "theirs") : undefined),
    }
    expect(codeOf(() => writeFile(ws.root, { path: "file", content: content("ours") }, edits))).toBe(
      "ACODE-FS-007",
    )
    expect(ws.read("file")).toBe("theirs")
    expect(readdirSync(ws.root.path)).toEqual(["file"])
  })

  test("a file that appears meanwhile is not overwritten either", () => {
    const appears = {
      reach: (point: string) => (point === "file.temporary-synced" ? ws.put("new", "theirs") : undefined),
    }
    expect(codeOf(() => writeFile(ws.root, { path: "new", content: content("ours") }, appears))).toBe(
      "ACODE-FS-007",
    )
    expect(ws.read("new")).toBe("theirs")
    expect(readdirSync(ws.root.path)).toEqual(["new"])
  })
})

describe("a write that fails", () => {
  test("at any point leaves the old file or the new one, whole, and no other", () => {
    const points: string[] = []
    ws.put("file", "old")
    writeFile(ws.root, { path: "file", content: content("old") }, recordPoints(points))
    expect(points).toEqual([
      "file.temporary-written",
      "file.temporary-synced",
      "file.renamed",
      "file.directory-synced",
    ])
    for (const [index, point] of points.entries()) {
      writeFileSync(ws.path("file"), "old")
      const fails = {
        reach: (reached: string) => {
          if (reached === point) throw new Error("power gone")
        },
      }
      expect(() => writeFile(ws.root, { path: "file", content: content("new") }, fails)).toThrow("power gone")
      expect(ws.read("file")).toBe(index < 2 ? "old" : "new")
      expect(readdirSync(ws.root.path)).toEqual(["file"])
    }
  })

  test("for want of room says so", () => {
    const full = {
      reach: () => {
        throw Object.assign(new Error("no space"), { code: "ENOSPC" })
      },
    }
    const write = () => writeFile(ws.root, { path: "file", content: content("new") }, full)
    expect(codeOf(write)).toBe("ACODE-FS-010")
    expect(readdirSync(ws.root.path)).toEqual([])
  })
})

describe("the guard", () => {
  const refuse = (path: string) => {
    if (path.startsWith(".git"))
      throw new Failure({ kind: "denied", code: "ACODE-SEC-003", message: "protected" })
  }

  test("keeps protected directories from being made on the way", () => {
    using guarded = new WorkspaceRoot(ws.root.path, refuse)
    const code = (path: string) => codeOf(() => writeFile(guarded, { path, content: content("x") }))
    expect(code(".git/hooks/pre-commit")).toBe("ACODE-SEC-003")
    expect(code("a/../.git/hooks/pre-commit")).toBe("ACODE-SEC-003")
    expect(readdirSync(ws.root.path)).toEqual([])
  })

  test("sees through symlinks, to what exists and to what would be made", () => {
    ws.put(".git/config", "old")
    symlinkSync(".git", ws.path("innocent"))
    using guarded = new WorkspaceRoot(ws.root.path, refuse)
    const write = (path: string) => codeOf(() => writeFile(guarded, { path, content: content("x") }))
    expect(write("innocent/config")).toBe("ACODE-SEC-003")
    expect(write("innocent/hooks/pre-commit")).toBe("ACODE-SEC-003")
    expect(codeOf(() => deleteFiles(guarded, ["innocent/config"]))).toBe("ACODE-SEC-003")
    expect(readdirSync(ws.path(".git"))).toEqual(["config"])
  })
})

describe("deleting", () => {
  test("removes files and returns their hashes", () => {
    ws.put("a", "1")
    ws.put("d/b", "2")
    expect(deleteFiles(ws.root, ["a", "d/b"])).toEqual([
      { path: "a", beforeSha256: sha256Hex("1"), symlinkTarget: null },
      { path: "d/b", beforeSha256: sha256Hex("2"), symlinkTarget: null },
    ])
    expect(readdirSync(ws.root.path)).toEqual(["d"])
  })

  test("removes a symlink and not what it points to", () => {
    ws.put("real", "1")
    symlinkSync("real", ws.path("link"))
    symlinkSync(ws.outside, ws.path("out"))
    expect(deleteFiles(ws.root, ["link", "out"])).toEqual([
      { path: "link", beforeSha256: null, symlinkTarget: "real" },
      { path: "out", beforeSha256: null, symlinkTarget: ws.outside },
    ])
    expect(readdirSync(ws.root.path)).toEqual(["real"])
    expect(readdirSync(ws.outside)).toEqual(["secret.txt"])
  })

  test("removes nothing when one of them cannot be", () => {
    ws.put("a", "1")
    mkdirSync(ws.path("d"))
    expect(codeOf(() => deleteFiles(ws.root, ["a", "missing"]))).toBe("ACODE-FS-002")
    expect(codeOf(() => deleteFiles(ws.root, ["a", "d"]))).toBe("ACODE-FS-003")
    expect(codeOf(() => deleteFiles(ws.root, ["a", "."]))).toBe("ACODE-FS-003")
    expect(readdirSync(ws.root.path).sort()).toEqual(["a", "d"])
  })
})

test("leftovers of interrupted writes are known by their name, and nothing else is", () => {
  const leftover = `.acode-${"0123456789abcdef".repeat(2)}.tmp~`
  ws.put(`d/${leftover}`, "torn")
  ws.put("d/.acode-notes.tmp~", "mine")
  ws.put("d/x.tmp~", "mine")
  expect(removeLeftovers(ws.root, "d")).toEqual([`d/${leftover}`])
  expect(removeLeftovers(ws.root, "d")).toEqual([])
  expect(readdirSync(ws.path("d")).sort()).toEqual([".acode-notes.tmp~", "x.tmp~"])
})

test("a directory that may not be written is a permission failure", () => {
  if (process.getuid?.() === 0) {
    process.stdout.write("skipped: root may write everywhere\n")
    return
  }
  ws.put("locked/file", "x")
  chmodSync(ws.path("locked"), 0o500)
  expect(codeOf(() => writeFile(ws.root, { path: "locked/file", content: content("y") }))).toBe(
    "ACODE-FS-005",
  )
  chmodSync(ws.path("locked"), 0o700)
})
