import { expect, test } from "bun:test"
import { planLines } from "../../../src/domain/plan/listing.ts"
import { openStep, planFile, planOf, readStep, taskFile } from "./plan-kit.ts"

test("a plan is listed in the order it runs, with everything that approving it would mean", () => {
  const plan = planOf(
    planFile([
      taskFile("t2", [openStep("o", { title: "Improve", depends_on: [] })], { depends_on: ["t1"] }),
      taskFile(
        "t1",
        [
          readStep("b", { depends_on: ["a"], description: "then this" }),
          readStep("a", { precondition: "file exists", requires_confirmation: true, title: "First" }),
        ],
        {
          title: "Email",
          description: "check addresses",
          complexity: 3,
          resources: {
            read: ["src/**"],
            write: ["a.ts"],
            commands: [["npm", "run", "a b"]],
            hosts: ["x.org"],
          },
          acceptance: [
            { id: "1", kind: "command", command: ["npm", "test"], expect_exit: 1 },
            { id: "2", kind: "file_exists", path: "a.ts" },
            { id: "3", kind: "file_contains", path: "a.ts", pattern: "x" },
            { id: "4", kind: "diagnostics", path: ".", max_errors: 2 },
            { id: "5", kind: "judgement", text: "it is clear" },
          ],
        },
      ),
    ]),
  )
  expect(planLines(plan)).toEqual([
    "plan    p1",
    "goal    get it done",
    "intent  MUTATE",
    `hash    ${plan.hash}`,
    "",
    "task t1 Email (complexity 3)",
    "  check addresses",
    "  reads src/**",
    "  may write a.ts",
    "  may run with any further arguments: npm run 'a b'",
    "  may reach x.org",
    "  accepted if this exits 1: npm test",
    "  accepted if a.ts exists",
    '  accepted if a.ts contains "x"',
    "  accepted if . has at most 2 errors",
    "  accepted if it is judged: it is clear",
    "  1. a First: read_file",
    '     path = "a.txt"',
    "     only if file_exists",
    "     asks for confirmation",
    "  2. b: read_file, after a",
    "     then this",
    '     path = "b.txt"',
    "",
    "task t2 (complexity 1, after t1)",
    "  3. o Improve: MODIFY_FILE (open: the model chooses the calls)",
    "     make it better",
  ])
})

test("text of the plan cannot act on the terminal, and what it writes is shown to its last character", () => {
  const content = `\u001b[2J\n${"x".repeat(5000)}`
  const plan = planOf(
    planFile([
      taskFile("t", [
        { id: "s", tool: "write_file", arguments: { path: "\u202ea", content }, description: "a\nb" },
      ]),
    ]),
  )
  const lines = planLines(plan)
  for (const line of lines) {
    expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  }
  expect(lines).toContain('     path = "\\u202ea"')
  expect(lines.slice(-3)).toEqual(["     content =", '       "\\u001b[2J"', `       | ${"x".repeat(5000)}`])
})
