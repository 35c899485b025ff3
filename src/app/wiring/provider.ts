import { assert } from "../../base/assert.ts"
import type { Json } from "../../base/canonical.ts"
import { shownPath } from "../../base/path-names.ts"
import { printable } from "../../base/text.ts"
import { Failure } from "../../domain/failure.ts"
import type { SelectedModels } from "../../models/provider.ts"
import { modelsLine } from "../../models/recorded.ts"
import type { Provider } from "../../provider/contract.ts"
import { recordTo, replayFrom } from "../../provider/script/recording.ts"
import { readScript, scriptProblemText } from "../../provider/script/script-file.ts"
import { createScripted } from "../../provider/script/scripted.ts"
import { settledText } from "../../provider/script/settled-text.ts"
import { type GivenFile, givenText, readGivenFile } from "./given-file.ts"
import { openRecording, readRecordingFile, recordingId } from "./recording-store.ts"

/** The source of a session's replies; files are named as a person typed them. */
export interface ModelChoice {
  readonly script?: string | undefined
  readonly record?: string | undefined
  readonly replay?: string | undefined
}

export interface ProviderWiring {
  readonly choice: ModelChoice
  /** The models of a server; null with a script or a recording. */
  readonly selected: SelectedModels | null
  /** The provider to use instead of `selected` when there is neither a script nor a recording. */
  readonly server?: Provider | null
  /** True when a session is resumed, which may also continue its recording. */
  readonly isResumed: boolean
  /** The workspace root, which may differ from the recorded one in a replay. */
  readonly root: string
  readonly redactText: (text: string) => string
}

export interface WiredProvider extends Disposable {
  readonly provider: Provider
  /**
   * `dev:ino` of the file that is recorded to or replayed. The tree excludes it, because it grows while the session
   * works; in a replay it is excluded too, so that requests are the same as the recorded ones.
   */
  readonly recordingFile: string | null
}

const scriptBytesMax = 16_000_000

export async function wireProvider(wiring: ProviderWiring): Promise<WiredProvider> {
  const { choice, selected, isResumed, root, redactText, server = null } = wiring
  refuseContradictions(choice)
  const settled = { redactText, settledText: (text: string) => settledText(text, root) }
  const provider =
    choice.replay === undefined
      ? await provided(choice, selected, server)
      : replayFrom(readRecordingFile({ path: choice.replay, flag: "--replay" }).recording, settled)
  if (choice.record === undefined) {
    const recordingFile = choice.replay === undefined ? null : recordingId(choice.replay)
    return { provider, recordingFile, [Symbol.dispose]: () => undefined }
  }
  const file = openRecording({ path: choice.record, flag: "--record" }, isResumed)
  if (file.isNew && selected !== null && choice.script === undefined)
    file.append(modelsLine(selected.selection))
  return {
    provider: recordTo(provider, { append: file.append, ...settled }),
    recordingFile: file.id,
    [Symbol.dispose]: () => file.close(),
  }
}

function refuseContradictions({ script, record, replay }: ModelChoice): void {
  const other = script !== undefined ? "--script" : record !== undefined ? "--record" : null
  if (replay === undefined || other === null) return
  throw new Failure({
    kind: "usage",
    code: "ACODE-CLI-002",
    message: `--replay and ${other} cannot be given together`,
    where: `--replay ${printable(replay)}`,
    hint: "--replay takes every reply of the model from the recording, and adds none",
  })
}

async function provided(
  { script }: ModelChoice,
  selected: SelectedModels | null,
  server: Provider | null,
): Promise<Provider> {
  if (script !== undefined) return scripted(script)
  if (server !== null) return server
  assert(selected !== null, "a session without a script has models of a server")
  // Loaded only here: it imports the transport and the ladder.
  const { sessionProvider } = await import("../../models/provider.ts")
  return sessionProvider(selected)
}

async function scripted(script: string): Promise<Provider> {
  const file = { path: script, flag: "--script" }
  const reading = readScript(await parsed(file, givenText(file, readGivenFile(file, scriptBytesMax))))
  if ("script" in reading) return createScripted(reading.script)
  throw invalidScript(file, reading.problems.map(scriptProblemText))
}

/** Parses YAML or JSON. JSON has its own parser, because its limit is much larger than that of handwritten YAML. */
async function parsed(file: GivenFile, text: string): Promise<Json> {
  if (/^\ufeff?\s*\{/.test(text)) {
    try {
      return JSON.parse(text.replace(/^\ufeff/, ""))
    } catch {
      // The YAML reader below accepts JSON as well, and reports the line and column of the error.
    }
  }
  const { readYaml } = await import("../../config/yaml.ts")
  const read = readYaml(text)
  if ("tree" in read) return read.tree.value
  const lines = read.problems.map(({ line, column, kind, message }) => {
    const advice = kind === "tooLarge" ? "; write a script of this size as JSON" : ""
    return `line ${line}, column ${column}: ${message}${advice}`
  })
  throw invalidScript(file, lines)
}

const problemsShownMax = 50

function invalidScript({ path }: GivenFile, problems: readonly string[]): Failure {
  const shown = problems.slice(0, problemsShownMax)
  if (problems.length > shown.length) shown.push(`and ${problems.length - shown.length} more`)
  return new Failure({
    kind: "usage",
    code: "ACODE-MODEL-002",
    message: `the script is not valid:\n${shown.map(line => `  ${line}`).join("\n")}`,
    where: shownPath(path),
    hint: "correct what is named; `acode schema script` describes the format",
  })
}
