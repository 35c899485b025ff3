import { describe, expect, test } from "bun:test"
import { safePath } from "../../src/policy/safe-path.ts"

const root = "/home/bob/project"
const own = (path: string) => safePath(path, root, { keepWorkspace: false })
const persons = (path: string) => safePath(path, root, { keepWorkspace: true })

describe("PATH for what acode itself starts", () => {
  test.each([
    ["/usr/bin:/bin", "/usr/bin:/bin"],
    ["/usr/bin::/bin", "/usr/bin:/bin"],
    [":/usr/bin:", "/usr/bin"],
    [".:/usr/bin", "/usr/bin"],
    ["bin:./node_modules/.bin:../x:/usr/bin", "/usr/bin"],
    ["~/bin:/usr/bin", "/usr/bin"],
    ["/home/bob/project/node_modules/.bin:/usr/bin", "/usr/bin"],
    ["/home/bob/project:/usr/bin", "/usr/bin"],
    ["/home/bob/other/../project/bin:/usr/bin", "/usr/bin"],
    ["/home/bob//project/bin:/usr/bin", "/usr/bin"],
    ["/home/bob/project2/bin:/usr/bin", "/home/bob/project2/bin:/usr/bin"],
    ["/home/bob/.local/bin:/usr/bin", "/home/bob/.local/bin:/usr/bin"],
    ["", ""],
  ])("%p becomes %p", (path, expected) => {
    expect(own(path)).toBe(expected)
  })
})

test("a person's command may use what the workspace installs, and still nothing relative", () => {
  expect(persons("/home/bob/project/node_modules/.bin:.:/usr/bin")).toBe(
    "/home/bob/project/node_modules/.bin:/usr/bin",
  )
})

test("a root with a slash at its end is the same root", () => {
  expect(safePath("/w/bin:/usr/bin", "/w/", { keepWorkspace: false })).toBe("/usr/bin")
})
