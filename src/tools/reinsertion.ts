import { quotedPath, shownPath } from "../base/path-names.ts"
import { Failure } from "../domain/failure.ts"
import type { ShownLine, ShownText } from "./shown-text.ts"

/**
 * Restores the secrets of a file in a text whose author saw the file redacted. A line with a marker must be a line of
 * the shown text, and it must be clear which one: a marker in a file would be a lost secret, and a secret in the
 * wrong place would be worse. Otherwise throws ACODE-SEC-007, which names the line.
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
      throw refusal(path, index, "holds a redaction marker and is not a line of the present file")
    const original = originals.of(text, index, places)
    if (original === null)
      throw refusal(path, index, "matches several secrets of the file, and it is not clear which one")
    return original + end
  })
  return result.join("\n")
}

const markers = /\[REDACTED:[a-z-]+\]/

/** Reports whether a text holds a marker, which replaces a secret. */
export function hasMarker(text: string): boolean {
  return markers.test(text)
}

/** Returns the indexes of each line. */
function occurrencesOf(lines: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, number[]>()
  for (const [index, line] of lines.entries()) {
    const places = found.get(line)
    if (places === undefined) found.set(line, [index])
    else places.push(index)
  }
  return found
}

/** Finds the original line for each line of the new text. */
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

  /** Reports whether the lines that occur once before and after kept their order: then no line was moved. */
  private keepsOrder(): boolean {
    this.ordered ??= this.proposed
      .flatMap((line, index) => this.landmark(line, index) ?? [])
      .every((place, index, all) => index === 0 || place > (all[index - 1] ?? 0))
    return this.ordered
  }

  /**
   * Finds the line by its distance from a line that occurs once before and after, with only unchanged lines between.
   */
  private byLandmark(index: number): string | null {
    const [above, below] = [this.placeFrom(index, -1), this.placeFrom(index, 1)]
    if (above !== null && below !== null && above !== below) return null
    const place = above ?? below
    // Two lines cannot both be the original one: one of them is new, and it is unknown which.
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
