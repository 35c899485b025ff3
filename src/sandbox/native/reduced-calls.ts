import type { NetworkChoice } from "../../domain/command.ts"
import type { Call, CallList } from "./call-list.ts"
import { accessBits, everyRight, type LandlockRule } from "./landlock-rules.ts"
import { closeOnExec, currentDirectory, pathOnly, writeText } from "./mount-calls.ts"
import { dieWithParent, dropCalls, startCalls } from "./start-calls.ts"

/** The settings of one command with reduced confinement, as data. */
export interface ReducedProfile {
  readonly rules: readonly (LandlockRule & { readonly isFile: boolean })[]
  readonly landlockVersion: number
  readonly isRoot: boolean
  readonly argv: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly cwd: string
  readonly network: NetworkChoice
  readonly fileBytesMax: number | null
  readonly filter: Uint8Array
  readonly groupDoors: readonly string[]
  readonly descriptors: { readonly status: number; readonly lifeline: number }
}

/**
 * Returns everything between the start of the launcher and the command where there are no namespaces: one process,
 * which gives up its rights and becomes the command.
 */
export function reducedCalls(profile: ReducedProfile): CallList {
  const { rules, cwd, groupDoors, descriptors, landlockVersion } = profile
  const rule = (index: number) => `rule${index}`
  return {
    status: descriptors.status,
    // `struct landlock_path_beneath_attr`, packed: the rights, then the descriptor of the path.
    memory: Object.fromEntries(
      rules.map(({ access, isFile }, index) => [rule(index), numbers(accessBits(access, isFile), 0)]),
    ),
    calls: [
      dieWithParent,
      { name: "read", args: [descriptors.lifeline, { at: "scratch" }, 1], least: 1, what: "wait for acode" },
      ...groupDoors.flatMap(door => writeText(door, "0", "enter the control group")),
      ...writeText("/proc/self/oom_score_adj", "1000", "be the first to end").map(
        (call): Call => ({ ...call, accepts: "any" }),
      ),
      { name: "chdir", args: [cwd], what: `enter ${cwd}` },
      {
        name: "landlock_create_ruleset",
        args: [...rulesetOf(landlockVersion, profile.network), 0],
        stores: "ruleset",
        what: "make rules for files",
      },
      ...rules.flatMap(({ path }, index): Call[] => [
        {
          name: "openat",
          args: [currentDirectory, path, pathOnly | closeOnExec | noFollow()],
          stores: { name: rule(index), offset: 8 },
          what: `open ${path}`,
        },
        {
          name: "landlock_add_rule",
          args: [{ stored: "ruleset" }, 1, { at: rule(index) }, 0],
          what: `grant ${path}`,
        },
        { name: "close", args: [{ stored: { name: rule(index), offset: 8 } }], what: `close ${path}` },
      ]),
      ...dropCalls({
        filter: profile.filter,
        dropsBounding: profile.isRoot,
        beforeFilter: [
          {
            name: "landlock_restrict_self",
            args: [{ stored: "ruleset" }, 0],
            what: "restrict itself to the rules for files",
          },
        ],
      }),
      ...startCalls({
        ...profile,
        limits: { processesMax: null, fileBytesMax: profile.fileBytesMax },
        kept: [],
      }),
    ],
  }
}

/** `struct landlock_ruleset_attr`, as long as this version of Landlock knows it, and its length. */
function rulesetOf(version: number, network: NetworkChoice): [Uint8Array, number] {
  const connections = network === "host" ? 0 : 3
  const fields = [everyRight, ...(version >= 4 ? [connections] : []), ...(version >= 6 ? [3] : [])]
  return [numbers(...fields), fields.length * 8]
}

function numbers(...values: readonly number[]): Uint8Array {
  return new Uint8Array(new BigUint64Array(values.map(BigInt)).buffer)
}

/** The one flag whose number differs between the processors. */
function noFollow(): number {
  return process.arch === "arm64" ? 0o100000 : 0o400000
}
