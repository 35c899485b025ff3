import { closeSync } from "node:fs"
import type { Spawned } from "../../base/spawn.ts"
import type { Connections } from "../../domain/connections.ts"
import { Failure } from "../../domain/failure.ts"
import { openProgramFile, openSocketPair, type ReceivedMessage, receiveMessage } from "../libc.ts"
import type { Architecture } from "../seccomp.ts"
import type { ProxySettings } from "./contract.ts"
import { type CommandProxy, createProxy } from "./proxy.ts"
import { listeningMessage, starterImage } from "./starter.ts"

/** The numbers under which the command finds the two descriptors of a door. */
export interface DoorDescriptors {
  readonly image: number
  readonly channel: number
}

/**
 * The one way out of a sandbox without a network: sockets that listen inside of it and are served from outside, by
 * acode's proxy. Inside there is no process and no descriptor that belongs to it, only an address to connect to.
 */
export interface Door {
  /** Ours, to be handed over under the agreed numbers. */
  readonly image: number
  readonly channel: number
  /** What becomes the command: goes before its own arguments. */
  readonly starter: string
  readonly environment: Readonly<Record<string, string>>
  /** Waits for the sockets from the process that was just started, and serves them. */
  open(child: Spawned): void
  /** After the end: why the command itself never ran. */
  startFailure(): Failure | null
  /** Ends all connections. Calling it twice is fine. */
  close(): Promise<Connections>
}

export function createDoor(
  settings: ProxySettings,
  architecture: Architecture,
  numbers: DoorDescriptors,
): Door {
  const { localPorts } = settings.rules
  const proxyPort = portBeside(localPorts)
  const proxy = createProxy(settings)
  const ends = openEnds(starterImage({ architecture, ports: [proxyPort, ...localPorts], ...numbers }))
  const channel = watchChannel(ends.ours, sockets => serveAll(proxy, sockets, localPorts))
  let opening: Promise<void> | null = null
  let closing: Promise<Connections> | null = null
  return {
    image: ends.image,
    channel: ends.theirs,
    starter: `/proc/self/fd/${numbers.image}`,
    environment: proxyEnvironment(proxyPort),
    open: child => {
      // With our copy open, the channel would not end when the command starts.
      ends.handOver()
      opening ??= channel.untilStarted(child)
    },
    startFailure: () => failureOf(channel.read()),
    close: async () => {
      closing ??= (async () => {
        channel.leave()
        await opening
        ends.handOver()
        closeSync(ends.ours)
        return await proxy.close()
      })()
      return await closing
    },
  }
}

function openEnds(content: Uint8Array) {
  const [ours, theirs] = openSocketPair()
  let handedOver = false
  try {
    const image = openProgramFile("starter", content)
    const handOver = () => {
      if (!handedOver) for (const fd of [theirs, image]) closeSync(fd)
      handedOver = true
    }
    return { ours, theirs, image, handOver }
  } catch (error) {
    for (const fd of [ours, theirs]) closeSync(fd)
    throw error
  }
}

/** What the starter has said so far. */
interface Heard {
  isListening: boolean
  /** The number of an error of the system. */
  startError: number | null
  /** The command has started, or nothing of the sandbox is left. */
  isOver: boolean
}

function watchChannel(channel: number, serve: (sockets: readonly number[]) => void) {
  const heard: Heard = { isListening: false, startError: null, isOver: false }
  const take = ({ bytes, descriptors }: ReceivedMessage) => {
    if (!heard.isListening && bytes.length === 1 && bytes[0] === listeningMessage) {
      heard.isListening = true
      serve(descriptors)
      return
    }
    for (const fd of descriptors) closeSync(fd)
    if (bytes.length === 4) heard.startError = -new DataView(bytes.buffer).getInt32(0, true)
  }
  const read = (): Heard => {
    while (!heard.isOver) {
      const message = receiveMessage(channel)
      if (message === null) break
      if (message === "closed") heard.isOver = true
      else take(message)
    }
    return heard
  }
  return {
    read,
    leave: () => {
      heard.isOver = true
    },
    /** The command is a few milliseconds away when this begins. */
    untilStarted: async (child: Spawned) => {
      void child.exited.then(() => {
        read()
        heard.isOver = true
      })
      while (!read().isOver) await Bun.sleep(1)
    },
  }
}

function serveAll(proxy: CommandProxy, sockets: readonly number[], localPorts: readonly number[]): void {
  sockets.forEach((socket, index) => {
    const localPort = localPorts[index - 1]
    proxy.serve(socket, localPort === undefined ? "requested" : { localPort })
  })
}

function failureOf({ isListening, startError }: Heard): Failure | null {
  if (isListening && startError === null) return null
  const why = startError === null ? "" : ` (error ${startError} of the system)`
  return new Failure({
    kind: "confinement",
    code: "ACODE-EXE-010",
    message: isListening
      ? `the program could not be started in the sandbox${why}`
      : `the sandbox could not open its way to the proxy${why}`,
    hint: "run it without the network; if that works, `acode doctor` tells what this machine allows",
  })
}

const firstPort = 17_171

function portBeside(taken: readonly number[]): number {
  let port = firstPort
  while (taken.includes(port)) port += 1
  return port
}

/**
 * What programs look at to find a proxy. Those with a configuration file of their own get a variable that goes before
 * it. Servers that run inside the sandbox are reached directly.
 */
function proxyEnvironment(port: number): Readonly<Record<string, string>> {
  const proxy = `http://127.0.0.1:${port}`
  const direct = "localhost,127.0.0.1,::1"
  const usual = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].flatMap(name => [name, name.toLowerCase()])
  const own = ["npm_config_proxy", "npm_config_https_proxy", "YARN_HTTP_PROXY", "YARN_HTTPS_PROXY"]
  const more = ["PIP_PROXY", "CARGO_HTTP_PROXY"]
  return {
    ...Object.fromEntries([...usual, ...own, ...more].map(name => [name, proxy])),
    NO_PROXY: direct,
    no_proxy: direct,
    npm_config_noproxy: direct,
    // Node reads the others only when it is told to.
    NODE_USE_ENV_PROXY: "1",
  }
}
