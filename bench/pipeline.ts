import { systemIds } from "../src/base/clock.ts"
import { command } from "../src/domain/command-builder.ts"
import type { ReplyText } from "../test/support/agent-workspace.ts"
import { contains, open, reply } from "../test/support/script-replies.ts"
import { driven, spans, type Timed } from "./driven-session.ts"
import { durableCommits } from "./floors.ts"
import { longSessionFigures } from "./long-session.ts"
import { timingOf } from "./measure.ts"
import { openProduct } from "./product.ts"
import { atMost, type Figure, timesFloor } from "./report.ts"

/** What the agent lane adds when the model answers at once: to a turn, to a stage, to a session, to going on. */
export async function pipelineFigures(): Promise<Figure[]> {
  return [...(await turns()), ...(await whole()), ...(await commands()), ...(await longSessionFigures())]
}

const turnSteps = 40
const turnsPerStep = 8

function turning(
  call: (index: number) => Parameters<typeof reply.calls>[number],
  steps = turnSteps,
): readonly ReplyText[] {
  const ids = Array.from({ length: steps }, (_, index) => `s${index}`)
  return [
    reply.plan({ write: ["out/**"], steps: ids.map(id => open(id, "GENERATE_CODE")) }),
    ...ids.flatMap((_, step) => [
      ...Array.from({ length: turnsPerStep }, (__, turn) => reply.calls(call(step * turnsPerStep + turn))),
      reply.write("out/last.txt", `${step}\n`),
      reply.finish(),
    ]),
    reply.review("approve"),
  ]
}

/** A turn is four commits: the request, the reply, the intent and the outcome. */
const commitsOfTurn = 4
/** The end of one stage with the move, and the beginning of the next. */
const commitsOfMove = 2

async function turns(): Promise<Figure[]> {
  using product = openProduct()
  using floor = durableCommits(product.workspace.outside)
  const { workspace, checkpoints } = await product.wiring.workspace()
  for (let index = 0; index < turnsPerStep; index++)
    product.workspace.write(`read/${index}.txt`, "line\n".repeat(100))
  const commits = sampled(() => floor.commit())
  let count = 0
  const writes = sampled(() => {
    checkpoints.takeFiles(systemIds.next("cal"), ["bare.txt"])
    workspace.write({ path: "bare.txt", content: Buffer.from(`content ${++count}\n`) })
  })
  const read = await driven(
    product,
    turning(index => ["read_file", { path: `read/${index % turnsPerStep}.txt` }]),
    commits.take,
  )
  const readMs = turnMs(read.seen) - commitsOfTurn * commits.p50()
  const write = await driven(
    product,
    turning(index => ["write_file", { path: `out/${index % 50}.txt`, content: `content ${index}\n` }]),
    () => [commits, writes].forEach(({ take }) => void take()),
  )
  const writeMs = turnMs(write.seen) - commitsOfTurn * commits.p50() - writes.p50()
  const moves = [...read.seen, ...write.seen].flatMap(({ event, atMs }, index, all) => {
    const before = all.slice(0, index).findLast(({ event: { type } }) => !moving.has(type))
    return event.type === "stage.entered" && before !== undefined ? [atMs - before.goesOnMs] : []
  })
  const moveMs = timingOf(moves).p50 - commitsOfMove * commits.p50()
  return [
    atMost("turn that reads, over its four commits", readMs, 1.5),
    atMost("turn that writes, over its four commits, the file and its pre-image", writeMs, 2),
    atMost("move to another stage, over its two commits", moveMs, 2),
  ]
}

function turnMs(seen: readonly Timed[]): number {
  return timingOf(spans(seen, "tool_call.settled", "tool_call.settled")).p50
}

/** Times of something that is done again and again; the first ones are left out, for they are slower. */
function sampled(work: () => void): { take(): void; p50(): number } {
  const samples: number[] = []
  return {
    take: () => {
      const began = performance.now()
      work()
      samples.push(performance.now() - began)
    },
    p50: () => timingOf(samples.splice(0).slice(20)).p50,
  }
}

const moving: ReadonlySet<string> = new Set([
  "stage.finished",
  "stage.transitioned",
  "stage.entered",
  "cycle.started",
])

async function whole(): Promise<Figure[]> {
  using product = openProduct()
  using floor = durableCommits(product.workspace.outside)
  const samples: number[] = []
  for (let run = 0; run < 12; run++) {
    const { tookMs, seen } = await driven(product, [
      reply.plan({ write: ["made.txt"], acceptance: [contains("made.txt", `run ${run}`)] }),
      reply.write("made.txt", `run ${run}\n`),
      reply.finish(),
      reply.review("approve"),
    ])
    const commits = sampled(() => floor.commit())
    for (let count = 0; count < 40; count++) commits.take()
    samples.push(tookMs - commitCount(seen) * commits.p50())
  }
  return [atMost("whole session with an instant model, over its commits", timingOf(samples).p50, 100)]
}

/** Events of one commit have one time, to the last digit, and follow each other. */
function commitCount(seen: readonly Timed[]): number {
  return seen.filter(({ event }, index) => event.at !== seen[index - 1]?.event.at).length
}

async function commands(): Promise<Figure[]> {
  using product = openProduct()
  for (let index = 0; index < 500; index++) product.workspace.write(`tree/${index}.txt`, `${index}\n`)
  const runner = await product.wiring.unrecordedRunner()
  const { workspace } = await product.wiring.workspace()
  const took: number[] = []
  const bare: number[] = []
  // In several sessions, so that what they are held against is measured in between.
  for (let session = 0; session < 6; session++) {
    const { seen } = await driven(
      product,
      turning(index => ["run_command", { argv: ["true", String(index)] }], 4),
    )
    took.push(...spans(seen, "tool_call.settled", "tool_call.settled"))
    for (let run = 0; run < 30; run++) {
      const began = performance.now()
      workspace.tree()
      await runner.execute(command("true").build())
      workspace.tree()
      bare.push(performance.now() - began)
    }
  }
  return [
    timesFloor(
      "turn that runs a command, against it and two walks of the tree",
      timingOf(took).p50,
      timingOf(bare).p50,
      1.5,
    ),
  ]
}
