import { closeSync, constants, openSync, readdirSync, readlinkSync, unlinkSync } from "node:fs"
import { sha256Hex } from "../../base/canonical.ts"
import { type Faults, noFaults } from "../../base/faults.ts"
import { pathFromBytes } from "../../base/path-bytes.ts"
import type { DeletedEntry, WriteRequest, WrittenFile } from "../contract.ts"
import { fileFailure, onPath } from "../failures.ts"
import { isLeftover, putContent } from "./atomic-write.ts"
import { hashSteady, syncDirectory } from "./durable.ts"
import { entryPath, joinRelative } from "./pin.ts"
import { type PinnedName, pinDirectory, pinNameToDelete, pinNameToWrite } from "./pinned-name.ts"
import type { WorkspaceRoot } from "./root.ts"

/** Writes a file as a whole or not at all, durable on return. Creates missing parents and keeps the old mode. */
export function writeFile(
  root: WorkspaceRoot,
  request: WriteRequest,
  faults: Faults = noFaults,
): WrittenFile {
  using pinned = pinNameToWrite(root, request.path)
  const beforeSha256 = pinned.stat === null ? null : currentHash(pinned)
  refuseUnexpected(request, beforeSha256)
  putContent(pinned, request.content, null, faults)
  return {
    path: pinned.relative,
    created: beforeSha256 === null,
    beforeSha256,
    afterSha256: sha256Hex(request.content),
    createdDirectories: pinned.createdDirectories,
  }
}

/** Deletes files and symlinks. Inspects all of them before it deletes the first one, and follows no symlink. */
export function deleteFiles(
  root: WorkspaceRoot,
  paths: readonly string[],
  faults: Faults = noFaults,
): readonly DeletedEntry[] {
  using names = new DisposableStack()
  const found = paths.map(path => names.use(pinNameToDelete(root, path)))
  const entries = found.map(pinned => deletedEntry(pinned))
  for (const pinned of found) {
    onPath(pinned.relative, () => unlinkSync(entryPath(pinned.directory, pinned.name)))
    syncDirectory(pinned.directory.at)
    faults.reach("file.deleted")
  }
  return entries
}

/** Removes the files that interrupted writes left in a directory, and returns their paths. */
export function removeLeftovers(root: WorkspaceRoot, typedDirectory: string): readonly string[] {
  using directory = pinDirectory(root, typedDirectory, "list")
  const names = readdirSync(directory.at).filter(isLeftover)
  for (const name of names) unlinkSync(entryPath(directory, name))
  if (names.length > 0) syncDirectory(directory.at)
  return names.map(name => joinRelative(directory.relative, name))
}

function deletedEntry(pinned: PinnedName): DeletedEntry {
  if (pinned.stat?.isSymbolicLink()) {
    const target = readlinkSync(entryPath(pinned.directory, pinned.name), { encoding: "buffer" })
    return { path: pinned.relative, beforeSha256: null, symlinkTarget: pathFromBytes(target) }
  }
  return { path: pinned.relative, beforeSha256: currentHash(pinned), symlinkTarget: null }
}

/** Hashes the file. The name held a regular file a moment ago; anything else that is there now is not opened. */
function currentHash(pinned: PinnedName): string {
  const path = entryPath(pinned.directory, pinned.name)
  return onPath(pinned.relative, () => {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const sha256 = hashSteady(fd)
      if (sha256 === null)
        throw fileFailure("changed", pinned.relative, "is being written by another process")
      return sha256
    } finally {
      closeSync(fd)
    }
  })
}

function refuseUnexpected({ path, expected }: WriteRequest, before: string | null): void {
  if (expected === undefined) return
  if (expected === "absent") {
    if (before !== null) throw fileFailure("exists", path, "exists already")
    return
  }
  if (before === null) throw fileFailure("changed", path, "was removed meanwhile")
  if (before !== expected) throw fileFailure("changed", path, "was changed by another process meanwhile")
}
