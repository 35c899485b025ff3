import * as z from "zod/mini"
import { lazily } from "../base/lazy.ts"
import { jsonAnswer, parsedJson } from "./text/json-answer.ts"

export const reviewVerdicts = ["APPROVE", "REVISE", "REJECT"] as const
export type ReviewVerdict = (typeof reviewVerdicts)[number]

const severities = ["critical", "major", "minor", "suggestion"] as const

const Review = lazily(() =>
  z.object({
    verdict: z.enum(reviewVerdicts),
    summary: z.string(),
    findings: z._default(
      z.array(
        z.object({
          severity: z.enum(severities),
          section: z._default(z.string(), ""),
          description: z.string(),
        }),
      ),
      () => [],
    ),
    revision_requests: z._default(
      z.array(z.object({ priority: z._default(z.string(), ""), description: z.string() })),
      () => [],
    ),
  }),
)
export type TaskReview = z.infer<ReturnType<typeof Review>>

/** Reads the answer of a reviewer; returns what is wrong with a text that is not a review. */
export function readTaskReview(text: string): { readonly review: TaskReview } | { readonly problem: string } {
  const answer = jsonAnswer(text)
  if (answer.problem !== undefined) return { problem: answer.problem }
  const parsed = Review().safeParse(parsedJson(answer.json))
  if (parsed.success) return { review: { ...parsed.data, verdict: verdictOf(parsed.data) } }
  const [issue] = parsed.error.issues
  return { problem: `${issue?.path.join(".") ?? ""} ${issue?.message ?? "is not valid"}`.trim() }
}

/** Returns the verdict that follows from the findings, whatever the reviewer's own verdict is. */
function verdictOf({ verdict, findings }: TaskReview): ReviewVerdict {
  if (verdict === "REJECT" || findings.some(({ severity }) => severity === "critical")) return "REJECT"
  return findings.some(({ severity }) => severity === "major") ? "REVISE" : verdict
}

/** Returns a review as a file, read by people and given to the next revision. */
export function reviewText({ verdict, summary, findings, revision_requests: requests }: TaskReview): string {
  return [
    `# ${verdict}`,
    "",
    summary,
    ...(findings.length === 0 ? [] : ["", "## Findings", ""]),
    ...findings.map(
      ({ severity, section, description }) =>
        `- **${severity}**${section === "" ? "" : ` (${section})`}: ${description}`,
    ),
    ...(requests.length === 0 ? [] : ["", "## Revision requests", ""]),
    ...requests.map(
      ({ priority, description }) => `- ${priority === "" ? "" : `**${priority}** `}${description}`,
    ),
    "",
  ].join("\n")
}

/** The requirements of a review, for a reviewer of any kind. */
export function reviewRequirements(requirements: string): string {
  return [
    "Review the output that is given as the input. It was made for these requirements:",
    "",
    requirements,
    "",
    "Answer with exactly one JSON object and nothing else:",
    '{"verdict": "APPROVE" | "REVISE" | "REJECT", "summary": "one sentence",',
    ' "findings": [{"severity": "critical" | "major" | "minor" | "suggestion", "section": "", "description": ""}],',
    ' "revision_requests": [{"priority": "P1", "description": ""}]}',
    "APPROVE what can be used as it is. A critical finding means REJECT, a major one REVISE.",
  ].join("\n")
}

/** System prompt of a reviewer that is not a skill. */
export const directorBody =
  "You direct the work of specialists. You judge whether an output does what was asked, is correct, and can be used as " +
  "it is. You are strict about facts and requirements and lenient about taste. You do not rewrite the output."
