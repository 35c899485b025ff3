import type { Json } from "../base/canonical.ts"

/** One piece of work for one skill, as its file in the workspace says it. */
export interface Task {
  readonly id: string
  readonly status: TaskStatus
  readonly priority: TaskPriority
  /** The author of the task. */
  readonly from: string
  /** The name of the skill that does it. */
  readonly to: string
  readonly createdAt: string
  readonly updatedAt: string
  readonly deadline: string | null
  readonly goalId: string | null
  readonly pipelineId: string | null
  readonly revisionCount: number
  readonly goal: string
  readonly inputs: readonly TaskInput[]
  readonly requirements: string
  readonly output: { readonly path: string; readonly format: string }
  readonly next: TaskNext
  readonly tags: readonly string[]
  readonly metadata: { readonly [key: string]: Json }
}

/** A file that an earlier task wrote, relative to the folder of the tasks. */
export interface TaskInput {
  readonly path: string
  readonly description: string
}

/** The next use of the output, as the author of the task wants it. The executor does not act on it. */
export type TaskNext =
  | { readonly type: "agent"; readonly skill: string }
  | { readonly type: "pipeline_continue"; readonly pipelineId: string }
  | { readonly type: "director_review" | "complete" }

export const taskStatuses = [
  "pending",
  "assigned",
  "in_progress",
  "completed",
  "failed",
  "cancelled",
  "in_review",
  "approved",
  "revision",
  "blocked",
  "deferred",
] as const
export type TaskStatus = (typeof taskStatuses)[number]

export const taskPriorities = ["P0", "P1", "P2", "P3"] as const
export type TaskPriority = (typeof taskPriorities)[number]

export const taskNextTypes = ["agent", "director_review", "pipeline_continue", "complete"] as const

/** Statuses in which a task may be executed. */
const runnableStatuses: readonly TaskStatus[] = ["pending", "assigned", "revision"]

export function isRunnable(status: TaskStatus): boolean {
  return runnableStatuses.includes(status)
}

/** Statuses that a person may set back to `pending`. */
export const resettableStatuses: readonly TaskStatus[] = ["in_progress", "failed", "cancelled"]

const idPattern = /^[A-Za-z0-9._-]{1,128}$/

/** Returns whether a text can be the id of a task, which is also the name of its file. */
export function isTaskId(text: string): boolean {
  return idPattern.test(text) && !/^\.+$/.test(text)
}

/** Returns whether a text can be the name of a skill or a squad, which becomes a part of paths. */
export function isSkillName(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(text)
}

/** Returns the id of a new task: skill, day, and six hexadecimal digits that keep two tasks of a day apart. */
export function newTaskId(skill: string, nowIso: string, sixDigits: string): string {
  return `${skill}-${nowIso.slice(0, 10).replaceAll("-", "")}-${sixDigits}`
}
