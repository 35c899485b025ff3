import type { Json } from "../../base/canonical.ts"
import { type Dependent, stableOrder } from "./order.ts"
import { type Precondition, preconditions } from "./plan.ts"
import { type PlanFinding, type PlanPath, type PlanProblemCode, quoted } from "./problem.ts"
import { toolsOfKind, writeActions } from "./tool-traits.ts"

/** Facts about tools, which the caller supplies. */
export interface PlanTools {
  /** Returns all problems of such a call that can be found before it is made; empty if there are none. */
  check(tool: string, args: { readonly [name: string]: Json }): readonly ToolProblem[]
  /** Returns why an entry of `resources.hosts` is not a host; absent where a recorded plan is read again. */
  hostProblem?(entry: string): string | null
  /** Returns why a citation names no evidence; absent where a recorded plan is read again. */
  citationProblem?(citation: string): string | null
  /**
   * Set where a plan that says it only reads may not change files. A plan of a model is judged by what its session
   * changed.
   */
  readonly judgesIntent?: true
}

export interface ToolProblem {
  readonly code: PlanProblemCode
  /** The argument it is about, such as `edits[0].search`; null for the tool or the arguments as a whole. */
  readonly argument: string | null
  readonly message: string
}

type JsonObject = { readonly [name: string]: Json }

interface Part {
  readonly path: PlanPath
  readonly value: JsonObject
}

/**
 * Returns the problems that a schema cannot find: references between parts, conditions by meaning, tools and their
 * arguments. Checks the file as it is, well formed or not, so that one reading finds all problems.
 */
export function ruleFindings(plan: JsonObject, tools: PlanTools): PlanFinding[] {
  const flatSteps = parts(plan["steps"], ["steps"])
  const tasks = parts(plan["tasks"], ["tasks"])
  const steps = tasks.map(({ path, value }) => parts(value["steps"], [...path, "steps"]))
  const criteria = tasks.map(({ path, value }) => parts(value["acceptance"], [...path, "acceptance"]))
  return [
    ...repeatedIds(flatSteps, "step_id"),
    ...[tasks, ...steps].flatMap(group => [...repeatedIds(group, "id"), ...dependencyFindings(group)]),
    ...criteria.flatMap(group => repeatedIds(group, "id")),
    ...tasks.flatMap(task => hostFindings(task, tools)),
    ...citationFindings(plan, tools),
    ...(tools.judgesIntent === true
      ? intentFindings(plan["intent"], tasks, [flatSteps, ...steps].flat())
      : []),
    ...[...flatSteps, ...steps.flat()].flatMap(step => stepFindings(step, tools)),
  ]
}

function parts(list: Json | undefined, path: PlanPath): Part[] {
  if (!Array.isArray(list)) return []
  return list.flatMap((value: Json, index) => (isObject(value) ? [{ path: [...path, index], value }] : []))
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function hostFindings({ path, value: { resources } }: Part, tools: PlanTools): PlanFinding[] {
  if (!isObject(resources)) return []
  return textsOf(resources["hosts"]).flatMap((entry, index) => {
    const problem = entry === "" ? null : (tools.hostProblem?.(entry) ?? null)
    return problem === null
      ? []
      : [finding([...path, "resources", "hosts", index], `${quoted(entry)} ${problem}`)]
  })
}

function citationFindings({ evidence_referenced: cited }: JsonObject, tools: PlanTools): PlanFinding[] {
  return textsOf(cited).flatMap((citation, index) => {
    const problem = tools.citationProblem?.(citation) ?? null
    return problem === null ? [] : [finding(["evidence_referenced", index], `${quoted(citation)} ${problem}`)]
  })
}

const changingTools = toolsOfKind("write", "delete")
const changingActions: ReadonlySet<string> = new Set([...writeActions, "DELETE_FILE"])

/** Returns the parts of a plan that change files although its intent is another. Commands say nothing about that. */
function intentFindings(intent: Json | undefined, tasks: readonly Part[], steps: readonly Part[]) {
  if (intent !== "READ" && intent !== "QUERY" && intent !== "EXPLAIN") return []
  const but = `and the intent of the plan is ${intent}`
  const granted = tasks.flatMap(({ path, value: { resources } }) => {
    const globs = isObject(resources) ? textsOf(resources["write"]) : []
    return globs.length === 0
      ? []
      : [finding([...path, "resources", "write"], `lets steps write files, ${but}`)]
  })
  const changing = steps.flatMap(({ path, value: { tool, action } }) => {
    if (typeof tool === "string" && changingTools.has(tool))
      return [finding([...path, "tool"], `${quoted(tool)} changes files, ${but}`)]
    return typeof action === "string" && changingActions.has(action)
      ? [finding([...path, "action"], `${action} changes files, ${but}`)]
      : []
  })
  return [...granted, ...changing]
}

function repeatedIds(group: readonly Part[], key: "id" | "step_id"): PlanFinding[] {
  const seen = new Set<string>()
  return group.flatMap(({ path, value }) => {
    const id = value[key]
    if (typeof id !== "string") return []
    if (seen.has(id)) return [finding([...path, key], `${quoted(id)} is used twice as an id`)]
    seen.add(id)
    return []
  })
}

function dependencyFindings(group: readonly Part[]): PlanFinding[] {
  const items = group.flatMap(({ path, value }) => {
    const { id, depends_on: dependsOn } = value
    return typeof id === "string" ? [{ id, path, dependsOn: textsOf(dependsOn) }] : []
  })
  const known = new Set(items.map(({ id }) => id))
  const missing = items.flatMap(({ path, dependsOn }) =>
    dependsOn.flatMap((id, index) =>
      known.has(id) ? [] : [finding([...path, "depends_on", index], `${quoted(id)} does not exist here`)],
    ),
  )
  const cycles = cyclesAmong(stableOrder(items).stuck).map(cycle => {
    const [first] = cycle
    const names = [...cycle, first].map(item => quoted(item?.id ?? "")).join(" → ")
    return finding([...(first?.path ?? []), "depends_on"], `waits for itself: ${names}`)
  })
  return [...missing, ...cycles]
}

/**
 * Returns the cycles. Each stuck item waits for another stuck one, so following the waits from any item ends in a
 * cycle.
 */
function cyclesAmong<Item extends Dependent>(stuck: readonly Item[]): Item[][] {
  const byId = new Map(stuck.map(item => [item.id, item]))
  const seen = new Set<Item>()
  return stuck.flatMap(start => {
    const walk: Item[] = []
    let item: Item | undefined = start
    while (item !== undefined && !seen.has(item)) {
      seen.add(item)
      walk.push(item)
      item = item.dependsOn.map(id => byId.get(id)).find(needed => needed !== undefined)
    }
    const entry = item === undefined ? -1 : walk.indexOf(item)
    return entry === -1 ? [] : [walk.slice(entry)]
  })
}

function textsOf(list: Json | undefined): readonly string[] {
  return Array.isArray(list) ? list.map((id: Json) => (typeof id === "string" ? id : "")) : []
}

function stepFindings({ path, value }: Part, tools: PlanTools): PlanFinding[] {
  const { tool, arguments: args, precondition, action, title, description } = value
  const found: PlanFinding[] = []
  if (typeof tool === "string") found.push(...toolFindings(path, tool, args, tools))
  if (typeof precondition === "string" && readPrecondition(precondition) === null)
    found.push(
      finding(
        [...path, "precondition"],
        `${quoted(precondition)} is unknown; use one of ${preconditions.join(", ")}`,
      ),
    )
  if (action !== undefined && !hasText(title) && !hasText(description))
    found.push(finding(path, "needs a description: an action alone does not say what to do"))
  return found
}

function hasText(value: Json | undefined): boolean {
  return typeof value === "string" && value.trim() !== ""
}

function toolFindings(path: PlanPath, tool: string, args: Json | undefined, tools: PlanTools): PlanFinding[] {
  if (tool === "finish_step")
    return [
      { code: "E201", path: [...path, "tool"], message: "finish_step is for models; a plan cannot call it" },
    ]
  const problems = tools.check(tool, isObject(args) ? args : {})
  // A value that is not an object has no arguments to miss, and the schema has reported it.
  const told = isObject(args) ? problems : problems.filter(({ code }) => code === "E201")
  return told.map(({ code, argument, message }) => {
    const place = code === "E201" ? ["tool"] : ["arguments", ...argumentPath(argument)]
    return { code, path: [...path, ...place], message }
  })
}

/** Returns the path of an argument: `edits[0].search` has three parts; any other name is one. */
function argumentPath(argument: string | null): PlanPath {
  if (argument === null) return []
  if (!/^\w+(?:\[\d+\]|\.\w+)*$/.test(argument)) return [argument]
  return argument
    .split(/[.[\]]+/)
    .filter(part => part !== "")
    .map(part => (/^\d+$/.test(part) ? Number(part) : part))
}

function finding(path: PlanPath, message: string): PlanFinding {
  return { code: "E001", path, message }
}

/** Every spelling, in lower case with single spaces. The older ones come from plans for other tools. */
const spellings: ReadonlyMap<string, Precondition> = new Map([
  ["none", "none"],
  ["", "none"],
  ["file exists", "file_exists"],
  ["file present", "file_exists"],
  ["project exists", "project_exists"],
  ["cargo project exists", "project_exists"],
  ["cargo workspace exists", "project_exists"],
  ["index exists", "index_exists"],
  ["codegraph.db exists", "index_exists"],
  ["symbol exists", "symbol_exists"],
  ["root exists", "root_exists"],
])

/**
 * Returns the condition, or null for one that is not on the list: an unknown condition must not pass as no condition.
 */
export function readPrecondition(written: string | null | undefined): Precondition | null {
  const normal = (written ?? "")
    .replace(/[\s_]+/g, " ")
    .trim()
    .toLowerCase()
  return spellings.get(normal) ?? null
}
