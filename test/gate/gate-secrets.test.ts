import { afterEach, describe, expect, test } from "bun:test"
import { join } from "node:path"
import { sha256Hex } from "../../src/base/canonical.ts"
import { ApprovalRequested, ToolCallRequested } from "../../src/domain/events/call-events.ts"
import { secretViolations } from "../support/checker/checker-secrets.ts"
import { answering, type GateRoom, gateRoom } from "../support/plan/gate-room.ts"

let room: GateRoom
afterEach(() => room[Symbol.dispose]())

const secret = "Tr0ub4dor-and-three-more"
const granted = { isGrantedAsWritten: true }

/** Everything but the pre-images, which are the one place where files are kept as they are. */
function leaks(): Promise<string[]> {
  const agent = room.temp.state()
  return secretViolations([join(agent, "artifacts")], [secret]).then(async found => {
    const database = await Array.fromAsync(new Bun.Glob("workspace.db*").scan({ cwd: agent, dot: true }))
    const held = await Promise.all(
      database.map(async name => Buffer.from(await Bun.file(join(agent, name)).bytes()).includes(secret)),
    )
    return [...found, ...database.filter((_, index) => held[index])]
  })
}

describe("a secret", () => {
  test("in the arguments reaches the file and not the log", async () => {
    room = gateRoom({ secretValues: [secret] })
    const settled = await room.call("write_file", { path: "a.txt", content: `key is ${secret}\n` }, granted)
    expect(settled.outcome).toBe("succeeded")
    expect(room.read("a.txt")).toBe(`key is ${secret}\n`)
    expect(JSON.stringify(room.data(ToolCallRequested))).toContain("[REDACTED:")
    expect(await leaks()).toEqual([])
  })

  test("in the name of an argument is hidden as well", async () => {
    room = gateRoom({ secretValues: [secret] })
    const { error } = await room.call("read_file", { path: "a.txt", [secret]: 1 })
    expect(error?.message).not.toContain(secret)
    expect(await leaks()).toEqual([])
  })

  test("in a result is hidden from the caller, too", async () => {
    room = gateRoom({ secretValues: [secret], files: { "a.txt": `${secret}\n` } })
    const read = await room.call("read_file", { path: "a.txt" })
    const found = await room.call("search_code", { pattern: "Tr0ub", path: "." })
    const printed = await room.call("run_command", { argv: ["cat", "a.txt"] }, granted)
    for (const settled of [read, found, printed]) {
      expect(settled.outcome).toBe("succeeded")
      expect(JSON.stringify(settled)).not.toContain(secret)
      expect(JSON.stringify(settled.value)).toContain("[REDACTED:")
    }
    expect(await leaks()).toEqual([])
  })

  test("in a large result is not in the artifact either", async () => {
    room = gateRoom({ secretValues: [secret], files: { "a.txt": `${"filler\n".repeat(4_000)}${secret}\n` } })
    await room.call("read_file", { path: "a.txt" })
    await room.call("run_command", { argv: ["cat", "a.txt"] }, granted)
    expect(await leaks()).toEqual([])
  })

  test("in an error is hidden wherever it stands", async () => {
    room = gateRoom({ secretValues: [secret] })
    const missing = await room.call("read_file", { path: `${secret}.txt` })
    const unknown = await room.call(secret, {})
    const outside = await room.call("read_file", { path: `../${secret}` })
    for (const settled of [missing, unknown, outside]) {
      expect(settled.outcome).toBe("failed")
      expect(JSON.stringify(settled.error)).not.toContain(secret)
      expect(settled.text).not.toContain(secret)
    }
    expect(await leaks()).toEqual([])
  })

  test("in a question is hidden from whoever is asked", async () => {
    room = gateRoom({ secretValues: [secret], desk: answering("refused") })
    await room.call("write_file", { path: "a.txt", content: `old ${secret}\n` })
    await room.call("run_command", { argv: ["unknown-program", secret] })
    const asked = JSON.stringify(room.data(ApprovalRequested))
    expect(asked).toContain("[REDACTED:")
    expect(asked).not.toContain(secret)
    expect(await leaks()).toEqual([])
  })

  test("is hidden by the gate itself, not only by the store behind it", async () => {
    room = gateRoom({ secretValues: [secret], isRedactingStore: false, desk: answering("granted") })
    await room.call("write_file", { path: "a.txt", content: `${secret}\n` })
    await room.call("read_file", { path: "a.txt" })
    await room.call("modify_file", { path: "a.txt", edits: [{ search: secret, replace: "gone" }] })
    await room.call("search_code", { pattern: secret, path: "." })
    await room.call("run_command", { argv: ["echo", secret] })
    expect(await leaks()).toEqual([])
  })

  test("cannot be guessed from the hash of the arguments", async () => {
    room = gateRoom({ secretValues: [secret] })
    const args = { path: "a.txt", content: "1234" }
    await room.call("write_file", args)
    await room.call("write_file", args)
    const digests = room.data(ToolCallRequested).map(({ argsDigest }) => argsDigest)
    expect(digests[0]).toBe(digests[1] ?? "")
    expect(digests[0]).not.toContain(sha256Hex('{"content":"1234","path":"a.txt"}'))
    using other = gateRoom()
    await other.call("write_file", args)
    expect(other.data(ToolCallRequested)[0]?.argsDigest).not.toBe(digests[0] ?? "")
  })
})
