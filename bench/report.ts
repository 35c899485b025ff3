import { writeFileSync } from "node:fs"
import { arch, cpus, release } from "node:os"

/** One line of the table: what was reached, what the machine gives at best, and what was asked for. */
export interface Figure {
  readonly name: string
  readonly measured: number
  readonly unit: string
  /** The same thing without acode, measured in the same run; null where there is no such thing. */
  readonly floor: number | null
  readonly ratio: number | null
  /** The target in words. */
  readonly bar: string
  readonly ok: boolean
}

/** The target of a time: smaller is better. */
export function atMost(name: string, measured: number, max: number, unit = "ms"): Figure {
  return { name, measured, unit, floor: null, ratio: null, bar: `≤ ${max} ${unit}`, ok: measured <= max }
}

/** The target of a rate: larger is better. */
export function atLeast(name: string, measured: number, min: number, unit: string): Figure {
  return { name, measured, unit, floor: null, ratio: null, bar: `≥ ${min} ${unit}`, ok: measured >= min }
}

/** Against what the machine does without acode. */
export function timesFloor(name: string, measured: number, floor: number, max: number): Figure {
  const ratio = measured / floor
  return { name, measured, unit: "ms", floor, ratio, bar: `≤ ${max} ×`, ok: ratio <= max }
}

export function printTable(figures: readonly Figure[]): void {
  const rows = figures.map(figure => [
    figure.name,
    `${number(figure.measured)} ${figure.unit}`,
    figure.floor === null ? "" : `${number(figure.floor)} ${figure.unit}`,
    figure.ratio === null ? "" : `${figure.ratio.toFixed(2)} ×`,
    figure.bar,
    figure.ok ? "ok" : "MISSED",
  ])
  const all = [["what", "measured", "floor", "ratio", "bar", ""], ...rows]
  const widths = all.reduce<number[]>(
    (max, row) => row.map((cell, at) => Math.max(max[at] ?? 0, cell.length)),
    [],
  )
  const line = (row: readonly string[]) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  ")
  process.stdout.write(`${all.map(row => line(row).trimEnd()).join("\n")}\n`)
}

export function writeJson(path: string, figures: readonly Figure[]): void {
  const machine = { arch: arch(), kernel: release(), cores: cpus().length, bun: Bun.version }
  writeFileSync(path, `${JSON.stringify({ machine, figures }, null, 2)}\n`)
}

function number(value: number): string {
  if (value >= 100) return value.toFixed(0)
  return value >= 1 ? value.toFixed(2) : value.toFixed(4)
}
