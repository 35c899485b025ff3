import { modelFailure } from "../failures.ts"
import { ReplyFault } from "../reply-fault.ts"
import { createLineReader } from "./lines.ts"

const eventLengthMax = 16 * 1024 * 1024

export interface ServerEvent {
  readonly event: string | null
  readonly data: string
}

/**
 * Server-sent events. Those without data are left out, as are comments and fields that nobody needs here. Unlike in a
 * browser a last event without an empty line behind it counts: some servers just hang up. They come together as their
 * chunk did.
 */
export async function* serverEvents(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Iterable<ServerEvent>> {
  let event: string | null = null
  let data: string[] = []
  let length = 0
  const take = ({ name, value }: Field) => {
    if (name === "event") event = value === "" ? null : value
    if (name !== "data") return
    length += value.length + 1
    if (length > eventLengthMax)
      throw new ReplyFault(
        modelFailure("malformed", `the answer has an event of more than ${eventLengthMax} characters`),
      )
    data.push(value)
  }
  const finish = function* (): Generator<ServerEvent> {
    if (data.length > 0) yield { event, data: data.join("\n") }
    event = null
    data = []
    length = 0
  }
  const eventsIn = function* (lines: Iterable<string>): Generator<ServerEvent> {
    for (const line of lines)
      if (line === "") yield* finish()
      else take(fieldOf(line))
  }
  const lines = createLineReader()
  for await (const chunk of chunks) yield eventsIn(lines.take(chunk))
  yield eventsIn(lines.rest())
  yield finish()
}

interface Field {
  readonly name: string
  readonly value: string
}

/** A comment is a field without a name. */
function fieldOf(line: string): Field {
  const colon = line.indexOf(":")
  if (colon === -1) return { name: line, value: "" }
  return { name: line.slice(0, colon), value: line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1) }
}
