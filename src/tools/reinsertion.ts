import { quotedPath, shownPath } from "../base/path-names.ts"
import { Failure } from "../domain/failure.ts"
import type { ShownLine, ShownText } from "./shown-text.ts"

/**
 * Puts the secrets of a file back into a text that was written by somebody who saw the file redacted. A line with a
 * marker must be a line of what was shown, and it must be clear which: a marker in a file would be a lost secret, and
 * a secret in the wrong place would be worse. ACODE-SEC-007 names the line otherwise.
 */
export function reinserted(path: string, current: Pick<ShownText, "lines"> | null, proposed: string): string {
  if (!hasMarker(proposed)) return proposed
  const lines = proposed.split("\n").map(line => ({
    text: line.endsWith("\r") ? line.slice(0, -1) : line,
    end: line.endsWith("\r") ? "\r" : "",
  }))
  const known = occurrencesOf((current?.lines ?? []).map(({ shown }) => shown))
  const originals = new Originals(
    current?.lines ?? [],
    known,
    lines.map(({ text }) => text),
  )
  const result = lines.map(({ text, end }, index) => {
    if (!hasMarker(text)) return text + end
    const places = known.get(text)
    if (places === undefined)
      throw refusal(path, index, "carries a redaction marker and is not a line of the file as it is")
    const original = originals.of(text, index, places)
    if (original === null)
      throw refusal(path, index, "stands for several secrets of the file, and it is not clear for which")
    return original + end
  })
  return result.join("\n")
}

const markers = /\[REDACTED:[a-z-]+\]/

/** Whether a text holds what stands in the place of a secret. */
export function hasMarker(text: string): boolean {
  return markers.test(text)
}

/** Where each line stands. */
function occurrencesOf(lines: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, number[]>()
  for (const [index, line] of lines.entries()) {
    const places = found.get(line)
    if (places === undefined) found.set(line, [index])
    else places.push(index)
  }
  return found
}

/** Which original a line of the new text stands for. */
class Originals {
  private readonly proposedPlaces: ReadonlyMap<string, readonly number[]>
  private ordered: boolean | null = null
  private readonly claimed = new Set<number>()

  constructor(
    private readonly shown: readonly ShownLine[],
    private readonly shownPlaces: ReadonlyMap<string, readonly number[]>,
    private readonly proposed: readonly string[],
  ) {
    this.proposedPlaces = occurrencesOf(proposed)
  }

  of(text: string, index: number, places: readonly number[]): string | null {
    const candidates = new Set(places.map(place => this.originalAt(place)))
    const [only] = candidates
    if (candidates.size === 1) return only ?? null
    const wanted = this.proposedPlaces.get(text) ?? []
    if (wanted.length === places.length && this.keepsOrder())
      return this.originalAt(places[wanted.indexOf(index)] ?? -1)
    return this.byLandmark(index)
  }

  private originalAt(place: number): string | null {
    return this.shown[place]?.original ?? null
  }

  /** Whether the lines that are there once, before and after, were left in their order: then nothing was moved. */
  private keepsOrder(): boolean {
    this.ordered ??= this.proposed
      .flatMap((line, index) => this.landmark(line, index) ?? [])
      .every((place, index, all) => index === 0 || place > (all[index - 1] ?? 0))
    return this.ordered
  }

  /** Counts the lines from one that is there only once, before and after, all of them unchanged. */
  private byLandmark(index: number): string | null {
    const [above, below] = [this.placeFrom(index, -1), this.placeFrom(index, 1)]
    if (above !== null && below !== null && above !== below) return null
    const place = above ?? below
    // Two lines cannot both be the one that was there: one of them is new, and nobody knows which.
    if (place === null || this.claimed.has(place)) return null
    this.claimed.add(place)
    return this.originalAt(place)
  }

  private placeFrom(index: number, step: 1 | -1): number | null {
    for (let at = index + step; at >= 0 && at < this.proposed.length; at += step) {
      const landmark = this.landmark(this.proposed[at] ?? "", at)
      if (landmark === null) continue
      const shift = landmark - at
      for (let between = at; between !== index - step; between -= step)
        if (this.shown[between + shift]?.shown !== this.proposed[between]) return null
      return index + shift
    }
    return null
  }

  private landmark(line: string, index: number): number | null {
    const before = this.shownPlaces.get(line)
    const after = this.proposedPlaces.get(line)
    if (before?.length !== 1 || after?.length !== 1 || after[0] !== index) return null
    return before[0] ?? null
  }
}

function refusal(path: string, index: number, why: string): Failure {
  return new Failure({
    kind: "general",
    code: "ACODE-SEC-007",
    message: `line ${index + 1} of ${quotedPath(path)} ${why}`,
    where: `${shownPath(path)}:${index + 1}`,
    hint: "leave lines with [REDACTED:…] as they were shown, and change only lines beside them (modify_file, edits)",
  })
}
