import { nearest, printable } from "../../../base/text.ts"
import { manifest } from "../../../domain/events/manifest.ts"
import { Failure } from "../../../domain/failure.ts"

/** Returns whether an event passes the filter. */
type EventFilter = (event: { readonly type: string; readonly data: unknown }) => boolean

/** The events that a name selects: all of a type, or those of a type whose JSON matches a pattern. */
type Named = string | { readonly type: string; readonly says: RegExp }

/** Names of events in other agent programs, and the events they select here. */
const otherNames: Readonly<Record<string, readonly Named[]>> = {
  session_start: ["session.started"],
  session_end: ["session.finished", "session.rested"],
  stage_start: ["stage.entered"],
  stage_complete: ["stage.finished"],
  stage_transition: ["stage.transitioned", "transition.refused"],
  stage_timeout: [{ type: "stage.finished", says: /"status":"timeout"/ }],
  cycle_start: ["cycle.started"],
  progress: ["stage.progressed", "stage.entered", "stage.finished", "step.started", "step.finished"],
  verification_failed: [{ type: "check.finished", says: /"verdict":"failed"/ }],
  step_start: ["step.started"],
  step_complete: ["step.finished"],
  tool_call: ["tool_call.requested", "tool_call.started"],
  tool_result: ["tool_call.settled"],
  operation_start: ["tool_call.started"],
  operation_complete: ["tool_call.settled"],
  model_inference: ["model.requested", "turn.finished"],
  token_usage: ["turn.finished"],
  approval_request: ["approval.requested"],
  approval_response: ["approval.answered"],
  override: [{ type: "approval.answered", says: /"via":"flag"/ }],
  bypass: skipped(),
  skip: [...skipped(), { type: "approval.answered", says: /"answer":"skipped"/ }],
  command_execution_start: ["command.started"],
  command_execution_end: ["command.finished"],
  command_execution_complete: ["command.finished"],
}

/** Returns the events with which a person skips checks or steps. */
function skipped(): readonly Named[] {
  const says = /"(skipVerify|skipsFailed)":true/
  return [
    { type: "session.started", says },
    { type: "session.resumed", says },
  ]
}

/** Parses `TYPE|TYPE`. Without a filter every event passes. Throws ACODE-CLI-002 for an unknown name. */
export function eventFilter(typed: string | undefined): EventFilter {
  if (typed === undefined) return () => true
  const known = new Set(manifest.definitions.map(({ type }) => type))
  const wanted: Named[] = []
  for (const name of typed.split("|").map(part => part.trim())) {
    const named = known.has(name) ? [name] : otherNames[name]
    if (named === undefined) throw unknownType(name, [...known, ...Object.keys(otherNames)])
    wanted.push(...named)
  }
  return event => wanted.some(named => fits(named, event))
}

function fits(named: Named, { type, data }: Parameters<EventFilter>[0]): boolean {
  if (typeof named === "string") return named === type
  return named.type === type && named.says.test(JSON.stringify(data))
}

function unknownType(name: string, known: readonly string[]): Failure {
  const meant = nearest(name, known)
  return new Failure({
    kind: "usage",
    code: "ACODE-CLI-002",
    message: `--filter: there is no event "${printable(name)}"`,
    hint: meant === null ? "`acode schema events` lists all of them" : `did you mean ${meant}?`,
  })
}
