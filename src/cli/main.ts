import type { AppService } from "../app/service.ts"
import { messageOf } from "../base/assert.ts"
import { type AppEnvironment, readEnvironment } from "../config/environment.ts"
import { exitCodes } from "../domain/exit-codes.ts"
import { exitCodeOf, Failure, type FailureReport } from "../domain/failure.ts"
import { systemReport } from "../domain/system-report.ts"
import { version } from "../version.ts"
import type { CliContext } from "./context.ts"
import type { CliCommand } from "./definition.ts"
import { renderHelp, renderOverview } from "./help.ts"
import { Output, OutputClosed, OutputLost } from "./output.ts"
import type { GlobalFlags } from "./parse/flags.ts"
import { type ParsedLine, parseLine, UsageFailure } from "./parse/parse.ts"
import { terminalUse } from "./terminal/terminal.ts"

/**
 * Runs one command line and returns the exit code. Never throws: a bug is reported as an internal error and exits 70.
 */
export async function main(argv: readonly string[]): Promise<number> {
  const rough = { json: argv.includes("--json"), quiet: false, color: false }
  let parsed: ParsedLine | null = null
  let environment: AppEnvironment
  try {
    // Parsed first: the command decides the exit code of usage errors from here on.
    parsed = parseLine(argv, await commandsFor(argv))
    environment = readEnvironment()
    if (environment.json) parsed = { ...parsed, globals: { ...parsed.globals, json: true } }
  } catch (error) {
    const command = error instanceof UsageFailure ? error.command : (parsed?.command ?? null)
    return fail(error, new Output(rough), command?.usageExitCode ?? null)
  }
  let output = new Output(rough)
  try {
    output = new Output(styleOf(parsed.globals, environment))
    return await dispatch(parsed, output, environment)
  } catch (error) {
    return fail(error, output, parsed.command?.usageExitCode ?? null)
  }
}

/** Loads only the commands that a line may mean: `exec` is started in loops and must not load the other verbs. */
async function commandsFor([first]: readonly string[]): Promise<readonly CliCommand[]> {
  if (first === "exec") return [(await import("./commands/work/exec.ts")).exec]
  if (first === "run") return [(await import("./commands/work/run.ts")).run]
  return (await import("./commands/table.ts")).cliCommands
}

async function dispatch(parsed: ParsedLine, output: Output, environment: AppEnvironment): Promise<number> {
  const { command, globals, group } = parsed
  if (globals.version) {
    output.line(version)
    if (globals.json) output.json({ version })
    return 0
  }
  if (command === null) return await overview(output, group, globals)
  if (globals.help) {
    if (globals.json) output.json(describe(command))
    output.line(renderHelp(command).trimEnd())
    return 0
  }
  const context = contextOf(globals, output, environment)
  try {
    const code = await command.run(parsed, context)
    return code === 0 ? await context.codeOfWhatWasShown() : code
  } catch (error) {
    throw error instanceof OutputClosed ? error : await context.explained(error)
  } finally {
    await context.close()
  }
}

async function overview(output: Output, group: string | null, globals: GlobalFlags): Promise<number> {
  const { cliCommands } = await import("./commands/table.ts")
  if (globals.json) output.json(cliCommands.map(describe))
  output.line(renderOverview(cliCommands, group).trimEnd())
  // `--help` succeeds; an incomplete command without it is a usage error.
  return group === null || globals.help ? 0 : exitCodes.usage.code
}

function describe(command: CliCommand) {
  const { name, summary, arguments: words, flags, examples } = command
  return { id: name, name, summary, arguments: words, flags, examples }
}

/** The work to do when the command has finished. */
interface Ending {
  /** Returns the exit code of a successful command: not 0 when its output lacks something that should be there. */
  codeOfWhatWasShown(): Promise<number>
  explained(error: unknown): Promise<unknown>
  close(): Promise<void>
}

function contextOf(globals: GlobalFlags, output: Output, environment: AppEnvironment) {
  let service: Promise<AppService> | null = null
  const context: CliContext & Ending = {
    globals,
    output,
    environment,
    terminal: terminalUse(),
    service: () => {
      service ??= import("../app/local-service.ts").then(async ({ openService }) =>
        openService({
          environment,
          workspace: globals.workspace,
          configFile: globals.config,
          allowsBroad: globals["allow-broad-workspace"],
          yes: await givenYes(globals),
          notice: text => output.notice(text),
        }),
      )
      return service
    },
    codeOfWhatWasShown: async () => {
      const shown = await service
      const [missing] = shown?.missingArtifacts() ?? []
      const found = shown?.changedRecords() ?? []
      const reports = [...found, ...(missing === undefined ? [] : [missingPart(missing)])]
      for (const report of reports.slice(0, reportsMax)) output.afterthought(report)
      if (reports.length > reportsMax) output.notice(`and ${reports.length - reportsMax} more`)
      return reports.length === 0 ? 0 : exitCodeOf("integrity")
    },
    explained: async error => {
      if (service === null) return error
      const opened = await service
      if (!(error instanceof Failure)) return (await opened.explained(error)) ?? error
      // The hint names the session too: without an id its command would mean the latest one.
      if (!error.report.where?.startsWith("ses_")) return error
      return (await import("./render/next-commands.ts")).namingSession(error, opened)
    },
    close: async () => (await service)?.close(),
  }
  return context
}

/** The limit of reports: most of them have the same cause. */
const reportsMax = 3

function missingPart(ref: string): FailureReport {
  return {
    kind: "integrity",
    code: "ACODE-SEC-004",
    message: "a part of what is shown is not there any more",
    where: ref,
    hint: "`acode audit verify` says what is missing",
  }
}

/** Reads `--yes`. Loaded only when the flag is given: it imports the globs of policy. */
async function givenYes({ yes, "ack-danger": acknowledges }: GlobalFlags) {
  return yes === undefined ? undefined : (await import("../app/policy-yes.ts")).readYes(yes, acknowledges)
}

function styleOf(globals: GlobalFlags, environment: AppEnvironment) {
  const { stdout, stderr } = terminalUse()
  const color = stdout && stderr && !globals["no-color"] && !environment.noColor
  const { quiet, json, workspace, "allow-broad-workspace": isBroad } = globals
  return { color, quiet, json, isBroad, ...(workspace === undefined ? {} : { workspace }) }
}

/** Prints an error and returns the exit code. Nothing else maps errors to messages and exit codes. */
function fail(error: unknown, output: Output, failureExitCode: number | null): number {
  if (error instanceof OutputClosed) return 141
  const report = error instanceof Failure ? error.report : (systemReport(error) ?? internal(error))
  try {
    output.failure(report)
  } catch (failure) {
    // The output is closed; the exit code still reports what happened.
    if (!(failure instanceof OutputClosed || failure instanceof OutputLost)) throw failure
  }
  return failureExitCode ?? exitCodeOf(report.kind)
}

function internal(error: unknown): FailureReport {
  return {
    kind: "internal",
    code: "ACODE-INT-001",
    message: `internal error: ${messageOf(error)}`,
    hint: "nothing was lost; please report this with the command you typed",
  }
}
