import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { linkSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { systemClock } from "../../src/base/clock.ts"
import { Failure } from "../../src/domain/failure.ts"
import { listDirectory } from "../../src/workspace/files/list-directory.ts"
import { locate } from "../../src/workspace/files/pinned-name.ts"
import { readLines } from "../../src/workspace/files/read-file.ts"
import { deleteFiles, writeFile } from "../../src/workspace/files/write-file.ts"
import { globFiles } from "../../src/workspace/search/glob.ts"
import { searchFiles } from "../../src/workspace/search/search.ts"
import hostile from "../scenarios/paths/hostile.json"
import ordinary from "../scenarios/paths/ordinary.json"
import { codeOf, type TestWorkspace, testWorkspace } from "./support.ts"

let ws: TestWorkspace
const content = Buffer.from("new\n")

beforeAll(() => {
  ws = testWorkspace()
  ws.put("src/deep/file.ts", "inside\n")
  ws.put("plain.txt", "inside\n")
  const link = (target: string, name: string) => symlinkSync(target, ws.path(name))
  link("../outside", "out")
  link("../outside/secret.txt", "out-file")
  link(ws.outside, "out-absolute")
  link("/etc", "etc")
  link("/", "slash")
  link("..", "parent")
  link("chain-2", "chain-1")
  link("chain-3", "chain-2")
  link("../outside", "chain-3")
  link("src/../..", "climbs")
  link("loop-b", "loop-a")
  link("loop-a", "loop-b")
  link("self", "self")
  link("/proc/self/root", "proc-root")
  link("/proc/self/fd", "proc-fd")
  link("/dev/null", "null-device")
  link("../outside/new.txt", "dangling-out")
  link("nowhere", "dangling-in")
  link(`${ws.base}/./ws/../outside`, "dressed-up")
  link("../../outside", "src/up")
  mkdirSync(ws.path("dir"))
  symlinkSync("../../outside", ws.path("dir/nested"))
})
afterAll(() => ws[Symbol.dispose]())

const operations: Record<string, (path: string) => unknown> = {
  read: path => readLines(ws.root, path, { bytesMax: 1000 }),
  write: path => writeFile(ws.root, { path, content }),
  delete: path => deleteFiles(ws.root, [path]),
  list: path => listDirectory(ws.root, { path, depth: 3, entriesMax: 100 }, () => false),
  locate: path => locate(ws.root, path),
  glob: path => globFiles(ws.root, { pattern: "**", path, matchesMax: 10 }, () => false),
}

test("there are enough hostile and ordinary paths to mean something", () => {
  expect(hostile.length).toBeGreaterThanOrEqual(150)
  expect(ordinary.length).toBeGreaterThanOrEqual(60)
})

describe("a hostile path is refused by every operation", () => {
  for (const { path, code } of hostile)
    test(JSON.stringify(path.length > 60 ? `${path.slice(0, 50)}…${path.length}` : path), () => {
      for (const [name, operation] of Object.entries(operations))
        expect(`${name} ${codeOf(() => operation(path))}`).toBe(`${name} ${code}`)
    })

  test("and so is a search there", async () => {
    for (const { path, code } of hostile) {
      const request = { pattern: "x", path, matchesMax: 1, timeoutMs: 1000 }
      const found = await searchFiles(ws.root, request, { clock: systemClock, isHidden: () => false }).then(
        () => "none",
        (error: unknown) => (error instanceof Failure ? error.report.code : String(error)),
      )
      expect(`${path} ${found}`).toBe(`${path} ${code}`)
    }
  })

  test("with words that people search for", () => {
    for (const path of ["..\\..\\windows", "C:\\Windows", "/etc/passwd", "%2e%2e/x", "~/.ssh"])
      expect(() => locate(ws.root, path)).toThrow("outside workspace")
  })
})

describe("a way out through what is in the workspace is refused by every operation", () => {
  const waysOut = [
    ..."out out-absolute etc slash parent chain-1 chain-3 climbs proc-root dressed-up src/up dir/nested".split(
      " ",
    ),
    "loop-a",
    "self",
    "out/secret.txt",
    "out-absolute/secret.txt",
    "etc/passwd",
    "slash/etc/passwd",
    "parent/outside/secret.txt",
    "chain-1/secret.txt",
    "chain-2/secret.txt",
    "climbs/outside/secret.txt",
    "src/up/secret.txt",
    "dir/nested/secret.txt",
    "dir/../out/secret.txt",
    "dressed-up/secret.txt",
    "proc-root/etc/passwd",
    "proc-fd/0",
    "out/./secret.txt",
    "out/../outside/secret.txt",
    "loop-a/x",
  ]
  for (const path of waysOut)
    test(path, () => {
      for (const name of ["read", "write", "list", "locate", "glob"])
        expect(`${name} ${codeOf(() => operations[name]?.(path))}`).toBe(`${name} ACODE-SEC-005`)
    })

  for (const path of [
    "out/new.txt",
    "out-absolute/a/b/new.txt",
    "chain-1/new.txt",
    "etc/acode-new",
    "src/up/x/y",
  ])
    test(`${path} is not made`, () => {
      expect(codeOf(() => writeFile(ws.root, { path, content }))).toBe("ACODE-SEC-005")
    })

  for (const path of ["out/secret.txt", "chain-1/secret.txt", "dir/nested/secret.txt", "etc/passwd"])
    test(`${path} is not deleted`, () => {
      expect(codeOf(() => deleteFiles(ws.root, [path]))).toBe("ACODE-SEC-005")
    })

  test("a symlink to a missing file outside is not written through", () => {
    expect(codeOf(() => writeFile(ws.root, { path: "dangling-out", content }))).toBe("ACODE-SEC-005")
    expect(codeOf(() => writeFile(ws.root, { path: "dangling-in", content }))).toBe("ACODE-FS-002")
    expect(readlinkSync(ws.path("dangling-in"))).toBe("nowhere")
  })
})

describe("anything but a regular file is not opened, and does not block", () => {
  beforeAll(() => {
    expect(Bun.spawnSync(["mkfifo", ws.path("fifo"), ws.path("src/fifo")]).exitCode).toBe(0)
    Bun.listen({ unix: ws.path("socket"), socket: { data: () => undefined } }).unref()
  })

  for (const path of ["fifo", "src/fifo", "socket", "src", ".", "dir"])
    test(path, () => {
      for (const name of ["read", "write"])
        expect(`${name} ${codeOf(() => operations[name]?.(path))}`).toBe(`${name} ACODE-FS-003`)
      expect(codeOf(() => deleteFiles(ws.root, [path]))).toBe("ACODE-FS-003")
    })

  test("a device behind a symlink is outside", () => {
    expect(codeOf(() => operations["read"]?.("null-device"))).toBe("ACODE-SEC-005")
  })
})

describe("a hard link", () => {
  beforeAll(() => {
    linkSync(join(ws.outside, "secret.txt"), ws.path("hard"))
    ws.put("twin-a", "twin")
    linkSync(ws.path("twin-a"), ws.path("twin-b"))
    symlinkSync("hard", ws.path("soft-to-hard"))
  })

  for (const path of ["hard", "twin-a", "twin-b", "soft-to-hard"])
    test(`${path} is refused for writing`, () => {
      expect(codeOf(() => writeFile(ws.root, { path, content }))).toBe("ACODE-FS-004")
    })

  test("loses only its own name when it is deleted", () => {
    deleteFiles(ws.root, ["twin-b"])
    expect(ws.read("twin-a")).toBe("twin")
  })
})

describe("an ordinary path works for writing, reading, listing and deleting", () => {
  for (const path of ordinary)
    test(JSON.stringify(path.length > 60 ? `${path.slice(0, 50)}…` : path), () => {
      const written = writeFile(ws.root, { path, content, expected: "absent" })
      expect(readLines(ws.root, path, { bytesMax: 100 }).text).toBe("new\n")
      expect(locate(ws.root, join(ws.root.path, path))).toEqual({ relative: written.path, kind: "file" })
      expect(deleteFiles(ws.root, [path])).toHaveLength(1)
      expect(locate(ws.root, path).kind).toBe("missing")
    })
})

test("nothing outside was touched by any of it", () => {
  expect(readdirSync(ws.outside)).toEqual(["secret.txt"])
  expect(readFileSync(join(ws.outside, "secret.txt"), "utf8")).toBe("OUTSIDE\n")
  expect(readdirSync(ws.base).sort()).toEqual(["outside", "ws"])
})
