import { canonicalJson, type Json } from "../../base/canonical.ts"
import { oneLine } from "../../base/text.ts"
import {
  isSkillName,
  isTaskId,
  type Task,
  type TaskInput,
  type TaskNext,
  taskNextTypes,
  taskPriorities,
  taskStatuses,
} from "../task.ts"
import {
  type FlatField,
  type FrontMatter,
  flatFields,
  type LineProblem,
  spelledScalar,
  splitFrontMatter,
} from "./front-matter.ts"

export type TaskReading = { readonly task: Task } | { readonly problems: readonly LineProblem[] }

/** Reads the text of a task's file; every problem at once, each with its line. */
export function readTask(text: string): TaskReading {
  const split = splitFrontMatter(text)
  if (!("lines" in split)) return { problems: [split] }
  const { fields, problems } = flatFields(split, knownKeys)
  const reading = new TaskFields(fields, [...problems])
  const task: Task = { ...reading.head(), ...sectionsOf(split) }
  return reading.problems.length === 0 ? { task } : { problems: reading.problems }
}

const keys = {
  id: "id",
  status: "status",
  priority: "priority",
  from: "from",
  to: "to",
  createdAt: "created_at",
  updatedAt: "updated_at",
  deadline: "deadline",
  goalId: "goal_id",
  pipelineId: "pipeline_id",
  revisionCount: "revision_count",
  outputPath: "output_path",
  outputFormat: "output_format",
  nextType: "next_type",
  nextSkill: "next_skill",
  nextPipeline: "next_pipeline",
  tags: "tags",
  metadata: "metadata",
} as const

const knownKeys: ReadonlySet<string> = new Set(Object.values(keys))

type TaskHead = Omit<Task, "goal" | "inputs" | "requirements">

class TaskFields {
  constructor(
    private readonly fields: ReadonlyMap<string, FlatField>,
    readonly problems: LineProblem[],
  ) {}

  head(): TaskHead {
    return {
      id: this.text(
        keys.id,
        isTaskId,
        "is not an id (letters, digits, dot, dash and underscore, at most 128)",
      ),
      status: this.choice(keys.status, taskStatuses, "pending"),
      priority: this.choice(keys.priority, taskPriorities, "P2"),
      from: this.text(keys.from, () => true, ""),
      to: this.text(keys.to, isSkillName, "is not the name of a skill"),
      createdAt: this.instant(keys.createdAt) ?? "",
      updatedAt: this.instant(keys.updatedAt) ?? "",
      deadline: this.has(keys.deadline) ? this.instant(keys.deadline) : null,
      goalId: this.optional(keys.goalId),
      pipelineId: this.optional(keys.pipelineId),
      revisionCount: this.count(keys.revisionCount),
      output: {
        path: this.text(keys.outputPath, path => path !== "", "is empty"),
        format: this.optional(keys.outputFormat) ?? "markdown",
      },
      next: this.next(),
      tags: this.tags(),
      metadata: this.metadata(),
    }
  }

  private has(key: string): boolean {
    return (this.fields.get(key)?.value ?? "") !== ""
  }

  private optional(key: string): string | null {
    return this.has(key) ? (this.fields.get(key)?.value ?? null) : null
  }

  private text(key: string, isValid: (text: string) => boolean, problem: string): string {
    const value = this.fields.get(key)?.value
    if (value === undefined) this.say(key, "is missing")
    else if (!isValid(value)) this.say(key, `${problem}: ${oneLine(JSON.stringify(value), 80)}`)
    return value ?? ""
  }

  private choice<Choice extends string>(key: string, choices: readonly Choice[], usual: Choice): Choice {
    const value = this.fields.get(key)?.value
    const found = choices.find(choice => choice === value)
    if (found === undefined) {
      const what = value === undefined ? "is missing" : `is ${oneLine(JSON.stringify(value), 40)}`
      this.say(key, `${what}; it is one of ${choices.join(", ")}`)
    }
    return found ?? usual
  }

  private instant(key: string): string | null {
    const value = this.fields.get(key)?.value
    if (value === undefined) this.say(key, "is missing")
    else if (!/^\d{4}-\d\d-\d\d/.test(value) || Number.isNaN(Date.parse(value)))
      this.say(key, `is not a date or a time: ${oneLine(JSON.stringify(value), 40)}`)
    return value ?? null
  }

  private count(key: string): number {
    const value = this.optional(key) ?? "0"
    if (/^\d{1,6}$/.test(value)) return Number(value)
    this.say(key, `is not a whole number from 0 to 999999: ${oneLine(JSON.stringify(value), 40)}`)
    return 0
  }

  private next(): TaskNext {
    const type = this.has(keys.nextType) ? this.choice(keys.nextType, taskNextTypes, "complete") : "complete"
    if (type === "agent")
      return { type, skill: this.text(keys.nextSkill, isSkillName, "is not a skill's name") }
    if (type === "pipeline_continue")
      return { type, pipelineId: this.text(keys.nextPipeline, id => id !== "", "is empty") }
    return { type }
  }

  /** `[a, b]` or `a, b`. */
  private tags(): readonly string[] {
    const value = this.optional(keys.tags)?.replace(/^\[(.*)\]$/, "$1") ?? ""
    return value
      .split(",")
      .map(tag => tag.trim().replace(/^(["'])(.*)\1$/, "$2"))
      .filter(tag => tag !== "")
  }

  private metadata(): Task["metadata"] {
    const value = this.optional(keys.metadata) ?? "{}"
    try {
      // as: JSON.parse gives nothing else.
      const parsed = JSON.parse(value) as Json
      if (isMap(parsed)) return parsed
    } catch {
      // What is wrong with it is said below.
    }
    this.say(keys.metadata, "is not a JSON object on one line")
    return {}
  }

  private say(key: string, what: string): void {
    this.problems.push({ line: this.fields.get(key)?.line.number ?? 1, message: `${key} ${what}` })
  }
}

function isMap(value: Json): value is Task["metadata"] {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

const sectionNames = ["Assignment", "Context", "Requirements", "Output"] as const
type SectionName = (typeof sectionNames)[number]

interface Section {
  readonly name: SectionName
  /** Offset of the text below the heading, in the body. */
  readonly start: number
  readonly end: number
}

/**
 * Sections come in the order of the template, each once; any other heading of such a name is content, so requirements
 * may have headings. Of several headings `Output` the last one counts, because requirements may have that as well.
 */
function findSections(body: string): readonly Section[] {
  const headings = [
    ...body.matchAll(/^##[ \t]+(Assignment|Context|Requirements|Output)[ \t]*\r?$/gm),
  ].flatMap(found => {
    const name = sectionNames.find(each => each === found[1])
    return name === undefined ? [] : [{ name, at: found.index, start: found.index + found[0].length }]
  })
  const requirements = headings.find(({ name }) => name === "Requirements")
  const output = headings.findLast(({ name }) => name === "Output")
  let next = 0
  const found = headings.filter(heading => {
    if (heading.name === "Output") return heading === output || heading.at < (requirements?.at ?? 0)
    const place = sectionNames.indexOf(heading.name)
    if (place < next) return false
    next = place + 1
    return true
  })
  return found.map(({ name, start }, index) => ({ name, start, end: found[index + 1]?.at ?? body.length }))
}

function sectionsOf({ body }: FrontMatter): Pick<Task, "goal" | "inputs" | "requirements"> {
  const textOf = (name: SectionName) => {
    const section = findSections(body).find(each => each.name === name)
    return section === undefined ? "" : body.slice(section.start, section.end).trim()
  }
  const context = textOf("Context")
  return {
    goal: /^[ \t]*-[ \t]+\*\*Goal:\*\*[ \t]*(.*)$/m.exec(context)?.[1]?.trim() ?? "",
    inputs: [...context.matchAll(/^[ \t]*-[ \t]+`([^`\r\n]+)`[ \t]*(.*)$/gm)].map(
      ([, path = "", rest = ""]) => inputOf(path, rest),
    ),
    requirements: textOf("Requirements"),
  }
}

function inputOf(path: string, rest: string): TaskInput {
  return { path, description: rest.replace(/^(?:—|–|-|:)[ \t]*/, "").trim() }
}

/** Returns the file of a new task. */
export function taskText(task: Task): string {
  const { next } = task
  const head: readonly (readonly [key: string, value: string | null])[] = [
    [keys.id, task.id],
    [keys.status, task.status],
    [keys.priority, task.priority],
    [keys.from, task.from],
    [keys.to, task.to],
    [keys.createdAt, task.createdAt],
    [keys.updatedAt, task.updatedAt],
    [keys.deadline, task.deadline],
    [keys.goalId, task.goalId],
    [keys.pipelineId, task.pipelineId],
    [keys.revisionCount, String(task.revisionCount)],
    [keys.outputPath, task.output.path],
    [keys.outputFormat, task.output.format],
    [keys.nextType, next.type],
    [keys.nextSkill, next.type === "agent" ? next.skill : null],
    [keys.nextPipeline, next.type === "pipeline_continue" ? next.pipelineId : null],
    [keys.tags, task.tags.length === 0 ? null : task.tags.join(", ")],
  ]
  const metadata = Object.keys(task.metadata).length === 0 ? [] : [`metadata: '${quotedJson(task.metadata)}'`]
  return [
    "---",
    ...head.flatMap(([key, value]) => (value === null ? [] : [`${key}: ${spelledScalar(value)}`])),
    ...metadata,
    "---",
    "",
    "## Assignment",
    "",
    `- **From:** ${inOneLine(task.from)}`,
    `- **To:** ${task.to}`,
    "",
    "## Context",
    "",
    `- **Goal:** ${inOneLine(task.goal)}`,
    ...task.inputs.map(inputLine),
    "",
    "## Requirements",
    "",
    task.requirements,
    "",
    "## Output",
    "",
    `- **Path:** \`${task.output.path}\``,
    "",
  ].join("\n")
}

/** Returns what is wrong with a task that is to be written: its file has to be read as the same task. */
export function writingProblem(task: Task): string | null {
  const reading = readTask(taskText(task))
  if ("problems" in reading) return reading.problems.map(({ message }) => message).join("; ")
  const inputs = task.inputs.map(({ path, description }) => ({ path, description: inOneLine(description) }))
  const meant = { ...task, inputs, goal: inOneLine(task.goal), requirements: task.requirements.trim() }
  const lost = Object.entries(meant).find(
    ([key, value]) => canonicalJson(value) !== canonicalJson(new Map(Object.entries(reading.task)).get(key)),
  )
  return lost === undefined ? null : `its ${lost[0]} would be read as something else`
}

function quotedJson(metadata: Task["metadata"]): string {
  return JSON.stringify(metadata).replaceAll("'", "''")
}

function inputLine({ path, description }: TaskInput): string {
  return `- \`${path}\`${description === "" ? "" : ` — ${inOneLine(description)}`}`
}

export function inOneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim()
}

export interface TaskChange {
  readonly status?: Task["status"]
  readonly updatedAt?: string
  readonly revisionCount?: number
  /** An input to add to those it has. */
  readonly input?: TaskInput
}

/** Returns a text that was read without problems with other values in it; everything else stays byte for byte. */
export function changedTaskText(text: string, change: TaskChange): string {
  const { status, updatedAt, revisionCount, input } = change
  let changed = text
  if (status !== undefined) changed = withValue(changed, keys.status, status)
  if (updatedAt !== undefined) changed = withValue(changed, keys.updatedAt, updatedAt)
  if (revisionCount !== undefined) changed = withValue(changed, keys.revisionCount, String(revisionCount))
  return input === undefined ? changed : withInput(changed, input)
}

function withValue(text: string, key: string, value: string): string {
  const split = splitFrontMatter(text)
  if (!("lines" in split)) throw new Error("only a text that can be read is changed")
  const field = flatFields(split, knownKeys).fields.get(key)
  if (field !== undefined) {
    const at = field.line.offset
    return text.slice(0, at + field.from) + spelledScalar(value) + text.slice(at + field.to)
  }
  const first = split.lines[0]
  if (first === undefined) throw new Error("a task has front matter")
  return `${text.slice(0, first.offset)}${key}: ${spelledScalar(value)}${lineEndOf(text)}${text.slice(first.offset)}`
}

/** Adds an input after the last one, else after the goal, else at the beginning of the section, made where missing. */
function withInput(text: string, input: TaskInput): string {
  const split = splitFrontMatter(text)
  if (!("lines" in split)) throw new Error("only a text that can be read is changed")
  const bodyStart = text.length - split.body.length
  const end = lineEndOf(text)
  const section = findSections(split.body).find(({ name }) => name === "Context")
  if (section === undefined)
    return `${text.slice(0, bodyStart)}${end}## Context${end}${end}${inputLine(input)}${end}${text.slice(bodyStart)}`
  const context = split.body.slice(section.start, section.end)
  const items = [...context.matchAll(/^[ \t]*-[ \t]+(?:`|\*\*Goal:).*$/gm)]
  const last = items.at(-1)
  const at =
    bodyStart + section.start + (last === undefined ? 0 : last.index + last[0].replace(/\r$/, "").length)
  const line = last === undefined ? `${end}${end}${inputLine(input)}` : `${end}${inputLine(input)}`
  return text.slice(0, at) + line + text.slice(at)
}

function lineEndOf(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n"
}
