import { canonicalJson } from "../../base/canonical.ts"
import { oneLine } from "../../base/text.ts"
import { isQuestion } from "../../domain/pipeline/completion.ts"
import { Review } from "../../domain/pipeline/review.ts"
import type { PipelineState, PlanVersion } from "../../domain/pipeline/state.ts"
import { dataBlock, dataRule } from "../../domain/text/data-block.ts"
import { instructionBlocks } from "../context/instructions.ts"
import { shapedAnswer } from "./answer-shape.ts"
import { failedTries, type StageAnswer, type StageDefinition, type StageView } from "./contract.ts"
import { answerSchemas } from "./model-schemas.ts"
import { planChange } from "./plan-change.ts"
import { exchangesBlock, plansOfRequest, stepLine } from "./plan-progress.ts"

/** The reviewer sees the request, the changes and the proofs, but not the reasoning of the model that made them. */
export const reviewerStage: StageDefinition = {
  stage: "reviewer",
  tools: [],
  offered: () => [],
  format: () => format,
  messages: view => [
    { role: "system", text: systemPrompt },
    { role: "user", text: userPrompt(view) },
    ...failedTries(view.state.turns),
  ],
  read,
}

const format = { name: "review", schema: answerSchemas.review }

const systemPrompt = `You review a finished change to a software project before it counts as done.
Ask: does it do what the request asks for, all of it and no more; is the code right, clear and in the style of the
project; is it safe; are tests kept and not weakened?
- approve: it is good as it is. fix: small mistakes that can be fixed in place. replan: the approach is wrong, or part
  of the request is missing.
- findings name what is wrong, with file and line; text says what to do about it. Leave them out when there are none.
- Findings of acode are facts. A critical one cannot be approved.
Answer with one JSON object and nothing else:
{ "decision": "approve" | "fix" | "replan", "summary": "one or two sentences",
  "findings": [ { "severity": "critical" | "major" | "minor", "file": "src/a.ts", "line": 1, "text": "…" } ] }
${dataRule("request")}`

function userPrompt({ state, instructions, diff, findings }: StageView): string {
  return [
    "Review this change.",
    ...exchangesBlock(state),
    dataBlock({ type: "request" }, state.request),
    ...instructionBlocks(instructions),
    ...plansOfRequest(state).map((version, index, plans) => planBlock(version, plans[index - 1] ?? null)),
    dataBlock({ type: "steps" }, state.steps.map(stepLine).join("\n")),
    dataBlock({ type: "change" }, diff === "" ? "nothing was changed" : diff),
    ...(isQuestion(state) ? [dataBlock({ type: "answer" }, state.answer ?? "none was given")] : []),
    dataBlock({ type: "verification" }, verification(state)),
    dataBlock({ type: "approvals" }, approvals(state)),
    dataBlock(
      { type: "findings of acode" },
      findings.map(({ severity, text }) => `${severity}: ${text}`).join("\n") || "none",
    ),
  ].join("\n\n")
}

function planBlock({ version, plan }: PlanVersion, before: PlanVersion | null): string {
  const tasks = plan.tasks.map(
    ({ id, title, description, acceptance }) =>
      `${id} ${title}${description === "" ? "" : `: ${description}`}\n` +
      acceptance.map(criterion => `  must hold: ${canonicalJson(criterion)}`).join("\n"),
  )
  const head = `${planChange(before?.plan ?? null, plan)}\ngoal: ${plan.goal}`
  return dataBlock({ type: "plan", name: `version ${version}` }, [head, ...tasks].join("\n").trimEnd())
}

function verification({ verification: done }: PipelineState): string {
  if (done === null) return "nothing was verified"
  const checks = done.checks.map(
    ({ criterionId, taskId, verdict, reason }) =>
      `${taskId === null ? "" : `${taskId}/`}${criterionId}: ${verdict}, ${reason}`,
  )
  return [`on tree ${done.treeDigest}`, ...checks].join("\n")
}

function approvals({ plans }: PipelineState): string {
  return plans
    .map(({ version, isApproved, question }) => {
      const answer = question?.answer ?? null
      const why = answer?.reason == null ? "" : `: ${oneLine(answer.reason, 300)}`
      if (answer !== null) return `plan version ${version}: ${answer.answer} by ${answer.by}${why}`
      return `plan version ${version}: ${isApproved ? "approved" : "not approved"}`
    })
    .join("\n")
}

function read(text: string, { findings }: StageView): StageAnswer {
  const { value, problems } = shapedAnswer(text, Review())
  if (problems !== undefined) return { problems }
  const critical = findings.filter(({ severity }) => severity === "critical")
  if (value.decision === "approve" && critical.length > 0)
    return {
      problems: critical.map(finding => `it cannot be approved: ${finding.text}. Decide "fix" or "replan"`),
    }
  return { output: withoutUndefined(value) }
}

/** Removes undefined properties, which JSON does not have. */
function withoutUndefined({ decision, summary, findings }: Review) {
  return {
    decision,
    summary,
    findings: findings.map(({ severity, file = null, line = null, text }) => ({
      severity,
      file,
      line,
      text,
    })),
  }
}
