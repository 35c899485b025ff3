import { describe, expect, test } from "bun:test"
import { judgeNode, judgePython } from "../../../src/policy/programs/analysis.ts"
import { findingsOf, layer, touchesOf } from "../policy-kit.ts"

const judged = (judge: typeof judgeNode, command: string) => {
  const found = layer(command)
  judge(found)
  return { findings: findingsOf(found), touches: touchesOf(found) }
}

describe("node", () => {
  test.each([
    "node --test",
    "node --test test/a.js",
    "node --check x.js",
    "node -c x.js",
    "node --version",
    "node --test --test-reporter tap",
  ])("%s tests or checks", command => {
    expect(judged(judgeNode, command).findings).toEqual([])
  })

  const risky: readonly (readonly [string, string])[] = [
    ["node", "ask commands.inline-code@0"],
    ["node x.js", "ask commands.run-file@1"],
    ["node -e x", "ask commands.inline-code@1"],
    ["node -pe x", "ask commands.inline-code@1"],
    ["node --eval=x", "ask commands.inline-code@1"],
    ["node -r x y.js", "ask commands.inline-code@1"],
    ["node --import=x --test", "ask commands.inline-code@1"],
    ["node --test --require x", "ask commands.inline-code@2"],
    ["node --inspect --test", "ask commands.inline-code@1"],
    ["node --env-file=.env --test", "ask commands.inline-code@1"],
    ["node --test {?}", "ask commands.dynamic-option@2"],
  ]
  test.each(risky)("%s runs code", (command, finding) => {
    expect(judged(judgeNode, command).findings).toContain(finding)
  })

  test("reads the file it runs", () => {
    expect(judged(judgeNode, "node x.js a b").touches).toEqual(["read x.js@1"])
  })
})

describe("python", () => {
  test.each([
    "python -m pytest",
    "python -m pytest -q tests",
    "python -m unittest discover",
    "python -V",
    "python --version",
    "python -m mypy src",
    "python -m pip list",
    "python -m coverage report",
    "python manage.py test",
    "python -B -m pytest",
  ])("%s tests, lints or lists", command => {
    expect(judged(judgePython, command).findings).toEqual([])
  })

  const risky: readonly (readonly [string, string])[] = [
    ["python", "ask commands.inline-code@0"],
    ["python x.py", "ask commands.run-file@1"],
    ["python manage.py migrate", "ask commands.run-file@1"],
    ["python -c x", "ask commands.inline-code@1"],
    ["python -cx", "ask commands.inline-code@1"],
    ["python -m http.server", "ask commands.inline-code@1"],
    ["python -mhttp.server", "ask commands.inline-code@1"],
    ["python -m pip install x", "ask commands.sub-command@3"],
    ["python -m pip", "ask commands.sub-command@3"],
    ["python -m coverage run x", "ask commands.inline-code@3"],
    ["python -m {?}", "ask commands.inline-code@1"],
    ["python --strange x.py", "ask commands.option@1"],
    ["python -i x.py", "ask commands.option@1"],
  ]
  test.each(risky)("%s runs code", (command, finding) => {
    expect(judged(judgePython, command).findings).toContain(finding)
  })
})
