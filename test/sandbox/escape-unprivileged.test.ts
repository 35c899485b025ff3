import { expect } from "bun:test"
import { join } from "node:path"
import { spawn } from "../../src/base/spawn.ts"
import { missingSandbox, testWhere } from "../support/requirement.ts"

const setpriv = ["/usr/bin/setpriv", "/bin/setpriv"].find(path => Bun.which(path) !== null)
const nobodyTest = testWhere(missingSandbox ?? reasonHere())

function reasonHere(): string | null {
  if (process.geteuid?.() !== 0) return "they run as an ordinary user already"
  return setpriv === undefined ? "there is no setpriv to become one" : null
}

/** Runs a test file as nobody and returns what it printed. */
async function testAsNobody(
  file: string,
): Promise<{ readonly exitCode: number | null; readonly output: string }> {
  const child = spawn({
    argv: [
      setpriv ?? "",
      "--reuid=65534",
      "--regid=65534",
      "--clear-groups",
      process.execPath,
      "test",
      join(import.meta.dir, file),
    ],
    env: {
      PATH: "/usr/local/bin:/usr/bin:/bin",
      HOME: "/nonexistent",
      BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0",
    },
    cwd: join(import.meta.dir, "../.."),
    stdin: "null",
    stdout: "pipe",
    stderr: "pipe",
    extra: [],
  })
  const output = Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  const exit = await child.exited
  const text = (await output).join("")
  child.close()
  return { exitCode: exit.exitCode, output: text }
}

const suites = [
  "escape",
  "confined",
  "kill",
  "limits",
  "quarantine",
  "door",
  "none",
  "tree/scan",
  "tree/tree-snapshot",
  "hostile-git",
  "../recovery/killed-commands",
]
for (const file of suites.map(name => `${name}.test.ts`)) {
  nobodyTest(
    `${file} passes as an ordinary user`,
    async () => {
      const { exitCode, output } = await testAsNobody(file)
      if (exitCode !== 0) process.stderr.write(output)
      expect(output).toMatch(/^ *[1-9]\d* pass$/m)
      expect(exitCode).toBe(0)
    },
    60_000,
  )
}
