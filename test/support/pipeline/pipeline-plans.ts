import type { Json } from "../../../src/base/canonical.ts"
import type { Random } from "../../soak/random.ts"

/** A plan of one task with one open step that writes, and one criterion. */
export function smallPlan(more: { readonly [key: string]: Json } = {}): Json {
  return planOf([taskOf("t1", [openStep("s1", "WRITE_FILE")], more)])
}

export function planOf(tasks: readonly Json[], intent = "MUTATE"): Json {
  return { plan_id: "p1", goal: "get it done", intent, tasks: [...tasks] }
}

export function taskOf(
  id: string,
  steps: readonly Json[],
  more: { readonly [key: string]: Json } = {},
): Json {
  const acceptance = [{ id: "a1", kind: "command", command: ["npm", "test"] }]
  return { id, title: id, depends_on: [], acceptance, steps: [...steps], ...more }
}

export function openStep(id: string, action: string, dependsOn: readonly string[] = []): Json {
  return { id, title: id, description: "", action, depends_on: [...dependsOn] }
}

export function writeStep(id: string, dependsOn: readonly string[] = []): Json {
  const args = { path: `${id}.txt`, content: id }
  return { id, title: id, tool: "write_file", arguments: args, depends_on: [...dependsOn] }
}

const actions = ["WRITE_FILE", "RUN_COMMAND", "READ_FILE", "MODIFY_FILE"]

/** The ids come back from plan to plan, so that a later plan has steps of an earlier one, some of them changed. */
export function randomPlan(random: Random): Json {
  const taskIds = ["t1", "t2", "t3"].slice(0, 1 + random.whole(3))
  const intent = random.oneOf(["MUTATE", "MUTATE", "MUTATE", "QUERY"])
  return planOf(
    taskIds.map((id, index) => randomTask(random, id, taskIds.slice(0, index))),
    intent,
  )
}

function randomTask(random: Random, id: string, before: readonly string[]): Json {
  const stepIds = ["s1", "s2", "s3"].slice(0, 1 + random.whole(3))
  const steps = stepIds.map((stepId, index) => {
    const dependsOn = stepIds.slice(0, index).filter(() => random.whole(2) === 1)
    return random.whole(3) === 1
      ? writeStep(stepId, dependsOn)
      : openStep(stepId, random.oneOf(actions), dependsOn)
  })
  const acceptance = ["a1", "a2"].slice(0, random.whole(3)).map(criterionId => criterion(random, criterionId))
  return taskOf(id, steps, { depends_on: before.filter(() => random.whole(2) === 1), acceptance })
}

function criterion(random: Random, id: string): Json {
  return random.whole(3) === 1
    ? { id, kind: "judgement", text: "it is clear" }
    : { id, kind: "command", command: ["npm", "test"] }
}
