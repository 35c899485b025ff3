import { shownPath } from "../base/path-names.ts"
import { counted, oneLine } from "../base/text.ts"
import type { DiffStat, FileStat } from "../engine/diffstat.ts"

const rowsMax = 10
const nameLengthMax = 60

/** What a session changed, as `git diff --stat` would say it: a few files and the sum. Empty where nothing changed. */
export function diffStatLines({ files, total }: DiffStat): readonly string[] {
  if (total.files === 0) return []
  const shown = files.slice(0, rowsMax).map(file => ({ name: nameOf(file), file }))
  const width = Math.max(...shown.map(({ name }) => name.length))
  const more = total.files - shown.length
  return [
    ...shown.map(({ name, file }) => ` ${name.padEnd(width)} | ${countText(file)}`),
    ...(more > 0 ? [` … and ${counted(more, "more file")}`] : []),
    ` ${totalText(total)}`,
  ]
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
