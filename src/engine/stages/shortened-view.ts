import type { StageView } from "./contract.ts"
import { headOf, missing } from "./text-head.ts"
import { textTokens } from "./token-estimate.ts"

/** How far a view has to shrink. */
export interface Shrinking {
  /** As it was before anything was shortened. */
  readonly whole: StageView
  readonly excessTokens: number
  /** What is left of it at least. */
  readonly tokensMin: number
}

const fileHeadTokens = 200
const outlineTokens = 250

/** The view itself where there is nothing to gain. */
export function withFileHeads(view: StageView): StageView {
  const files = view.files.map(({ path, text }) => ({
    path,
    text: headOf(text, fileHeadTokens, missing(text, "; read_file shows them")),
  }))
  return files.some(({ text }, at) => text !== view.files[at]?.text) ? { ...view, files } : view
}

export function withFileNames(view: StageView): StageView {
  if (view.files.length === 0) return view
  const text = view.files.map(({ path }) => path).join("\n")
  return { ...view, files: [{ path: "left out to fit the context; read_file shows them", text }] }
}

export function withShortOutline(view: StageView): StageView {
  const outline = headOf(view.outline, outlineTokens, missing(view.outline, ""))
  return outline === view.outline ? view : { ...view, outline }
}

/** Files whose diff is not shown any more are still named. */
export function withShortDiff(view: StageView, { whole, excessTokens, tokensMin }: Shrinking): StageView {
  const tokens = Math.max(tokensMin, textTokens(view.diff) - excessTokens - namesTokens)
  if (tokens >= textTokens(view.diff)) return view
  const diff = headOf(whole.diff, tokens, kept => {
    const names = [...whole.diff.slice(kept.length).matchAll(changedFile)].map(([, name]) => name)
    const more = names.length > namesMax ? ` and ${names.length - namesMax} more` : ""
    const named = names.length === 0 ? "" : `, with changes of ${names.slice(0, namesMax).join(", ")}${more}`
    return missing(whole.diff, named)(kept)
  })
  return { ...view, diff }
}

const changedFile = /^\+\+\+ (?:b\/)?(.{1,200})$/gm
const namesMax = 10
/** About what the names take. */
const namesTokens = 80

/** Each file keeps its share of what is left. */
export function withShortInstructions(view: StageView, shrinking: Shrinking): StageView {
  const { whole, excessTokens, tokensMin } = shrinking
  const present = view.instructions.reduce((sum, { text }) => sum + textTokens(text), 0)
  const target = Math.max(tokensMin, present - excessTokens)
  if (target >= present) return view
  const instructions = whole.instructions.map(({ path, text }) => ({
    path,
    text: headOf(
      text,
      Math.floor((target * textTokens(text)) / present),
      missing(text, `; read_file ${path} shows them`),
    ),
  }))
  return { ...view, instructions }
}
