import { closeSync } from "node:fs"
import { openProgramFile, openSocketPair, type ReceivedMessage, receiveMessage } from "../../base/libc.ts"
import type { Spawned } from "../../base/spawn.ts"
import type { Connections } from "../../domain/connections.ts"
import { Failure } from "../../domain/failure.ts"
import type { Architecture } from "../process/seccomp.ts"
import type { ProxySettings } from "./contract.ts"
import { type Argument, type CallName, dataAddress, program, type Step } from "./machine-code.ts"
import { type CommandProxy, createProxy } from "./proxy.ts"

/** The numbers under which the command finds the two descriptors of a door. */
export interface DoorDescriptors {
  readonly image: number
  readonly channel: number
}

/**
 * The only connection of a sandbox without a network to the outside: sockets that listen inside and are served outside,
 * by acode's proxy. Inside it has neither a process nor a descriptor, only an address to connect to.
 */
export interface Door {
  /** Ours, to be handed over under the agreed numbers. */
  readonly image: number
  readonly channel: number
  /** The program that becomes the command: goes before its own arguments. */
  readonly starter: string
  readonly environment: Readonly<Record<string, string>>
  /** Waits for the sockets from the process that was just started, and serves them. */
  open(child: Spawned): void
  /** Returns, after the end, why the command itself never ran. */
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

/** The messages of the starter so far. */
interface StarterMessages {
  isListening: boolean
  /** The number of an error of the system. */
  startError: number | null
  /** The command has started, or nothing of the sandbox is left. */
  isOver: boolean
}

function watchChannel(channel: number, serve: (sockets: readonly number[]) => void) {
  const messages: StarterMessages = { isListening: false, startError: null, isOver: false }
  const take = ({ bytes, descriptors }: ReceivedMessage) => {
    if (!messages.isListening && bytes.length === 1 && bytes[0] === listeningMessage) {
      messages.isListening = true
      serve(descriptors)
      return
    }
    for (const fd of descriptors) closeSync(fd)
    if (bytes.length === 4) messages.startError = -new DataView(bytes.buffer).getInt32(0, true)
  }
  const read = (): StarterMessages => {
    while (!messages.isOver) {
      const message = receiveMessage(channel)
      if (message === null) break
      if (message === "closed") messages.isOver = true
      else take(message)
    }
    return messages
  }
  return {
    read,
    leave: () => {
      messages.isOver = true
    },
    /** The command is a few milliseconds away when this begins. */
    untilStarted: async (child: Spawned) => {
      void child.exited.then(() => {
        read()
        messages.isOver = true
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

function failureOf({ isListening, startError }: StarterMessages): Failure | null {
  if (isListening && startError === null) return null
  const why = startError === null ? "" : ` (error ${startError} of the system)`
  return new Failure({
    kind: "confinement",
    code: "ACODE-EXE-010",
    message: isListening
      ? `the program could not be started in the sandbox${why}`
      : `the sandbox could not open its way to the proxy${why}`,
    hint: "run it without the network; if that works, `acode doctor` shows what this machine allows",
  })
}

const firstPort = 17_171

function portBeside(taken: readonly number[]): number {
  let port = firstPort
  while (taken.includes(port)) port += 1
  return port
}

/**
 * Returns the variables by which programs find a proxy. Those with a configuration file of their own get a variable
 * that overrides it. Servers that run inside the sandbox are reached directly.
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
    // Node reads the others only with this one.
    NODE_USE_ENV_PROXY: "1",
  }
}

/** The settings of the first program of a sandbox, which becomes the command. */
interface StarterSettings {
  readonly architecture: Architecture
  /** Ports of 127.0.0.1 inside the sandbox on which it listens, in the order in which it hands them over. */
  readonly ports: readonly number[]
  /** A socket pair whose other end acode holds. */
  readonly channel: number
  /** The descriptor under which this program itself is open. */
  readonly image: number
}

/** The byte the starter sends over its channel once it listens; anything else is an error number. */
const listeningMessage = 0x4c

/**
 * Builds a program that opens listening sockets inside the network of the sandbox, sends their descriptors to acode,
 * and becomes the command that its arguments name. Nothing of it is left then: the sockets and the channel are closed
 * by the kernel when the command starts, and the process stays the same, with its number, its parent and its limits.
 *
 * It is machine code because it runs where nothing but the kernel is certain to be there, under the limits of the
 * command: a runtime would need more memory and more processes than a command may have. It is a flat list of system
 * calls; each failure ends it with the error on the channel, and the command never runs.
 */
export function starterImage(settings: StarterSettings): Uint8Array<ArrayBuffer> {
  const data = layoutData(settings)
  return program(settings.architecture, starterSteps(settings, data), data.bytes)
}

function starterSteps({ ports, channel, image }: StarterSettings, data: Data): readonly Step[] {
  const call = (name: CallName, ...args: readonly Argument[]): Step => ({ kind: "call", call: name, args })
  return [
    ...ports.flatMap((_, index): Step[] => {
      const socket = data.descriptors + index * 4
      return [
        call("socket", family.inet, socketType.stream | closeOnExec, 0),
        { kind: "store", address: socket },
        call("bind", { storedAt: socket }, data.addresses + index * addressBytes, addressBytes),
        call("listen", { storedAt: socket }, backlog),
      ]
    }),
    call("sendmsg", channel, data.message, noSignal),
    // Not closed yet: until the command has started there may be an error to report.
    call("fcntl", channel, setDescriptorFlags, 1),
    call("fcntl", image, setDescriptorFlags, 1),
    call("execve", "program", "arguments", "environment"),
    // A script without a first line that names its interpreter is for the shell, as with any other way to start it.
    { kind: "unlessNoFormat" },
    { kind: "replaceProgram", address: data.shell },
    call("execve", data.shell, "argumentsWithOwn", "environment"),
    { kind: "failure" },
    { kind: "store", address: data.error },
    call("write", channel, data.error, 4),
    call("exit", 127),
  ]
}

const family = { inet: 2 } as const
const socketType = { stream: 1 } as const
const closeOnExec = 0o2000000
const noSignal = 0x4000
const setDescriptorFlags = 2
const backlog = 512
const addressBytes = 16

/** The addresses of the writable data of the program. */
interface Data {
  readonly bytes: Uint8Array
  readonly addresses: number
  readonly descriptors: number
  readonly message: number
  readonly shell: number
  readonly error: number
}

function layoutData({ ports }: StarterSettings): Data {
  const control = align(16 + ports.length * 4, 8)
  const at = { message: 0, vector: 56, control: 72, addresses: 72 + control }
  const shell = at.addresses + ports.length * addressBytes
  const [error, byte] = [shell + 8, shell + 12]
  const bytes = new Uint8Array(shell + 16)
  const view = new DataView(bytes.buffer)
  const pointer = (offset: number, to: number) => view.setBigUint64(offset, BigInt(to), true)
  // struct msghdr, with one byte to carry the descriptors along.
  pointer(16, dataAddress + at.vector)
  pointer(24, 1)
  pointer(32, dataAddress + at.control)
  pointer(40, control)
  pointer(at.vector, dataAddress + byte)
  pointer(at.vector + 8, 1)
  // struct cmsghdr: its length, SOL_SOCKET and SCM_RIGHTS.
  pointer(at.control, 16 + ports.length * 4)
  view.setUint32(at.control + 8, 1, true)
  view.setUint32(at.control + 12, 1, true)
  ports.forEach((port, index) => {
    const address = at.addresses + index * addressBytes
    view.setUint16(address, family.inet, true)
    view.setUint16(address + 2, port, false)
    bytes.set([127, 0, 0, 1], address + 4)
  })
  bytes.set(Buffer.from("/bin/sh\0"), shell)
  bytes[byte] = listeningMessage
  return {
    bytes,
    addresses: dataAddress + at.addresses,
    descriptors: dataAddress + at.control + 16,
    message: dataAddress,
    shell: dataAddress + shell,
    error: dataAddress + error,
  }
}

function align(size: number, to: number): number {
  return Math.ceil(size / to) * to
}
