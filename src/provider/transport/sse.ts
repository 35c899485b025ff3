import { modelFailure } from "../failures.ts"
import { ReplyFault } from "../reply-fault.ts"
import { linesOf } from "./lines.ts"

const eventLengthMax = 16 * 1024 * 1024

export interface ServerEvent {
  readonly event: string | null
  readonly data: string
}

/**
 * Server-sent events. Those without data are left out, as are comments and fields that nobody needs here. Unlike in a
 * browser a last event without an empty line behind it counts: some servers just hang up.
 */
export async function* serverEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  let event: string | null = null
  let data: string[] = []
  let length = 0
  for await (const line of linesOf(chunks)) {
    if (line === "") {
      if (data.length > 0) yield { event, data: data.join("\n") }
      event = null
      data = []
      length = 0
      continue
    }
    const { name, value } = fieldOf(line)
    if (name === "event") event = value === "" ? null : value
    if (name !== "data") continue
    length += value.length + 1
    if (length > eventLengthMax)
      throw new ReplyFault(
        modelFailure("malformed", `the answer has an event of more than ${eventLengthMax} characters`),
      )
    data.push(value)
  }
  if (data.length > 0) yield { event, data: data.join("\n") }
}

/** A comment is a field without a name. */
function fieldOf(line: string): { readonly name: string; readonly value: string } {
  const colon = line.indexOf(":")
  if (colon === -1) return { name: line, value: "" }
  return { name: line.slice(0, colon), value: line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1) }
}
