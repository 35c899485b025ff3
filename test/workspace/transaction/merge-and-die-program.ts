import { writeSync } from "node:fs"
import { killAt, noFaults } from "../../../src/base/faults.ts"
import { type MergeWork, performWork } from "../../support/workspace/killed-merge.ts"

/** Merges or undoes a transaction and dies by SIGKILL at a point. Prints the merged view, then what is wrong. */
const work: MergeWork = JSON.parse(process.argv[2] ?? "")
const print = (value: unknown) => writeSync(1, `${JSON.stringify(value)}\n`)
const faults = work.kill === null ? noFaults : killAt(work.kill)
print(await performWork(work, faults, view => print([...view])))
