import type { ReplyText } from "../agent/agent-workspace.ts"
import { contains, open, reply } from "../script-replies.ts"

/** A session that is as long as asked: open steps with so many calls each, then cycles until its check passes. */
export function longSession(steps: number, callsPerStep: number, cycles: number): readonly ReplyText[] {
  const ids = Array.from({ length: steps }, (_, index) => `s${index + 1}`)
  const write = ["out/**", "count.txt"]
  return [
    reply.plan({
      write,
      acceptance: [contains("count.txt", `^${cycles}$`)],
      steps: ids.map(id => open(id, "GENERATE_CODE")),
    }),
    ...ids.flatMap(id => [reply.calls(...callsOf(id, callsPerStep)), reply.finish()]),
    ...Array.from({ length: cycles }, (_, index) => [
      reply.write("count.txt", `${index + 1}\n`),
      reply.finish(),
    ]).flat(),
    reply.review("approve"),
  ]
}

/** Writes and reads by turns. */
function callsOf(id: string, count: number): Parameters<typeof reply.calls> {
  return Array.from({ length: count }, (_, index) => {
    const path = `out/${id}-${index - (index % 2)}.txt`
    return index % 2 === 0 ? ["write_file", { path, content: `${id} ${index}\n` }] : ["read_file", { path }]
  })
}
