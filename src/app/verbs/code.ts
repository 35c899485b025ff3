import { type CodeOutline, outlineOfCode } from "../../code/outline.ts"
import type { ReferenceRow, SymbolRow } from "../../domain/code/symbol.ts"
import { Failure } from "../../domain/failure.ts"
import { timerWait } from "../../provider/wait.ts"
import type { IndexedFile } from "../../store/code-index/contract.ts"
import type { CodeAnswer, Staleness } from "../../tools/contract.ts"
import { type IndexUpdate, openUpdatedIndex } from "../wiring/code.ts"
import { askCode, codeQuestions, updateMsMax } from "../wiring/code-questions.ts"
import type { Wiring } from "../wiring/wire.ts"

/** Questions about what is defined where in the code of the workspace. */
export interface CodeVerbs {
  indexCode(request: { readonly isRebuilt: boolean }): Promise<IndexUpdate>
  /** Updates the index again and again until the signal fires, and reports each update that found a change. */
  watchCode(onUpdate: (update: IndexUpdate) => void, signal: AbortSignal): Promise<void>
  /** Files that were not parsed, or only in part. */
  codeProblems(): Promise<CodeAnswer<IndexedFile>>
  symbolsInFile(path: string, question: CodeQuestion): Promise<CodeAnswer<SymbolRow>>
  /** Returns the definitions, uses and properties with a name, by name alone. */
  codeReferences(name: string, from: string | null, question: CodeQuestion): Promise<CodeAnswer<ReferenceRow>>
  codeOutline(path: string, tokensMax: number, question: CodeQuestion): Promise<CodeOutline & Staleness>
}

/** The options of a question. `asIs` answers from the index as it is, without an update. */
export interface CodeQuestion {
  readonly asIs: boolean
}

export function codeVerbs(wiring: Wiring): CodeVerbs {
  const timeOf = ({ asIs }: CodeQuestion) => (asIs ? 0 : updateMsMax)
  return {
    indexCode: request => indexed(wiring, request.isRebuilt),
    watchCode: (onUpdate, signal) => watch(wiring, onUpdate, signal),
    codeProblems: () =>
      askCode(wiring, { timeMs: updateMsMax }, index => ({
        rows: [...index.files().values()]
          .filter(({ unparsed, errorCount }) => unparsed !== null || errorCount > 0)
          .sort((a, b) => (a.path < b.path ? -1 : 1)),
      })),
    symbolsInFile: (path, question) => codeQuestions(wiring, timeOf(question)).symbolsInFile(path),
    codeReferences: (name, from, question) => codeQuestions(wiring, timeOf(question)).references(name, from),
    codeOutline: async (typed, tokensMax, question) => {
      const { relative, kind } = (await wiring.workspace()).workspace.locate(typed)
      const prefix = relative === "." ? "" : kind === "directory" ? `${relative}/` : relative
      return askCode(wiring, { timeMs: timeOf(question) }, index =>
        outlineOfCode(index.ranked(prefix), tokensMax),
      )
    },
  }
}

async function indexed(wiring: Wiring, isRebuilt: boolean): Promise<IndexUpdate> {
  using opened = await openUpdatedIndex(wiring, { isRebuilt, timeMs: null })
  return opened.update
}

/** The shortest time between two scans of the tree. */
const scanMsMin = 1_000

async function watch(
  wiring: Wiring,
  onUpdate: (update: IndexUpdate) => void,
  signal: AbortSignal,
): Promise<void> {
  let hasReported = false
  while (!signal.aborted) {
    const began = performance.now()
    const update = await updateUnlessBusy(wiring)
    if (update !== null && (!hasReported || update.parsed + update.removed > 0)) {
      onUpdate(update)
      hasReported = true
    }
    // Scanning a large tree takes long; watching it must not use all of a processor.
    await timerWait(Math.max(scanMsMin, 10 * (performance.now() - began)), signal)
  }
}

/** Updates the index; null while another acode holds it and updates it itself. */
async function updateUnlessBusy(wiring: Wiring): Promise<IndexUpdate | null> {
  try {
    return await indexed(wiring, false)
  } catch (error) {
    if (error instanceof Failure && error.report.code === "ACODE-CODE-003") return null
    throw error
  }
}
