import { afterAll, beforeAll, expect, test } from "bun:test"
import { mkdirSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { type FakeCheckout, fakeCheckout, setTraps } from "../support/workspace/fake-checkout.ts"

/** The shape of src/main.ts: the version is told before the program is so much as evaluated. */
const main = `
if (process.argv[2] === "--version") process.stdout.write("1.2.3")
else await import("./program.ts")
`
const program = `
import { answer } from "./library.ts"
process.stdout.write(JSON.stringify({ answer, argv: process.argv.slice(2), EVIL: process.env["EVIL"] ?? null }))
`

let checkout: FakeCheckout
let binary = ""

beforeAll(() => {
  checkout = fakeCheckout(["scripts/build", "scripts/with-bun", "scripts/pinned-bun.sh", "tsconfig.json"])
  checkout.write("src/main.ts", main)
  checkout.write("src/program.ts", program)
  checkout.write(
    "src/library.ts",
    'process.stdout.write("evaluated ")\nexport const answer = await Promise.resolve(42)\n',
  )
  const { exitCode, stderr } = checkout.run(["bash", "scripts/build"])
  expect({ exitCode, stderr: exitCode === 0 ? "" : stderr }).toEqual({ exitCode: 0, stderr: "" })
  binary = join(checkout.root, "dist/acode")
})

afterAll(() => checkout[Symbol.dispose]())

test("the build is one file, which runs where nothing else of the checkout is", () => {
  expect(readdirSync(join(checkout.root, "dist"))).toEqual(["acode"])
  expect(checkout.run([binary, "x"], { cwd: "/" }).stdout).toBe(
    'evaluated {"answer":42,"argv":["x"],"EVIL":null}',
  )
})

test("--version answers before the program is evaluated", () => {
  expect(checkout.run([binary, "--version"]).stdout).toBe("1.2.3")
})

test("the directory it is started from has no say", () => {
  const trap = join(checkout.root, "trap")
  mkdirSync(trap)
  setTraps(trap)
  const { stdout } = checkout.run([binary], { cwd: trap, env: { HOME: trap, XDG_CONFIG_HOME: trap } })
  expect(stdout).toBe('evaluated {"answer":42,"argv":[],"EVIL":null}')
})
