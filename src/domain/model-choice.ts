/** Words about models that are recorded with a session, and that the room of the model servers shares. */

/** Where models may be. `burst` lets a session use a server elsewhere, with the consent of a person. */
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
 * How a model is made to call tools, best first. `native`: the protocol's own calls. `constrained`: one JSON object
 * `{"tool": NAME, "arguments": {…}}` that a schema forces. `text`: the same object in a block fenced by three backticks
 * and the word tool. On every rung a call that a model printed as text instead is salvaged.
 */
export const rungs = ["native", "constrained", "text"] as const
export type Rung = (typeof rungs)[number]

/** How a model edits files: the whole file, pieces that are searched and replaced, or a unified diff. */
export const editFormats = ["whole", "replace", "diff"] as const
export type EditFormat = (typeof editFormats)[number]

/** What a file, an outline or a diff has beyond what is read of it. */
export const longParts = ["longFiles", "longOutline", "longDiff", "longInstructions"] as const
export type LongPart = (typeof longParts)[number]

/**
 * What can be left out of a request. The first ones are so also where there is room: results that are old, and what
 * one of them or of the long parts has beyond its share. Of the others the least missed comes first.
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
