import { limitRanges } from "../domain/command.ts"
import { Failure } from "../domain/failure.ts"

/** The limits a person gives to one command, each in the unit of its flag. */
interface GivenLimits {
  readonly timeout: number | undefined
  readonly memory: number | undefined
  readonly "max-output": number | undefined
}

/** What a flag limits, and how many of the limit's own unit one of the flag's is. */
const units = {
  timeout: { range: limitRanges.timeoutMs, unit: "seconds", factor: 1000, isWhole: false },
  memory: { range: limitRanges.memoryBytesMax, unit: "MB", factor: 1024 * 1024, isWhole: false },
  "max-output": { range: limitRanges.outputBytesMax, unit: "bytes", factor: 1, isWhole: true },
} as const

/** Throws ACODE-EXE-007 in the words of the command line: whoever typed a flag knows no property behind it. */
export function checkLimitFlags(given: GivenLimits): void {
  const wrong = (["timeout", "memory", "max-output"] as const).flatMap(name => {
    const value = given[name]
    const { range, unit, factor, isWhole } = units[name]
    if (value === undefined) return []
    if (value * factor < range.min || value * factor > range.max)
      return [
        `--${name} is ${value}, it must lie between ${range.min / factor} and ${range.max / factor} ${unit}`,
      ]
    return isWhole && !Number.isInteger(value)
      ? [`--${name} is ${value}, it must be a whole number of ${unit}`]
      : []
  })
  if (wrong.length === 0) return
  throw new Failure({
    kind: "usage",
    code: "ACODE-EXE-007",
    message: `the command is not valid: ${wrong.join("; ")}`,
    where: "acode exec",
    hint: "`acode exec --help` shows what each flag takes",
  })
}
