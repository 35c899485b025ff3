import { existsSync, statSync } from "node:fs"
import { messageOf } from "../../base/assert.ts"
import { counted } from "../../base/text.ts"
import { command } from "../../domain/command-validation.ts"
import { Failure } from "../../domain/failure.ts"
import { findProgram } from "../../exec/program.ts"
import type { SandboxProbe } from "../../sandbox/contract.ts"
import { probeEvery } from "../../sandbox/select.ts"
import { openStore } from "../../store/open-store.ts"
import { hasOldState } from "../state/state-directory.ts"
import { formerHistory } from "../state/workspace-record.ts"
import type { Wiring } from "../wiring/wire.ts"
import type { DoctorFinding } from "./diagnosis.ts"

/** Checks everything acode depends on here. The checks are independent, so one fault does not hide another. */
export async function diagnose(wiring: Wiring): Promise<readonly DoctorFinding[]> {
  const reported: ReportedFailures = new Map()
  return [
    runtime(),
    await guardedFinding(reported, "configuration", () => configuration(wiring)),
    await guardedFinding(reported, "sandbox", () => sandbox(wiring)),
    await guardedFinding(reported, "runner", () => runner(wiring)),
    await guardedFinding(reported, "git", async () => git(wiring)),
    await guardedFinding(reported, "database", () => database(wiring)),
    await guardedFinding(reported, "keys", async () => keys(wiring)),
    await guardedFinding(reported, "model", async () =>
      (await import("./model-finding.ts")).modelFinding(wiring),
    ),
  ]
}

/** Failures that a check has reported, with its name: the same failure may stop several checks. */
type ReportedFailures = Map<unknown, string>

async function guardedFinding(
  reported: ReportedFailures,
  name: string,
  check: () => Promise<DoctorFinding>,
): Promise<DoctorFinding> {
  try {
    return await check()
  } catch (error) {
    const before = reported.get(error)
    if (before !== undefined) return warning(name, `not checked: fix ${before} first`, null)
    reported.set(error, name)
    if (!(error instanceof Failure)) return fault(name, messageOf(error), "please report this")
    const { code, message, where, hint } = error.report
    // A message of several lines names the place in each of them.
    const place = where === undefined || message.includes("\n") ? "" : ` (${where})`
    return fault(name, `${code}: ${message}${place}`, hint ?? null)
  }
}

function runtime(): DoctorFinding {
  return ok("runtime", `Bun ${Bun.version} on ${process.platform} ${process.arch}`)
}

async function configuration(wiring: Wiring): Promise<DoctorFinding> {
  const { projectFile, userFile, notices } = await wiring.config()
  const used = [projectFile, userFile].filter(file => file.exists).map(file => file.shown)
  const message = used.length === 0 ? "defaults, no file" : used.join(" and ")
  if (notices.length === 0) return ok("configuration", message)
  return warning(
    "configuration",
    `${message}; ${notices.join("; ")}`,
    "read the file, then `acode config trust`",
  )
}

async function sandbox(wiring: Wiring): Promise<DoctorFinding> {
  const { values } = await wiring.config()
  const { sandbox: choice } = values.execution
  const every = await probeEvery(wiring.root.path)
  const lines = every.map(({ kind, probe }) => `${kind}: ${probe.reason ?? abilities(probe.features)}`)
  const works = every.find(each => each.probe.kind !== "none" && ["auto", each.kind].includes(choice))
  const hint = every.find(({ kind }) => choice === "auto" || choice === kind)?.probe.hint ?? null
  if (works?.kind === "reduced")
    return warning("sandbox", ["reduced: commands are asked about one by one", ...lines].join("\n"), hint)
  if (works !== undefined) return ok("sandbox", [`${works.kind} confines commands`, ...lines].join("\n"))
  const none = choice === "none" ? "none, as configured" : "none: commands are asked about one by one"
  return warning("sandbox", [none, ...lines].join("\n"), choice === "none" ? null : hint)
}

/** Says what is missing, in the words of a person who has to do without it. */
function abilities(features: SandboxProbe["features"]): string {
  const missing = Object.entries(withoutFeature).flatMap(([name, text]) =>
    features[name] === false ? [text] : [],
  )
  return missing.length === 0 ? "works, with everything" : `works, but ${missing.join(", ")}`
}

const withoutFeature: Readonly<Record<string, string>> = {
  processesGroup: "no control group holds the number of processes",
  memoryGroup: "no control group holds the memory of a whole tree",
  disableUserNamespaces: "only the filter of system calls forbids user namespaces",
  limitsScratch: "what is written to memory has no limit",
  freshProc: "/proc is masked, as in containers, so commands see the numbers of other processes",
}

/** Runs a command through all steps but the recording: a check must not write history. */
async function runner(wiring: Wiring): Promise<DoctorFinding> {
  const { result } = await (await wiring.unrecordedRunner()).execute(command("true").build())
  if (result.success)
    return ok("runner", `ran a command in ${result.durationMs} ms, sandbox ${result.sandbox.kind}`)
  const { code, message, details } = result.error ?? {
    code: "ACODE-EXE-003",
    message: "it failed",
    details: {},
  }
  return fault("runner", `${code}: ${message}`, details["hint"] ?? null)
}

function git(wiring: Wiring): DoctorFinding {
  const found = findProgram("git", wiring.root.path, wiring.request.environment.host["PATH"])
  if (found.kind === "found") return ok("git", found.path)
  return warning(
    "git",
    "not found; acode reads git's files itself and does not need it",
    "install git to use it yourself",
  )
}

async function database(wiring: Wiring): Promise<DoctorFinding> {
  const { databasePath } = wiring.places
  if (!existsSync(databasePath)) return noDatabase(wiring)
  using store = openStore({ ...(await wiring.storeOptions()), readOnly: true })
  const [problem] = store.fileProblems()
  if (problem !== undefined)
    return fault(
      "database",
      `ACODE-DB-005: ${problem}`,
      `keep a copy of ${wiring.places.stateDirectory} and restore a backup`,
    )
  const report = store.verify()
  const [first] = report.problems
  if (first !== undefined)
    return fault("database", `ACODE-SEC-004: ${first.what}`, "`acode audit verify` shows the details")
  return ok("database", `${counted(report.events, "event")}, chain and signatures hold`)
}

function noDatabase(wiring: Wiring): DoctorFinding {
  const former = formerHistory(wiring.places, wiring.root.path)
  if (former !== null) return warning("database", "none yet", former)
  if (hasOldState(wiring.places))
    return warning(
      "database",
      "none yet; .agent/workspace.db was not written by this user's acode and counts for nothing",
      "remove it from the repository",
    )
  return ok("database", "none yet; the first execution makes it")
}

function keys(wiring: Wiring): DoctorFinding {
  const { keysDirectory } = wiring.places
  if (!existsSync(keysDirectory)) return ok("keys", "none yet; the first execution makes one")
  const mode = statSync(keysDirectory).mode & 0o777
  if ((mode & 0o077) === 0) return ok("keys", keysDirectory)
  return fault(
    "keys",
    `${keysDirectory} is open to others (mode ${mode.toString(8)})`,
    `chmod 700 ${keysDirectory}`,
  )
}

function ok(name: string, message: string): DoctorFinding {
  return { name, status: "ok", message, hint: null }
}

function warning(name: string, message: string, hint: string | null): DoctorFinding {
  return { name, status: "warning", message, hint }
}

function fault(name: string, message: string, hint: string | null): DoctorFinding {
  return { name, status: "fault", message, hint }
}
