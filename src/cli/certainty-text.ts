import type { Certainty } from "../domain/tool-call.ts"

/** What is known about the effect of a call, after "its effect". Nothing here may sound surer than it is. */
export const certaintyText: Readonly<Record<Certainty, string>> = {
  done: "took place",
  notDone: "did not take place",
  partly: "took place in part",
  unknown: "may or may not have taken place",
}
