import { CString, FFIType, type Pointer, read } from "bun:ffi"
import { openLibc } from "../base/libc.ts"

/**
 * Returns the name of the user who answers and approves, from the user database. The runtime would read the variable
 * USER instead, which any user can set to another name.
 */
export function userName(): string {
  const uid = process.getuid?.() ?? -1
  const { symbols, close } = openLibc({ getpwuid: { args: [FFIType.u32], returns: FFIType.ptr } })
  try {
    const entry = symbols.getpwuid(uid)
    // A container may run as a user id without a name. The name is the first field of the entry.
    if (entry === null) return `uid ${uid}`
    // The compiler accepts neither the result of a call nor a value read from memory as an address.
    return new CString(read.ptr(entry as Pointer, 0) as Pointer).toString()
  } finally {
    close()
  }
}
