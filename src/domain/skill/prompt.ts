import type { Task } from "../task.ts"
import { dataBlock, dataRule } from "../text/data-block.ts"
import type { SkillContent } from "./skill-text.ts"
import { inOneLine } from "./task-text.ts"

export interface UpstreamOutput {
  readonly path: string
  readonly description: string
  readonly content: string
}

export interface PromptParts {
  readonly skillContent: Pick<SkillContent, "body" | "referenceContents">
  readonly task: Task
  /** Null if the workspace has none. */
  readonly productContext: string | null
  readonly upstreamOutputs: readonly UpstreamOutput[]
}

export interface Prompt {
  readonly systemPrompt: string
  readonly userMessage: string
}

/**
 * Returns the prompt for a task. The skill is the system prompt, unchanged. Content of files is in blocks that
 * nothing inside them can end, so that no text of theirs can pass as a section of the prompt.
 */
export function buildPrompt(parts: PromptParts): Prompt {
  return { systemPrompt: systemPrompt(parts.skillContent), userMessage: userMessage(parts) }
}

function systemPrompt({ body, referenceContents }: PromptParts["skillContent"]): string {
  const references = referenceContents.map(
    ({ path, content }) => `---\n## Reference: ${inOneLine(path.split("/").at(-1) ?? path)}\n${content}`,
  )
  return [...(body === "" ? [] : [body]), ...references].join("\n\n")
}

const noContext = "No product marketing context available. Work with the information provided in the task."
const noInputs = "No upstream inputs for this task."

function userMessage({ task, productContext, upstreamOutputs }: PromptParts): string {
  const { revisionCount } = task
  const inputs = upstreamOutputs.map(
    ({ path, description, content }) =>
      `### Input: ${field(description === "" ? path : description)}\nSource: ${field(path)}\n\n` +
      dataBlock({ type: "input" }, content),
  )
  return [
    dataRule("the system message", "the block of the requirements"),
    section(
      "Product Context",
      productContext === null ? noContext : dataBlock({ type: "context" }, productContext),
    ),
    section(
      "Task Assignment",
      [
        `- **Task ID:** ${field(task.id)}`,
        `- **From:** ${field(task.from)}`,
        `- **Priority:** ${field(task.priority)}`,
        `- **Goal:** ${field(task.goal)}`,
      ].join("\n"),
    ),
    section("Upstream Inputs", inputs.length === 0 ? noInputs : inputs.join("\n\n")),
    section("Requirements", dataBlock({ type: "requirements" }, task.requirements)),
    section(
      "Output Instructions",
      [
        "- Write your complete output below",
        `- Format: ${field(task.output.format)}`,
        "- Be thorough and follow the skill guidelines above",
      ].join("\n"),
    ),
    ...(revisionCount > 0
      ? [
          section(
            "Revision Context",
            `This is revision #${revisionCount}. Previous output was reviewed and changes were requested.\n` +
              "See the review feedback in the upstream inputs above.",
          ),
        ]
      : []),
  ].join("\n\n")
}

function section(name: string, text: string): string {
  return `## ${name}\n${text}`
}

/** Returns one line that cannot begin or end a block. */
function field(text: string): string {
  return inOneLine(text).replace(/<{3,}|>{3,}/g, found => [...found].join(" "))
}
