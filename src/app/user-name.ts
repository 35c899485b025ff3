import { CString, dlopen, FFIType, type Pointer, read } from "bun:ffi"

/**
 * Who answers and approves, as the system knows them. The runtime's own answer is the variable USER, which anybody may
 * set to be somebody else.
 */
export function userName(): string {
  const uid = process.getuid?.() ?? -1
  const { symbols, close } = dlopen("libc.so.6", {
    getpwuid: { args: [FFIType.u32], returns: FFIType.ptr },
  })
  try {
    const entry = symbols.getpwuid(uid)
    // A container may run as a number that has no name. The name is the first field of the entry.
    if (entry === null) return `uid ${uid}`
    // The compiler takes neither what a call gives nor what is read from memory for an address.
    return new CString(read.ptr(entry as Pointer, 0) as Pointer).toString()
  } finally {
    close()
  }
}
