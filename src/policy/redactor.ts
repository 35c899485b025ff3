import type { RedactionStream, Redactor } from "./contract.ts"
import { createPatternStages } from "./pattern-stage.ts"
import { redactionSpans } from "./redaction-spans.ts"
import { concat, copyOf, type RedactionStage, type StageMaker } from "./redaction-stage.ts"
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
  const stages: StageMaker[] = [createRuleStage]
  if (spellings.length > 0) stages.unshift(createValueStages(spellings))
  if (options.extraPatterns.length > 0) stages.push(createPatternStages(options.extraPatterns))

  const redactBytes = (bytes: Uint8Array) =>
    stages.reduce((redacted, create) => create().push(redacted, true), bytes)
  const clean = rememberClean()
  return {
    redactBytes,
    redactText: text => {
      if (clean.has(text)) return text
      const bytes = encodeText(text)
      const redacted = redactBytes(bytes)
      const result = redacted === bytes ? text : decodeText(redacted)
      clean.add(result)
      return result
    },
    redactSpans: text => redactionSpans(text, stages),
    stream: () => streamOf(stages.map(create => create())),
  }
}

const rememberedMax = 2048
const rememberedCharsMax = 4 * 1024 * 1024

/**
 * Texts that came out of the redactor lately, and so come out unchanged: what a tool shows, what is returned and what
 * is stored are the same text on its way through several funnels. No secret is remembered by this.
 */
function rememberClean() {
  const texts = new Set<string>()
  let chars = 0
  return {
    has: (text: string) => texts.has(text),
    add: (text: string): void => {
      if (texts.size >= rememberedMax || chars + text.length > rememberedCharsMax) {
        texts.clear()
        chars = 0
      }
      if (text.length > rememberedCharsMax / 4 || texts.has(text)) return
      texts.add(text)
      chars += text.length
    },
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
