import { defineCommand } from "../../definition.ts"
import { writeChunk } from "../../output.ts"
import { terminalFilter, unchanged } from "../../terminal/terminal-filter.ts"

export const redact = defineCommand({
  name: "redact",
  summary: "copy standard input to standard output with secrets replaced",
  description:
    "Also replaces the values of secret-looking environment variables. Streams: input of any size is fine.",
  arguments: [],
  flags: {},
  examples: [
    { line: "acode redact < build.log > build.clean.log", note: "before you share it" },
    { line: "kubectl logs pod | acode redact", note: "line by line as it arrives" },
  ],
  run: async (_input, { environment, terminal }) => {
    const { redactionStream } = await import("../../../app/redaction.ts")
    const redaction = redactionStream(environment)
    const { push, end } = terminal.stdout ? terminalFilter() : unchanged
    for await (const chunk of Bun.stdin.stream()) await writeChunk(1, push(redaction.push(chunk)))
    await writeChunk(1, push(redaction.end()))
    await writeChunk(1, end())
    return 0
  },
})
