import { z } from "zod"
import { environmentModes, limitRanges, sandboxChoices, usualNetworkChoices } from "../../domain/command.ts"
import { validatePattern } from "../../redaction/pattern-stage.ts"
import { defaultConfig } from "../defaults.ts"

const socketChoices = ["deny", "allow"] as const

const defaults = defaultConfig.execution
const KiB = 1024
const MiB = KiB * KiB
const listMax = 200

/** Returns the `execution:` section: how commands are run, confined, limited and recorded. */
export function executionSection() {
  return z
    .strictObject({
      default_timeout_seconds: z
        .number()
        .min(limitRanges.timeoutMs.min / 1000)
        .max(limitRanges.timeoutMs.max / 1000)
        .default(defaults.default_timeout_seconds)
        .describe("Timeout of a command that sets none, in seconds; fractions are allowed."),
      ...outputKeys(),
      use_shell: z
        .boolean()
        .default(defaults.use_shell)
        .describe(
          "Whether commands run in a shell, with the first argument as the script. A shell brings the risk of command injection.",
        ),
      max_concurrent: whole(1, 16)
        .default(defaults.max_concurrent)
        .describe(
          "Maximum number of programs that one acode process runs at the same time; further ones wait. Commands run one after the other; several searches of one turn run in parallel.",
        ),
      max_queued: whole(0, 100_000)
        .default(defaults.max_queued)
        .describe(
          "Maximum number of programs that wait for a free slot; further ones are refused, and a refused search runs without ripgrep.",
        ),
      kill_grace_seconds: z
        .number()
        .min(0)
        .max(60)
        .default(defaults.kill_grace_seconds)
        .describe(
          "Seconds between the signal that asks a command to end (SIGTERM) and the kill of its whole process tree.",
        ),
      ...confinementKeys(),
      environment: environmentSection(),
      audit: auditSection(),
      redaction: redactionSection(),
      limits: limitsSection(),
    })
    .prefault({})
    .describe("How commands are run, confined, limited and recorded.")
}

function outputKeys() {
  return {
    max_output_kb: whole(1, limitRanges.outputBytesMax.max / KiB)
      .default(defaults.max_output_kb)
      .describe(
        "Size in KB of each output stream in a result; of longer output it keeps the head and the tail.",
      ),
    artifact_max_mb: whole(1, 1024)
      .default(defaults.artifact_max_mb)
      .describe("Size in MB up to which output that is too long for the result is stored as an artifact."),
    output_ceiling_mb: whole(1, 1024 * 1024)
      .default(defaults.output_ceiling_mb)
      .describe("Size in MB of both output streams together above which a command is killed."),
  }
}

function confinementKeys() {
  return {
    sandbox: z
      .enum(sandboxChoices)
      .default(defaults.sandbox)
      .describe(
        "The sandbox that confines commands. `auto` uses the first that works of native, perl, bwrap and reduced, and otherwise none; reduced and none with a warning.",
      ),
    network: z
      .enum(usualNetworkChoices)
      .default(defaults.network)
      .describe(
        "Network of confined commands: none, or the host's without a filter. To open single hosts to one command, use --allow-host of exec or `resources.hosts` of a plan.",
      ),
    unix_sockets: z
      .enum(socketChoices)
      .default(defaults.unix_sockets)
      .describe(
        "Whether confined commands may use UNIX sockets, through which they can reach services of this machine.",
      ),
    readable_paths: list(ReadablePath)
      .default(defaults.readable_paths)
      .describe("Additional directories that confined commands can read, for toolchains in unusual places."),
  }
}

function environmentSection() {
  return z
    .strictObject({
      mode: z
        .enum(environmentModes)
        .default(defaults.environment.mode)
        .describe(
          "inherit: the filtered environment of the host, to which a command may add variables; merge: a command may " +
            "also override them; replace: only the variables in include and those of the command.",
        ),
      exclude_patterns: list(VariablePattern)
        .default(defaults.environment.exclude_patterns)
        .describe(
          "Variables that commands do not get. Each file adds to the list; variables with secrets, and those that lead to secrets, are always excluded.",
        ),
      include: list(VariableName)
        .default(defaults.environment.include)
        .describe(
          "Variables that commands get although they would be excluded; this includes commands of models and plans.",
        ),
    })
    .prefault({})
    .describe(
      "The variables of the host that a command gets. A command of a model or a plan gets only those that programs need " +
        "to run, such as PATH, HOME, LANG and locations of toolchains, and those in include.",
    )
}

function auditSection() {
  return z
    .strictObject({
      enabled: z
        .literal(true, { error: "recording cannot be turned off: every execution is recorded" })
        .default(defaults.audit.enabled)
        .describe("Always true: recording cannot be turned off."),
      retention_days: whole(1, 36_500)
        .default(defaults.audit.retention_days)
        .describe("Days after which executions may be pruned; a signed tombstone of them stays."),
      include_output: z
        .boolean()
        .default(defaults.audit.include_output)
        .describe("Whether the output is recorded, redacted; its size and hash are always recorded."),
      max_output_bytes: whole(0, 64 * KiB)
        .default(defaults.audit.max_output_bytes)
        .describe("Bytes of output in the record itself; longer output is stored as an artifact."),
    })
    .prefault({})
    .describe("What acode records of each execution, and for how long.")
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
          "Regular expressions of additional secrets. Each file adds to the list; the built-in rules always apply.",
        ),
    })
    .prefault({})
    .describe("What counts as a secret in addition to the built-in rules.")
}

function limitsSection() {
  const { memoryBytesMax, processesMax, cpuSecondsMax, fileBytesMax } = limitRanges
  return z
    .strictObject({
      memory_mb: whole(memoryBytesMax.min / MiB, memoryBytesMax.max / MiB)
        .nullable()
        .default(defaults.limits.memory_mb)
        .describe(
          "Memory of the whole process tree in MB; null means three quarters of the machine's memory, where a control group can enforce it.",
        ),
      processes: whole(processesMax.min, processesMax.max)
        .nullable()
        .default(defaults.limits.processes)
        .describe("Number of processes and threads of the tree; null means the sandbox's own limit."),
      cpu_seconds: whole(cpuSecondsMax.min, cpuSecondsMax.max)
        .nullable()
        .default(defaults.limits.cpu_seconds)
        .describe("Processor time in seconds; null means no limit besides the timeout."),
      file_mb: whole(1, fileBytesMax.max / MiB)
        .nullable()
        .default(defaults.limits.file_mb)
        .describe("Size in MB of the largest file that a command may write; null means no limit."),
    })
    .prefault({})
    .describe("Limits for the process tree of one command.")
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
