import { keptText } from "../../../app/state/kept-copies.ts"
import type { StoragePart } from "../../../app/state/storage-use.ts"
import type { FreedStorage, FreedThing } from "../../../app/verbs/storage-freeing.ts"
import { shownPath } from "../../../base/path-names.ts"
import { counted, oneLine } from "../../../base/text.ts"
import { exitCodes } from "../../../domain/exit-codes.ts"
import { Failure } from "../../../domain/failure.ts"
import { defineCommand } from "../../definition.ts"
import type { Output } from "../../output.ts"
import { bytesText, shortId } from "../../render/format.ts"

export const storageShow = defineCommand({
  name: "storage show",
  summary: "show what acode stores for this workspace, and its size on disk",
  description:
    "Also lists the state of directories that were moved or removed, which stays until you adopt or forget it.",
  arguments: [],
  flags: {},
  examples: [
    { line: "acode storage show", note: "what takes how much" },
    { line: "acode storage show --json", note: "in bytes" },
  ],
  run: async (_, { service, output, globals }) => {
    const app = await service()
    const use = await app.storage()
    const gone = await app.workspaces("gone", "aside")
    if (globals.json)
      output.json({ ...use, goneWorkspaces: gone.map(({ key, root, bytes }) => ({ key, root, bytes })) })
    for (const part of use.parts) output.line(partLine(part))
    output.line(
      `${"total".padEnd(12)} ${bytesText(use.usedBytes).padStart(10)}  of ${bytesText(use.limitBytes)} (storage.max_total_mb)`,
    )
    output.line(output.dim(use.directory))
    if (use.usedBytes > use.limitBytes) output.line("→ acode storage free --dry-run")
    for (const { key, root, bytes } of gone)
      output.line(
        output.advice(
          `${bytesText(bytes)} of ${oneLine(shownPath(root), 200)}, which is no longer in use: \`acode workspace forget ${key}\` frees it`,
        ),
      )
    return 0
  },
})

function partLine({ id, bytes, count, oldest }: StoragePart): string {
  const since = oldest === null ? "" : `  oldest ${oldest.slice(0, 10)}  ${meanings[id]}`
  return `${id.padEnd(12)} ${bytesText(bytes).padStart(10)}  ${counted(count, "file").padStart(12)}${since}`
}

const meanings: Readonly<Record<StoragePart["id"], string>> = {
  database: "sessions, executions, approvals, evidence",
  code: "symbols and references of the code, which can be made again",
  artifacts: "long outputs and texts that the history names",
  checkpoints: "copies of files, for undo",
  quarantine: "files that commands made under protected names",
  temporary: "being written now, or left by an acode that was killed",
  other: "whose state it is, and what the sandbox needs",
}

export const storageFree = defineCommand({
  name: "storage free",
  summary: "remove the oldest stored data, and report what can no longer be undone",
  description:
    "Copies for undo, quarantined files, executions and sessions that have ended go, oldest first, until no more than\n" +
    "--to is left, or what storage.max_total_mb allows. Sessions that have not ended stay. Of the history a signed\n" +
    "tombstone stays, so that it still verifies. Copies of files that undo, recovery or a restore replaced may be the\n" +
    "only ones there are: they stay unless --replaced is given, and are the last to go then.",
  arguments: [],
  flags: {
    to: { kind: "text", value: "SIZE", summary: "how much may be left, such as 500MB or 0; else the limit" },
    replaced: { kind: "boolean", summary: "also copies of what undo, recovery or a restore replaced" },
    "dry-run": { kind: "boolean", summary: "only show what would be removed" },
  },
  examples: [
    { line: "acode storage free --to 500MB --dry-run", note: "look first" },
    { line: "acode storage free", note: "down to the configured limit" },
  ],
  run: async ({ flags }, { service, output, globals }) => {
    const isDryRun = flags["dry-run"]
    const toBytes = flags.to === undefined ? null : sizeOf(flags.to)
    const freed = await (await service()).freeStorage({ toBytes, isDryRun, takesKept: flags.replaced })
    if (globals.json) output.json({ ...freed, isDryRun })
    report(output, freed, isDryRun)
    printLeft(output, freed)
    return !isDryRun && freed.afterBytes > freed.targetBytes ? exitCodes.general.code : 0
  },
})

function report(output: Output, freed: FreedStorage, isDryRun: boolean): void {
  const { beforeBytes, afterBytes, targetBytes, removed } = freed
  const did = isDryRun ? "would remove" : "removed"
  for (const thing of removed.filter(({ kind }) => kind !== "execution"))
    output.line(`${did} ${thingText(thing)}`)
  const executions = removed.filter(({ kind }) => kind === "execution").length
  if (executions > 0) output.line(`${did} the record of ${counted(executions, "execution")}`)
  const [before, after, target] = [beforeBytes, afterBytes, targetBytes].map(bytesText)
  output.line(`${isDryRun ? "would be at most" : "is"} ${after} instead of ${before}`)
  if (!isDryRun && afterBytes > beforeBytes)
    output.notice(
      "that is more: the history records what was removed, and another acode may have recorded something",
    )
  if (!isDryRun && afterBytes > targetBytes)
    output.notice(
      `nothing else can be removed, and that is more than ${target}\n  → \`acode storage show\` says what is left; sessions that have not ended stay`,
    )
}

/** Prints the copies that could be removed to reach the target, but stay without --replaced. */
function printLeft(output: Output, { keptLeft, afterBytes, targetBytes }: FreedStorage): void {
  if (keptLeft.length === 0 || afterBytes <= targetBytes) return
  output.notice("these copies of files that undo, recovery or a restore replaced stay:")
  for (const copy of keptLeft) output.notice(`  ${keptText(copy)}`)
  output.notice(`  → \`acode storage free --replaced --to ${targetBytes}\` removes them too`)
}

function thingText({ kind, id, bytes, undoLost, kept }: FreedThing): string {
  const size = bytesText(bytes)
  const lost = undoLost.map(session => `; session ${shortId(session)} can no longer be undone`).join("")
  switch (kind) {
    case "copies":
      return `the copies of ${id.startsWith("ses_") ? `session ${shortId(id)}` : shortId(id)} (${size})${lost}`
    case "kept":
      return `the copy ${kept === null ? id : keptText(kept)} (${size})`
    case "quarantine":
      return `the quarantined files of ${shortId(id)} (${size})`
    case "session":
      return `the record of session ${shortId(id)} (${size})`
    case "execution":
      return `the record of execution ${shortId(id)} (${size})`
  }
}

/** Parses `500MB`, `2GB`, `100KB` or `4096` to bytes. */
function sizeOf(typed: string): number {
  const [, digits, unit = ""] = /^(\d+(?:\.\d+)?)\s*([KMG]?)i?B?$/i.exec(typed) ?? []
  const factor = { "": 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3 }[unit.toUpperCase()]
  if (digits !== undefined && factor !== undefined) return Math.floor(Number(digits) * factor)
  throw new Failure({
    kind: "usage",
    code: "ACODE-CLI-002",
    message: `--to takes a size such as 500MB, 2GB or 0, not "${typed.slice(0, 40)}"`,
    where: "acode storage free",
    hint: "acode storage free --help",
  })
}
