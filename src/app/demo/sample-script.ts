import type { Json } from "../../base/canonical.ts"

export const sampleGoal =
  "Accented letters get lost in slugs: keep them as plain letters, and say so in the README"

/** Returns the scripted replies of a model. The first try has a bug, so that the demo shows how a failure is fixed. */
export function sampleScript(testCommand: readonly string[]): Json {
  const test = [...testCommand]
  return {
    replies: [
      { stage: "planner", plan: planOf(test), usage: { input: 1210, output: 402 } },
      ...reading,
      ...firstTry(test),
      ...mending,
      judgement,
      {
        stage: "reviewer",
        verdict: {
          decision: "approve",
          summary: "accented letters become plain ones, there is a test for it, and the README says so",
          findings: [],
        },
        usage: { input: 1804, output: 61 },
      },
    ],
  }
}

const judgement: Json = {
  stage: "verifier",
  verdict: { criteria: [{ id: "a3", verdict: "passed", reason: "the README has an example with accents" }] },
  usage: { input: 640, output: 38 },
}

function planOf(test: string[]): Json {
  return { goal: sampleGoal, intent: "MUTATE", tasks: [codeTask(test), readmeTask] }
}

function codeTask(test: string[]): Json {
  return {
    id: "t1",
    title: "Keep accented letters",
    complexity: 3,
    resources: { read: ["src/**", "test/**"], write: ["src/slug.js", "test/slug.test.js"], commands: [test] },
    acceptance: [{ id: "a1", kind: "command", command: test, expect_exit: 0 }],
    steps: [
      { id: "s1", title: "Read the code", description: "read slug() and its tests", action: "READ_FILE" },
      {
        id: "s2",
        title: "Write a test and make it pass",
        description: "é becomes e, as in creme-brulee",
        action: "MODIFY_FILE",
        depends_on: ["s1"],
      },
    ],
  }
}

const example = '    slug("Hello, World!") // "hello-world"\n'

const readmeTask: Json = {
  id: "t2",
  title: "Say so in the README",
  complexity: 1,
  depends_on: ["t1"],
  resources: { write: ["README.md"] },
  acceptance: [
    { id: "a2", kind: "file_contains", path: "README.md", pattern: "creme-brulee" },
    { id: "a3", kind: "judgement", text: "the README shows what happens to accents" },
  ],
  steps: [
    {
      id: "s3",
      title: "Add an example",
      tool: "modify_file",
      arguments: {
        path: "README.md",
        edits: [{ search: example, replace: `${example}    slug("Crème brûlée") // "creme-brulee"\n` }],
      },
    },
  ],
}

const reading: readonly Json[] = [
  {
    stage: "executor",
    text: "I read the code and its tests first.",
    calls: [
      { tool: "read_file", args: { path: "src/slug.js" } },
      { tool: "read_file", args: { path: "test/slug.test.js" } },
    ],
    usage: { input: 890, output: 54 },
  },
  {
    stage: "executor",
    calls: [{ tool: "finish_step", args: { summary: "slug() drops every letter that is not a to z" } }],
    usage: { input: 1130, output: 22 },
  },
]

const newTest = `
test("accented letters become plain ones", () => {
  assert.equal(slug("Crème brûlée"), "creme-brulee")
})
`

/** Returns the first try: it separates letter and accent, but keeps the accent, which becomes a hyphen. */
function firstTry(test: string[]): readonly Json[] {
  return [
    {
      stage: "executor",
      text: "A test first, then the change.",
      calls: [
        {
          tool: "modify_file",
          args: {
            path: "test/slug.test.js",
            edits: [{ search: '"draft")\n})\n', replace: `"draft")\n})\n${newTest}` }],
          },
        },
        {
          tool: "modify_file",
          args: {
            path: "src/slug.js",
            edits: [{ search: "  return title\n", replace: '  return title\n    .normalize("NFD")\n' }],
          },
        },
      ],
      usage: { input: 1260, output: 188 },
    },
    {
      stage: "executor",
      calls: [
        {
          tool: "finish_step",
          args: { summary: `letters and accents are separated; ${test.join(" ")} will show` },
        },
      ],
      usage: { input: 1475, output: 25 },
    },
  ]
}

const mending: readonly Json[] = [
  {
    stage: "executor",
    text: "The accents are still there when everything else becomes a hyphen: they have to go first.",
    calls: [
      {
        tool: "modify_file",
        args: {
          path: "src/slug.js",
          edits: [
            {
              search: '    .normalize("NFD")\n',
              replace: '    .normalize("NFD")\n    .replace(/\\p{Diacritic}/gu, "")\n',
            },
          ],
        },
      },
    ],
    usage: { input: 1622, output: 96 },
  },
  {
    stage: "executor",
    calls: [{ tool: "finish_step", args: { summary: "accents are removed before hyphens are put in" } }],
    usage: { input: 1730, output: 21 },
  },
]
