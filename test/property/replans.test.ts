import { describe, expect } from "bun:test"
import fc from "fast-check"
import type { ApprovalQuestion } from "../../src/app/approval-desk.ts"
import { agentRoom } from "../support/agent-room.ts"
import { missingSandbox, testWhere } from "../support/requirement.ts"
import { open, reply } from "../support/script-replies.ts"

/** None of them is allowed by a shipped rule: `touch` is granted or asked about. */
const programs = [
  ["touch", "a"],
  ["touch", "b"],
  ["touch", "c"],
  ["touch", "c", "d"],
] as const
const someCommands = fc.subarray([...programs], { maxLength: 2 })
const somePlan = fc.record({ criteria: someCommands, resources: someCommands, steps: someCommands })
type PlanChoice = typeof somePlan extends fc.Arbitrary<infer Choice> ? Choice : never

function planText({ criteria, resources, steps }: PlanChoice, version: number) {
  return reply.plan({
    write: ["made.txt"],
    commands: resources,
    acceptance: criteria.map((command, index) => ({
      ...{ id: `a${index}`, kind: "command", command },
      expect_exit: 0,
    })),
    steps: [
      open(`o${version}`),
      ...steps.map((argv, index) => ({
        ...{ id: `c${version}-${index}`, tool: "run_command" },
        arguments: { argv },
      })),
    ],
  })
}

describe("plans that follow each other", () => {
  testWhere(missingSandbox)(
    "run nothing that stood in no question somebody granted",
    async () => {
      await fc.assert(
        fc.asyncProperty(
          somePlan,
          somePlan,
          fc.infiniteStream(fc.boolean()),
          async (first, second, answers) => {
            const granted: string[] = []
            const prompt = async ({ approval }: ApprovalQuestion) => {
              const isGranted = answers.next().value
              if (isGranted) granted.push(approval.preview)
              return { answer: isGranted ? "granted" : "refused", reason: null } as const
            }
            const surface = { acceptsPlans: false, isInteractive: true, prompt }
            const done = (version: number) => [
              planText(version === 1 ? first : second, version),
              reply.write("made.txt", `${version}\n`),
              reply.finish(),
            ]
            const replies = [
              ...done(1),
              reply.review("replan", "otherwise"),
              ...done(2),
              reply.review("approve"),
            ]
            using room = await agentRoom(replies, { surface })
            await room.drive()
            const ran = room.data("command.started").map(({ command }) => {
              // as: the shape of the event.
              const { executable, arguments: more } = command as { executable: string; arguments: string[] }
              return [executable, ...more].join(" ")
            })
            const seen = (line: string) => granted.some(text => shownCommands(text).has(line))
            expect(ran.filter(line => !seen(line))).toEqual([])
          },
        ),
        { numRuns: 25, seed: 20261116 },
      )
    },
    120_000,
  )
})

/** Every command in what was shown, as plain text: in a plan, or alone in a question about one call. */
function shownCommands(preview: string): ReadonlySet<string> {
  const texts = preview.split("\n").map(line => line.replace(/^.*?(?:may run|exits 0:|runs) /, "").trim())
  const listed = [...preview.matchAll(/argv = (\[.*\])/g)].map(([, argv = "[]"]) =>
    JSON.parse(argv).join(" "),
  )
  return new Set([...texts, ...listed])
}
