import { shownPath } from "../../base/path-names.ts"
import { counted, oneLine } from "../../base/text.ts"
import type { DiffStat, FileStat, MeanwhileChange } from "../../engine/diffstat.ts"

const rowsMax = 10
const nameLengthMax = 60

/** Returns the changes of a session like `git diff --stat`: some files and the sum. Empty without changes. */
export function diffStatLines({ files, total, meanwhile = [] }: DiffStat): readonly string[] {
  const apart = [...Map.groupBy(meanwhile, ({ by }) => by)].map(([by, changes]) => apartText(by, changes))
  if (total.files === 0) return apart
  const shown = files.slice(0, rowsMax).map(file => ({ name: nameOf(file), file }))
  const width = Math.max(...shown.map(({ name }) => name.length))
  const more = total.files - shown.length
  return [
    ...shown.map(({ name, file }) => ` ${name.padEnd(width)} | ${countText(file)}`),
    ...(more > 0 ? [` … and ${counted(more, "more file")}`] : []),
    ` ${totalText(total)}`,
    ...duringText(total),
    ...apart,
  ]
}

/** Counts files that changed while a command ran, which may be changes by a person. */
function duringText({ files, duringCommands = 0 }: DiffStat["total"]): readonly string[] {
  if (duringCommands === 0) return []
  const which = duringCommands === files ? "" : `${duringCommands} of them `
  return [` ${which}while a command ran, by it or by another program`]
}

const apartMax = 5

function apartText(by: MeanwhileChange["by"], changes: readonly MeanwhileChange[]): string {
  const names = changes.slice(0, apartMax).map(({ path }) => oneLine(shownPath(path), nameLengthMax))
  const more = changes.length > apartMax ? ` and ${counted(changes.length - apartMax, "more file")}` : ""
  const who = by === "git" ? "by git (checked out or committed)" : "while another command of acode ran"
  return ` also changed meanwhile ${who}, not counted: ${names.join(", ")}${more}`
}

function nameOf({ path, change }: FileStat): string {
  const name = oneLine(shownPath(path), nameLengthMax)
  return change === "modified" || change === "mode" ? name : `${name} (${change})`
}

function countText({ added, removed, note }: FileStat): string {
  return note ?? `+${added ?? 0} -${removed ?? 0}`
}

function totalText({ files, added, removed, uncounted }: DiffStat["total"]): string {
  const lines = `${counted(added, "line")} added, ${counted(removed, "line")} removed`
  const rest = uncounted === 0 ? "" : ` (${counted(uncounted, "file")} not counted)`
  return `${counted(files, "file")} changed, ${lines}${rest}`
}
