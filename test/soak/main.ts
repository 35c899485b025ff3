import { parseArgs } from "node:util"
import { confinedKind, missingSandbox } from "../support/requirement.ts"
import { agentKills, agentPoints } from "./agent-kills.ts"
import { agentOwners } from "./agent-owners.ts"
import { concurrentEditor } from "./concurrent-editor.ts"
import { contents } from "./contents.ts"
import {
  editedMergeProgramme,
  killedMergeProgramme,
  layerLimitProgramme,
  undoManifest,
} from "./exact-trees.ts"
import { hostileGit } from "./hostile-git.ts"
import { killedCommands } from "./killed-commands.ts"
import { pipelineSteps } from "./pipeline-steps.ts"
import { planKills, planPoints, planRecoveryKills, splicePoints } from "./plan-kills.ts"
import type { Programme } from "./programme.ts"
import { seededRandom } from "./random.ts"
import { randomKills } from "./random-kills.ts"
import { realTrees } from "./real-trees.ts"
import { redaction } from "./redaction.ts"
import { replans } from "./replans.ts"
import { splices } from "./splices.ts"
import { tamperedSessions } from "./tampered-sessions.ts"
import { pipelinePoints, taskKills, taskRunners } from "./task-runners.ts"
import { timedOutTrees } from "./timed-out-trees.ts"

/** `npm run soak [-- --seed N --only NAME --count N]`: prints its seed first, and a seed repeats its choices. */
const programmes: readonly Programme[] = [
  timedOutTrees,
  randomKills,
  planPoints,
  splicePoints,
  splices,
  planKills,
  planRecoveryKills,
  pipelineSteps,
  agentPoints,
  agentKills,
  agentOwners,
  concurrentEditor,
  contents,
  realTrees,
  undoManifest,
  taskRunners,
  taskKills,
  pipelinePoints,
  replans,
  redaction,
  tamperedSessions,
  hostileGit,
  killedCommands,
  killedMergeProgramme,
  editedMergeProgramme,
  layerLimitProgramme,
]

const { values } = parseArgs({
  options: { seed: { type: "string" }, only: { type: "string" }, count: { type: "string" } },
})
const seed = Number(values.seed ?? crypto.getRandomValues(new Uint32Array(1))[0])
const chosen = programmes.filter(programme => values.only === undefined || programme.name === values.only)
if (chosen.length === 0 || !Number.isSafeInteger(seed))
  throw new Error(
    `usage: --seed NUMBER --only ${programmes.map(programme => programme.name).join("|")} --count NUMBER`,
  )

if (missingSandbox !== null) print(`only without a sandbox: ${missingSandbox}`)
const sandboxes = missingSandbox === null ? [confinedKind, confinedKind, "none"] : ["none"]

print(`seed ${seed}`)
let failures = 0
for (const programme of chosen) failures += (await soak(programme)).length
print(
  failures === 0
    ? "no violation"
    : `${failures} violations; npm run soak -- --seed ${seed} repeats the choices`,
)
process.exitCode = failures === 0 ? 0 : 1

async function soak(programme: Programme): Promise<readonly string[]> {
  const count = Number(values.count ?? programme.count)
  const began = performance.now()
  print(`${programme.name}: ${count} × ${programme.summary}`)
  const progress = (done: number) => {
    if (done % 100 === 0) print(`  ${done} of ${count}`)
  }
  const violations = await programme.run({ count, random: seededRandom(seed), sandboxes, progress })
  for (const [first, times] of alike(violations))
    print(`  VIOLATION ${first}${times > 1 ? ` (${times} × alike)` : ""}`)
  print(`  ${violations.length} violations in ${((performance.now() - began) / 1_000).toFixed(0)} s`)
  return violations
}

/** The first of those that differ only in numbers, and how many they are. */
function alike(violations: readonly string[]): [string, number][] {
  const groups = Map.groupBy(violations, violation => violation.replace(/\d+/g, "N"))
  return [...groups.values()].map(group => [group[0] ?? "", group.length])
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
