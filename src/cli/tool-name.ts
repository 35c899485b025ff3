/** The name under which evidence is found, for one that may be written in either spelling. */
export async function canonicalToolName(typed: string): Promise<string> {
  // Loaded when it is asked for: it brings all tools along.
  const { resolveTool } = await import("../tools/aliases.ts")
  const resolved = resolveTool(typed)
  // What names no tool may still have been called, and then it was recorded as it was written.
  return resolved.kind === "tool" ? resolved.tool.name : typed
}
