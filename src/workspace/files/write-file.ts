import { closeSync, constants, openSync, readdirSync, readlinkSync, unlinkSync } from "node:fs"
import { sha256Hex } from "../../base/canonical.ts"
import { type Faults, noFaults } from "../../base/faults.ts"
import { pathFromBytes } from "../../base/path-bytes.ts"
import type { DeletedEntry, WriteRequest, WrittenFile } from "../contract.ts"
import { fileFailure, onPath } from "../failures.ts"
import { isLeftover, putContent } from "./atomic-write.ts"
import { hashSteady, syncDirectory } from "./durable.ts"
import { entryPath, joinRelative } from "./pin.ts"
import { type Place, pinDirectory, placeToDelete, placeToWrite } from "./place.ts"
import type { WorkspaceRoot } from "./root.ts"

/** Writes a file whole or not at all, durable when it returns. Missing parents are made, the old mode is kept. */
export function writeFile(
  root: WorkspaceRoot,
  request: WriteRequest,
  faults: Faults = noFaults,
): WrittenFile {
  using place = placeToWrite(root, request.path)
  const beforeSha256 = place.stat === null ? null : currentHash(place)
  refuseUnexpected(request, beforeSha256)
  putContent(place, request.content, null, faults)
  return {
    path: place.relative,
    created: beforeSha256 === null,
    beforeSha256,
    afterSha256: sha256Hex(request.content),
    createdDirectories: place.createdDirectories,
  }
}

/** Deletes files and symlinks. All of them are looked at before the first one goes, and no symlink is followed. */
export function deleteFiles(
  root: WorkspaceRoot,
  paths: readonly string[],
  faults: Faults = noFaults,
): readonly DeletedEntry[] {
  using places = new DisposableStack()
  const found = paths.map(path => places.use(placeToDelete(root, path)))
  const entries = found.map(place => deletedEntry(place))
  for (const place of found) {
    onPath(place.relative, () => unlinkSync(entryPath(place.directory, place.name)))
    syncDirectory(place.directory.at)
    faults.reach("file.deleted")
  }
  return entries
}

/** Removes what interrupted writes left in a directory. Gives their names. */
export function removeLeftovers(root: WorkspaceRoot, typedDirectory: string): readonly string[] {
  using directory = pinDirectory(root, typedDirectory, "list")
  const names = readdirSync(directory.at).filter(isLeftover)
  for (const name of names) unlinkSync(entryPath(directory, name))
  if (names.length > 0) syncDirectory(directory.at)
  return names.map(name => joinRelative(directory.relative, name))
}

function deletedEntry(place: Place): DeletedEntry {
  if (place.stat?.isSymbolicLink()) {
    const target = readlinkSync(entryPath(place.directory, place.name), { encoding: "buffer" })
    return { path: place.relative, beforeSha256: null, symlinkTarget: pathFromBytes(target) }
  }
  return { path: place.relative, beforeSha256: currentHash(place), symlinkTarget: null }
}

/** The name was looked at a moment ago and holds a regular file; anything else there now is not opened. */
function currentHash(place: Place): string {
  const path = entryPath(place.directory, place.name)
  return onPath(place.relative, () => {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const sha256 = hashSteady(fd)
      if (sha256 === null) throw fileFailure("changed", place.relative, "is being written by somebody else")
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
  if (before !== expected) throw fileFailure("changed", path, "was changed by somebody else meanwhile")
}
