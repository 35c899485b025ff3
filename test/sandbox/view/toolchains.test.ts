import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { findToolchains, rememberToolchains } from "../../../src/sandbox/view/toolchains.ts"
import { testProtection } from "../room.ts"

describe("toolchains outside the system directories", () => {
  let home: string
  beforeEach(() => {
    home = realpathSync(mkdtempSync(join(tmpdir(), "acode-home-")))
  })
  afterEach(() => rmSync(home, { recursive: true, force: true }))

  const make = (...directories: readonly string[]) => {
    for (const directory of directories) mkdirSync(join(home, directory), { recursive: true })
  }
  const found = (environment: Readonly<Record<string, string>>, kept: readonly string[] = []) =>
    findToolchains({
      home,
      environment,
      protection: testProtection,
      shown: ["/usr", "/bin"],
      kept: [home, ...kept],
    }).map(mount => `${mount.kind} ${relative(home, mount.path)}`)

  test("are found by a PATH that leads into them, and shown from their root", () => {
    make(".nvm/versions/node/v20/bin", ".pyenv/shims", ".pyenv/bin", ".volta/bin")
    const path = [
      `${home}/.nvm/versions/node/v20/bin`,
      `${home}/.pyenv/shims`,
      `${home}/.pyenv/bin/`,
      "/usr/bin",
    ]
    expect(found({ PATH: path.join(":") })).toEqual(["readOnly .nvm", "readOnly .pyenv"])
  })

  test("bring what they do not work without", () => {
    make(".cargo/bin", ".rustup/toolchains", ".local/bin", ".local/share/pipx")
    expect(found({ PATH: `${home}/.cargo/bin:${home}/.local/bin` })).toEqual([
      "readOnly .cargo",
      "readOnly .rustup",
      "readOnly .local/bin",
      "readOnly .local/share/pipx",
    ])
  })

  test("are found where a variable says they are", () => {
    make("tools/rust", "elsewhere/go", "java")
    const environment = {
      PATH: "/usr/bin",
      RUSTUP_HOME: `${home}/tools/rust`,
      GOPATH: `${home}/elsewhere/go:${home}/missing`,
      JAVA_HOME: `${home}/java`,
    }
    expect(found(environment).sort()).toEqual([
      "readOnly elsewhere/go",
      "readOnly java",
      "readOnly tools/rust",
    ])
  })

  test("keep their credentials to themselves", () => {
    make(".cargo/bin", ".cargo/secrets")
    for (const name of ["credentials.toml", "config.toml"]) writeFileSync(join(home, ".cargo", name), "")
    symlinkSync("/etc/passwd", join(home, ".cargo", "ca.pem"))
    expect(found({ PATH: `${home}/.cargo/bin` }).sort()).toEqual([
      "hiddenFile .cargo/credentials.toml",
      "readOnly .cargo",
      "scratch .cargo/secrets",
    ])
  })

  test("that no table knows are shown as the directory on the PATH alone", () => {
    make("scripts/bin", "scripts/private-notes")
    expect(found({ PATH: `${home}/scripts/bin` })).toEqual(["readOnly scripts/bin"])
  })

  test("never bring the home directory, its secrets or the state of acode into view", () => {
    make(".ssh", "data/acode/keys", "data/bin")
    const path = [home, `${home}/`, `${home}/..`, "/", `${home}/.ssh`, `${home}/data`].join(":")
    expect(
      found({ PATH: path, JAVA_HOME: home, CARGO_HOME: `${home}/data` }, [`${home}/data/acode`]),
    ).toEqual([])
  })

  test("ignore relative and missing entries and what the system shows anyway", () => {
    expect(found({ PATH: `bin:.::/usr/bin:${home}/gone:/usr/local/bin`, NVM_DIR: "relative" })).toEqual([])
  })

  test("come with packages that were fetched before, when there are any", () => {
    make("go/pkg/mod", ".m2/repository")
    writeFileSync(join(home, ".m2/settings.xml"), "password")
    expect(found({ PATH: "/usr/bin" })).toEqual(["readOnly .m2/repository", "readOnly go/pkg/mod"])
  })

  test("are remembered for a moment, and not for another workspace", () => {
    let nowMs = 0
    const find = rememberToolchains({ now: () => nowMs, monotonicMs: () => nowMs }, 1_000)
    const names = (root: string) =>
      find({
        home,
        environment: { PATH: `${home}/.cargo/bin` },
        protection: testProtection,
        shown: [root],
        kept: [home],
      }).map(({ path }) => relative(home, path))
    expect(names("/one")).toEqual([])
    make(".cargo/bin")
    nowMs = 999
    expect(names("/one")).toEqual([])
    expect(names("/two")).toEqual([".cargo"])
    nowMs = 2_000
    expect(names("/one")).toEqual([".cargo"])
  })
})
