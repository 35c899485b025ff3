import { afterEach, beforeEach, expect, test } from "bun:test"
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { compileLauncher, compilers } from "../../../scripts/launcher.ts"
import { launcherBytes } from "../../../src/sandbox/native/launcher-bytes.ts"
import { describeWhere, testWhere } from "../../support/requirement.ts"
import { confinementOf, openRoom, type Room, run, sandboxKinds, sh } from "../room.ts"

for (const { kind, missing } of sandboxKinds.filter(each => each.kind === "native" || each.kind === "perl")) {
  describeWhere(missing)(`a workspace shown as an overlay (${kind})`, () => {
    let room: Room
    let layers: { readonly lower: string; readonly upper: string; readonly work: string }
    beforeEach(() => {
      room = openRoom({}, kind)
      // Characters that separate the layers in the options of an overlay.
      const place = (name: string) => join(room.base, `layers: a,b\\c`, name)
      layers = { lower: room.root, upper: place("upper"), work: place("work") }
      for (const path of [layers.upper, layers.work]) mkdirSync(path, { recursive: true })
      room.write("kept", "before")
      room.write("gone", "before")
      room.write(".git/config", "[core]")
      room.write(".env", "secret")
    })
    afterEach(() => room.remove())

    test("keeps what the command does out of the workspace", async () => {
      const script = "echo after > kept; rm gone; mkdir -p new/deep; echo made > new/deep/file; cat kept; ls"
      const ran = await sh(room, script, { layers })
      expect(ran.tree.startFailure?.()?.report ?? null).toBeNull()
      expect(ran.stdout).toBe("after\nkept\nnew\n")
      expect(readFileSync(join(room.root, "kept"), "utf8")).toBe("before")
      expect(existsSync(join(room.root, "gone"))).toBe(true)
      expect(readdirSync(layers.upper).sort()).toEqual(["gone", "kept", "new"])
      expect(readFileSync(join(layers.upper, "new/deep/file"), "utf8")).toBe("made\n")
    })

    test("has the same masks as the workspace itself", async () => {
      const script = "cat .env; echo x >> .git/config; mv .git g; ls -A .agent; echo x > .agent/planted"
      const ran = await sh(room, script, { layers })
      expect(ran.stdout).toBe("")
      expect(ran.stderr.split("\n").filter(line => /denied|busy|Read-only/.test(line))).toHaveLength(4)
      expect(readdirSync(layers.upper)).toEqual([])
    })

    test("is refused when a layer is missing, and nothing runs", async () => {
      const ran = await sh(room, "echo > ran", { layers: { ...layers, work: join(room.base, "none") } })
      expect(ran.tree.startFailure?.()?.report).toMatchObject({
        code: "ACODE-EXE-010",
        message: expect.stringContaining(`open ${join(room.base, "none")} (ENOENT)`),
      })
      expect(existsSync(join(room.root, "ran"))).toBe(false)
    })
  })

  describeWhere(missing)(`a launch that fails (${kind})`, () => {
    let room: Room
    let failures: number
    beforeEach(() => {
      failures = 0
      room = openRoom({ onSetupFailed: () => (failures += 1) }, kind)
    })
    afterEach(() => room.remove())

    test("never gets to the command, and names the call and its error", async () => {
      room.write("deep/er/.env", "secret")
      const launch = await room.sandbox.prepare(confinementOf(room, ["/bin/sh", "-c", "echo > ran"]))
      // Another process puts a link where a directory was when the mounts were planned.
      renameSync(join(room.root, "deep/er"), join(room.root, "deep/real"))
      symlinkSync("real", join(room.root, "deep/er"))
      const ran = await run({ sandbox: { kind, prepare: async () => launch } }, confinementOf(room, []))
      expect(ran.exit.exitCode).toBe(125)
      expect(ran.tree.startFailure?.()?.report).toMatchObject({
        code: "ACODE-EXE-010",
        kind: "confinement",
        message: expect.stringMatching(/could not open .*deep\/er.* \(ELOOP\)/),
      })
      expect(existsSync(join(room.root, "ran"))).toBe(false)
      expect(failures).toBe(1)
    })

    test("is the fault of the program when the program cannot be started", async () => {
      writeFileSync(join(room.root, "broken"), "#!/no/such/interpreter\n", { mode: 0o755 })
      const ran = await run(room, confinementOf(room, [join(room.root, "broken")]))
      expect(ran.tree.startFailure?.()?.report.message).toContain(`start ${room.root}/broken (ENOENT)`)
      expect(failures).toBe(0)
    })
  })
}

for (const architecture of ["x64", "arm64"] as const) {
  const { program, version } = compilers[architecture]
  testWhere(otherCompiler(program, version))(
    `the launcher for ${architecture} is what its source says`,
    () => {
      expect(compileLauncher(architecture).toString("base64")).toBe(launcherBytes[architecture])
    },
  )
}

function otherCompiler(program: string, version: string): string | null {
  if (Bun.which(program) === null) return `${program} is not installed`
  const found = Bun.spawnSync([program, "--version"]).stdout.toString().split("\n")[0] ?? ""
  return found.endsWith(version.replace(/^gcc/, "")) ? null : `${program} is ${found} and not ${version}`
}
