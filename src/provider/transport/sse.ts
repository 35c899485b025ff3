import { modelFailure, ReplyFault } from "../reply-fault.ts"
import type { PieceReader } from "../streamed-items.ts"
import { lineReader } from "./lines.ts"

const eventLengthMax = 16 * 1024 * 1024

export interface ServerEvent {
  readonly event: string | null
  readonly data: string
}

/**
 * Reads server-sent events. Skips those without data, comments and fields that are not needed. Unlike in a browser a
 * last event without an empty line behind it counts: some servers just close the connection.
 */
export function sseReader(events: PieceReader<ServerEvent>): PieceReader<Uint8Array> {
  let event: string | null = null
  let data: string[] = []
  let length = 0
  const takeField = (line: string) => {
    const colon = line.indexOf(":")
    // A comment is a field without a name.
    const name = colon === -1 ? line : line.slice(0, colon)
    if (name !== "data" && name !== "event") return
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1)
    if (name === "event") {
      event = value === "" ? null : value
      return
    }
    length += value.length + 1
    if (length > eventLengthMax)
      throw new ReplyFault(
        modelFailure("malformed", `the answer has an event of more than ${eventLengthMax} characters`),
      )
    data.push(value)
  }
  const finish = () => {
    const finished = data.length === 0 ? null : { event, data: data.join("\n") }
    event = null
    data = []
    length = 0
    if (finished !== null) events.take(finished)
  }
  return lineReader({
    take: line => (line === "" ? finish() : takeField(line)),
    end: () => {
      finish()
      events.end()
    },
  })
}
