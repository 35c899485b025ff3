import type { Json } from "../../../src/base/canonical.ts"
import type { Plan } from "../../../src/domain/plan/plan.ts"
import { readPlan } from "../../../src/domain/plan/reading.ts"
import type { PlanTools } from "../../../src/domain/plan/rules.ts"

const required: Readonly<Record<string, readonly string[]>> = {
  read_file: ["path"],
  write_file: ["path", "content"],
}

/** Two tools, strict about their arguments: enough to see that a plan asks about every call. */
export const twoTools: PlanTools = {
  check: (tool, args) => {
    const names = Object.hasOwn(required, tool) ? required[tool] : undefined
    if (names === undefined) return [{ code: "E201", argument: null, message: "there is no such tool" }]
    return [
      ...names
        .filter(name => !Object.hasOwn(args, name))
        .map(name => ({ code: "E202" as const, argument: name, message: "is required" })),
      ...Object.keys(args)
        .filter(name => !names.includes(name))
        .map(name => ({ code: "E202" as const, argument: name, message: "is not an argument of this tool" })),
    ]
  },
}

export interface StepFile {
  readonly id: string
  readonly depends_on?: readonly string[]
  readonly [key: string]: Json | undefined
}

export function readStep(id: string, more: Readonly<Record<string, Json>> = {}): StepFile {
  return { id, tool: "read_file", arguments: { path: `${id}.txt` }, ...more }
}

export function openStep(id: string, more: Readonly<Record<string, Json>> = {}): StepFile {
  return { id, action: "MODIFY_FILE", description: "make it better", ...more }
}

export function taskFile(id: string, steps: readonly object[], more: Readonly<Record<string, Json>> = {}) {
  return { id, steps, ...more }
}

export function planFile(tasks: readonly object[], more: Readonly<Record<string, Json>> = {}) {
  return { plan_id: "p1", goal: "get it done", intent: "MUTATE", tasks, ...more }
}

/** The plan in a value that is known to be one. */
export function planOf(value: object): Plan {
  const reading = readPlan(JSON.stringify(value), twoTools)
  if ("plan" in reading) return reading.plan
  throw new Error(JSON.stringify(reading.problems, null, 2))
}

/** `path: message (code)` of everything that is wrong with a text or value. */
export function problemsOf(value: object | string): readonly string[] {
  const reading = readPlan(typeof value === "string" ? value : JSON.stringify(value), twoTools)
  if ("plan" in reading) return []
  return reading.problems.map(({ path, message, code }) => `${path}: ${message} (${code})`)
}
