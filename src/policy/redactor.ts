import type { RedactionStream, Redactor } from "./contract.ts"
import { createPatternStages } from "./pattern-stage.ts"
import { concat, copyOf, type RedactionStage } from "./redaction-stage.ts"
import { createRuleStage } from "./rule-stage.ts"
import { spellingsOf } from "./secret-values.ts"
import { decodeText, encodeText } from "./text-bytes.ts"
import { createValueStages } from "./value-stage.ts"

export interface RedactorOptions {
  /** Values that are secret whatever surrounds them, in every spelling of theirs. */
  readonly secretValues: readonly string[]
  /** Regular expressions from the configuration; what they match is replaced as a whole. */
  readonly extraPatterns: readonly string[]
}

/**
 * Known values first, then the rules, then a person's own patterns. In this order a later stage cannot uncover
 * something an earlier one would have replaced, so redacting twice changes nothing.
 */
export function createRedactor(options: RedactorOptions): Redactor {
  const spellings = spellingsOf(options.secretValues)
  const stages: (() => RedactionStage)[] = [createRuleStage]
  if (spellings.length > 0) stages.unshift(createValueStages(spellings))
  if (options.extraPatterns.length > 0) stages.push(createPatternStages(options.extraPatterns))

  const redactBytes = (bytes: Uint8Array) =>
    stages.reduce((redacted, create) => create().push(redacted, true), bytes)
  return {
    redactBytes,
    redactText: text => {
      const bytes = encodeText(text)
      const redacted = redactBytes(bytes)
      return redacted === bytes ? text : decodeText(redacted)
    },
    stream: () => streamOf(stages.map(create => create())),
  }
}

/** Smaller pieces of a line are collected, or each byte would have everything that is held back looked at again. */
const gatheredBytesMax = 4096
const newline = 10
const carriageReturn = 13

function streamOf(stages: readonly RedactionStage[]): RedactionStream {
  let gathered: Uint8Array[] = []
  let gatheredBytes = 0
  const pass = (final: boolean) => {
    const bytes = concat(gathered)
    gathered = []
    gatheredBytes = 0
    return stages.reduce((redacted, stage) => stage.push(redacted, final), bytes)
  }
  return {
    push: chunk => {
      const isWorthALook = chunk.includes(newline) || chunk.includes(carriageReturn)
      const isEnough = isWorthALook || gatheredBytes + chunk.length >= gatheredBytesMax
      // What is kept must be a copy: the caller may fill its buffer again.
      gathered.push(isEnough ? chunk : copyOf(chunk, 0))
      gatheredBytes += chunk.length
      return isEnough ? pass(false) : new Uint8Array(0)
    },
    end: () => pass(true),
  }
}
