import { readdirSync, readFileSync } from "node:fs"
import { eventually } from "./eventually.ts"

export interface LiveProcess {
  readonly pid: number
  readonly commandLine: string
  readonly environment: string
}

/** The variable every process of an execution inherits; see exec/environment. */
const executionTag = "ACODE_EXECUTION_ID="

/** Processes that carry the tag of an execution (of that one, when an id is given). Zombies are not alive. */
export function taggedProcesses(executionId = ""): LiveProcess[] {
  return liveProcesses().filter(process => process.environment.includes(`${executionTag}${executionId}`))
}

/** Processes with this marker anywhere in their command line. Make the marker unique to the test. */
export function processesWith(marker: string): LiveProcess[] {
  return liveProcesses().filter(live => live.pid !== process.pid && live.commandLine.includes(marker))
}

/** Waits until no process has a marker, after an end that does not wait for children, such as `kill -9` of acode. */
export async function untilNoProcessWith(marker: string, timeoutMs = 10_000): Promise<void> {
  await eventually(`no process with "${marker}"`, () => processesWith(marker).length === 0, { timeoutMs })
}

/** Cleans up after a test that found survivors, so that they do not disturb the next one. */
export function endProcesses(processes: readonly LiveProcess[]): void {
  for (const { pid } of processes) {
    try {
      process.kill(pid, "SIGKILL")
    } catch {
      // It went with its parent, the one before it in the list.
    }
  }
}

function liveProcesses(): LiveProcess[] {
  return readdirSync("/proc").flatMap(name => {
    if (!/^\d+$/.test(name)) return []
    const commandLine = readProc(name, "cmdline")
    // The command line of a zombie is empty, and so is the one of a kernel thread.
    if (commandLine === "") return []
    return [{ pid: Number(name), commandLine, environment: readProc(name, "environ") }]
  })
}

function readProc(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1").replaceAll("\0", " ")
  } catch {
    // It ended between the listing and the read, or belongs to another user.
    return ""
  }
}
