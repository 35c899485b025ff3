import { thinkingEnds, thinkingStarts } from "../../domain/thinking.ts"
import { printedOpenings } from "./printed-calls.ts"

/**
 * Lets the text of a reply through as it comes, except for what may turn out to be a call: from a place on where a
 * printed call can begin, everything waits for the end of the reply. Such places are the beginning of the text, what
 * comes behind the thinking of a model, and the lines that `blockLine` is the beginning of.
 */
export interface HeldText {
  /** What can be shown now. */
  take(text: string): string
  /** What was not shown, and whether it may be a call. */
  rest(): { readonly text: string; readonly isHeld: boolean }
}

/** Longer than any reply that is read to its end: whoever collects it has to see that it is too long. */
const heldMax = 2_000_000

export function createHeldText(blockLine: string | null): HeldText {
  let pending = ""
  let place: Place = "beginning"
  const stops = blockLine === null ? thinkingEnds : [...thinkingEnds, `\n${blockLine}`]
  return {
    take: text => {
      pending += text
      let shown = ""
      for (;;) {
        if (pending.length > heldMax) place = "tooLong"
        const step = steps[place](pending, stops)
        if (step === null) return shown
        shown += pending.slice(0, step.show)
        pending = pending.slice(step.show)
        if (step.place === place) return shown
        place = step.place
      }
    },
    rest: () => ({ text: pending, isHeld: place === "held" }),
  }
}

type Place = "beginning" | "thinking" | "inside" | "held" | "tooLong"

/** Null when more has to come before anything can be said. */
type Step = { readonly show: number; readonly place: Place } | null

const steps: Readonly<Record<Place, (pending: string, stops: readonly string[]) => Step>> = {
  beginning: pending => {
    const space = pending.length - pending.trimStart().length
    const start = pending.slice(space, space + 40)
    const thinking = thinkingStarts.find(each => start.startsWith(each))
    if (thinking !== undefined) return { show: space + thinking.length, place: "thinking" }
    if (printedOpenings.some(each => start.startsWith(each))) return { show: 0, place: "held" }
    if ([...thinkingStarts, ...printedOpenings].some(each => each.startsWith(start))) return null
    return { show: 0, place: "inside" }
  },
  // Calls that a model only considers are not made.
  thinking: pending => upToStop("thinking", pending, thinkingEnds),
  inside: (pending, stops) => upToStop("inside", pending, stops),
  held: () => null,
  tooLong: pending => ({ show: pending.length, place: "tooLong" }),
}

function upToStop(place: Place, pending: string, stops: readonly string[]): Step {
  const [first] = stops
    .map(stop => ({ stop, at: pending.indexOf(stop) }))
    .filter(({ at }) => at !== -1)
    .sort((a, b) => a.at - b.at)
  if (first === undefined) return { show: pending.length - startedStop(pending, stops), place }
  return thinkingEnds.includes(first.stop)
    ? { show: first.at + first.stop.length, place: "beginning" }
    : { show: first.at, place: "held" }
}

/** How much of the end of the text may be the beginning of a stop. */
function startedStop(text: string, stops: readonly string[]): number {
  const longest = Math.max(...stops.map(({ length }) => length)) - 1
  for (let length = Math.min(longest, text.length); length > 0; length--)
    if (stops.some(stop => stop.startsWith(text.slice(-length)))) return length
  return 0
}
