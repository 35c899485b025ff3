import type { AppService } from "../../../app/service.ts"
import type { PolicyAnswer, PolicyQuestion } from "../../../app/verbs/policy-questions.ts"
import { printable, visibleJson } from "../../../base/text.ts"
import type { DecisionKind } from "../../../domain/effect.ts"
import { type PathOperation, pathOperations } from "../../../domain/effect.ts"
import { type ExitCode, exitCodes } from "../../../domain/exit-codes.ts"
import { Failure } from "../../../domain/failure.ts"
import type { CliContext } from "../../context.ts"
import { type CliInput, defineCommand } from "../../definition.ts"
import { writeChunk } from "../../output.ts"
import type { FlagSpecs } from "../../parse/flags.ts"

const lineBytesMax = 1024 * 1024
const newline = 0x0a

/** Reads the lines of a stream in bounded memory; null for a line that is too long or not UTF-8. */
export async function* inputLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string | null> {
  let held: Uint8Array[] = []
  let size = 0
  const hold = (bytes: Uint8Array) => {
    size += bytes.length
    if (size <= lineBytesMax) held.push(bytes)
    else held = []
  }
  const taken = () => {
    const line = size > lineBytesMax ? null : textOf(Buffer.concat(held))
    held = []
    size = 0
    return line
  }
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      hold(chunk.subarray(start, end))
      yield taken()
      start = end + 1
    }
    // Copied, because the stream may reuse the memory; a Buffer's own slice would share it.
    hold(Uint8Array.from(chunk.subarray(start)))
  }
  if (size > 0) yield taken()
}

function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    // The decoder throws only for invalid UTF-8, which null reports.
    return null
  }
}

const flags = {
  path: { kind: "text", value: "PATH", summary: "ask about a path instead of a command" },
  op: { kind: "choice", choices: pathOperations, summary: "what would be done to the path" },
  stdin: { kind: "boolean", summary: "answer questions from standard input, one JSON object a line" },
  "exit-code": { kind: "boolean", summary: "exit 0 for allow, 10 for ask, 33 for deny" },
} as const satisfies FlagSpecs

export const policyCheck = defineCommand({
  name: "policy check",
  summary: "show what policy would decide, without running anything",
  description:
    "Exits 0 whatever it decides, unless --exit-code is given. One string is read as a shell would read it.\n" +
    'Lines of --stdin are {"command":"…"}, {"argv":["…"]} or {"path":"…","op":"…"}; each is answered by\n' +
    '{"decision":"allow|ask|deny","confined":true|false,"rule":"…","reason":"…"}, where confined means: only\n' +
    "inside a sandbox. A line that cannot be read is answered by an error, and the exit code is then 2.",
  arguments: [
    {
      name: "PROGRAM",
      summary: "a program and its arguments, or one string",
      optional: true,
      variadic: true,
    },
  ],
  flags,
  examples: [
    { line: "acode policy check -- npm test", note: "a program and its arguments" },
    { line: "acode policy check 'git push && rm -rf dist'", note: "everything the string would start" },
    { line: "acode policy check --path .env --op read", note: "a file" },
    { line: "acode policy check --stdin < questions.jsonl", note: "many at once" },
    { line: "acode policy check --exit-code -- make deploy", note: "for a script" },
  ],
  passthrough: true,
  run: async (input, context) => {
    const ask = questionOf(input)
    const service = await context.service()
    if (ask === "stdin") return answerLines(service, input.flags["exit-code"])
    const answer = await service.askPolicy(ask)
    print(answer, context)
    return input.flags["exit-code"] ? decisionExitCodes[answer.decision] : 0
  },
})

const decisionExitCodes: Readonly<Record<DecisionKind, ExitCode>> = {
  allow: exitCodes.done.code,
  ask: exitCodes.needsAnswer.code,
  deny: exitCodes.denied.code,
}

function questionOf({ arguments: words, isLiteral, flags: given }: CliInput<typeof flags>) {
  const { path, op, stdin } = given
  const asked = [words.length > 0, path !== undefined, stdin].filter(Boolean).length
  if (asked === 0) throw misused("there is nothing to ask about")
  if (asked > 1) throw misused("a command, --path and --stdin exclude each other")
  if (path === undefined && op !== undefined) throw misused("--op goes with --path")
  if (path !== undefined) return pathQuestion(path, op)
  return stdin ? "stdin" : commandQuestion(words, isLiteral)
}

function pathQuestion(path: string, op: PathOperation | undefined): PolicyQuestion {
  if (op !== undefined) return { path, op }
  throw misused(`--path needs --op ${pathOperations.join("|")}`)
}

/** Returns the question about typed arguments. A single plain word is treated as a program, which needs no grammar. */
function commandQuestion(words: readonly string[], isLiteral: boolean): PolicyQuestion {
  const [only = ""] = words
  if (isLiteral || words.length > 1 || /^[\w./+-]+$/.test(only)) return { argv: words }
  return { command: only }
}

function print({ decision, confined, rule, reason }: PolicyAnswer, { output, globals }: CliContext): void {
  if (globals.json) output.json({ decision, confined, rule, reason })
  const shown =
    decision === "allow" ? output.green(decision) : decision === "deny" ? output.red(decision) : decision
  output.line(`${shown}${confined ? ", only inside a sandbox" : ""}: ${printable(reason)} (${rule})`)
}

/** Answers each line, in order. With `usesExitCode` the strictest answer decides the exit code. */
async function answerLines(service: AppService, usesExitCode: boolean): Promise<number> {
  const { readQuestion } = await import("../../../app/verbs/policy-question.ts")
  let [strictest, number, isBroken] = [0, 0, false]
  for await (const line of inputLines(Bun.stdin.stream())) {
    number += 1
    if (line?.trim() === "") continue
    try {
      if (line === null) throw misused("the line is not UTF-8, or longer than 1 MB")
      const answer = await service.askPolicy(readQuestion(line))
      strictest = Math.max(strictest, decisionExitCodes[answer.decision])
      await writeLine(answer)
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      isBroken = true
      await writeLine({ error: { ...error.report, where: `line ${number}` } })
    }
  }
  if (isBroken) return exitCodes.usage.code
  return usesExitCode ? strictest : 0
}

function writeLine(value: unknown): Promise<void> {
  return writeChunk(1, Buffer.from(`${visibleJson(value)}\n`))
}

function misused(message: string): Failure {
  return new Failure({
    kind: "usage",
    code: "ACODE-CLI-003",
    message,
    where: "acode policy check",
    hint: "`acode policy check --help` shows the accepted forms",
  })
}
