import type { Connection, Connections } from "../../domain/connections.ts"

/** What became of the connections of one command. It stays small however many there are. */
export interface ConnectionLog {
  add(connection: Connection): void
  connections(): Connections
}

export function createConnectionLog(listedMax: number): ConnectionLog {
  const listed: Connection[] = []
  const refusals = new Map<string, number>()
  const more = { count: 0, refused: 0, sentBytes: 0, receivedBytes: 0 }
  return {
    add: connection => {
      const key = connection.decision === "refused" ? keyOf(connection) : null
      const known = key === null ? undefined : refusals.get(key)
      const alike = known === undefined ? undefined : listed[known]
      if (known !== undefined && alike !== undefined) {
        listed[known] = { ...alike, count: alike.count + 1 }
      } else if (listed.length < listedMax) {
        if (key !== null) refusals.set(key, listed.length)
        listed.push(connection)
      } else {
        more.count += 1
        more.refused += connection.decision === "refused" ? 1 : 0
        more.sentBytes += connection.sentBytes
        more.receivedBytes += connection.receivedBytes
      }
    },
    connections: () => ({ listed: [...listed], more: more.count === 0 ? null : { ...more } }),
  }
}

function keyOf({ host, port, reason }: Connection): string {
  return JSON.stringify([host, port, reason])
}
