import * as z from "zod/mini"
import { lazily } from "../base/lazy.ts"
import { networkChoices } from "./command.ts"
import type { ErrorCode } from "./error-codes.ts"
import { described } from "./events/definition.ts"

/**
 * The meaning of a crash between intent and outcome for a call. A `read` changed nothing; a `replace` is recognized
 * by the hashes it recorded; a `run` can only have touched the workspace, of which there is a pre-image; a `once`
 * reached something that cannot be inspected, so its outcome stays unknown.
 */
export const effectClasses = ["read", "replace", "run", "once"] as const
export type EffectClass = (typeof effectClasses)[number]

/** The outcome of a call: `refused` by a person, `denied` by policy, `interrupted` by the death of the process. */
export const toolOutcomes = ["succeeded", "failed", "refused", "denied", "interrupted"] as const
export type ToolOutcome = (typeof toolOutcomes)[number]

/**
 * The knowledge of whether the effect of a call took place. Never a guess: `partly` means that the
 * changes that were made are named, `unknown` that they cannot be.
 */
export const certainties = ["done", "notDone", "partly", "unknown"] as const
export type Certainty = (typeof certainties)[number]

/** A JSON value as it is recorded: a small one in the event, a large one as an artifact. */
export const RecordedJson = lazily(() =>
  z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("inline"), value: z.json() }),
    z.strictObject({ kind: z.literal("artifact"), ref: z.string(), bytes: z.int() }),
  ]),
)
export type RecordedJson = z.infer<ReturnType<typeof RecordedJson>>

/**
 * The content of one path before and after: the SHA-256 of a file, `link:` and the target of a symlink, the kind of a
 * FIFO, socket or device (`fifo:`), null if there was or is nothing.
 */
export const FileChange = lazily(() =>
  z.strictObject({ path: z.string(), before: z.nullable(z.string()), after: z.nullable(z.string()) }),
)
export type FileChange = z.infer<ReturnType<typeof FileChange>>

/** Changes that a call made, or may have made, and that `session undo` cannot restore. */
export const UncoveredChanges = lazily(() =>
  z.strictObject({
    /** The first of the paths. */
    paths: z.array(z.strictObject({ path: z.string(), reason: z.string() })),
    count: z.int(),
    /** Directories that hold too much to be watched: whether anything in them changed is unknown. */
    unwatched: z.array(z.string()),
  }),
)
export type UncoveredChanges = z.infer<ReturnType<typeof UncoveredChanges>>

/**
 * The state in which paths were left, to detect whether another program has written them since: path, inode and times
 * (null for nothing), and the object in the index of git (null for none).
 */
export const PathMarks = lazily(() =>
  z.array(z.tuple([z.string(), z.nullable(z.string()), z.nullable(z.string())])),
)
export type PathMarks = z.infer<ReturnType<typeof PathMarks>>

/** A directory that was created, removed or got another mode: path, mode before and after, null for none. */
export const DirectoryModes = lazily(() =>
  z.array(z.tuple([z.string(), z.nullable(z.int()), z.nullable(z.int())])),
)
export type DirectoryModes = z.infer<ReturnType<typeof DirectoryModes>>

/** A path that another program may have changed, and the reason to think so. */
export const PathDoubt = lazily(() => z.strictObject({ path: z.string(), reason: z.string() }))

/** The reason why a call failed. Expected, typed and durable. */
export const CallError = lazily(() =>
  z.strictObject({
    code: z.string(),
    message: z.string(),
    where: z.nullable(z.string()),
    hint: z.nullable(z.string()),
  }),
)
export type CallError = RecordedCallError & { readonly code: ErrorCode }
/** The error of a call as an event holds it: an event of another version may have a code that the table lacks. */
export type RecordedCallError = z.infer<ReturnType<typeof CallError>>

/** The codes of calls that would have left what they may touch. */
export const violationCodes: ReadonlySet<string> = new Set([
  "ACODE-SEC-003",
  "ACODE-SEC-005",
  "ACODE-EXEC-004",
])

/** One message about one location, as compilers print it; the failure of a tool is one as well. */
export const Diagnostic = lazily(() =>
  z.strictObject({
    level: z.enum(["error", "warning", "note"]),
    message: z.string(),
    file_name: z.string(),
    line_start: z.int(),
    column: described(z.exactOptional(z.int()), "counted from 1; left out where the program names none"),
    code: z.nullable(z.string()),
  }),
)
export type Diagnostic = z.infer<ReturnType<typeof Diagnostic>>

/** The plan, task, step and request that a call belongs to; null where there is none. */
export const CallOrigin = lazily(() =>
  z.strictObject({
    planId: z.nullable(z.string()),
    planHash: z.nullable(z.string()),
    taskId: z.nullable(z.string()),
    stepId: z.nullable(z.string()),
    stepKey: z.nullable(z.string()),
    /** The id by which a model requested the call. */
    modelCallId: z.nullable(z.string()),
  }),
)
export type CallOrigin = z.infer<ReturnType<typeof CallOrigin>>

/** The reach of a command of a call, according to its decision. */
export const CallConfinement = lazily(() =>
  z.strictObject({
    sandboxed: z.boolean(),
    network: z.enum(networkChoices),
    hosts: described(
      z.exactOptional(z.array(z.string())),
      "with the network `hosts`, the only hosts it may reach",
    ),
  }),
)
export type CallConfinement = z.infer<ReturnType<typeof CallConfinement>>
