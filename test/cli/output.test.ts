import { describe, expect, test } from "bun:test"
import { join } from "node:path"

const output = join(import.meta.dir, "../../src/cli/output.ts")

/** Runs a few lines of code with real descriptors and gives what came out of them. */
function printed(code: string): { stdout: string; stderr: string; exitCode: number } {
  const script = `import { Output, writeChunk } from ${JSON.stringify(output)}\n${code}`
  const run = Bun.spawnSync([process.execPath, "-e", script], { stdout: "pipe", stderr: "pipe" })
  return { stdout: run.stdout.toString(), stderr: run.stderr.toString(), exitCode: run.exitCode }
}

const plain = "{ color: false, quiet: false, json: false }"

describe("output", () => {
  test("with --json keeps human text off stdout", () => {
    const code = `const o = new Output({ color: false, quiet: false, json: true })
      o.line("for people"); o.json({ a: 1 }); o.notice("by the way")`
    expect(printed(code)).toEqual({ stdout: '{\n  "a": 1\n}\n', stderr: "by the way\n", exitCode: 0 })
  })

  test("a failure tells what, where and what to do", () => {
    const code = `new Output(${plain}).failure({ kind: "usage", code: "ACODE-X-001", message: "it broke", where: "here", hint: "mend it" })`
    expect(printed(code)).toMatchObject({
      stdout: "",
      stderr: "error ACODE-X-001: it broke\n  at here\n  → mend it\n",
    })
  })

  test("quiet leaves out notices and nothing else", () => {
    const code = `const o = new Output({ color: false, quiet: true, json: false })
      o.notice("no"); o.line("yes"); o.failure({ kind: "general", code: "C", message: "m" })`
    expect(printed(code)).toMatchObject({ stdout: "yes\n", stderr: "error C: m\n" })
  })

  test("an object of a stream is one line, and a question is never silenced or mixed into the answer", () => {
    const code = `const o = new Output({ color: false, quiet: true, json: true })
      o.jsonLine({ a: { b: [1, 2] } }); o.question("really? "); o.jsonLine({ text: "one\\ntwo" })`
    expect(printed(code)).toEqual({
      stdout: '{"a":{"b":[1,2]}}\n{"text":"one\\ntwo"}\n',
      stderr: "really? ",
      exitCode: 0,
    })
  })

  test("colour appears only when asked for", () => {
    const code = `new Output({ color: true, quiet: false, json: false }).notice("dim")`
    expect(printed(code).stderr).toBe("\u001b[2mdim\u001b[0m\n")
    expect(printed(`new Output(${plain}).notice("dim")`).stderr).toBe("dim\n")
  })

  test("recorded bytes are exact when piped and harmless on a terminal", () => {
    const bytes = "Buffer.from([0x1b, 0x5b, 0x32, 0x4a, 0xff])"
    expect(printed(`new Output(${plain}).recorded(Buffer.from("\\u001b[2J"), true)`).stdout).toBe("\\x1b[2J")
    const exact = Bun.spawnSync(
      [
        process.execPath,
        "-e",
        `import { Output } from ${JSON.stringify(output)}\nnew Output(${plain}).recorded(${bytes}, false)`,
      ],
      { stdout: "pipe" },
    )
    expect([...exact.stdout]).toEqual([0x1b, 0x5b, 0x32, 0x4a, 0xff])
  })

  test("a large chunk passes whole through a slow reader", () => {
    const code = `await writeChunk(1, Buffer.alloc(3_000_000, "z"))`
    const script = `import { writeChunk } from ${JSON.stringify(output)}\n${code}`
    const run = Bun.spawnSync(["sh", "-c", '"$0" -e "$1" | (sleep 0.1; wc -c)', process.execPath, script])
    expect(run.stdout.toString().trim()).toBe("3000000")
  })

  test("a reader that has gone is told as such, not as a crash", () => {
    const code = `import { OutputClosed } from ${JSON.stringify(output)}
      try { for (;;) await writeChunk(1, Buffer.alloc(65536)) } catch (e) { process.exitCode = e instanceof OutputClosed ? 7 : 1 }`
    const script = `import { writeChunk } from ${JSON.stringify(output)}\n${code}`
    const run = Bun.spawnSync([
      "bash",
      "-c",
      'set -o pipefail; "$0" -e "$1" | head -c 10 > /dev/null; echo $?',
      process.execPath,
      script,
    ])
    expect(run.stdout.toString()).toBe("7\n")
  })
})
