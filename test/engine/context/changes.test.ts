import { describe, expect, test } from "bun:test"
import { rmSync } from "node:fs"
import { boundedDiffs, sessionDiff } from "../../../src/engine/context/changes.ts"
import { type GateRoom, gateRoom } from "../../support/plan/gate-room.ts"

function diffOf({ workspace, checkpoints, store, parts, events }: GateRoom): string {
  const { redactor, room } = parts
  return sessionDiff(
    { workspace, checkpoints, artifacts: store.artifacts, changes: room.changes, redactor },
    events(),
  ).text
}

const granted = { isGrantedAsWritten: true }

async function write(room: GateRoom, path: string, content: string): Promise<void> {
  const { outcome, error } = await room.call("write_file", { path, content }, granted)
  if (outcome !== "succeeded") throw new Error(error?.message ?? outcome)
}

describe("what a session changed", () => {
  test("is nothing before it changed anything", async () => {
    using room = gateRoom({ files: { "a.txt": "one\n" } })
    await room.call("read_file", { path: "a.txt" })
    expect(diffOf(room)).toBe("")
  })

  test("is told from before its first change to what is there now, file by file", async () => {
    using room = gateRoom({ files: { "b.txt": "one\ntwo\n", "gone.txt": "old\n" } })
    await write(room, "b.txt", "one\n2\n")
    await write(room, "b.txt", "one\ntwo and a half\n")
    await write(room, "a.txt", "new\n")
    await room.call("delete_file", { paths: ["gone.txt"] }, granted)
    expect(diffOf(room)).toMatchInlineSnapshot(`
      "diff --git a/a.txt b/a.txt
      new file mode 100644
      --- /dev/null
      +++ b/a.txt
      @@ -0,0 +1 @@
      +new
      diff --git a/b.txt b/b.txt
      --- a/b.txt
      +++ b/b.txt
      @@ -1,2 +1,2 @@
       one
      -two
      +two and a half
      diff --git a/gone.txt b/gone.txt
      deleted file mode 100644
      --- a/gone.txt
      +++ /dev/null
      @@ -1 +0,0 @@
      -old
      "
    `)
  })

  test("says that there is more where the list of it is gone", async () => {
    using room = gateRoom()
    const script = "for i in $(seq 150); do echo $i > f$i.txt; done"
    const { callId } = await room.call("run_command", { argv: ["sh", "-c", script] }, granted)
    rmSync(room.temp.state("artifacts"), { recursive: true })
    const gone = `150 files that ${callId} changed: not shown, the list of their names is lost\n`
    expect(diffOf(room)).toBe(gone)
  })

  test("is nothing for a file that is back to what it was", async () => {
    using room = gateRoom({ files: { "a.txt": "one\n" } })
    await write(room, "a.txt", "two\n")
    await write(room, "a.txt", "one\n")
    expect(diffOf(room)).toBe("")
  })

  test("includes what its commands changed", async () => {
    using room = gateRoom({ files: { "a.txt": "one\n" } })
    const argv = ["sh", "-c", "echo two >> a.txt"]
    const { outcome } = await room.call("run_command", { argv }, granted)
    expect(outcome).toBe("succeeded")
    expect(diffOf(room)).toContain("\n one\n+two\n")
  })

  test("names what is not text, and what has become too large", async () => {
    using room = gateRoom({ files: { "image.bin": "a\0b", "large.txt": "small\n" } })
    await write(room, "image.bin", "text\n")
    await write(room, "large.txt", "small\nx\n")
    room.put("large.txt", "x".repeat(1_100_000))
    expect(diffOf(room)).toMatchInlineSnapshot(`
      "image.bin: not shown as text (before: binary; now: text)
      large.txt: not shown as text (before: text; now: "large.txt" is larger than 1048576 bytes)
      "
    `)
  })

  test("shows no secret, also not the middle of a key whose first line did not change", async () => {
    const key = (body: string) =>
      `-----BEGIN PRIVATE KEY-----\n${"MIIabc123\n".repeat(30)}${body}\n-----END PRIVATE KEY-----\n`
    using room = gateRoom({ files: { "a.txt": key("oldoldold") }, secretValues: ["hunter2-hunter2"] })
    await write(room, "a.txt", `${key("newnewnew")}password is hunter2-hunter2\n`)
    const diff = diffOf(room)
    expect(diff).not.toMatch(/oldoldold|newnewnew|MIIabc123|hunter2/)
    expect(diff).toContain("+password is [REDACTED:")
  })

  test("is told where only a secret changed", async () => {
    using room = gateRoom({
      files: { "a.txt": "password is hunter2-hunter2\n" },
      secretValues: ["hunter2-hunter2", "other-secret-9"],
    })
    await write(room, "a.txt", "password is other-secret-9\n")
    expect(diffOf(room)).toBe("a.txt: only a secret changed\n")
  })
})

describe("diffs that are too long", () => {
  const diff = (lines: number) => "+0123456789abcdef\n".repeat(lines)

  test("are cut at a line, and how much is missing is said", () => {
    const { text: shown, leftOutTokens } = boundedDiffs([{ path: "a", diff: () => diff(4_000) }])
    expect(Buffer.byteLength(shown)).toBeLessThan(33 * 1024)
    expect(shown.slice(-80)).toEndWith("\n[2180 more lines of this file are not shown]\n")
    expect(leftOutTokens).toBe((2_180 * 18) / 4)
    expect(boundedDiffs([{ path: "a", diff: () => diff(4) }]).leftOutTokens).toBe(0)
  })

  test("leave later files out by name, and small ones still fit", () => {
    const files = ["a", "b", "c"].map(path => ({ path, diff: () => diff(1_700) }))
    const { text: shown, leftOutTokens } = boundedDiffs([...files, { path: "d", diff: () => "+d\n" }])
    expect(leftOutTokens).toBe((1_700 * 18) / 4)
    expect(Buffer.byteLength(shown)).toBeLessThan(65 * 1024)
    expect(shown.slice(-80)).toEndWith("+d\n[also changed, and not shown here: c]\n")
  })

  test("are not made when there is no room for them any more", () => {
    const made: string[] = []
    const files = ["a", "b", "c", "d"].map(path => ({
      path,
      diff: () => {
        made.push(path)
        return diff(1_820)
      },
    }))
    expect(boundedDiffs(files).text).toEndWith("[also changed, and not shown here: c, d]\n")
    expect(made).toEqual(["a", "b"])
    expect(boundedDiffs(files).leftOutTokens).toBeGreaterThan(0)
  })

  test("name at most a hundred files", () => {
    const files = Array.from({ length: 150 }, (_, index) => ({ path: `f${index}`, diff: () => diff(1_800) }))
    expect(boundedDiffs(files).text.slice(-80)).toEndWith(", f101 and 48 more]\n")
  })
})
