import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { existsSync, readdirSync, statSync } from "node:fs"
import { removeLeftovers, writeFile } from "../../src/workspace/files/write-file.ts"
import { type TestWorkspace, testWorkspace } from "./support.ts"

let ws: TestWorkspace
beforeEach(() => {
  ws = testWorkspace()
})
afterEach(() => ws[Symbol.dispose]())

function dieWriting(path: string, point: number): void {
  const child = Bun.spawnSync([
    process.execPath,
    Bun.fileURLToPath(import.meta.resolve("./write-and-die.ts")),
    ws.root.path,
    path,
    `${point}`,
  ])
  expect(child.signalCode).toBe("SIGKILL")
}

const pointCount = 4

describe("acode killed while it replaces a file", () => {
  for (let point = 1; point <= pointCount; point++)
    test(`at point ${point} leaves one whole file, and recovery leaves nothing else`, () => {
      ws.put("file", "old\n", 0o640)
      dieWriting("file", point)
      expect(ws.read("file")).toBe(point <= 2 ? "old\n" : "new\n")
      expect(statSync(ws.path("file")).mode & 0o777).toBe(0o640)
      expect(removeLeftovers(ws.root, ".")).toHaveLength(point <= 2 ? 1 : 0)
      expect(readdirSync(ws.root.path)).toEqual(["file"])
    })
})

describe("acode killed while it makes a file", () => {
  for (let point = 1; point <= pointCount; point++)
    test(`at point ${point} leaves nothing or all of it, and the file can be written afterwards`, () => {
      dieWriting("new/file", point)
      expect(existsSync(ws.path("new/file"))).toBe(point > 2)
      removeLeftovers(ws.root, "new")
      expect(readdirSync(ws.path("new"))).toEqual(point > 2 ? ["file"] : [])
      writeFile(ws.root, { path: "new/file", content: Buffer.from("again\n") })
      expect(ws.read("new/file")).toBe("again\n")
    })
})
