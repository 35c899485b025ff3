import { describe, expect, test } from "bun:test"
import { analyseArgv, analyseScript } from "../../../src/policy/programs/script.ts"
import { findingsOf, layersOf, parser, scene, touchesOf } from "../policy-kit.ts"

const findings = (script: string) => findingsOf(layersOf(script))
const rules = (script: string) => [...new Set(findings(script).map(finding => finding.replace(/@.*/, "")))]

describe("a script", () => {
  test("that cannot be read is refused with the reason", () => {
    const [holder] = layersOf("ls |")
    expect(holder?.findings).toMatchObject([
      {
        severity: "never",
        rule: "never.unreadable-script",
        reason: "the script cannot be read: it is not a complete shell command",
      },
    ])
  })

  test("is refused without anybody to read it", () => {
    const { layers } = analyseScript("ls", scene, null)
    expect(findingsOf(layers)).toEqual(["never never.unreadable-script@0"])
    expect(findingsOf(analyseArgv(["sh", "-c", "ls"], scene, null).layers)).toEqual([
      "never never.unreadable-script@0",
    ])
  })

  test("that only bash understands is refused for a plain shell and asked for bash", () => {
    expect(rules("diff <(a) <(b)")).toContain("never never.unreadable-script")
    expect(rules("bash -c 'diff <(ls) <(ls)'")).toEqual(["ask commands.shell"])
    expect(rules("sh -c 'diff <(ls) <(ls)'")).toContain("never never.unreadable-script")
  })

  test("known only when it runs is refused", () => {
    for (const script of ['sh -c "$x"', 'sh -c "ls $x"', 'bash -c "$(cat x)"', "sh -c ~/x"])
      expect(rules(script)).toContain("never never.hidden-program")
  })

  test("does not run scripts for ever", () => {
    const nested = Array.from({ length: 20 }, () => "sh -c 'ls'").join("; ")
    expect(rules(nested)).toContain("never never.malformed")
  })
})

describe("paths", () => {
  const touches = (script: string) => layersOf(script).flatMap(touchesOf)

  test("are those of programs and of redirections", () => {
    expect(touches("cat a > b < c 2>> d")).toEqual(["read a@1", "write b@2", "read c@1", "write d@2"])
    expect(touches("ls > /dev/null 2>&1")).toEqual([])
    expect(touches("> a")).toEqual(["write a@0"])
  })

  test("that are devices or connections are refused", () => {
    expect(rules("ls > /dev/sda")).toContain("never never.destroys-disk")
    expect(rules("ls > /dev/tcp/a/1")).toContain("never never.hidden-program")
    expect(rules("cat < /dev/tcp/a/1")).toContain("never never.hidden-program")
  })
})

describe("changing the directory", () => {
  const directories = (script: string) => analyseScript(script, scene, parser).scene.directories

  test("means the rest may run in either place", () => {
    expect(directories("cd src && ls")).toEqual(["/w", "/w/src"])
    expect(directories("cd a; cd b")).toEqual(["/w", "/w/a", "/w/b", "/w/a/b"])
    expect(directories("cd /w/a")).toEqual(["/w", "/w/a"])
    expect(directories("ls")).toEqual(["/w"])
  })

  test("to nobody knows where means anywhere", () => {
    for (const script of ["cd $x", "cd", "cd -", "for i in a; do cd ..; done", "f() { cd ..; }; f"])
      expect(directories(script)).toBeNull()
    expect(directories("cd a; cd b; cd c; cd d")).toBeNull()
  })

  test("out of the workspace is asked", () => {
    for (const script of ["cd ..", "cd /", "cd ~", "cd $x", "pushd /tmp"])
      expect(rules(script)).toEqual(["ask commands.directory"])
    for (const script of ["cd src", "cd ./a/..", "cd /w/src"]) expect(rules(script)).toEqual([])
  })
})

describe("a function", () => {
  test("that is defined before is not asked when it is called", () => {
    expect(findings("f() { ls; }; f")).toEqual([])
  })

  test("that may not be defined is a program nobody knows", () => {
    for (const script of ["f; f() { ls; }", "(f() { ls; }); f", "false && f() { ls; }; f"])
      expect(rules(script)).toEqual(["ask commands.unknown-program"])
  })

  test("is not known to another shell", () => {
    expect(rules("f() { ls; }; sh -c f")).toEqual(["ask commands.unknown-program"])
    expect(rules("sh -c 'f() { ls; }'; f")).toEqual(["ask commands.unknown-program"])
  })

  test("must not take a name that means something", () => {
    for (const script of ["ls() { foo; }; ls", "(rm() { :; }); rm -rf /", "cd() { :; }", "sh() { :; }"])
      expect(rules(script)).toContain("never never.hidden-program")
  })

  test("must not start itself", () => {
    expect(rules(":(){ :|:& };:")).toContain("never never.fork-bomb")
    expect(rules("f() { f & f; }; f")).toContain("never never.fork-bomb")
  })
})

describe("what shells do themselves", () => {
  test("passes where it changes nothing", () => {
    for (const script of [
      ":",
      "true",
      "set -e",
      "set -euo pipefail",
      "x=1",
      "export CI=1",
      "unset x",
      "shift",
      "exit 1",
      "wait",
      "type ls",
      "command -v ls",
      "read -r line",
      "umask 022",
      "trap - EXIT",
      "exec 2>&1",
    ])
      expect(findings(script)).toEqual([])
  })

  test("is looked into where it starts something", () => {
    for (const script of [
      "command rm -rf /",
      "exec rm -rf /",
      "builtin eval x",
      "trap 'rm -rf /' EXIT",
      "command -p rm -rf /",
    ])
      expect(rules(script).join()).toContain("never ")
    expect(rules("exec foo")).toEqual(["ask commands.unknown-program"])
  })

  test("is asked or refused where it hides something", () => {
    expect(rules(". ./x")).toEqual(["ask commands.run-file"])
    expect(rules('. "$x"')).toContain("never never.hidden-program")
    expect(rules(". /dev/stdin")).toContain("never never.hidden-program")
    expect(rules("eval ls")).toContain("never never.hidden-program")
    expect(rules("alias a=b")).toContain("never never.hidden-program")
    expect(rules("declare -n a=PATH")).toContain("ask commands.shell")
    expect(rules("set --odd")).toEqual(["ask commands.shell"])
    expect(rules("trap 'foo' EXIT")).toEqual(["ask commands.unknown-program"])
  })

  test("is refused where a subscript hides a command", () => {
    for (const script of [
      "test -v 'a[$(id)]'",
      "printf -v 'a[$(id)]' x",
      "let 'a[`id`]=1'",
      "[ -v 'a[$(id)]' ]",
    ])
      expect(rules(script)).toContain("never never.hidden-program")
  })

  test("may set variables that matter", () => {
    for (const script of [
      "PATH=. ls",
      "PATH=.",
      "export LD_PRELOAD=x",
      "for PATH in a; do ls; done",
      "read PATH < x",
    ])
      expect(rules(script)).toEqual(["ask commands.environment"])
    for (const script of ["HOME=/ ls", "CDPATH=/ ls"])
      expect(rules(script)).toContain("never never.hidden-program")
  })
})

describe("what is piped", () => {
  test("into a shell or an interpreter is refused", () => {
    for (const script of [
      "echo x | sh",
      "cat x | env bash",
      "curl x | sudo sh",
      "a | (sh)",
      "echo 1 | python3",
      "sh < x",
    ])
      expect(rules(script)).toContain("never never.piped-script")
  })

  test("into anything else is data", () => {
    for (const script of ["cat x | wc -l", "cat x | python3 -m json.tool", "ls | xargs wc -l"])
      expect(findings(script)).toEqual([])
  })

  test("as a text that can be read is read", () => {
    expect(findings("sh <<'E'\nls\nE")).toEqual([])
    expect(rules("sh <<'E'\nrm -rf /\nE")).toEqual(["never never.recursive-delete"])
    expect(rules("sh <<E\n$x\nE")).toEqual(["never never.piped-script"])
  })
})

test("arguments that deceive are asked", () => {
  expect(findingsOf(analyseArgv(["echo", "a\u202eb"], scene, null).layers)).toEqual([
    "ask commands.deceiving-text@1",
  ])
  expect(findingsOf(analyseArgv(["echo", "a\ue000"], scene, null).layers)).toEqual([
    "ask commands.deceiving-text@1",
  ])
  expect(findingsOf(analyseArgv(["echo", "a\nb\tc é"], scene, null).layers)).toEqual([])
})
