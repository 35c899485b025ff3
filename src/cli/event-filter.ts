import { nearest, printable } from "../base/text.ts"
import { manifest } from "../domain/events.ts"
import { Failure } from "../domain/failure.ts"

/** Names that other tools of this kind use, and what they are called here. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  step_start: ["step.started"],
  step_complete: ["step.finished"],
  tool_call: ["tool_call.requested", "tool_call.started"],
  tool_result: ["tool_call.settled"],
  operation_start: ["tool_call.started"],
  operation_complete: ["tool_call.settled"],
  approval_request: ["approval.requested"],
  approval_response: ["approval.answered"],
  command_execution_start: ["command.started"],
  command_execution_end: ["command.finished"],
  command_execution_complete: ["command.finished"],
}

/** `TYPE|TYPE` as a question about a type. Without a filter everything is wanted; an unknown name is a mistake. */
export function eventFilter(typed: string | undefined): (type: string) => boolean {
  if (typed === undefined) return () => true
  const known = new Set(manifest.definitions.map(({ type }) => type))
  const wanted = new Set<string>()
  for (const name of typed.split("|").map(part => part.trim())) {
    const types = known.has(name) ? [name] : otherNames[name]
    if (types === undefined) throw unknownType(name, [...known, ...Object.keys(otherNames)])
    for (const type of types) wanted.add(type)
  }
  return type => wanted.has(type)
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
