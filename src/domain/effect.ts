import { exactName } from "../base/text.ts"
import type { NetworkChoice } from "./command.ts"

/** What a tool call would touch, declared before anything happens. Policy decides on these and on nothing else. */
export type Effect = PathEffect | ExecuteEffect | ConnectEffect

export const pathEffectKinds = ["read", "write", "delete", "list", "createDirectory"] as const
export type PathEffectKind = (typeof pathEffectKinds)[number]

/** Operations on a path that policy decides on and the guard of a workspace admits. */
export const pathOperations = ["read", "write", "delete", "list"] as const
export type PathOperation = (typeof pathOperations)[number]

export interface PathEffect {
  readonly kind: PathEffectKind
  /** Relative to the workspace root, or absolute. */
  readonly path: string
}

/** A process to start: arguments one by one, or one string that a shell will read. */
export interface ExecuteEffect {
  readonly kind: "execute"
  readonly run: { readonly argv: readonly string[] } | { readonly script: string }
  /** Relative to the workspace root; `.` is the root. */
  readonly cwd: string
  readonly network: NetworkChoice
  /** Whether a sandbox is there to run it in. Without one nothing is allowed on the strength of confinement. */
  readonly confined: boolean
}

export interface ConnectEffect {
  readonly kind: "connect"
  readonly host: string
}

/** What of the network and of the files these could touch, for the first line of a question. */
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

/** What a command may write. */
export function commandReach(isConfined: boolean): string {
  return isConfined ? "this workspace" : "all that you may write"
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

/** 1 needs nobody, 2 an explicit scope, 3 a scope and a warning, 4 is never done whoever says so. */
export type Level = 1 | 2 | 3 | 4

export const levelLabels: Readonly<Record<Level, string>> = {
  1: "harmless",
  2: "ordinary",
  3: "risky",
  4: "never allowed",
}

export const decisions = ["allow", "ask", "deny"] as const
export type DecisionKind = (typeof decisions)[number]

/** What policy says about a set of effects. The strictest part speaks for the whole. */
export interface Decision {
  readonly decision: DecisionKind
  /** An `allow` that holds only inside a sandbox. */
  readonly confined: boolean
  readonly level: Level
  readonly category: EffectCategory
  /** The rule that decided, so that a person can find and change it. */
  readonly rule: string
  readonly reason: string
  /** A refusal that is meant to pass over the action rather than to fail it (policy `skip`). */
  readonly skip: boolean
  /**
   * Of the paths that are always asked about (CI files, instructions for assistants), those that a command may write
   * once it is allowed: the plan names them, or the command does, and then a person is asked. Relative to the root.
   */
  readonly consented?: readonly string[]
}

/** What an approved plan grants. Literal prefixes and globs, never a pattern a model could stretch. */
export interface Grant {
  /** Globs below the workspace root. A path that is always asked is granted only by its literal name. */
  readonly write: readonly string[]
  /** Leading arguments; what follows them is free unless it makes the program another thing. */
  readonly commands: readonly (readonly string[])[]
  /** Recorded, and so far granting nothing: confinement knows only none or all of the network. */
  readonly hosts: readonly string[]
  /** Effects of concrete steps, granted exactly as written. */
  readonly exact: readonly Effect[]
  /** Whoever granted it was shown that nothing confines the commands of its concrete steps. */
  readonly isUnconfined: boolean
  /** A flag granted it, and nobody saw what: it opens nothing that configuration refuses. */
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
