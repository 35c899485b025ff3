import { finishTool } from "../../domain/pipeline/claim.ts"
import { mayExplore, onlyReads, plannerAnswer } from "../../domain/pipeline/planner-reply.ts"
import type { PipelineState, PlanVersion, Turn } from "../../domain/pipeline/state.ts"
import type { Plan, PlanTask } from "../../domain/plan/plan.ts"
import { problemText, quoted } from "../../domain/plan/problem.ts"
import { readPlan } from "../../domain/plan/reading.ts"
import { indexTools, toolsOfKind } from "../../domain/plan/tool-traits.ts"
import { dataBlock, dataRule } from "../../domain/text/data-block.ts"
import { jsonAnswer, parsedJson } from "../../domain/text/json-answer.ts"
import type { ModelMessage, ToolDescription } from "../../provider/contract.ts"
import { instructionBlocks } from "../context/instructions.ts"
import { findingsText } from "../context/memory.ts"
import {
  type AnswerFormat,
  correction,
  type StageAnswer,
  type StageDefinition,
  type StageParts,
  type StageView,
} from "./contract.ts"
import { skillTool } from "./edit-tools.ts"
import { answerSchemas } from "./model-schemas.ts"
import { exchangesBlock, plansOfRequest, stepLine } from "./plan-progress.ts"
import { transcript } from "./transcript.ts"

export function plannerStage(parts: StageParts): StageDefinition {
  const reading = parts.toolDescriptions.filter(({ name }) => name !== skillTool && readers.has(name))
  const withoutIndex = reading.filter(({ name }) => !indexTools.has(name))
  return {
    stage: "planner",
    tools: reading.map(({ name }) => name),
    offered: ({ state, hasCodeIndex }) => {
      // Reading does not fix an answer of the wrong shape.
      if (!mayExplore(state) || isWrong(lastAnswer(state))) return []
      return hasCodeIndex ? reading : withoutIndex
    },
    format: ({ state }) => formatFor(state),
    messages: view => [
      { role: "system", text: systemPrompt(parts.toolDescriptions, view) },
      { role: "user", text: userPrompt(view) },
      ...transcript(view.state, { edits: null, remarks }, view.olderResults),
      ...(mayExplore(view.state) ? [] : [{ role: "user" as const, text: enoughRead }]),
    ],
    read: (text, view) => read(text, parts, view),
  }
}

const readers = toolsOfKind("read", "find")

function lastAnswer({ turns }: PipelineState): Turn | undefined {
  return turns.findLast(({ failure }) => failure === null)
}

function isWrong(last: Turn | undefined): boolean {
  return last !== undefined && last.calls.length === 0 && last.problems.length > 0
}

const planFormat = { name: "plan", schema: answerSchemas.plan }
const answerFormat = { name: "answer", schema: answerSchemas.answer }
const anyFormat = {
  name: "reply",
  schema: { type: "object", anyOf: [answerSchemas.plan, answerSchemas.answer] },
}

/** A plan that was wrong has to be a plan again: a server that can force its shape does. */
function formatFor(state: PipelineState): AnswerFormat {
  if (state.settings.asksOnly === true) return answerFormat
  return isWrong(lastAnswer(state)) ? planFormat : anyFormat
}

const enoughRead = "You have read enough: answer now, with the JSON object and nothing else."

function remarks({ problems }: Turn): readonly ModelMessage[] {
  return problems.length === 0 ? [] : [{ role: "user", text: correction(problems) }]
}

function systemPrompt(tools: readonly ToolDescription[], { hasCodeIndex }: StageView): string {
  const names = tools
    .map(({ name }) => name)
    .filter(name => name !== finishTool && name !== skillTool && (hasCodeIndex || !indexTools.has(name)))
  return `You plan changes to a software project. Another stage carries the plan out, a third one checks it.
First read what the plan depends on, with the tools you have: search, list, read. Do not guess what a file says. What you
read is kept for the stage that carries the plan out. When you know enough, answer with one JSON object and nothing else:
{ "goal": "…", "intent": "READ" | "MUTATE" | "QUERY" | "EXPLAIN",
  "tasks": [ { "id": "t1", "title": "…", "description": "…", "complexity": 1|2|3|5|8|13|21|34, "depends_on": [],
    "resources": { "read": ["src/**"], "write": ["src/a.ts"], "commands": [["npm","test"]], "hosts": [] },
    "acceptance": [ criteria ], "steps": [ steps ] } ] }
A step is open, { "id": "s1", "description": "what to do", "action": ACTION, "depends_on": [] }, and a model chooses the
calls; ACTION is READ_FILE, WRITE_FILE, MODIFY_FILE, CREATE_FILE, DELETE_FILE, CREATE_DIRECTORY, RUN_COMMAND,
ANALYZE_CODE or GENERATE_CODE. Or it is concrete, { "id": "s2", "tool": TOOL, "arguments": { … }, "depends_on": [] }: one
call, run exactly as written. TOOL is ${names.join(", ")}.
Criteria: { "id": "a1", "kind": "command", "command": ["npm","test"], "expect_exit": 0 },
{ "id": "a2", "kind": "file_exists", "path": "src/a.ts" },
{ "id": "a3", "kind": "file_contains", "path": "src/a.ts", "pattern": "regular expression of one line" },
{ "id": "a4", "kind": "diagnostics", "path": ".", "max_errors": 0 }, { "id": "a5", "kind": "judgement", "text": "…" }.
Rules:
- Few tasks, few steps; prefer open steps unless every byte of a call is known now.
- Paths are relative to the workspace, with /, never absolute and never with "..".
- resources are all that open steps will be allowed: write as globs or names, commands as leading arguments, one by
  one, hosts that commands have to reach (example.com; none if possible). A person approves them; what is missing there
  has to be asked for again.
- Every task that changes something has a criterion that a program can decide; judgement only where none can.
- Nothing waits for itself; ids are unique where they stand.
- A question needs no plan: read, then answer with { "answer": "…" }. Its text is shown to the person as it is. intent
  MUTATE is a plan that changes something.
${dataRule("request")}`
}

function userPrompt({ state, outline, instructions, skills, files }: StageView): string {
  const parts = [
    ...exchangesBlock(state),
    dataBlock({ type: "request" }, state.request),
    dataBlock({ type: "outline of the repository" }, outline),
    ...instructionBlocks(instructions),
    ...(skills === "" ? [] : [skillsBlock(skills)]),
    ...files.map(({ path, text }) => dataBlock({ type: "file", name: path }, text)),
    ...earlier(state),
    ...feedback(state),
  ]
  const task =
    state.settings.asksOnly === true
      ? "Answer the question; nothing may be changed."
      : "Plan what the request asks for."
  return `${task} Keep to the project instructions where they are about how to work here.\n\n${parts.join("\n\n")}`
}

function skillsBlock(skills: string): string {
  return `An open step can use these skills, by the tool ${skillTool}; name the skill in the description of the step.\n\n${dataBlock({ type: "skills" }, skills)}`
}

/** Set only when a plan is made again. */
function earlier(state: PipelineState): readonly string[] {
  const plans = plansOfRequest(state)
  if (plans.length === 0) return []
  const done = state.steps.map(stepLine).join("\n")
  const findings = findingsText(state.steps, null)
  return [
    ...plans.map(planBlock),
    dataBlock({ type: "steps so far" }, done),
    ...(findings === "" ? [] : [dataBlock({ type: "findings of the steps" }, findings)]),
    `This is version ${state.plans.length + 1} of the plan. Give the whole plan again: keep finished tasks and their ` +
      "steps exactly as they are, they are not done again; change or add what the feedback is about.",
  ]
}

function planBlock({ version, plan }: PlanVersion): string {
  const { goal, intent, tasks } = plan
  return dataBlock(
    { type: "earlier plan", name: `version ${version}` },
    JSON.stringify({ goal, intent, tasks: tasks.map(written) }),
  )
}

/** Returns a task in the form that a planner writes. */
function written(task: PlanVersion["plan"]["tasks"][number]) {
  const { id, title, description, complexity, dependsOn, resources, acceptance, steps } = task
  return {
    ...{ id, title, description, complexity, depends_on: dependsOn, resources, acceptance },
    steps: steps.map(step => {
      const texts = { id: step.id, title: step.title, description: step.description }
      if (step.kind === "open") return { ...texts, action: step.action, depends_on: step.dependsOn }
      const { tool, arguments: args, precondition, requiresConfirmation } = step
      return {
        ...{ ...texts, tool, arguments: args, precondition },
        ...{ requires_confirmation: requiresConfirmation, depends_on: step.dependsOn },
      }
    }),
  }
}

function feedback({ stage }: PipelineState): readonly string[] {
  if (stage === null || stage.feedback.length === 0) return []
  return [dataBlock({ type: "feedback" }, stage.feedback.join("\n"))]
}

function read(text: string, { planTools }: StageParts, { state }: StageView): StageAnswer {
  const answer = jsonAnswer(text)
  if (answer.problem !== undefined) return { problems: [answer.problem] }
  const json = parsedJson(answer.json)
  const answered = json === undefined ? null : plannerAnswer(json)
  if (json !== undefined && answered !== null) {
    const problem = problemOfAnswer(answered, state)
    return problem === null ? { output: json } : { problems: [problem] }
  }
  const reading = readPlan(answer.json, planTools)
  if ("problems" in reading) return { problems: reading.problems.map(problemText) }
  const outside = planPathProblems(reading.plan)
  if (outside.length > 0) return { problems: outside }
  if (state.settings.asksOnly === true && !onlyReads(reading.plan))
    return {
      problems: ['only questions are answered here, so a plan may only read; or give { "answer": "…" }'],
    }
  return json === undefined ? { problems: ["the answer is not JSON"] } : { output: json }
}

/** Returns why a planner cannot end the session with an answer; null if it can. */
function problemOfAnswer(answer: string, { lastChangeSeq }: PipelineState): string | null {
  if (answer.trim() === "") return "the answer is empty"
  return lastChangeSeq > 0
    ? "files were changed already, so another plan is needed instead of an answer"
    : null
}

/** Returns the paths of a planner that are not below the workspace root, by their text alone. */
function planPathProblems({ tasks }: Plan): readonly string[] {
  return tasks.flatMap((task, index) => taskProblems(task, `$.tasks[${index}]`))
}

function taskProblems({ resources, acceptance }: PlanTask, place: string): readonly string[] {
  const { read, write } = resources
  const paths = [
    ...Object.entries({ read, write }).flatMap(([name, globs]) =>
      globs.map((path, index) => ({ path, at: `${place}.resources.${name}[${index}]` })),
    ),
    ...acceptance.flatMap((criterion, index) =>
      "path" in criterion ? [{ path: criterion.path, at: `${place}.acceptance[${index}].path` }] : [],
    ),
  ]
  return paths
    .filter(({ path }) => leavesWorkspace(path))
    .map(({ path, at }) => `${at}: ${quoted(path)} must be relative to the workspace, without ".."`)
}

function leavesWorkspace(path: string): boolean {
  return /^(?:[/\\~]|[A-Za-z]:[/\\])/.test(path) || path.split(/[/\\]/).includes("..")
}
