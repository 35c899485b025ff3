import { describe, expect, test } from "bun:test"
import { openSync, readdirSync, readFileSync, readlinkSync, readSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { errnoOf } from "../../src/base/assert.ts"
import { type Spawned, type SpawnRequest, spawn } from "../../src/base/spawn.ts"
import { eventually } from "../support/eventually.ts"

const path = process.env["PATH"] ?? "/usr/bin:/bin"

function start(script: string, more: Partial<SpawnRequest> = {}): Spawned {
  return spawn({
    argv: ["/bin/sh", "-c", script],
    env: { PATH: path },
    cwd: tmpdir(),
    stdin: "null",
    stdout: "pipe",
    stderr: "pipe",
    extra: [],
    ...more,
  })
}

async function outcome(child: Spawned) {
  const [stdout, stderr, exit] = await Promise.all([textOf(child.stdout), textOf(child.stderr), child.exited])
  child.close()
  return { stdout, stderr, ...exit }
}

async function textOf(stream: ReadableStream<Uint8Array> | null): Promise<string> {
  return stream === null ? "" : await new Response(stream).text()
}

function descriptors(): string[] {
  return readdirSync("/proc/self/fd").flatMap(name => {
    try {
      return [`${name} ${readlinkSync(`/proc/self/fd/${name}`)}`]
    } catch {
      // The descriptor of the listing itself is closed again by now.
      return []
    }
  })
}

describe("a process", () => {
  test("gives its output, its code and no signal", async () => {
    expect(await outcome(start("echo out; echo err >&2; exit 3"))).toEqual({
      stdout: "out\n",
      stderr: "err\n",
      exitCode: 3,
      signal: null,
    })
  })

  test("writes to real pipes, which it can open again by name", async () => {
    const result = await outcome(
      start("echo one > /dev/stdout; echo two > /dev/stderr; echo three > /proc/self/fd/1"),
    )
    expect(result).toMatchObject({ stdout: "one\nthree\n", stderr: "two\n", exitCode: 0 })
  })

  test("reads end of file when it is given nothing to read", async () => {
    expect(await outcome(start("cat; echo end"))).toMatchObject({ stdout: "end\n", exitCode: 0 })
  })

  test("reads the descriptor it is given", async () => {
    const stdin = openSync("/proc/self/comm", "r")
    const expected = readFileSync("/proc/self/comm", "utf8")
    expect(await outcome(start("cat", { stdin }))).toMatchObject({ stdout: expected })
  })

  test("has exactly the environment and the directory it is given", async () => {
    const child = start("", { argv: ["/usr/bin/env"], env: { ONLY: "this" }, cwd: "/" })
    expect(await outcome(child)).toMatchObject({ stdout: "ONLY=this\n" })
    expect(await outcome(start("pwd", { cwd: "/proc" }))).toMatchObject({ stdout: "/proc\n" })
  })

  test("leads a session of its own, so that a signal to us does not reach it", async () => {
    const { stdout } = await outcome(start("cut -d' ' -f1,5,6 /proc/$$/stat"))
    const [pid, group, session] = stdout.trim().split(" ")
    expect(group).toBe(pid as string)
    expect(session).toBe(pid as string)
  })

  test("writes nowhere when its output is not wanted", async () => {
    const child = start("echo out; echo err >&2", { stdout: "null", stderr: "null" })
    expect([child.stdout, child.stderr]).toEqual([null, null])
    expect(await outcome(child)).toMatchObject({ stdout: "", stderr: "", exitCode: 0 })
  })

  test("is known by the signal that ended it, also one without a name", async () => {
    expect(await outcome(start("kill -KILL $$"))).toMatchObject({ exitCode: null, signal: "SIGKILL" })
    expect(await outcome(start("kill -SEGV $$"))).toMatchObject({ exitCode: null, signal: "SIGSEGV" })
    expect(await outcome(start("kill -34 $$"))).toMatchObject({ exitCode: null, signal: "SIG34" })
  })

  test("has used some time and some memory when it has ended", async () => {
    const child = start("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done")
    await outcome(child)
    expect(child.cpuMs()).toBeGreaterThan(0)
    expect(child.maxRssBytes()).toBeGreaterThan(0)
  })
})

describe("a process that cannot be started", () => {
  const refusal = (more: Partial<SpawnRequest>): string | null => {
    try {
      start("", more)
      return "started"
    } catch (error) {
      return errnoOf(error)
    }
  }

  test("throws the system's own error", () => {
    expect(refusal({ argv: ["/no/such/program"] })).toBe("ENOENT")
    expect(refusal({ argv: ["/proc/self/status"] })).toBe("EACCES")
    expect(refusal({ cwd: "/no/such/directory" })).toBe("ENOENT")
    expect(refusal({ argv: ["/bin/true", "x".repeat(1 << 20)] })).toBe("E2BIG")
  })

  test("leaves no descriptor behind", () => {
    const before = descriptors()
    for (let count = 0; count < 50; count++) refusal({ argv: ["/no/such/program"], extra: ["pipe"] })
    expect(descriptors()).toEqual(before)
  })
})

describe("further descriptors", () => {
  test("are two-way pipes whose other ends we keep", async () => {
    const child = start("read word <&3; echo got $word >&3", { extra: ["pipe"] })
    const [end] = child.extra
    if (end === null || end === undefined) throw new Error("there is no pipe")
    writeSync(end, "hello\n")
    const buffer = Buffer.alloc(64)
    const answer = await eventually("an answer", () => readAvailable(end, buffer))
    expect(answer).toBe("got hello\n")
    expect((await outcome(child)).exitCode).toBe(0)
  })

  test("can be ones of ours, which stay ours", async () => {
    const fd = openSync("/proc/self/comm", "r")
    const child = start("cat <&3", { extra: [fd] })
    expect(child.extra).toEqual([null])
    expect(await outcome(child)).toMatchObject({ stdout: readFileSync("/proc/self/comm", "utf8") })
    expect(readlinkSync(`/proc/self/fd/${fd}`)).toContain("comm")
  })

  test("of one process are not inherited by another", async () => {
    const one = start("sleep 30", { extra: ["pipe", "pipe"] })
    const { stdout } = await outcome(start("ls /proc/self/fd"))
    // 0, 1, 2 and the directory that ls reads.
    expect(stdout.trim().split("\n")).toHaveLength(4)
    process.kill(one.pid, "SIGKILL")
    await one.exited
    one.close()
  })
})

describe("our ends of the pipes", () => {
  test("are all given back, 100 processes later", async () => {
    await outcome(start("echo warm up", { extra: ["pipe"] }))
    const before = descriptors().length
    for (let count = 0; count < 100; count++) await outcome(start("echo x", { extra: ["pipe"] }))
    // The runtime closes its copies of the last pipes a moment later.
    expect(descriptors().length).toBeLessThan(before + 8)
  })

  test("are closed once: a descriptor that gets the same number later stays open", async () => {
    const child = start("true", { extra: ["pipe"] })
    await child.exited
    child.close()
    const reused = Array.from({ length: 8 }, () => openSync("/proc/self/comm", "r"))
    child.close()
    Bun.gc(true)
    // One turn of the event loop, in which a finaliser would close them.
    await Bun.sleep(0)
    for (const fd of reused) expect(readlinkSync(`/proc/self/fd/${fd}`)).toContain("comm")
  })

  test("can be given up while a grandchild still holds the others", async () => {
    const child = start("sleep 30 & echo $!")
    const reader = child.stdout?.getReader()
    const first = await reader?.read()
    const grandchild = Number(new TextDecoder().decode(first?.value))
    await child.exited
    const next = reader?.read()
    await reader?.cancel()
    expect(await next).toMatchObject({ done: true })
    child.close()
    process.kill(grandchild, "SIGKILL")
  })

  test("given up end a process that writes on, as a closed pipe does", async () => {
    const child = start("while :; do echo y; done")
    await child.stdout?.getReader().cancel()
    child.close()
    expect((await child.exited).exitCode).not.toBe(0)
  })
})

/** What can be read now, or nothing: the pipe does not block. */
function readAvailable(fd: number, buffer: Buffer): string {
  try {
    return buffer.toString("utf8", 0, readSync(fd, buffer))
  } catch (error) {
    if (errnoOf(error) === "EAGAIN") return ""
    throw error
  }
}
