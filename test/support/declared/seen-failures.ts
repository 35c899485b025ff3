import { join } from "node:path"
import { Failure } from "../../../src/domain/failure.ts"
import { repositoryRoot } from "../acode.ts"
import { noteSeen } from "./seen.ts"

/**
 * Loaded before all tests: records the code of every failure that the product throws inside the process of the tests.
 * The constructor sets the name last, and only the first failure of each code is inspected.
 */
const sources = join(repositoryRoot, "src")
const known = new Set<string>()

Object.defineProperty(Failure.prototype, "name", {
  configurable: true,
  get: () => "Failure",
  set(this: Failure, value: string) {
    Object.defineProperty(this, "name", { value, writable: true, enumerable: true, configurable: true })
    const { code } = this.report
    if (known.has(code) || !isOfProduct(this.stack ?? "")) return
    known.add(code)
    noteSeen("error", code)
  },
})

/** A failure that a test makes itself says nothing about the product. */
function isOfProduct(stack: string): boolean {
  const makers = stack.split("\n").filter(line => line.includes("/") && !line.includes("domain/failure.ts"))
  return makers[0]?.includes(sources) ?? false
}
