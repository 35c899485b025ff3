import type { Json } from "../../base/canonical.ts"
import type { RecordedText } from "../events/recorded-text.ts"
import type { RecordedJson } from "../tool-call.ts"

/** An event as it was read from the log. */
export interface PipelineEvent {
  readonly stream: string
  readonly seq: number
  readonly at: string
  readonly type: string
  readonly version: number
  readonly data: unknown
}

/** Content outside of events because it is large. Pure as well: a hash names the content. */
export interface Contents {
  text(recorded: RecordedText): string
  json(recorded: RecordedJson): Json
}
