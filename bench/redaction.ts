import { createRedactor } from "../src/redaction/redactor.ts"
import { computed } from "./measure.ts"
import { atLeast, atMost, type Figure } from "./report.ts"

const redactor = createRedactor({
  secretValues: ["correct-horse-battery-staple", "s3cr3t/value+1"],
  extraPatterns: [],
})

export function redactionFigures(): Figure[] {
  const log = new TextEncoder().encode(ordinaryLog(8_000_000))
  const ordinary = computed(8, () => void redactor.redactBytes(log))
  const hostile: { readonly name: string; readonly p50: number }[] = []
  for (const [name, text] of Object.entries(hostileTexts(1_000_000))) {
    const bytes = new TextEncoder().encode(text)
    hostile.push({ name, p50: computed(3, () => void redactor.redactBytes(bytes)).p50 })
  }
  const worst = hostile.reduce((a, b) => (a.p50 > b.p50 ? a : b))
  return [
    atLeast("redaction, ordinary log", log.length / 1_000_000 / (ordinary.p50 / 1_000), 150, "MB/s"),
    atMost(`redaction, 1 MB of the worst (${worst.name})`, worst.p50, 100),
  ]
}

/** Typical output: test runners, compilers, package managers, JSON lines. It has no secrets, like most output. */
function ordinaryLog(bytes: number): string {
  const lines = [
    "PASS  test/store/log/event-log.test.ts (14 tests, 212 ms)",
    "  ✓ an append with a stale epoch is refused [3.41ms]",
    "src/exec/runner.ts(41,7): error TS2322: Type 'string' is not assignable to type 'number'.",
    "npm warn deprecated inflight@1.0.6: This module is not supported, and leaks memory.",
    '{"level":"info","time":"2026-01-02T03:04:05.678Z","msg":"request finished","status":200,"ms":12.5,"path":"/api/v1/items?limit=50"}',
    "added 412 packages, and audited 413 packages in 9s",
    "commit 18b738e460567dc0c100852d28411830b7be5d8d",
    '  "integrity": "sha512-zW/hxwc8sJAILGwB5eTC4i48ouGXf0V4lrxmEOk3JIE6JkYVW1TZh1E2pIempqsezgW1sckTIIDudFON8bJ2Mw==",',
    "    at Object.<anonymous> (/srv/app/node_modules/jest-circus/build/jestAdapterInit.js:125:9)",
    "[ 47%] Building CXX object src/CMakeFiles/core.dir/engine/scheduler.cpp.o",
    "Downloading https://example.com/artifacts/toolchain-13.2.tar.xz (87 MB)",
    "",
  ]
  const page = `${lines.join("\n")}\n`
  return page.repeat(Math.ceil(bytes / page.length)).slice(0, bytes)
}

/** Texts that start like a secret all over, or never end. */
function hostileTexts(bytes: number): Record<string, string> {
  const filled = (unit: string) => unit.repeat(Math.ceil(bytes / unit.length)).slice(0, bytes)
  return {
    "one line": filled("a"),
    assignments: filled("password="),
    "quoted assignments": filled('"api_key": "'),
    "open keys": filled("-----BEGIN PRIVATE KEY-----\n"),
    "token starts": filled("ghp_"),
    "JWT starts": filled("eyJhbGciOi."),
    "URL starts": filled("https://user:"),
    headers: filled("Authorization: Bearer "),
    "nearly a value": filled("correct-horse-battery-stapl"),
    "dots and slashes": filled("./+=-_"),
    "invalid UTF-8": filled("\ud800€"),
  }
}
