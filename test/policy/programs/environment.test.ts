import { describe, expect, test } from "bun:test"
import { checkAssignment, hasHiddenCommand } from "../../../src/policy/programs/environment.ts"
import { findingsOf, layer } from "../policy-kit.ts"

const judged = (name: string, value = "1") => {
  const found = layer("ls")
  checkAssignment(found, { name, value }, 0)
  return findingsOf(found)
}

describe("a variable", () => {
  const dangerous =
    "PATH LD_PRELOAD LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES GIT_PAGER GIT_SSH_COMMAND GIT_DIR GIT_CONFIG_COUNT PAGER " +
    "EDITOR NODE_OPTIONS NODE_PATH PYTHONPATH PYTHONSTARTUP PERL5OPT RUBYOPT BASH_ENV ENV IFS SHELLOPTS PS4 " +
    "PROMPT_COMMAND CC MAKEFLAGS GOFLAGS CARGO_HOME RUSTC_WRAPPER RUSTFLAGS JAVA_TOOL_OPTIONS LESSOPEN TAR_OPTIONS " +
    "RIPGREP_CONFIG_PATH HOME XDG_CONFIG_HOME TMPDIR SHELL DOCKER_HOST npm_config_script_shell http_proxy Path path"
  test.each(dangerous.split(" "))("%s can change what programs do", name => {
    expect(judged(name)).toEqual(["ask commands.environment@0"])
  })

  test.each(
    "CI NODE_ENV NO_COLOR FORCE_COLOR LANG LC_ALL TZ DEBUG RUST_BACKTRACE CGO_ENABLED x count my_var i2".split(
      " ",
    ),
  )("%s cannot", name => {
    expect(judged(name)).toEqual([])
  })

  test("may hide a command in a subscript, which arithmetic would run", () => {
    expect(judged("x", "a[$(id)]")).toEqual(["ask commands.inline-code@0"])
    expect(judged("x", "a[1]")).toEqual([])
  })
})

test("a hidden command is one that a subscript holds", () => {
  for (const text of ["a[$(id)]", "a[`id`]", "x[1+$(id)]"]) expect(hasHiddenCommand(text)).toBe(true)
  for (const text of ["a[1]", "$(id)", "a[1] $(id)", "[ab]"]) expect(hasHiddenCommand(text)).toBe(false)
})
