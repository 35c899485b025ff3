import { createConnection, type Socket } from "node:net"
import { messageOf } from "../../base/assert.ts"
import { type Host, isLocalName } from "../../domain/hosts.ts"
import type { ProxySettings } from "./contract.ts"

/** Why there is no connection: because it may not be, or because it could not be made. */
export class NotReached extends Error {
  constructor(
    message: string,
    readonly isRefused: boolean,
  ) {
    super(message)
  }
}

export interface Dialled {
  readonly socket: Socket
  readonly address: string
}

/**
 * Connects to a host if that is allowed. The name is looked up once, and the connection goes to an address that was
 * checked: what the name stands for a moment later does not matter. One address that is refused is enough to refuse
 * the name, because it says that the name does not lead where it is taken to lead.
 */
export async function dial(
  { rules, resolveHost, limits }: ProxySettings,
  host: Host,
  port: number,
  gone: AbortSignal,
): Promise<Dialled> {
  const refusal = rules.refusalOf(host, port)
  if (refusal !== null) throw new NotReached(refusal, true)
  const addresses = await addressesOf(host, name => within(resolveHost(name), limits.resolveMs, gone))
  for (const address of addresses) {
    const why = rules.refusalOfAddress(address, host, port)
    if (why !== null) throw new NotReached(why, true)
  }
  let last: unknown = new Error("it has no address")
  for (const address of addresses.slice(0, addressesMax)) {
    if (gone.aborted) break
    try {
      return { socket: await connected(address, port, limits.connectMs, gone), address }
    } catch (error) {
      last = error
    }
  }
  throw new NotReached(`it cannot be reached: ${messageOf(last)}`, false)
}

/** A name with many addresses must not keep a client waiting for all of them. */
const addressesMax = 6

async function addressesOf(
  host: Host,
  resolve: (name: string) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  if (host.address !== null) return [host.name]
  if (isLocalName(host)) return ["127.0.0.1", "::1"]
  try {
    return [...new Set(await resolve(host.name))]
  } catch (error) {
    throw new NotReached(`the name cannot be resolved: ${messageOf(error)}`, false)
  }
}

function connected(address: string, port: number, timeoutMs: number, gone: AbortSignal): Promise<Socket> {
  const socket = createConnection({ host: address, port, allowHalfOpen: true })
  const connecting = new Promise<Socket>((resolve, reject) => {
    socket.once("connect", () => resolve(socket))
    socket.once("error", reject)
  })
  return within(connecting, timeoutMs, gone).catch((error: unknown) => {
    // Its late errors are nobody's any more.
    socket.on("error", () => undefined)
    socket.destroy()
    throw error
  })
}

/** Waits no longer than this, and only as long as the client is there. */
async function within<Value>(work: Promise<Value>, timeoutMs: number, gone: AbortSignal): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>()
  const leave = () => reject(new Error("the client has gone"))
  const timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs)
  gone.addEventListener("abort", leave, { once: true })
  if (gone.aborted) leave()
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
    gone.removeEventListener("abort", leave)
  }
}
