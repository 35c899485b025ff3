import { command } from "../../src/domain/command-validation.ts"
import { contains, reply } from "../../test/support/script-replies.ts"
import { barePreImage, durableCommits } from "../floors.ts"
import { staying, timingOf } from "../measure.ts"
import { openProduct } from "../product.ts"
import { atMost, type Figure, timesFloor } from "../report.ts"
import { sampled } from "../sampled.ts"
import { driven, spans, type Timed, turning, turnsPerStep } from "./driven-session.ts"
import { longSessionFigures } from "./long-session.ts"

/** Measures the overhead of the agent lane with an immediate model: of a turn, a stage, a session, a resume. */
export async function pipelineFigures(): Promise<Figure[]> {
  return [...(await turns()), ...(await whole()), ...(await commands()), ...(await longSessionFigures())]
}

/** A turn is four commits: the request, the reply, the intent and the outcome. */
const commitsOfTurn = 4
/** The end of one stage with the move, and the beginning of the next. */
const commitsOfMove = 2

async function turns(): Promise<Figure[]> {
  using product = openProduct()
  using floor = durableCommits(product.workspace.outside)
  const { workspace } = await product.wiring.workspace()
  for (let index = 0; index < turnsPerStep; index++)
    product.workspace.write(`read/${index}.txt`, "line\n".repeat(100))
  const commits = sampled(() => floor.commit())
  let count = 0
  const writes = sampled(() => {
    barePreImage(product.workspace.outside, `content ${count}\n`)
    workspace.write({ path: "bare.txt", content: Buffer.from(`content ${++count}\n`) })
  })
  const read = await driven(
    product,
    turning(index => ["read_file", { path: `read/${index % turnsPerStep}.txt` }]),
    commits.take,
  )
  const readMs = turnMs(read.seen) - commitsOfTurn * commits.p50()
  commits.forget()
  const write = await driven(
    product,
    turning(index => ["write_file", { path: `out/${index % 50}.txt`, content: `content ${index}\n` }]),
    () => [commits, writes].forEach(({ take }) => void take()),
  )
  const writeMs = turnMs(write.seen) - commitsOfTurn * commits.p50() - writes.p50()
  const moves = [...movesIn(read.seen), ...movesIn(write.seen)]
  const moveMs = timingOf(moves).p50 - commitsOfMove * commits.p50()
  return [
    atMost("turn that reads, over its four commits", readMs, 1.5),
    atMost("turn that writes, over its four commits, the file and its pre-image", writeMs, 2),
    atMost("move to another stage, over its two commits", moveMs, 2),
  ]
}

/** Returns the times from what came before the end of a stage to the beginning of the next one. */
function movesIn(seen: readonly Timed[]): number[] {
  return seen.flatMap(({ event, atMs }, index) => {
    if (event.type !== "stage.entered") return []
    const before =
      seen[seen.slice(0, index).findLastIndex(({ event: { type } }) => type === "stage.finished") - 1]
    return before === undefined ? [] : [atMs - before.goesOnMs]
  })
}

function turnMs(seen: readonly Timed[]): number {
  return staying(spans(seen, "tool_call.settled", "tool_call.settled")).p50
}

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
      await workspace.tree()
      await runner.execute(command("true").build())
      await workspace.tree()
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
