import { chmodSync, closeSync, constants, lstatSync, mkdirSync, openSync, writeSync } from "node:fs"
import { join } from "node:path"
import { errnoOf } from "../base/assert.ts"
import { Failure } from "../domain/failure.ts"

/** Where the state of one workspace lives. `keys` and `anchors` are outside it on purpose. */
export interface StatePlaces {
  readonly agentDirectory: string
  readonly databasePath: string
  readonly artifactsDirectory: string
  readonly quarantineDirectory: string
  /** The one place with byte-exact copies of user files; masked in every sandbox like all of `.agent`. */
  readonly checkpointsDirectory: string
  /** Keys, anchors and trust of all workspaces. */
  readonly dataDirectory: string
  readonly keysDirectory: string
  readonly anchorsDirectory: string
  readonly trustDirectory: string
}

export function statePlaces(workspaceRoot: string, dataHome: string): StatePlaces {
  const agentDirectory = join(workspaceRoot, ".agent")
  const dataDirectory = join(dataHome, "acode")
  return {
    agentDirectory,
    databasePath: join(agentDirectory, "workspace.db"),
    artifactsDirectory: join(agentDirectory, "artifacts"),
    quarantineDirectory: join(agentDirectory, "quarantine"),
    checkpointsDirectory: join(agentDirectory, "checkpoints"),
    dataDirectory,
    keysDirectory: join(dataDirectory, "keys"),
    anchorsDirectory: join(dataDirectory, "anchors"),
    trustDirectory: join(dataDirectory, "trust"),
  }
}

/** Everything acode keeps is state, but for the configuration that people share. */
const gitignore = "*\n!.gitignore\n!config.yml\n"

/** Makes `.agent` ready to hold state. A symlink in its place would send our writes somewhere else: refused. */
export function ensureAgentDirectory(agentDirectory: string): void {
  try {
    mkdirSync(agentDirectory, { mode: 0o700 })
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw cannotCreate(agentDirectory, errnoOf(error))
  }
  const stat = lstatSync(agentDirectory)
  if (!stat.isDirectory()) throw notADirectory()
  if ((stat.mode & 0o022) !== 0) chmodSync(agentDirectory, stat.mode & 0o755)
  writeOnce(join(agentDirectory, ".gitignore"), gitignore)
}

function writeOnce(path: string, content: string): void {
  try {
    const fd = openSync(
      path,
      constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
      0o644,
    )
    writeSync(fd, content)
    closeSync(fd)
  } catch (error) {
    // There already: a person's own version is theirs to keep.
    if (errnoOf(error) !== "EEXIST") throw cannotCreate(path, errnoOf(error))
  }
}

function cannotCreate(path: string, errno: string | null): Failure {
  return new Failure({
    kind: "general",
    code:
      errno === "EROFS" || errno === "EACCES"
        ? "ACODE-DB-003"
        : errno === "ENOSPC"
          ? "ACODE-DB-004"
          : "ACODE-DB-001",
    message: `cannot keep a record of what happens: ${errno ?? "unknown error"}`,
    where: path.endsWith(".gitignore") ? ".agent/.gitignore" : ".agent",
    hint: "nothing is run that cannot be recorded; make the workspace writable or choose another one with -C",
  })
}

function notADirectory(): Failure {
  return new Failure({
    kind: "confinement",
    code: "ACODE-SEC-006",
    message: ".agent is not a directory of this workspace (a symlink or a file stands there)",
    where: ".agent",
    hint: "remove it; acode keeps its state only in a real directory",
  })
}
