import { acodeProgram, runAcode, startAcode } from "../support/acode.ts"
import { check } from "../support/checker/checker.ts"
import { eventually } from "../support/eventually.ts"
import { endProcesses, processesWith, untilNoProcessWith } from "../support/processes.ts"
import { type TempWorkspace, tempWorkspace } from "../support/workspace/temp-workspace.ts"
import { inParallel, type Programme } from "./programme.ts"
import type { Random } from "./random.ts"

/** How many kills one history has to survive before a fresh one is taken. */
const killsOfWorkspace = 20

export const randomKills: Programme = {
  name: "random-kills",
  summary: "kill -9 of acode at random moments: the history opens, verifies and names what was interrupted",
  count: 1_000,
  run: async ({ count, random, sandboxes, progress }) => {
    let done = 0
    return inParallel(Math.ceil(count / killsOfWorkspace), 2, async batch => {
      using workspace = tempWorkspace()
      const found: string[] = []
      const kills = Math.min(killsOfWorkspace, count - batch * killsOfWorkspace)
      for (let index = 0; index < kills; index++) {
        const sandbox = random.oneOf(sandboxes)
        const name = `#${batch * killsOfWorkspace + index} (${sandbox})`
        const marker = `8${process.pid}${batch}${String(index).padStart(3, "0")}`
        found.push(
          ...(await killed(workspace, random, sandbox, marker)).map(problem => `${name}: ${problem}`),
        )
        progress(++done)
      }
      return found
    })
  },
}

/** One command, killed between its first instruction and a little after its end. */
async function killed(
  workspace: TempWorkspace,
  random: Random,
  sandbox: string,
  marker: string,
): Promise<readonly string[]> {
  const script = random.oneOf([
    `setsid sleep ${marker} & sleep ${marker}`,
    `head -c 3000000 /dev/zero | tr '\\0' x; : ${marker}`,
    `echo ${marker} > made; sleep 0.05`,
    `: ${marker}`,
  ])
  const options = { cwd: workspace.root, env: workspace.environment }
  const args = ["exec", "--sandbox", sandbox, "--", "sh", "-c", script]
  const moment = random.oneOf([60, 150, 400, "launch"] as const)
  const ended = await endedAt(workspace, args, moment === "launch" ? marker : random.whole(moment))
  // Nobody helps a confined tree to die; an unconfined one is ended by the next acode.
  const confined = sandbox === "none" ? [] : await survivorsOf(marker)
  const listing = await runAcode(["runs", "list", "--json", "--limit", "1000"], options)
  const audit = await runAcode(["audit", "verify"], options)
  const rows: readonly { ending: string | null }[] = listing.exitCode === 0 ? JSON.parse(listing.stdout) : []
  return [
    ...(listing.exitCode === 0 ? [] : [`the history does not open: ${listing.stderr}`]),
    // Nothing was ever recorded where the very first acode died before its first commit.
    ...(audit.exitCode === 0 || rows.length === 0
      ? []
      : [`audit verify exits ${audit.exitCode}: ${audit.stderr}`]),
    ...rows.filter(row => row.ending === null).map(() => "an execution of a dead acode is shown as running"),
    ...confined,
    ...processesWith(marker).map(({ pid, commandLine }) => `survivor of recovery ${pid} ${commandLine}`),
    ...(ended ? [] : [`${acodeProgram()} did not die`]),
    ...(await check(workspace)),
  ]
}

/** Kills it after some time, or right when the first process with the marker beside its own is there. */
async function endedAt(
  workspace: TempWorkspace,
  args: readonly string[],
  moment: number | string,
): Promise<boolean> {
  await using running = startAcode(args, { cwd: workspace.root, env: workspace.environment })
  const launched = () => processesWith(String(moment)).some(live => live.pid !== running.pid)
  const due =
    typeof moment === "number" ? Bun.sleep(moment) : eventually("it is launched", launched, { everyMs: 0 })
  await Promise.race([running.ended, due])
  running.kill("SIGKILL")
  const { signal, exitCode } = await running.ended
  return signal === "SIGKILL" || exitCode !== null
}

async function survivorsOf(marker: string): Promise<readonly string[]> {
  try {
    await untilNoProcessWith(marker, 2_000)
    return []
  } catch {
    // The bound has passed, so what is still there is what is wrong.
    const left = processesWith(marker)
    endProcesses(left)
    return left.map(({ pid, commandLine }) => `confined survivor ${pid} ${commandLine}`)
  }
}
