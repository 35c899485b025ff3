import type { PathEffectKind } from "../../domain/effect.ts"

/**
 * One program that would start: the first one, one that a wrapper starts, or one of a shell string. Its arguments may
 * hold the marks of `shell/script.ts`.
 */
export interface Layer {
  readonly argv: readonly string[]
  /** The layer that starts this one, and the offset of this one in its arguments. */
  readonly outer: { readonly layer: Layer; readonly offset: number; readonly by: "argv" | "script" } | null
  readonly findings: Objection[]
  readonly touches: Touch[]
  /** The shipped rule that covers the program. */
  rule: string
}

/** A reason not to allow the program. A rule or a plan covers it by naming the argument at its offset literally. */
export interface Objection {
  readonly severity: "ask" | "never"
  readonly rule: string
  readonly reason: string
  readonly at: number
  /** Set when the program needs the network, which no prefix grants. */
  readonly network: boolean
}

/** A path that the arguments of the program name. */
export interface Touch {
  readonly operation: PathEffectKind
  readonly path: string
  readonly at: number
  /** Set for a path that a build writes: refused where protected, and otherwise asked only with the build itself. */
  readonly isOutput: boolean
}

export function newLayer(argv: readonly string[], outer: Layer["outer"]): Layer {
  return { argv, outer, findings: [], touches: [], rule: "commands.unknown-program" }
}

export function ask(layer: Layer, at: number, rule: string, reason: string): void {
  layer.findings.push({ severity: "ask", rule: `commands.${rule}`, reason, at, network: false })
}

export function askNetwork(layer: Layer, at: number, reason: string): void {
  layer.findings.push({ severity: "ask", rule: "commands.network", reason, at, network: true })
}

export function never(layer: Layer, rule: string, reason: string, at = 0): void {
  layer.findings.push({ severity: "never", rule: `never.${rule}`, reason, at, network: false })
}

export function touch(layer: Layer, operation: PathEffectKind, path: string, at: number): void {
  layer.touches.push({ operation, path, at, isOutput: false })
}

export function touchOutput(layer: Layer, path: string, at: number): void {
  layer.touches.push({ operation: "write", path, at, isOutput: true })
}
