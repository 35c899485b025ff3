import { exactName } from "../base/text.ts"
import type { NetworkChoice } from "./command.ts"

/**
 * A thing that a tool call would touch, declared before anything happens. Policy decides on these and on nothing
 * else.
 */
export type Effect = PathEffect | ExecuteEffect | ConnectEffect

export const pathEffectKinds = ["read", "write", "delete", "list", "createDirectory"] as const
export type PathEffectKind = (typeof pathEffectKinds)[number]

/** The operations on a path that policy decides on and that the guard of a workspace admits. */
export const pathOperations = ["read", "write", "delete", "list"] as const
export type PathOperation = (typeof pathOperations)[number]

export interface PathEffect {
  readonly kind: PathEffectKind
  /** Relative to the workspace root, or absolute. */
  readonly path: string
}

/** A process to start: separate arguments, or one string that a shell will read. */
export interface ExecuteEffect {
  readonly kind: "execute"
  readonly run: { readonly argv: readonly string[] } | { readonly script: string }
  /** Relative to the workspace root; `.` is the root. */
  readonly cwd: string
  readonly network: NetworkChoice
  /** True if a sandbox is available to run it in. Without one, nothing is allowed because of confinement. */
  readonly confined: boolean
}

export interface ConnectEffect {
  readonly kind: "connect"
  readonly host: string
}

/** Returns what effects could reach in the network and in the files, for the first line of a question. */
export function reachOf(effects: readonly Effect[]): string {
  const runs = effects.filter(effect => effect.kind === "execute")
  const hosts = effects.flatMap(effect => (effect.kind === "connect" ? [effect.host] : []))
  const isOnline = runs.some(({ network, confined }) => network === "host" || !confined)
  const paths = effects.flatMap(effect => (isWritten(effect) ? [exactName(effect.path)] : []))
  const isConfined = runs.every(({ confined }) => confined)
  const written = runs.length === 0 ? paths : [commandReach(isConfined), ...paths]
  return reachText(isOnline ? [wholeNetwork] : hosts.map(exactName), written)
}

/** The reach of a command with the network `host`, or without a sandbox: nothing is filtered. */
export const wholeNetwork = "everything, services of this machine and cloud metadata included"

/** Returns what a command may write. */
export function commandReach(isConfined: boolean): string {
  return isConfined ? "this workspace" : "everything that you may write"
}

export function reachText(network: readonly string[], written: readonly string[]): string {
  return `network: ${network.join(", ") || "none"}; writes: ${written.join(", ") || "nothing"}`
}

function isWritten(effect: Effect): effect is PathEffect {
  return effect.kind === "write" || effect.kind === "delete" || effect.kind === "createDirectory"
}

export const effectCategories = [
  "FILE_READ",
  "FILE_WRITE",
  "FILE_DELETE",
  "DIRECTORY_CREATE",
  "TERMINAL_COMMAND",
  "EXTERNAL_REQUEST",
] as const
export type EffectCategory = (typeof effectCategories)[number]

/**
 * The level of a decision: 1 needs no approval, 2 an explicit scope, 3 a scope and a warning; 4 is never done, even
 * if approved.
 */
export type Level = 1 | 2 | 3 | 4

export const levelLabels: Readonly<Record<Level, string>> = {
  1: "harmless",
  2: "ordinary",
  3: "risky",
  4: "never allowed",
}

export const decisions = ["allow", "ask", "deny"] as const
export type DecisionKind = (typeof decisions)[number]

/** The decision of policy about a set of effects. The strictest part decides for the whole. */
export interface Decision {
  readonly decision: DecisionKind
  /** True if an `allow` holds only inside a sandbox. */
  readonly confined: boolean
  readonly level: Level
  readonly category: EffectCategory
  /** The rule that decided, so that a person can find and change it. */
  readonly rule: string
  readonly reason: string
  /** True if the refused action is skipped instead of failing (policy `skip`). */
  readonly skip: boolean
  /**
   * The paths that acode always asks about (CI files, instructions for assistants) and that a command may write once
   * it is allowed: either the plan names them, or the command does and a person is asked. Relative to the root.
   */
  readonly consented?: readonly string[]
}

/** The permissions of an approved plan. Literal prefixes and globs, never a pattern that a model could stretch. */
export interface Grant {
  /** Globs below the workspace root. A path that acode always asks about is granted only by its literal name. */
  readonly write: readonly string[]
  /** Leading arguments; the following ones are free unless they turn the program into another one. */
  readonly commands: readonly (readonly string[])[]
  /** Recorded, and so far granting nothing: confinement knows only none or all of the network. */
  readonly hosts: readonly string[]
  /** Effects of concrete steps, granted exactly as written. */
  readonly exact: readonly Effect[]
  /** True if the question showed that nothing confines the commands of the concrete steps. */
  readonly isUnconfined: boolean
  /** True if a flag granted it and no person saw it: it then allows nothing that configuration refuses. */
  readonly isUnseen: boolean
}

export const emptyGrant: Grant = Object.freeze({
  write: [],
  commands: [],
  hosts: [],
  exact: [],
  isUnconfined: false,
  isUnseen: false,
})
