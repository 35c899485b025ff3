import { afterAll, describe, expect, test } from "bun:test"
import { mkdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { Failure } from "../../src/domain/failure.ts"
import { realWritablePath } from "../../src/exec/execution.ts"
import { tempWorkspace } from "../support/workspace/temp-workspace.ts"

const workspace = tempWorkspace({ files: { "src/a.ts": "" } })
afterAll(() => workspace[Symbol.dispose]())
const { root, outside } = workspace
mkdirSync(join(outside, "elsewhere"))
symlinkSync(join(outside, "elsewhere"), join(root, "link"))
symlinkSync("loop", join(root, "loop"))

describe("a path a person opens for one command", () => {
  test("is relative to the workspace unless it is absolute", () => {
    expect(realWritablePath(root, "src/a.ts")).toBe(join(root, "src/a.ts"))
    expect(realWritablePath(root, "./src/../src")).toBe(join(root, "src"))
    expect(realWritablePath(root, join(outside, "elsewhere"))).toBe(join(outside, "elsewhere"))
  })

  test("leads where its links lead, so that the place itself is opened", () => {
    expect(realWritablePath(root, "link")).toBe(join(outside, "elsewhere"))
    expect(realWritablePath(root, "link/new/file")).toBe(join(outside, "elsewhere/new/file"))
  })

  test("need not exist yet", () => {
    expect(realWritablePath(root, ".git/hooks/pre-commit")).toBe(join(root, ".git/hooks/pre-commit"))
  })

  test("that cannot be resolved is refused with its name and the reason of the system", () => {
    const refusal = (typed: string) => {
      try {
        return realWritablePath(root, typed)
      } catch (error) {
        if (!(error instanceof Failure)) throw error
        return `${error.report.code} ${error.message}`
      }
    }
    expect(refusal("loop")).toBe(
      'ACODE-EXE-007 the command is not valid: writable: "loop" cannot be opened (ELOOP)',
    )
    expect(refusal("src/a.ts/below")).toContain('"src/a.ts/below" cannot be opened (ENOTDIR)')
  })
})
