import type { Architecture } from "../seccomp.ts"
import { type Argument, type CallName, dataAddress, program, type Step } from "./machine-code.ts"

/** What the first program of a sandbox does before it becomes the command. */
export interface StarterSettings {
  readonly architecture: Architecture
  /** Ports of 127.0.0.1 inside the sandbox on which it listens, in the order in which it hands them over. */
  readonly ports: readonly number[]
  /** A socket pair whose other end acode holds. */
  readonly channel: number
  /** Under which number this program itself is open. */
  readonly image: number
}

/** What the starter sends over its channel once it listens; anything else is the number of an error. */
export const listeningMessage = 0x4c

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
    // Not closed yet: until the command has started there may be an error to tell.
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

/** Where things lie in the writable part of the program. */
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
