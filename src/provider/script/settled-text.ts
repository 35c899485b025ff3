/**
 * Patterns of parts that differ each time the same work is done: ids, times and durations. Without replacing them a
 * replay would deviate from its recording at the first test run, whose output contains its duration.
 */
const volatile: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\b(?:[a-z]{2,5}_)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, "<id>"],
  [/\bsha256:[0-9a-f]{64}\b/g, "<hash>"],
  // The day and the random part in the id of a task that a pipeline made.
  [/-\d{8}-[0-9a-f]{6}\b/g, "-<task>"],
  [/\b\d{4}-\d\d-\d\d[T ]\d\d[:_]\d\d(?:[:_]\d\d)?(?:[.,_]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?/g, "<time>"],
  [/\b\d\d?:\d\d:\d\d(?:[.,]\d{1,9})?\b/g, "<time>"],
  [/\bduration_ms\b["':=\s]{0,4}\d{1,12}(?:\.\d{1,12})?/g, "<duration>"],
  [/(?<![\w.])\d{1,9}(?:[.,]\d{1,9})?\s?(?:ns|µs|μs|us|ms|s|secs?|seconds?|mins?|minutes?)\b/g, "<duration>"],
]

/** Returns the text as it would be on another day, in another copy of the workspace. */
export function settledText(text: string, workspaceRoot: string | null): string {
  const placed = workspaceRoot === null ? text : text.replaceAll(workspaceRoot, "<workspace>")
  return volatile.reduce((settled, [pattern, instead]) => settled.replace(pattern, instead), placed)
}
