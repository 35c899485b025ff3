import { describe, expect, test } from "bun:test"
import { packageRules } from "../../../src/policy/programs/shipped.ts"
import { decideOn, execute } from "../policy-kit.ts"

const decided = (command: string) => decideOn([execute(command.split(" "))])

describe("a package manager", () => {
  test.each([
    "npm test",
    "npm t",
    "npm run build",
    "npm run",
    "npm run-script x",
    "npm start",
    "npm -w a test",
    "npm --workspace=a run x",
    "npm run build --if-present",
    "npm --silent test",
    "npm ls",
    "npm ls --all",
    "npm explain a",
    "yarn test",
    "yarn run x",
    "yarn build",
    "yarn why a",
    "pnpm test",
    "pnpm -F a test",
    "pnpm run x",
    "bun test",
    "bun run x",
    "bun build a.ts --outdir out",
    "composer validate",
    "bundle check",
    "pip list",
    "pip show a",
    "pip3 freeze",
    "poetry check",
    "gem list",
  ])("%s runs or lists what is there", command => {
    expect(decided(command)).toMatchObject({ decision: "allow", confined: true })
  })

  test.each([
    "npm install",
    "npm i",
    "npm ci",
    "npm add a",
    "npm update",
    "npm exec a",
    "npm x a",
    "npm init a",
    "npm create a",
    "npm publish",
    "npm audit",
    "npm view a",
    "npm login",
    "yarn add a",
    "yarn dlx a",
    "yarn install",
    "pnpm dlx a",
    "pnpm add a",
    "bun add a",
    "bun x a",
    "bun install",
    "pip install a",
    "pip download a",
    "poetry add a",
    "gem install a",
    "npx a",
    "bunx a",
    "uvx a",
    "rustup update",
    "bundle install",
    "corepack enable",
  ])("%s is asked as something that fetches", command => {
    expect(decided(command)).toMatchObject({ decision: "ask", category: "EXTERNAL_REQUEST", level: 3 })
  })

  test.each([
    "npm",
    "yarn",
    "pnpm",
    "bun",
    "npm foo",
    "yarn foo",
    "bun a.ts",
    "bun -e x",
    "composer install",
    "npm --prefix / test",
    "npm -C / test",
    "npm test --script-shell=x",
    "npm test --script-s=x",
    "npm run x --node-options=y",
    "npm --userconfig x test",
    "npm -g ls",
    "npm ls --registry=x",
    "yarn --cwd / test",
    "bun test --preload x",
    "bun run --env-file=x y",
    "pip --python x list",
    "bun --config=x test",
  ])("%s is asked", command => {
    expect(decided(command).decision).toBe("ask")
  })
})

test("every rule is about packages", () => {
  for (const { rule } of packageRules) expect(rule).toBe("packages")
})
