import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { Failure } from "../../src/domain/failure.ts"
import { commandWords } from "../../src/exec/words.ts"

/** The words, or why there are none. */
function wordsOrRefusal(line: string): readonly string[] | string {
  try {
    return commandWords(line)
  } catch (error) {
    if (error instanceof Failure && error.report.code === "ACODE-EXE-007") return error.message
    throw error
  }
}

describe("one string is split into words as a shell would", () => {
  for (const [line, words] of [
    ["npm test", ["npm", "test"]],
    ["  npm \t test  ", ["npm", "test"]],
    ["git commit -m 'a b'", ["git", "commit", "-m", "a b"]],
    ['git commit -m "a b"', ["git", "commit", "-m", "a b"]],
    [`echo "it's" 'say "hi"'`, ["echo", "it's", 'say "hi"']],
    ["echo a'b'\"c\"d", ["echo", "abcd"]],
    ["echo '' \"\"", ["echo", "", ""]],
    ["echo a\\ b \\$HOME \\\\ \\'", ["echo", "a b", "$HOME", "\\", "'"]],
    ['echo "a \\"quoted\\" \\$x \\` \\\\ \\n"', ["echo", 'a "quoted" $x ` \\ \\n']],
    ["echo 'a; b | c & d > e < f $x `y` (z) * ? ~ #'", ["echo", "a; b | c & d > e < f $x `y` (z) * ? ~ #"]],
    ["git show HEAD~1 a#b x=y %d", ["git", "show", "HEAD~1", "a#b", "x=y", "%d"]],
    ["[ -f x ]", ["[", "-f", "x", "]"]],
    ["find -name x -exec cat {} +", ["find", "-name", "x", "-exec", "cat", "{}", "+"]],
    ["echo 'two\nlines'", ["echo", "two\nlines"]],
    ["echo déjà \u{1f600}", ["echo", "déjà", "\u{1f600}"]],
  ] as const)
    test(JSON.stringify(line), () => expect(commandWords(line)).toEqual([...words]))
})

describe("what only a shell can do is refused and named", () => {
  for (const [line, character] of [
    ["a; b", '";" at character 2'],
    ["a & b", '"&" at character 3'],
    ["a && b", '"&"'],
    ["a | b", '"|"'],
    ["echo $HOME", '"$" at character 6'],
    ["echo `id`", '"`"'],
    ["a > b", '">"'],
    ["a < b", '"<"'],
    ["(a)", '"("'],
    ["a )", '")"'],
    ["ls *.ts", '"*"'],
    ["ls a?", '"?"'],
    ["ls [ab]", '"["'],
    ["ls x[", '"["'],
    ["ls ~", '"~"'],
    ["ls ~/src", '"~"'],
    ["ls # all", '"#"'],
    ["a\nb", "a line break"],
    ["a\rb", '"\\x0d"'],
    ["a\u0000b", '"\\x00"'],
    ["a\u00a0b", "means something only to a shell"],
    ["a \\\n b", "means something only to a shell"],
    ["a \\", "means something only to a shell"],
    ["echo 'open", "the quote ' is not closed"],
    ['echo "open', 'the quote " is not closed'],
    ['echo "$HOME"', "$ and ` inside double quotes"],
    ['echo "`id`"', "$ and ` inside double quotes"],
    ["", "it names no program"],
    [" \t ", "it names no program"],
    ["''", "it names no program"],
    ["' ' x", "it names no program"],
    ["FOO=bar npm test", '"FOO=bar" sets a variable'],
  ] as const)
    test(JSON.stringify(line), () => expect(wordsOrRefusal(line)).toContain(character))

  test("with a hint on what to do instead", () => {
    const refusal = (line: string) => {
      try {
        commandWords(line)
      } catch (error) {
        if (error instanceof Failure) return error.report
      }
      return null
    }
    expect(refusal("a | b")?.hint).toBe("use --shell or separate arguments")
    expect(refusal("A=1 b")?.hint).toBe("use --env NAME=VALUE")
    expect(refusal(`a | ${"b".repeat(1000)}`)?.where?.length).toBeLessThanOrEqual(200)
  })
})

describe("programs that nobody has as a file", () => {
  const runs = (line: string) => Bun.spawnSync([...commandWords(line)]).exitCode

  test("exit with the code that was asked for", () => {
    expect(
      ["exit", "exit 0", "exit 42", "exit 255", "true", "false", "true x", "'exit' 7"].map(runs),
    ).toEqual([0, 0, 42, 255, 0, 1, 0, 7])
  })

  test("exit with nothing but a code", () => {
    for (const line of [
      "exit abc",
      "exit -1",
      "exit 256",
      "exit 1e2",
      "exit ''",
      "exit 99999999999999999999",
    ])
      expect(wordsOrRefusal(line)).toContain("exit takes a number from 0 to 255")
    expect(wordsOrRefusal("exit 1 2")).toContain("exit takes one number")
  })
})

test("an accepted string means the same to a real shell", () => {
  const piece = fc.constantFrom(
    "a",
    "b",
    " ",
    "\t",
    "'",
    '"',
    "\\",
    "$",
    ";",
    "~",
    "#",
    "[",
    "]",
    "{",
    "é",
    "=",
    "*",
  )
  const lines = fc.sample(
    fc.array(piece, { maxLength: 12 }).map(pieces => pieces.join("")),
    6000,
  )
  const accepted = lines.flatMap(line => {
    const words = wordsOrRefusal(`echo ${line}`)
    return typeof words === "string" ? [] : [{ line, words: words.slice(1) }]
  })
  expect(accepted.length).toBeGreaterThan(300)
  const script = accepted.map(({ line }) => `printf '<%s>' ${line}; echo`).join("\n")
  const { stdout, stderr } = Bun.spawnSync(["/bin/sh"], { stdin: Buffer.from(script), cwd: "/" })
  expect(stderr.toString()).toBe("")
  const expected = accepted.map(({ words }) =>
    words.length === 0 ? "<>" : words.map(word => `<${word}>`).join(""),
  )
  expect(stdout.toString().split("\n").slice(0, -1)).toEqual(expected)
})
