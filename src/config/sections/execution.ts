import { z } from "zod"
import { environmentModes, limitRanges, sandboxChoices, usualNetworkChoices } from "../../domain/command.ts"
import { validatePattern } from "../../redaction/pattern-stage.ts"
import { defaultConfig } from "../defaults.ts"

const socketChoices = ["deny", "allow"] as const

const defaults = defaultConfig.execution
const KiB = 1024
const MiB = KiB * KiB
const listMax = 200

/** The `execution:` section: how commands are run, confined, bounded and recorded. */
export function executionSection() {
  return z
    .strictObject({
      default_timeout_seconds: z
        .number()
        .min(limitRanges.timeoutMs.min / 1000)
        .max(limitRanges.timeoutMs.max / 1000)
        .default(defaults.default_timeout_seconds)
        .describe("Deadline of a command that names none, in seconds; fractions are allowed."),
      ...outputKeys(),
      use_shell: z
        .boolean()
        .default(defaults.use_shell)
        .describe("Whether commands are scripts for a shell. Shell features come with injection risks."),
      max_concurrent: whole(1, 16)
        .default(defaults.max_concurrent)
        .describe(
          "How many programs one acode runs at the same time; more of them wait. Commands come one after the other; several searches of one turn run at once.",
        ),
      max_queued: whole(0, 100_000)
        .default(defaults.max_queued)
        .describe(
          "How many programs may wait for a free slot before more are refused; a search that is refused is done without ripgrep.",
        ),
      kill_grace_seconds: z
        .number()
        .min(0)
        .max(60)
        .default(defaults.kill_grace_seconds)
        .describe("How long a command may take to end when asked to, before its whole tree is killed."),
      ...confinementKeys(),
      environment: environmentSection(),
      audit: auditSection(),
      redaction: redactionSection(),
      limits: limitsSection(),
    })
    .prefault({})
    .describe("How commands are run, confined, bounded and recorded.")
}

function outputKeys() {
  return {
    max_output_kb: whole(1, limitRanges.outputBytesMax.max / KiB)
      .default(defaults.max_output_kb)
      .describe("How much of each output stream a result keeps; beyond it the head and the tail stay."),
    artifact_max_mb: whole(1, 1024)
      .default(defaults.artifact_max_mb)
      .describe("How much of an output that is too long for the result is kept as an artifact."),
    output_ceiling_mb: whole(1, 1024 * 1024)
      .default(defaults.output_ceiling_mb)
      .describe("How much a command may write to both streams together before it is killed."),
  }
}

function confinementKeys() {
  return {
    sandbox: z
      .enum(sandboxChoices)
      .default(defaults.sandbox)
      .describe("What confines commands. `auto` is bwrap where it works and otherwise none, and says so."),
    network: z
      .enum(usualNetworkChoices)
      .default(defaults.network)
      .describe(
        "Whether confined commands reach no network at all or the host's, unfiltered. Single hosts are opened to single commands: --allow-host of exec, `resources.hosts` of a plan.",
      ),
    unix_sockets: z
      .enum(socketChoices)
      .default(defaults.unix_sockets)
      .describe("Whether confined commands may open UNIX sockets, which reach services of this machine."),
    readable_paths: list(ReadablePath)
      .default(defaults.readable_paths)
      .describe("Further directories confined commands can read, for toolchains in unusual places."),
  }
}

function environmentSection() {
  return z
    .strictObject({
      mode: z
        .enum(environmentModes)
        .default(defaults.environment.mode)
        .describe(
          "inherit: the filtered host environment, a command may only add; merge: it may also override; " +
            "replace: only the included names and the command's own.",
        ),
      exclude_patterns: list(VariablePattern)
        .default(defaults.environment.exclude_patterns)
        .describe(
          "Variables that are not passed on. Each file adds to the list; secrets and what leads to them are always excluded.",
        ),
      include: list(VariableName)
        .default(defaults.environment.include)
        .describe(
          "Variables that are passed on although they would be left out, also to commands of models and plans.",
        ),
    })
    .prefault({})
    .describe(
      "Which variables of the host a command sees. One of a model or a plan sees only what programs need to run, such as " +
        "PATH, HOME, LANG and where toolchains are, and what is included here.",
    )
}

function auditSection() {
  return z
    .strictObject({
      enabled: z
        .literal(true, { error: "recording cannot be turned off: every execution is written down" })
        .default(defaults.audit.enabled)
        .describe("Always true: recording cannot be turned off."),
      retention_days: whole(1, 36_500)
        .default(defaults.audit.retention_days)
        .describe("How long executions are kept before they may be pruned; a signed tombstone stays."),
      include_output: z
        .boolean()
        .default(defaults.audit.include_output)
        .describe("Whether the redacted output is recorded; its size and hash always are."),
      max_output_bytes: whole(0, 64 * KiB)
        .default(defaults.audit.max_output_bytes)
        .describe("How much output stands in the record itself; longer output becomes an artifact."),
    })
    .prefault({})
    .describe("What is recorded of each execution, and for how long.")
}

function redactionSection() {
  const pattern = z
    .string()
    .max(1000)
    .superRefine((value, context) => {
      const problem = validatePattern(value)
      if (problem !== null) context.addIssue({ code: "custom", message: `is not usable: ${problem}` })
    })
    .describe("a regular expression of at most 1000 characters")
  return z
    .strictObject({
      enabled: z
        .literal(true, { error: "redaction cannot be turned off: no secret is ever stored" })
        .default(defaults.redaction.enabled)
        .describe("Always true: redaction cannot be turned off."),
      patterns: list(pattern)
        .default(defaults.redaction.patterns)
        .describe(
          "Regular expressions of further secrets. Each file adds to the list and to the built-in rules.",
        ),
    })
    .prefault({})
    .describe("What counts as a secret besides the built-in rules.")
}

function limitsSection() {
  const { memoryBytesMax, processesMax, cpuSecondsMax, fileBytesMax } = limitRanges
  return z
    .strictObject({
      memory_mb: whole(memoryBytesMax.min / MiB, memoryBytesMax.max / MiB)
        .nullable()
        .default(defaults.limits.memory_mb)
        .describe(
          "Memory of the whole process tree in MB; null leaves three quarters of the machine's where a control group can hold it.",
        ),
      processes: whole(processesMax.min, processesMax.max)
        .nullable()
        .default(defaults.limits.processes)
        .describe("Processes and threads of the tree; null leaves the sandbox's own limit."),
      cpu_seconds: whole(cpuSecondsMax.min, cpuSecondsMax.max)
        .nullable()
        .default(defaults.limits.cpu_seconds)
        .describe("Processor time in seconds; null leaves the deadline as the only limit."),
      file_mb: whole(1, fileBytesMax.max / MiB)
        .nullable()
        .default(defaults.limits.file_mb)
        .describe("Size of any file a command writes in MB; null leaves it unlimited."),
    })
    .prefault({})
    .describe("Ceilings for the process tree of one command.")
}

function whole(min: number, max: number) {
  return z.number().int().min(min).max(max)
}

function list<Item extends z.ZodType>(item: Item) {
  return z.array(item).max(listMax)
}

const VariableName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,254}$/)
  .describe("a variable name such as JAVA_HOME")

const VariablePattern = z
  .string()
  .regex(/^[A-Za-z0-9_*?]{1,255}$/)
  .describe("a variable name with * and ? as wildcards, such as *_TOKEN")

const ReadablePath = z
  .string()
  .regex(/^(\/|~\/)[^\0]{0,4094}$/)
  .describe("an absolute path, or one that starts with ~/")
