import { oneLine } from "../base/text.ts"
import type { ExternalCall, ExternalCalls } from "./external-calls.ts"

export const noExternalCalls: ExternalCalls = { calls: [], omittedCount: 0 }

export function joinedCalls(some: ExternalCalls, more: ExternalCalls): ExternalCalls {
  return {
    calls: [...some.calls, ...more.calls],
    omittedCount: some.omittedCount + more.omittedCount,
  }
}

/** For people: one line in which what is alike is told once, or none. */
export function externalCallLines({ calls, omittedCount }: ExternalCalls): readonly string[] {
  if (calls.length === 0) return []
  const counts = new Map<string, number>()
  for (const call of calls) counts.set(textOf(call), (counts.get(textOf(call)) ?? 0) + 1)
  const texts = [...counts].map(([text, count]) => `${text}${count === 1 ? "" : `, ${count} times`})`)
  if (omittedCount > 0) texts.push(`and ${omittedCount} more`)
  return [oneLine(`external calls: ${texts.join(", ")}`, lineMax)]
}

const lineMax = 2_000

function textOf({ method, url, status, failure }: ExternalCall): string {
  const end = [status, failure].filter(part => part !== null)
  return `${method} ${url} (${end.length === 0 ? "no answer" : end.join(" ")}`
}
