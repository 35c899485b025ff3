import { describe, expect, test } from "bun:test"
import { fileRules, outsideRules } from "../../../src/policy/programs/shipped-files.ts"
import { decideOn, execute } from "../policy-kit.ts"

const decision = (command: string) => decideOn([execute(command.split(" "))]).decision

describe("reading and searching", () => {
  test.each([
    "cat a",
    "head -n 5 a",
    "ls -la",
    "grep -rn x src",
    "rg x",
    "sort a",
    "sort -k 2 a",
    "uniq a",
    "jq .a b",
    "date",
    "wc -l a",
    "diff a b",
    "fd x",
    "tree",
    "du -sh",
    "echo x",
    "file a",
  ])("%s passes", command => {
    expect(decision(command)).toBe("allow")
  })

  test.each([
    "rg --pre x y",
    "fd -x rm",
    "sort -o a b",
    "sort --compress-program=x a",
    "uniq a b",
    "jq -f x y",
    "date -s x",
    "man -P x y",
    "ag --pager x y",
    "yq -i x y",
    "less a",
  ])("%s is asked", command => {
    expect(decision(command)).toBe("ask")
  })
})

describe("changing files", () => {
  test.each([
    "touch a",
    "cp a b",
    "mv a b",
    "ln -s a b",
    "rm a",
    "rmdir a",
    "chmod +x a",
    "tee a",
    "install a b",
    "patch",
    "unzip a",
    "dd if=a of=b",
    "truncate -s 0 a",
  ])("%s is asked", command => {
    expect(decision(command)).toBe("ask")
  })

  test("a new directory is not", () => {
    expect(decision("mkdir -p a/b")).toBe("allow")
    expect(decision("mkdir -m 700 a")).toBe("allow")
  })

  test.each([
    "cp .env a",
    "cp a .env",
    "cp -t .git a",
    "mv .git a",
    "mv a .npmrc",
    "ln -s a .git/hooks/x",
    "tee .envrc",
    "cat secrets/a",
    "sort -o .git/config a",
    "head -1 id_rsa",
  ])("%s is refused, for what it names", command => {
    expect(decision(command)).toBe("deny")
  })
})

describe("programs that reach out", () => {
  const programs = outsideRules.flatMap(rule => rule.programs.split(" "))
  test.each(programs)("%s is asked", name => {
    expect(decision(`${name} x`)).not.toBe("allow")
  })

  test.each(programs)("%s may be asked for its version", name => {
    expect(decision(`${name} --version`)).toBe("allow")
  })
})

test("no rule is empty", () => {
  for (const { rule, programs } of [...fileRules, ...outsideRules]) expect(`${rule}${programs}`).toMatch(/\S/)
})
