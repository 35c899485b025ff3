import * as z from "zod/mini"
import type { Json } from "../base/canonical.ts"
import { lazily } from "./lazily.ts"

export const planIntents = ["READ", "MUTATE", "QUERY", "EXPLAIN"] as const
export type PlanIntent = (typeof planIntents)[number]

/** What a step may insist on before its tool is called. A closed list: an unknown one is an error, not a pass. */
export const preconditions = [
  "none",
  "file_exists",
  "project_exists",
  "index_exists",
  "symbol_exists",
  "root_exists",
] as const
export type Precondition = (typeof preconditions)[number]

export interface Plan {
  readonly planId: string
  readonly goal: string
  readonly intent: PlanIntent
  readonly tasks: readonly PlanTask[]
  readonly evidenceReferenced: readonly string[]
  /** SHA-256 of the canonical JSON of the file as written: spacing and key order do not matter, all else does. */
  readonly hash: string
}

export interface PlanTask {
  readonly id: string
  readonly title: string
  readonly description: string
  readonly complexity: number
  readonly dependsOn: readonly string[]
  readonly resources: PlanResources
  readonly acceptance: readonly Criterion[]
  readonly steps: readonly PlanStep[]
}

export interface PlanResources {
  readonly read: readonly string[]
  readonly write: readonly string[]
  readonly commands: readonly (readonly string[])[]
  readonly hosts: readonly string[]
}

interface StepBase {
  readonly id: string
  readonly title: string
  readonly description: string
  readonly dependsOn: readonly string[]
}

/** The model chooses the calls. */
export interface OpenStep extends StepBase {
  readonly kind: "open"
  readonly action: string
}

/** One call, exactly as written. */
export interface ConcreteStep extends StepBase {
  readonly kind: "concrete"
  readonly tool: string
  readonly arguments: { readonly [name: string]: Json }
  readonly precondition: Precondition
  readonly requiresConfirmation: boolean
}

export type PlanStep = OpenStep | ConcreteStep

export const Criterion = lazily(() =>
  z.discriminatedUnion("kind", [
    z.strictObject({
      id: z.string(),
      kind: z.literal("command"),
      command: z.array(z.string()).check(z.minLength(1)),
      expect_exit: z._default(z.int(), 0),
    }),
    z.strictObject({ id: z.string(), kind: z.literal("file_exists"), path: z.string() }),
    z.strictObject({
      id: z.string(),
      kind: z.literal("file_contains"),
      path: z.string(),
      pattern: z.string(),
    }),
    z.strictObject({
      id: z.string(),
      kind: z.literal("diagnostics"),
      path: z.string(),
      max_errors: z._default(z.int(), 0),
    }),
    z.strictObject({ id: z.string(), kind: z.literal("judgement"), text: z.string() }),
  ]),
)
export type Criterion = z.infer<ReturnType<typeof Criterion>>
