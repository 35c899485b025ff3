import { expect, test } from "bun:test"
import { join } from "node:path"
import { userName } from "../../src/app/user-name.ts"
import { repositoryRoot } from "../support/acode.ts"

test("the user is who the system says", () => {
  const { stdout } = Bun.spawnSync(["id", "-un"])
  expect(userName()).toBe(stdout.toString().trim())
})

test("a variable does not make somebody else of them", () => {
  const file = JSON.stringify(join(repositoryRoot, "src/app/user-name.ts"))
  const script = `import { userName } from ${file}\nprocess.stdout.write(userName())`
  const env = { PATH: process.env["PATH"] ?? "", USER: "mallory", LOGNAME: "mallory" }
  const { stdout } = Bun.spawnSync([process.execPath, "-e", script], { env })
  expect(stdout.toString()).toBe(userName())
})
