import type { Call } from "./call-list.ts"
import { errno } from "./mount-calls.ts"

interface Drop {
  /** The system calls that the command may make. */
  readonly filter: Uint8Array
  /** True where the process holds the capability to do so: in a user namespace of its own, and for root. */
  readonly dropsBounding: boolean
  /** Calls that the filter would refuse, and that need no privileges to be gained by them. */
  readonly beforeFilter?: readonly Call[]
}

/** Gives up every privilege, and then the system calls that the command may not make. */
export function dropCalls({ filter, dropsBounding, beforeFilter = [] }: Drop): readonly Call[] {
  const control = (what: string, ...args: Call["args"]): Call => ({ name: "prctl", args, what })
  const capabilities = Array.from({ length: dropsBounding ? capabilitiesMax : 0 }, (_, index) => index)
  return [
    control("give up new privileges", 38, 1, 0, 0, 0),
    control("drop the ambient capabilities", 47, 4, 0, 0, 0),
    ...capabilities.map(number => ({
      ...control(`drop capability ${number}`, 24, number, 0, 0, 0),
      // There are fewer.
      accepts: errno.invalid,
    })),
    { name: "capset", args: [capabilityHead, new Uint8Array(24)], what: "drop the capabilities" },
    dieWithParent,
    // The command must read neither its environment nor its memory.
    control("hide the process", 4, 0, 0, 0, 0),
    ...beforeFilter,
    control("filter system calls", 22, 2, { filter }, 0, 0),
  ]
}

interface Start {
  readonly argv: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly cwd: string
  readonly limits: { readonly processesMax: number | null; readonly fileBytesMax: number | null }
  /** Descriptors that stay open in the command. */
  readonly kept: readonly number[]
}

/** Becomes the command. */
export function startCalls({ argv, environment, cwd, limits, kept }: Start): readonly Call[] {
  const variables = { texts: Object.entries({ ...environment, PWD: cwd }).map(pair => pair.join("=")) }
  const [program = "", ...args] = argv
  const limit = (resource: number, value: number | null, what: string): Call[] =>
    value === null
      ? []
      : [{ name: "prlimit64", args: [0, resource, twice(value), 0], what: `limit the ${what}` }]
  return [
    // Perl ignores it, and what is ignored stays so.
    {
      name: "rt_sigaction",
      args: [signalOfArithmetic, new Uint8Array(32), 0, 8],
      what: "restore a signal",
    },
    ...limit(6, limits.processesMax, "number of processes"),
    ...limit(1, limits.fileBytesMax, "size of files"),
    { name: "close_range", args: [3, descriptorsMax, 4], what: "keep descriptors to itself" },
    ...kept.map(
      (fd): Call => ({ name: "fcntl", args: [fd, setDescriptorFlags, 0], what: `pass descriptor ${fd} on` }),
    ),
    {
      name: "execve",
      args: [program, { texts: argv }, variables],
      // A script without a first line that names its interpreter is for the shell, as with any other way to start it.
      accepts: errno.noFormat,
      what: `start ${program}`,
    },
    {
      name: "execve",
      args: ["/bin/sh", { texts: ["/bin/sh", program, ...args] }, variables],
      what: `start ${program}`,
    },
  ]
}

function twice(value: number): Uint8Array {
  return new Uint8Array(new BigUint64Array([BigInt(value), BigInt(value)]).buffer)
}

export const dieWithParent: Call = { name: "prctl", args: [1, 9, 0, 0, 0], what: "die with the parent" }
export const descriptorsMax = 0xffffffff
/** Version 3 of the interface, for this process. */
const capabilityHead = new Uint8Array(new Uint32Array([0x20080522, 0]).buffer)
const capabilitiesMax = 64
const signalOfArithmetic = 8
const setDescriptorFlags = 2
