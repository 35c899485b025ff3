import { readFileSync } from "node:fs"
import { join } from "node:path"
import { type WiredPolicy, wirePolicy } from "../src/app/wiring/policy.ts"
import { type Effect, emptyGrant } from "../src/domain/effect.ts"
import { commandEffect } from "../src/policy/command-check.ts"
import { repositoryRoot } from "../test/support/acode.ts"
import { timingOf } from "./measure.ts"
import { openProduct } from "./product.ts"
import { atMost, type Figure } from "./report.ts"

const barMs = 0.2
const rounds = 60

/** Measures a decision once the grammar is loaded, over the commands and paths of the scenario tables. */
export async function policyFigures(): Promise<Figure[]> {
  using product = openProduct()
  const { wiring } = product
  const { values } = await wiring.config()
  const { environment } = wiring.request
  const policy = await wirePolicy({
    config: { ...values, rules: personalRules },
    environment,
    root: wiring.root.path,
    yes: undefined,
    isAirgapped: false,
  })
  const asked = [...scenarios("ordinary-commands"), ...scenarios("hostile-commands")]
  const commands = asked.flatMap(({ command }) => command ?? [])
  // A string without anything a shell would act on is a program and its arguments as well.
  const plain = commands
    .filter(command => /^[\w./=@:+ -]+$/.test(command))
    .map(command => command.split(/ +/))
  const argvs = [...asked.flatMap(({ argv }) => (argv === undefined ? [] : [argv])), ...plain]
  const paths = scenarios("paths").flatMap(({ path, op }) =>
    path === undefined || op === undefined ? [] : [{ kind: op, path }],
  )
  return [
    await figure("policy decision on a program and its arguments, p99", policy, argvs.map(effectOf)),
    await figure("policy decision on a shell string, p99", policy, commands.map(effectOf)),
    await figure("policy decision on a path, p99", policy, paths),
  ]
}

/** A person's list as it grows over time: each decision is held against all of it. */
const personalRules = Array.from({ length: 20 }, (_, index) => ({
  name: `rule ${index}`,
  operation: index % 2 === 0 ? "file_write" : "terminal_command",
  policy: "prompt" as const,
  ...(index % 2 === 0 ? { pattern: [`area-${index}/**/*.ts`] } : { command: ["tool", `action-${index}`] }),
}))

function effectOf(command: string | readonly string[]): Effect {
  return commandEffect(command, true)
}

async function figure(name: string, policy: WiredPolicy, effects: readonly Effect[]): Promise<Figure> {
  const samples: number[] = []
  // As many again before counting: the first rounds are about the compiler of the runtime.
  for (let round = -rounds; round < rounds; round++)
    for (const effect of effects) {
      const began = performance.now()
      await policy.decide([effect], emptyGrant)
      if (round >= 0) samples.push(performance.now() - began)
    }
  return atMost(`${name} of ${samples.length}`, timingOf(samples).p99, barMs)
}

interface Scenario {
  readonly command?: string
  readonly argv?: readonly string[]
  readonly path?: string
  readonly op?: "read" | "write" | "delete" | "list"
}

function scenarios(name: string): readonly Scenario[] {
  const file = join(repositoryRoot, "test", "scenarios", "policy", `${name}.json`)
  // As: the tables are ours, and their own tests hold them to this shape.
  return JSON.parse(readFileSync(file, "utf8")) as Scenario[]
}
