import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { AcodeRun } from "../acode.ts"
import { check } from "../checker/checker.ts"
import { sessionRows } from "../plan/plan-report.ts"
import { concrete, contains, open, reply } from "../script-replies.ts"
import { type AgentWorkspace, agentWorkspace } from "./agent-workspace.ts"

/** The file that the command waits for, so that its session is driven for as long as a test needs it. */
const signalFile = "go"

const waiting = ["sh", "-c", `echo began >> ledger.txt; while [ ! -e ${signalFile} ]; do sleep 0.02; done`]

/** A session that has a plan and rests. */
async function restingSession(): Promise<AgentWorkspace> {
  const room = agentWorkspace()
  const steps = [
    concrete("s1", "run_command", { argv: waiting }),
    open("s2", "WRITE_FILE", { depends_on: ["s1"] }),
  ]
  const acceptance = [contains("ledger.txt", "began"), contains("made.txt", "made", "a2")]
  room.script(
    reply.plan({ write: ["made.txt", "ledger.txt"], commands: [waiting], acceptance, steps }),
    reply.write("made.txt", "made\n"),
    reply.finish(),
    reply.review("approve"),
  )
  const { exitCode, stderr } = await room.run("--yes=plan", "--plan-only")
  if (exitCode !== 0) throw new Error(`run --plan-only: ${stderr}`)
  return room
}

function letGoOn({ workspace }: AgentWorkspace): void {
  writeFileSync(join(workspace.root, signalFile), "")
}

/** Lets this many processes resume it at the same moment. Returns every violation. */
export async function ownersViolations(count: number): Promise<readonly string[]> {
  using room = await restingSession()
  const { workspace } = room
  const before = sessionRows(workspace).length
  const starting = Array.from({ length: count }, () => room.start("resume", "--script", room.scriptFile))
  await using running = new AsyncDisposableStack()
  for (const each of starting) running.use(each)
  const ended: AcodeRun[] = []
  const endings = starting.map(each => each.ended.then(run => ended.push(run)))
  // All but the one that drives it end by themselves; then that one may continue.
  await Promise.race([Promise.all(endings), untilLeft(ended, count - 1)])
  letGoOn(room)
  await Promise.all(endings)
  const [winners, losers] = [ended.filter(isDone), ended.filter(run => !isDone(run))]
  const resumedBy = resumptions(room)
  const added = sessionRows(workspace).slice(before)
  return [
    ...(winners.length === 1 ? [] : [`${winners.length} of ${count} drove it to its end`]),
    ...losers.filter(run => !isClear(run)).map(run => `a loser exits ${run.exitCode}: ${run.stderr}`),
    ...(resumedBy === 1 ? [] : [`it was taken up ${resumedBy} times`]),
    ...(new Set(added.map(({ epoch }) => epoch)).size === 1 ? [] : ["more than one owner appended"]),
    ...(room.file("ledger.txt") === "began\n" ? [] : [`the ledger says ${room.file("ledger.txt")}`]),
    ...(await check(workspace)),
  ]
}

function resumptions({ workspace }: AgentWorkspace): number {
  return sessionRows(workspace).filter(({ type }) => type === "session.resumed").length
}

const waitMs = 60_000

async function untilLeft(ended: readonly AcodeRun[], count: number): Promise<void> {
  const giveUpAt = performance.now() + waitMs
  while (ended.length < count && performance.now() < giveUpAt) await Bun.sleep(20)
}

function isDone({ exitCode }: AcodeRun): boolean {
  return exitCode === 0
}

/** Says who works there, and nothing that looks like a result. */
function isClear({ exitCode, stdout, stderr }: AcodeRun): boolean {
  return exitCode === 1 && stdout === "" && stderr.includes("ACODE-ORCH-008") && /process \d+/.test(stderr)
}
