import { defineCommand } from "./definition.ts"
import { writeChunk } from "./output.ts"

export const redact = defineCommand({
  name: "redact",
  summary: "copy standard input to standard output with secrets replaced",
  description:
    "Also replaces the values of secret-looking environment variables. Streams: input of any size is fine.",
  arguments: [],
  flags: {},
  examples: [
    { line: "acode redact < build.log > build.clean.log", note: "before you send it to somebody" },
    { line: "kubectl logs pod | acode redact", note: "as it comes" },
  ],
  run: async (_input, { environment }) => {
    const { redactionStream } = await import("../app/redaction.ts")
    const redaction = redactionStream(environment)
    for await (const chunk of Bun.stdin.stream()) await writeChunk(1, redaction.push(chunk))
    await writeChunk(1, redaction.end())
    return 0
  },
})
