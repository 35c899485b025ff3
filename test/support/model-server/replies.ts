import type { Json } from "../../../src/base/canonical.ts"
import type { FakeReply } from "./contract.ts"

/** A model that says this and stops. */
export function says(text: string, more: Partial<FakeReply> = {}): FakeReply {
  return { text, calls: [], usage: "counted", end: "stop", ...more }
}

/** A model that calls these tools. */
export function callsTools(...calls: readonly (readonly [tool: string, args: Json])[]): FakeReply {
  return {
    text: "",
    calls: calls.map(([tool, args]) => ({ id: null, tool, arguments: args })),
    usage: "counted",
    end: "calls",
  }
}
