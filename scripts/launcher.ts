import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/**
 * Compiles the launcher of the sandbox for every architecture and writes the bytes where the product has them. Run it
 * after a change of launcher.c, with the compilers that `compilers` names: others make other bytes of the same source.
 */
const folder = join(import.meta.dir, "../src/sandbox/native")

/** The compiler of each architecture, and the version whose bytes are checked in. */
export const compilers = {
  x64: { program: "x86_64-linux-gnu-gcc", version: "gcc (Debian 12.2.0-14+deb12u1) 12.2.0" },
  arm64: { program: "aarch64-linux-gnu-gcc", version: "gcc (Debian 12.2.0-14) 12.2.0" },
} as const

const flags = [
  ...["-static", "-nostdlib", "-ffreestanding", "-Os", "-Wall", "-Wextra", "-Werror"],
  ...["-fno-pic", "-no-pie", "-fno-stack-protector", "-fno-asynchronous-unwind-tables", "-fno-ident"],
  ...["-Wl,--build-id=none,-z,noseparate-code,-z,norelro,-z,noexecstack", "-s"],
]

/** Returns the program that the compiler of an architecture makes of the source. */
export function compileLauncher(architecture: keyof typeof compilers): Buffer {
  const directory = mkdtempSync(join(tmpdir(), "acode-launcher-"))
  try {
    const [source, output] = [join(folder, "launcher.c"), join(directory, "launcher")]
    const { exitCode, stderr } = Bun.spawnSync([
      compilers[architecture].program,
      ...flags,
      "-o",
      output,
      source,
    ])
    if (exitCode !== 0) throw new Error(stderr.toString())
    return readFileSync(output)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  const lines = Object.keys(compilers).map(name => {
    // as: these are the keys of that very object.
    const bytes = compileLauncher(name as keyof typeof compilers).toString("base64")
    const rows = bytes.match(/.{1,32}/g) ?? []
    return `  ${name}: [\n${rows.map(row => `    "${row}",\n`).join("")}  ].join(""),\n`
  })
  writeFileSync(
    join(folder, "launcher-bytes.ts"),
    `/** The bytes that the compilers make of launcher.c, in base64; written by scripts/launcher.ts. */\nexport const launcherBytes = {\n${lines.join("")}} as const\n`,
  )
}
