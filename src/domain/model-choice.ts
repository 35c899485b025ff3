/** Terms about models that are recorded with a session and that the model servers share. */

/**
 * The locations of models that a session may use. `burst` lets a session use a server elsewhere, with the consent of
 * a person.
 */
export const modes = ["local-only", "burst", "airgapped"] as const
export type Mode = (typeof modes)[number]

/**
 * The protocols of model servers, and what decides the window of a model: each request, the server when it loads the
 * model, or neither, because the window never changes. `provider/protocol` holds all else about a protocol.
 */
export const windowRules = { ollama: "requested", openai: "loaded", anthropic: "fixed" } as const
export type Protocol = keyof typeof windowRules
// as: the keys of the table are the protocols; the library types them as strings.
export const protocols = Object.keys(windowRules) as Protocol[]

/**
 * The methods of making a model call tools, best first. `native`: the protocol's own calls. `constrained`: one JSON
 * object `{"tool": NAME, "arguments": {…}}` that a schema enforces. `text`: the same object in a block fenced by
 * three backticks and the word tool. On every rung acode also accepts a call that a model printed as text.
 */
export const rungs = ["native", "constrained", "text"] as const
export type Rung = (typeof rungs)[number]

/**
 * The format in which a model edits files: the whole file, pieces that are searched and replaced, or a unified diff.
 */
export const editFormats = ["whole", "replace", "diff"] as const
export type EditFormat = (typeof editFormats)[number]

/** The parts of a request that are cut to their share: files, the outline, the diff and instructions. */
export const longParts = ["longFiles", "longOutline", "longDiff", "longInstructions"] as const
export type LongPart = (typeof longParts)[number]

/**
 * The parts that can be left out of a request. The first ones are left out even where there is space: old results,
 * and whatever of a result or of the long parts exceeds its share. The others follow in the order in which they are
 * missed least.
 */
export const shortenedParts = [
  "oldResults",
  "longResults",
  ...longParts,
  "results",
  "replies",
  "arguments",
  "files",
  "outline",
  "diff",
  "newestResult",
  "instructions",
] as const
export type ShortenedPart = (typeof shortenedParts)[number]
