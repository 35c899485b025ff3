import { canonicalJson, type Json, sha256Hex } from "../../base/canonical.ts"
import type { SettledCall } from "../../gate/contract.ts"

/** How a command that checks something came out. */
export interface CommandOutcome {
  /** `notRun` was refused, could not be started or was cut short by acode: it says nothing about the work. */
  readonly ended: "exited" | "timedOut" | "notRun"
  /** Null when it did not exit by itself. */
  readonly exitCode: number | null
  /** Of everything it wrote that was kept; null when it was not run. */
  readonly outputHash: string | null
  readonly executionId: string | null
  /** The end of what it wrote, or why it was not run. Redacted and bounded. */
  readonly told: string
}

/** The outcome in what the gate recorded of a `run_command`. */
export function commandOutcome(settled: SettledCall): CommandOutcome {
  const { exitCode, executionId, error, value } = settled
  const ended = endingOf(settled)
  const why = error?.message ?? settled.outcome
  if (ended === "notRun") return { ended, exitCode, outputHash: null, executionId, told: why }
  const [stdout, stderr] = [textIn(value, "stdout"), textIn(value, "stderr")]
  return {
    ended,
    exitCode,
    executionId,
    outputHash: `sha256:${sha256Hex(canonicalJson([stdout, stderr]))}`,
    told: outputTail(stdout, stderr) || why,
  }
}

const timeoutCode = "ACODE-EXE-002"
/** Endings that the command itself brought about. */
const ownEndings = ["ACODE-EXE-003", "ACODE-EXE-004", "ACODE-EXE-012"]

function endingOf({ outcome, error, exitCode }: SettledCall): CommandOutcome["ended"] {
  if (outcome === "succeeded") return "exited"
  if (outcome !== "failed" || error === null) return "notRun"
  if (error.code === timeoutCode) return "timedOut"
  return exitCode !== null || ownEndings.includes(error.code) ? "exited" : "notRun"
}

const tailBytesMax = 2048

/** The ends of both streams, for what failed stands at the end; one that is short leaves its share to the other. */
function outputTail(stdout: string, stderr: string): string {
  const [out, err] = [plain(stdout), plain(stderr)]
  const half = tailBytesMax / 2
  const outShare = Math.max(half, tailBytesMax - Buffer.byteLength(err))
  const errShare = Math.max(half, tailBytesMax - Buffer.byteLength(out))
  return [tail(out, outShare), tail(err, errShare)].filter(part => part !== "").join("\n")
}

/** Without colours and other orders to a terminal, which are only noise to a reader. */
function plain(text: string): string {
  return text.replace(terminalOrders, "").trim()
}

const escapeSign = String.fromCharCode(0x1b)
const terminalOrders = new RegExp(
  `${escapeSign}(?:\\[[0-?]*[ -/]*[@-~]|\\][^\\x07${escapeSign}]*(?:\\x07|${escapeSign}\\\\)?|[@-Z\\\\^_])`,
  "g",
)

/** Whole lines where there are any. */
function tail(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= bytesMax) return text
  let start = bytes.length - (bytesMax - 4)
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1
  const cut = bytes.toString("utf8", start)
  const line = cut.indexOf("\n")
  return `…\n${line === -1 || line > cut.length / 2 ? cut : cut.slice(line + 1)}`
}

function textIn(value: Json, key: string): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return ""
  const found = Object.entries(value).find(([name]) => name === key)?.[1]
  return typeof found === "string" ? found : ""
}
