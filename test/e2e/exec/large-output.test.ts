import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { acodeProgram, runAcode, startAcode } from "../../support/acode.ts"
import { eventually } from "../../support/eventually.ts"
import { tempWorkspace } from "../../support/workspace/temp-workspace.ts"

/** The peak the kernel has seen so far, or 0 once the process is gone. */
function peakMemoryBytes(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8")
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024
  } catch {
    // It has ended between two looks.
    return 0
  }
}

const piece = Buffer.alloc(1_000_000, "x")

test("a gigabyte of output is counted and hashed in less than 150 MB of memory", async () => {
  using workspace = tempWorkspace()
  const script = 'head -c 1000000000 /dev/zero | tr "\\0" x'
  await using running = startAcode(["exec", "--json", "--", "sh", "-c", script], {
    cwd: workspace.root,
    env: workspace.environment,
    timeoutMs: 120_000,
  })
  let peak = 0
  let looks = 0
  let isOver = false
  const watched = running.ended.finally(() => {
    isOver = true
  })
  await eventually(
    "the command ends",
    () => {
      peak = Math.max(peak, peakMemoryBytes(running.pid))
      looks += 1
      return isOver
    },
    { timeoutMs: 120_000, everyMs: 5 },
  )
  const { result } = JSON.parse((await watched).stdout)
  const hasher = new Bun.CryptoHasher("sha256")
  for (let written = 0; written < 1_000_000_000; written += piece.length) hasher.update(piece)
  expect(result.truncation.stdout).toMatchObject({
    originalBytes: 1_000_000_000,
    sha256: hasher.digest("hex"),
  })
  expect(result.stdout.length).toBeLessThan(1_100_000)
  expect(looks).toBeGreaterThan(20)
  expect(peak).toBeGreaterThan(10 * 1024 * 1024)
  expect(peak).toBeLessThan(150 * 1024 * 1024)
}, 130_000)

describe("the hash is of every byte that was written", () => {
  for (const megabytes of [1, 40])
    test(`${megabytes} MB`, async () => {
      using workspace = tempWorkspace()
      const bytes = megabytes * 1_000_000 + 200_000
      const script = `head -c ${bytes} /dev/zero | tr "\\0" y`
      const run = await runAcode(["exec", "--json", "--max-output", "1000", "--", "sh", "-c", script], {
        cwd: workspace.root,
        env: workspace.environment,
      })
      const expected = new Bun.CryptoHasher("sha256").update(Buffer.alloc(bytes, "y")).digest("hex")
      expect(JSON.parse(run.stdout).result.truncation.stdout).toMatchObject({
        originalBytes: bytes,
        sha256: expected,
      })
    })
})

test("a reader that goes away ends the command, as a closed pipe would", async () => {
  using workspace = tempWorkspace()
  const line = `"$0" exec -- yes | head -n 1; echo "\${PIPESTATUS[0]}"`
  const shell = Bun.spawnSync(["bash", "-c", line, acodeProgram()], {
    cwd: workspace.root,
    env: { ...workspace.environment },
  })
  expect(shell.stdout.toString()).toBe("y\n141\n")
})
