import { join } from "node:path"
import { cruise } from "dependency-cruiser"
import extractOptions from "dependency-cruiser/config-utl/extract-depcruise-options"

export interface LayerReport {
  /** Every module of `src` that the rules were applied to. */
  readonly modules: readonly string[]
  /** One line each: which import breaks which rule. */
  readonly violations: readonly string[]
}

const tablePath = join(import.meta.dirname, "..", ".dependency-cruiser.cjs")

/** Holds the imports below `root` against the table in .dependency-cruiser.cjs of this checkout. */
export async function layerReport(root: string): Promise<LayerReport> {
  const options = await extractOptions(tablePath)
  const { output } = await cruise(["src"], { ...options, baseDir: root })
  if (typeof output === "string") throw new Error("dependency-cruiser gave text instead of its result")
  return {
    modules: output.modules.map(module => module.source).filter(source => source.startsWith("src/")),
    violations: output.summary.violations.map(violation => {
      const path = violation.cycle?.map(step => step.name).join(" → ") ?? violation.to
      return `${violation.rule.name}: ${violation.from} → ${path}`
    }),
  }
}

/** The files the report must have seen. A compiler it cannot use makes the tool pass green on nothing. */
export async function unseenModules(root: string, seen: readonly string[]): Promise<string[]> {
  const present = await Array.fromAsync(new Bun.Glob("src/**/*.ts").scan({ cwd: root }))
  return present.filter(file => !seen.includes(file)).sort()
}

/** The rooms that have a row in the table. */
export async function knownRooms(): Promise<string[]> {
  const { ruleSet } = await extractOptions(tablePath)
  return (ruleSet?.forbidden ?? []).flatMap(
    ({ name }) => /^(.*)-imports-down-only$/.exec(name ?? "")?.[1] ?? [],
  )
}
