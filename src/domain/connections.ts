import * as z from "zod/mini"
import { lazily } from "../base/lazy.ts"
import { counted } from "../base/text.ts"
import { described } from "./events/definition.ts"

const Count = lazily(() => z.int().check(z.nonnegative()))

/**
 * The outcome of one connection that a command requested from acode's proxy, or of several that were refused alike.
 */
export const Connection = lazily(() =>
  z.strictObject({
    host: described(z.string(), "as the command named it; empty if it named no valid host"),
    port: z.int(),
    decision: described(
      z.enum(["allowed", "refused", "failed"]),
      "connected; not among the hosts that the command may reach; allowed but not reached",
    ),
    reason: z.nullable(z.string()),
    address: described(z.nullable(z.string()), "the address that was checked and connected to"),
    count: described(
      z.int().check(z.positive()),
      "more than one only if all were refused for the same reason",
    ),
    sentBytes: Count(),
    receivedBytes: Count(),
    durationMs: Count(),
  }),
)
export type Connection = z.infer<ReturnType<typeof Connection>>

/** All connections of one command; the first ones are listed separately. */
export const Connections = lazily(() =>
  z.strictObject({
    listed: z.array(Connection()),
    more: described(
      z.nullable(
        z.strictObject({ count: Count(), refused: Count(), sentBytes: Count(), receivedBytes: Count() }),
      ),
      "the totals of those that are not listed",
    ),
  }),
)
export type Connections = z.infer<ReturnType<typeof Connections>>

export const noConnections: Connections = Object.freeze({ listed: [], more: null })

/** Returns what a command could reach in the network, for one line of text. */
export function networkText({
  network,
  hosts = [],
}: {
  readonly network: string
  readonly hosts?: readonly string[] | undefined
}): string {
  return network === "hosts" ? `to ${hosts.join(", ")}` : network
}

/** Returns one line for each host with the outcome of the connections to it. Names come from the command. */
export function connectionLines({ listed, more }: Connections): readonly string[] {
  const groups = new Map<string, Connection>()
  for (const connection of listed) {
    const key = JSON.stringify([connection.host, connection.port, connection.decision, connection.reason])
    const known = groups.get(key)
    groups.set(key, known === undefined ? connection : together(known, connection))
  }
  const lines = [...groups.values()].map(lineOf)
  if (more === null) return lines
  const traffic = `${more.sentBytes} bytes sent, ${more.receivedBytes} received`
  return [...lines, `${counted(more.count, "more connection")}, ${more.refused} refused, ${traffic}`]
}

/** Returns the same lines without what differs from run to run: counts, sizes and durations. */
export function connectionPlaces({ listed }: Connections): readonly string[] {
  const places = listed.map(({ host, port, decision, reason }) =>
    decision === "allowed" ? `connected to ${host}:${port}` : refusalText({ host, port, decision, reason }),
  )
  return [...new Set(places)].sort()
}

function refusalText({
  host,
  port,
  decision,
  reason,
}: Pick<Connection, "host" | "port" | "decision" | "reason">) {
  const where = host === "" ? "a request" : `${host}:${port}`
  return `${decision} ${where}${reason === null ? "" : `: ${reason}`}`
}

function together(one: Connection, other: Connection): Connection {
  return {
    ...one,
    count: one.count + other.count,
    sentBytes: one.sentBytes + other.sentBytes,
    receivedBytes: one.receivedBytes + other.receivedBytes,
    durationMs: one.durationMs + other.durationMs,
  }
}

function lineOf(connection: Connection): string {
  const { host, port, decision, reason, count, sentBytes, receivedBytes } = connection
  const times = count === 1 ? "" : ` (${count} times)`
  if (decision !== "allowed") return `${refusalText(connection)}${times}`
  const why = reason === null ? "" : `; ${reason}`
  return `connected to ${host}:${port}${times}, ${sentBytes} bytes sent, ${receivedBytes} received${why}`
}
