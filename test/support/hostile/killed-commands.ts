import { existsSync } from "node:fs"
import { join } from "node:path"
import { findControlGroups } from "../../../src/sandbox/process/cgroup.ts"
import { type AcodeRun, runAcode, startAcode } from "../acode.ts"
import { check } from "../checker/checker.ts"
import { eventually } from "../eventually.ts"
import { endProcesses, processesWith } from "../processes.ts"
import { confinedKind, missingProgram } from "../requirement.ts"
import { type TempWorkspace, tempWorkspace } from "../workspace/temp-workspace.ts"

/**
 * The cause of acode's death: a numbered fault point, or a signal after the command has written its files. Or memory
 * that runs out for both of them then, which must not end acode.
 */
export type Death =
  | { readonly point: number }
  | { readonly signal: NodeJS.Signals }
  | { readonly memoryBytesMax: number }

export const missingMemoryGroups: string | null = findControlGroups().controls.has("memory")
  ? missingProgram("python3")
  : "no control group for memory"

/** Signals that end a process by default. SIGXFSZ is not among them: the runtime ignores it. */
export const deadlySignals = (
  "SIGHUP SIGINT SIGQUIT SIGILL SIGTRAP SIGABRT SIGBUS SIGFPE SIGKILL SIGUSR1 SIGSEGV SIGUSR2 SIGALRM SIGTERM SIGXCPU " +
  "SIGVTALRM SIGPROF SIGSYS"
).split(" ") as readonly NodeJS.Signals[]

export interface AfterDeath {
  /** False where it ran to its end: there was no such point. */
  readonly died: boolean
  readonly exitCode: number | null
  readonly violations: readonly string[]
}

/** A workspace whose command plants protected names and leaves processes; acode dies, and the next one looks. */
export async function afterDeath(death: Death): Promise<AfterDeath> {
  using workspace = tempWorkspace({
    git: true,
    files: { "src/a.ts": "", ".npmrc": "mine\n", "docs/HEAD": "mine\n" },
  })
  const marker = `77${process.pid}${markers++}`
  const before = protectedIn(workspace)
  const run = await died(workspace, death, marker)
  const recovered = await runAcode(["runs", "list", "--json"], options(workspace))
  const left = processesWith(`sleep ${marker}`)
  endProcesses(left)
  const violations = [
    ...(recovered.exitCode === 0 ? [] : [`runs list exits ${recovered.exitCode}: ${recovered.stderr}`]),
    ...protectedIn(workspace).flatMap(name => (before.includes(name) ? [] : [`${name} is left`])),
    ...before.flatMap(name => (protectedIn(workspace).includes(name) ? [] : [`${name} is gone`])),
    ...left.map(({ pid, commandLine }) => `survivor ${pid} ${commandLine}`),
    ...(await check(workspace)),
  ]
  return { died: run.signal !== null, exitCode: run.exitCode, violations }
}

let markers = 0

async function died(workspace: TempWorkspace, death: Death, marker: string): Promise<AcodeRun> {
  const end = "point" in death ? ":" : "signal" in death ? `sleep ${marker}` : takesAllMemory
  const script = plantingScript(marker, end)
  const args = ["exec", "--sandbox", confinedKind, "--", "/bin/sh", "-c", script]
  if ("point" in death)
    return await runAcode(args, options(workspace, { ACODE_FAILPOINT: String(death.point) }))
  if ("memoryBytesMax" in death) return await inGroup(workspace, args, death.memoryBytesMax)
  await using running = startAcode(args, options(workspace))
  await eventually("it has planted", () => existsSync(join(workspace.root, "planted")))
  running.kill(death.signal)
  return await running.ended
}

function options({ root, environment }: TempWorkspace, more: Readonly<Record<string, string>> = {}) {
  return { cwd: root, env: { ...environment, ...more } }
}

/** Makes one of each kind of name, tries a set-user-id bit, and leaves a process in a session of its own. */
function plantingScript(marker: string, end: string): string {
  return `setsid sleep ${marker} &
layout() { mkdir -p "$1/objects" "$1/refs" "$1/hooks"; echo 'ref: refs/heads/main' > "$1/HEAD"; echo '[core]' > "$1/config"; }
layout src/.git; layout node_modules/p/.git; layout assets.git; mkdir -p "$(printf 'odd\\377')"; layout "$(printf 'odd\\377/.git')"
mkdir docs/objects docs/refs; mkdir -p new/.vscode; echo x > new/.npmrc; echo x > .env; cp /bin/true bin; chmod 4755 bin
: > planted
${end}`
}

const takesAllMemory = "exec python3 -c 'x = []\nwhile True: x.append(bytearray(10 ** 7))'"

/** acode and all it starts in a control group that holds no more than so much. */
async function inGroup(
  workspace: TempWorkspace,
  args: readonly string[],
  memoryBytesMax: number,
): Promise<AcodeRun> {
  const group = findControlGroups().create({ processesMax: null, memoryBytesMax })
  const enter = `for door in ${group.doors.join(" ")}; do echo 0 > $door; done; exec "$@"`
  try {
    return await runAcode(args, { ...options(workspace), through: ["/bin/sh", "-c", enter, "sh"] })
  } finally {
    group.remove()
  }
}

/** The names of which none may come, as `find` sees them: protected ones, repositories, and files with a set-id bit. */
function protectedIn({ root }: TempWorkspace): readonly string[] {
  const names = [".git", ".vscode", ".npmrc", ".env", ".agent"].flatMap(name => ["-o", "-name", name])
  const layouts = ["HEAD", "objects", "refs"].flatMap(name => ["-o", "-name", name])
  const tests = ["(", ...names.slice(1), ...layouts, "-o", "-perm", "/6000", ")"]
  const argv = ["find", ".", "-path", "./.git/*", "-prune", "-o", ...tests, "-print"]
  return Bun.spawnSync(argv, { cwd: root }).stdout.toString("latin1").split("\n").filter(Boolean).sort()
}
