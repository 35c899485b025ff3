import { readFileSync } from "node:fs"
import { Wiring } from "../../src/app/wiring/wire.ts"
import type { Faults } from "../../src/base/faults.ts"
import { eventually } from "./eventually.ts"
import { testWhere } from "./requirement.ts"
import type { TempWorkspace } from "./workspace/temp-workspace.ts"

/**
 * Stops its own process (SIGSTOP) when a point is reached for the `nth` time, as a machine that sleeps would. Where no
 * other process can inspect this one, its leases are over at once.
 */
export class StoppingWiring extends Wiring {
  override readonly faults: Faults

  constructor(request: ConstructorParameters<typeof Wiring>[0], stopAt: string, nth = 1) {
    super(request)
    let left = nth
    this.faults = {
      reach: point => {
        if (point !== stopAt) return
        left -= 1
        if (left === 0) process.kill(process.pid, "SIGSTOP")
      },
    }
  }

  override async storeOptions() {
    return { ...(await super.storeOptions()), hiddenLeaseMs: 1 }
  }
}

/** The command for an owner in its own pid namespace, as in a container, whose state cannot be seen from outside. */
const inNamespace = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
const asUser = process.getuid?.() === 0 ? [] : ["--map-root-user"]
export const hiddenTest = testWhere(
  Bun.which("unshare") !== null && Bun.spawnSync([...inNamespace, ...asUser, "true"]).exitCode === 0
    ? null
    : "no pid namespace can be made here",
)

export interface StoppedProcess extends AsyncDisposable {
  goOn(): Promise<{ readonly exitCode: number; readonly stdout: string; readonly stderr: string }>
}

/** Starts a program of the tests, hidden in a pid namespace or visible, and returns once it has stopped itself. */
export async function stoppedProcess(
  { root, environment }: TempWorkspace,
  args: readonly string[],
  sight: "hidden" | "visible",
): Promise<StoppedProcess> {
  const line = [process.execPath, ...args]
  // The first process of a namespace cannot be stopped from inside, so a shell is that.
  const hidden = [...inNamespace, ...asUser, "sh", "-c", '"$@"; exit $?', "sh", ...line]
  const child = Bun.spawn(sight === "hidden" ? hidden : line, {
    cwd: root,
    env: { ...environment },
    stdout: "pipe",
    stderr: "pipe",
  })
  let stopped = 0
  await eventually("the process is stopped", () => {
    stopped = descendants(child.pid).find(pid => processState(pid) === "T") ?? 0
    return stopped !== 0
  })
  return {
    goOn: async () => {
      process.kill(stopped, "SIGCONT")
      const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
      return { exitCode: await child.exited, stdout, stderr }
    },
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL")
      await child.exited
    },
  }
}

/** The process itself and all below it. */
function descendants(pid: number): readonly number[] {
  const children = ofProcess(pid, `task/${pid}/children`).trim()
  return [pid, ...(children === "" ? [] : children.split(" ").flatMap(child => descendants(Number(child))))]
}

function processState(pid: number): string {
  // The name in brackets may contain anything, so the state is looked for behind the last one.
  return ofProcess(pid, "stat").split(") ").at(-1)?.[0] ?? ""
}

function ofProcess(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "latin1")
  } catch {
    // It has ended since it was listed.
    return ""
  }
}
