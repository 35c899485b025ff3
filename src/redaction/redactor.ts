import type { RedactionStream, Redactor } from "./contract.ts"
import { createFoundValues, spellingsOf } from "./found-values.ts"
import type { RedactionKind } from "./marker.ts"
import { createPatternStages } from "./pattern-stage.ts"
import { createRuleStage } from "./rule-stage.ts"
import { decodeLossless, encodeLossless, type RunStage, redactionSpans } from "./spans.ts"
import { concat, copyOf, type RedactionStage } from "./stage.ts"
import { createValueStages, spellingsAs, type ValueSet, valueSetOf } from "./value-stage.ts"

export interface RedactorOptions {
  /** Values that are secret whatever surrounds them, in every spelling of theirs. */
  readonly secretValues: readonly string[]
  /** Regular expressions from the configuration; what they match is replaced as a whole. */
  readonly extraPatterns: readonly string[]
}

/**
 * Known values first, then the rules and what they found wherever else it stands, then a person's own patterns. In this
 * order a later stage cannot uncover something an earlier one would have replaced, so redacting twice changes nothing.
 */
export function createRedactor(options: RedactorOptions): Redactor {
  const values = valueSetOf(spellingsAs("environment", spellingsOf(options.secretValues)))
  const known = values.spellings.length > 0 ? createValueStages(values) : null
  const patterns = options.extraPatterns.length > 0 ? createPatternStages(options.extraPatterns) : null
  const redactParts = (parts: readonly Uint8Array[], run: RunStage) => {
    const unknown = known === null ? parts : parts.map(part => run(known, part))
    const ruled = redactByRules(unknown, values, run)
    return patterns === null ? ruled : ruled.map(part => run(patterns, part))
  }
  const redactBytes = (bytes: Uint8Array, run = runWhole) => redactParts([bytes], run)[0] ?? bytes
  const clean = rememberClean()
  return {
    redactBytes: bytes => redactBytes(bytes),
    redactParts: parts => redactParts(parts, runWhole),
    redactText: text => {
      if (clean.has(text)) return text
      const bytes = encodeLossless(text)
      const redacted = redactBytes(bytes)
      const result = redacted === bytes ? text : decodeLossless(redacted)
      clean.add(result)
      return result
    },
    redactSpans: text => redactionSpans(text, redactBytes),
    stream: () => {
      const found = createFoundValues(values)
      const stages = [createRuleStage(undefined, found), found.stage()]
      if (known !== null) stages.unshift(known())
      if (patterns !== null) stages.push(patterns())
      return streamOf(stages)
    },
  }
}

const runWhole: RunStage = (create, bytes) => create().push(bytes, true)

/** A value that is replaced can uncover another secret; nobody has seen more than two in a row. */
const roundsMax = 8

/**
 * What the rules find is replaced wherever it stands in the text, before its finding too. Ends when neither finds
 * anything more, so that a second redaction would not either.
 */
function redactByRules(parts: readonly Uint8Array[], known: ValueSet, run: RunStage): readonly Uint8Array[] {
  const found = createFoundValues(known)
  // Whatever is found counts for all of the text.
  const findings = { ...found, add: (kind: RedactionKind, value: Uint8Array) => found.add(kind, value, 0) }
  let current = parts
  for (let round = 0; round < roundsMax; round++) {
    const ruled = current.map(part => run(onReplaced => createRuleStage(onReplaced, findings), part))
    current = ruled.map(part => run(found.stage, part))
    if (current.every((part, index) => part === ruled[index])) break
  }
  return current
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
