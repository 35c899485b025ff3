import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathFromBytes } from "../../../src/base/path-bytes.ts"
import type { LayerDirectories } from "../../../src/workspace/transaction/contract.ts"

/** A path with its type, mode, time, target and content, by GNU find and an independent hash. */
export type ExactManifest = ReadonlyMap<string, string>

export interface OverlayRun {
  readonly exitCode: number | null
  readonly output: string
  /** The merged view as the kernel shows it when the command has ended. */
  readonly view: ExactManifest
}

/**
 * Runs a shell script, given as bytes in latin1, in a real overlay of the layers and returns what the kernel shows
 * there afterwards: the oracle of every merge.
 */
export async function runInOverlay(layers: LayerDirectories, script: string): Promise<OverlayRun> {
  const scratch = mkdtempSync(join(tmpdir(), "acode-overlay-"))
  try {
    await Bun.write(join(scratch, "script"), Buffer.from(script, "latin1"))
    const { lower, upper, work } = layers
    const run = Bun.spawn(["unshare", "-Urm", "sh", "-c", overlayScript, "sh", lower, upper, work, scratch], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    })
    const [stdout, stderr] = await Promise.all([run.stdout.text(), run.stderr.text()])
    await run.exited
    const [names, sums] = await Promise.all(
      ["names", "sums"].map(async name => Buffer.from(await Bun.file(join(scratch, name)).bytes())),
    )
    const view = parsedManifest(names ?? Buffer.of(), sums ?? Buffer.of())
    return { exitCode: run.exitCode, output: stdout + stderr, view }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

const listing = String.raw`find . -mindepth 1 \( -path ./.agent -o -path ./.git \) -prune -o \( -mindepth 1 -type d -printf '%P\0d %m\0' -o -printf '%P\0%y %m %T@ %l\0' \)`
const sums = String.raw`find . \( -path ./.agent -o -path ./.git \) -prune -o -type f -exec sha256sum -z -- {} +`
const overlayScript = `
mkdir "$4/view" && : > "$4/names" && : > "$4/sums" || exit 125
mount -t overlay overlay -o "userxattr,volatile,lowerdir=$1,upperdir=$2,workdir=$3" "$4/view" || exit 125
cd "$4/view" || exit 125
sh "$4/script"
code=$?
${listing} > "$4/names"
${sums} > "$4/sums"
exit $code`

/** Returns the manifest of a directory without acode's own state. */
export function exactManifest(root: string): ExactManifest {
  const output = (script: string) => Bun.spawnSync(["sh", "-c", script], { cwd: root }).stdout
  return parsedManifest(output(listing), output(sums))
}

function parsedManifest(names: Uint8Array, hashes: Uint8Array): ExactManifest {
  const found = new Map<string, string>()
  const fields = splitBytes(names)
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const about = Buffer.from(fields[index + 1] ?? []).toString("latin1")
    found.set(pathFromBytes(fields[index] ?? new Uint8Array()), about)
  }
  for (const line of splitBytes(hashes)) {
    const path = pathFromBytes(line.subarray(68))
    found.set(path, `${found.get(path)} ${Buffer.from(line.subarray(0, 64)).toString("latin1")}`)
  }
  return found
}

/** Returns the parts of a list whose items end with a NUL byte, as find and sha256sum print it with -z. */
export function splitBytes(bytes: Uint8Array): readonly Uint8Array[] {
  const parts: Uint8Array[] = []
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf(0, from)
    parts.push(bytes.subarray(from, end))
    from = end + 1
  }
  return parts
}

/** Returns one line for each path that differs between two manifests. */
export function manifestDifferences(before: ExactManifest, after: ExactManifest): readonly string[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter(path => before.get(path) !== after.get(path))
    .sort()
    .map(path => `${JSON.stringify(path)}: ${before.get(path)} became ${after.get(path)}`)
}

/** The reason why a layer cannot be mounted here; null when it can. */
export const missingOverlay: string | null = overlayProblem()

function overlayProblem(): string | null {
  if (Bun.which("unshare") === null) return "unshare is not installed"
  const scratch = mkdtempSync(join(tmpdir(), "acode-overlay-"))
  const script =
    "mkdir l u w v && mount -t overlay overlay -o userxattr,lowerdir=l,upperdir=u,workdir=w v && : > v/made"
  try {
    const { exitCode, stderr } = Bun.spawnSync(["unshare", "-Urm", "sh", "-c", script], { cwd: scratch })
    return exitCode === 0 ? null : `no overlay can be mounted here: ${stderr.toString().trim()}`
  } finally {
    Bun.spawnSync(["chmod", "-R", "u+rwx", scratch])
    rmSync(scratch, { recursive: true, force: true })
  }
}
