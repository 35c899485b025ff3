import { counted } from "../base/text.ts"
import { defineCommand } from "./definition.ts"
import { bytesText, durationText } from "./format.ts"

export const runsStats = defineCommand({
  name: "runs stats",
  summary: "how many executions there are, how they ended, what they take on disk",
  arguments: [],
  flags: {},
  examples: [{ line: "acode runs stats --json", note: "for a script" }],
  run: async (_input, { service, output, globals }) => {
    const stats = (await (await service()).executions())?.stats() ?? null
    if (globals.json) output.json(stats)
    if (stats === null) {
      output.notice("no executions")
      return 0
    }
    output.line(
      `${counted(stats.executions, "execution")}: ${stats.succeeded} succeeded, ${stats.failed} failed,` +
        ` ${stats.timedOut} timed out, ${stats.interrupted} interrupted, ${stats.running} running`,
    )
    output.line(
      `${durationText(stats.durationMsTotal)} of running time, ${stats.oldest ?? "-"} to ${stats.newest ?? "-"}`,
    )
    output.line(
      `${bytesText(stats.databaseBytes)} database, ${counted(stats.artifactCount, "artifact")} (${bytesText(stats.artifactBytes)})`,
    )
    return 0
  },
})
