import { afterAll, describe, expect, test } from "bun:test"
import { openSync, readdirSync } from "node:fs"
import { sha256Hex } from "../../../src/base/canonical.ts"
import { testRunner } from "../support/test-runner.ts"

const runner = testRunner()
afterAll(() => runner[Symbol.dispose]())

const MB = 1_000_000
const xs = (bytes: number) => `head -c ${bytes} /dev/zero | tr '\\0' x`

describe("output", () => {
  test("can be reopened by name in the command, because it goes through real pipes", async () => {
    const { result } = await runner.sh("echo a > /dev/stdout; echo b > /dev/stderr; echo c >> /dev/fd/1")
    expect(result).toMatchObject({ exitCode: 0, stdout: "a\nc\n", stderr: "b\n" })
  })

  test("that is long keeps head and tail, true size and hash, and an artifact", async () => {
    const { result } = await runner.sh(`seq 1 400000`)
    const whole = Array.from({ length: 400_000 }, (_, index) => `${index + 1}\n`).join("")
    expect(result.truncation?.stdout).toMatchObject({
      originalBytes: whole.length,
      keptBytes: 1024 * 1024,
      sha256: sha256Hex(whole),
      artifact: result.artifacts.stdout,
    })
    expect(result.stdout).toStartWith("1\n2\n3\n")
    expect(result.stdout).toEndWith("399999\n400000\n")
    const outputs = runner.recorder.outputs.at(-1)
    expect(Buffer.from(outputs?.stdout ?? []).toString()).toBe(whole)
    expect(result.artifacts.stdout).toBe(`sha256:${sha256Hex(outputs?.stdout ?? "")}`)
    expect(outputs?.stderr).toBeNull()
  })

  test("of 200 MB does not stay in memory, and is counted and hashed to the last byte", async () => {
    const { result } = await runner.sh(xs(200 * MB))
    const hasher = new Bun.CryptoHasher("sha256")
    const block = Buffer.alloc(MB, "x")
    for (let count = 0; count < 200; count++) hasher.update(block)
    expect(result.truncation?.stdout).toMatchObject({ originalBytes: 200 * MB, sha256: hasher.digest("hex") })
    expect(runner.recorder.outputs.at(-1)?.stdout?.length).toBeLessThan(17 * MB)
  }, 30_000)

  test("on both streams at once is kept apart", async () => {
    const { result } = await runner.sh(`${xs(3 * MB)} & ${xs(3 * MB)} | tr x e >&2; wait`)
    expect(result.truncation).toMatchObject({
      stdout: { originalBytes: 3 * MB },
      stderr: { originalBytes: 3 * MB },
    })
    expect(result.stdout).toMatch(/^x+\n\[OUTPUT TRUNCATED: \d+ bytes omitted\]\nx+$/)
    expect(result.stderr).toMatch(/^e+\n\[OUTPUT TRUNCATED: \d+ bytes omitted\]\ne+$/)
  })

  test("of a command that never stops is bounded by its deadline", async () => {
    const { result } = await runner.run(["yes"], {}, { timeoutMs: 500 })
    expect(result.ending).toBe("timedOut")
    expect(result.stdout).toStartWith("y\ny\n")
  })

  test("that is binary survives byte for byte beside the text", async () => {
    const { result } = await runner.sh("printf 'a\\377\\376b'")
    expect(result).toMatchObject({ stdout: "a\ufffd\ufffdb", truncation: null })
    expect(result.artifacts.stdout).toBe(`sha256:${sha256Hex(new Uint8Array([0x61, 0xff, 0xfe, 0x62]))}`)
    expect(Buffer.from(runner.recorder.outputs.at(-1)?.stdout ?? [])).toEqual(
      Buffer.from([0x61, 0xff, 0xfe, 0x62]),
    )
  })

  test("of the last moment is not lost", async () => {
    const results = await Promise.all(
      Array.from({ length: 12 }, (_, n) => runner.sh(`printf ${n}; exec kill -9 $$`)),
    )
    expect(results.map(record => record.result.stdout)).toEqual(results.map((_, n) => String(n)))
  })

  test("has its own limit for one execution", async () => {
    const { result } = await runner.sh("printf 0123456789", { outputBytesMax: 4 })
    expect(result.stdout).toBe("01\n[OUTPUT TRUNCATED: 6 bytes omitted]\n89")
  })
})

describe("what is captured", () => {
  for (const [capture, stdout, stderr] of [
    ["all", "o\n", "e\n"],
    ["stdout", "o\n", ""],
    ["stderr", "", "e\n"],
    ["none", "", ""],
  ] as const)
    test(`${capture}: and the rest goes nowhere`, async () => {
      const { result } = await runner.sh("echo o; echo e >&2", { capture })
      expect(result).toMatchObject({ exitCode: 0, stdout, stderr, truncation: null })
    })

  test("is one thing, and what is watched another", async () => {
    const seen: string[] = []
    const onOutput = (stream: string, chunk: Uint8Array) => void seen.push(`${stream} ${Buffer.from(chunk)}`)
    const { result } = await runner.sh("echo o; echo e >&2", { capture: "none" }, { onOutput })
    expect(seen.sort()).toEqual(["stderr e\n", "stdout o\n"])
    expect(result).toMatchObject({ stdout: "", stderr: "" })
  })
})

describe("whoever watches the output", () => {
  test("sees every byte, raw and in order", async () => {
    const chunks: Uint8Array[] = []
    await runner.sh("seq 1 50000; printf '\\377'", {}, { onOutput: (_, chunk) => void chunks.push(chunk) })
    const expected = Buffer.concat([
      Buffer.from(Array.from({ length: 50_000 }, (_, index) => `${index + 1}\n`).join("")),
      Buffer.from([0xff]),
    ])
    expect(Buffer.concat(chunks).equals(expected)).toBe(true)
  })

  test("and is slow holds the command back and loses nothing", async () => {
    let bytes = 0
    const onOutput = async (_: string, chunk: Uint8Array) => {
      // The slowness is what is tested.
      await Bun.sleep(1)
      bytes += chunk.length
    }
    const { result } = await runner.sh(xs(3 * MB), {}, { onOutput })
    expect([bytes, result.truncation?.stdout?.originalBytes]).toEqual([3 * MB, 3 * MB])
  })

  test("and never answers cannot keep the deadline from coming", async () => {
    const onOutput = () => new Promise<void>(() => undefined)
    const { result } = await runner.run(["yes"], {}, { timeoutMs: 100 }, { onOutput })
    expect(result).toMatchObject({ ending: "timedOut" })
  })

  test("and never answers a command that has ended is let go at its deadline", async () => {
    const onOutput = () => new Promise<void>(() => undefined)
    const { result } = await runner.sh("echo done", { timeoutMs: 100 }, { onOutput })
    expect(result).toMatchObject({ ending: "exited", exitCode: 0, stdout: "done\n" })
  })

  test("and fails is not asked again, and the command goes on", async () => {
    let calls = 0
    const onOutput = () => {
      calls += 1
      throw new Error("the terminal is gone")
    }
    const { result } = await runner.sh("echo a; sleep 0.05; echo b", {}, { onOutput })
    expect(calls).toBe(1)
    expect(result).toMatchObject({ ending: "exited", stdout: "a\nb\n" })
  })
})

describe("input", () => {
  test("is at its end when nobody gives any", async () => {
    expect((await runner.sh("cat; echo end")).result.stdout).toBe("end\n")
  })

  test("is the descriptor that is given", async () => {
    const stdin = openSync(runner.workspace.write("given", "typed\n"), "r")
    expect((await runner.sh("cat", {}, { stdin })).result.stdout).toBe("typed\n")
  })
})

test("100 commands later no descriptors are left open", async () => {
  const open = () => readdirSync("/proc/self/fd").length
  const before = open()
  for (let count = 0; count < 98; count++) await runner.sh("echo x; echo y >&2")
  await runner.run(["no-such-program-anywhere"])
  await runner.sh("sleep 60", { timeoutMs: 20 })
  // The runtime closes its copies of the last pipes a moment later.
  expect(open()).toBeLessThan(before + 8)
}, 30_000)

test("a command that writes more than it may is killed and says so", async () => {
  using small = testRunner({ outputCeilingBytes: 3 * MB })
  const { result } = await small.sh("yes")
  expect(result).toMatchObject({
    ending: "signalled",
    exitCode: null,
    signal: "SIGKILL",
    success: false,
    error: { code: "ACODE-EXE-004" },
  })
  expect(result.truncation?.stdout?.originalBytes).toBeGreaterThan(3 * MB)
})
