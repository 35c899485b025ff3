import type { RedactionStream, Redactor } from "./contract.ts"
import { createFoundValues, spellingsOf } from "./found-values.ts"
import type { RedactionKind } from "./marker.ts"
import { createPatternStages } from "./pattern-stage.ts"
import { createRuleStage } from "./rule-stage.ts"
import { decodeLossless, encodeLossless, type RunStage, redactionSpans } from "./spans.ts"
import { concat, copyOf, type RedactionStage } from "./stage.ts"
import { createValueStages, spellingsAs, type ValueSet, valueSetOf } from "./value-stage.ts"

export interface RedactorOptions {
  /** Values that are secret in every context, in all of their spellings. */
  readonly secretValues: readonly string[]
  /** Regular expressions from the configuration; their matches are replaced as a whole. */
  readonly extraPatterns: readonly string[]
}

/**
 * Creates a redactor that replaces known values first, then the findings of the rules everywhere in the text, then
 * the matches of the configured patterns. In this order a later stage cannot uncover a secret that an earlier one
 * would have replaced, so redacting twice changes nothing.
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

/** The most rounds. A replaced value can uncover another secret; more than two in a row were never observed. */
const roundsMax = 8

/**
 * Replaces the findings of the rules everywhere in the text, also before their place. Repeats until no finding is new,
 * so that a second redaction would find none either.
 */
function redactByRules(parts: readonly Uint8Array[], known: ValueSet, run: RunStage): readonly Uint8Array[] {
  const found = createFoundValues(known)
  // A finding applies to all of the text.
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
 * Returns a cache of recent outputs of the redactor, which pass unchanged: a shown, a returned and a stored text are
 * the same text in several stages. The cache holds no secret.
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

/**
 * Smaller pieces of a line are collected; otherwise each byte would cause another search of everything that is held
 * back.
 */
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
      // Stored bytes must be a copy: the caller may fill its buffer again.
      gathered.push(isEnough ? chunk : copyOf(chunk, 0))
      gatheredBytes += chunk.length
      return isEnough ? pass(false) : new Uint8Array(0)
    },
    end: () => pass(true),
  }
}
