import { dlopen, FFIType, ptr } from "bun:ffi"

/**
 * Exchanges two names again and again until it is killed, as a hostile program beside acode would. Run as a program:
 * `bun swapper.ts A B`.
 */
const [first = "", second = ""] = process.argv.slice(2)
const libc = dlopen("libc.so.6", {
  renameat2: {
    args: [FFIType.i32, FFIType.ptr, FFIType.i32, FFIType.ptr, FFIType.u32],
    returns: FFIType.i32,
  },
})
const [a, b] = [Buffer.from(`${first}\0`), Buffer.from(`${second}\0`)]
const currentDirectory = -100
const exchange = 2

process.stdout.write("swapping\n")
for (;;) libc.symbols.renameat2(currentDirectory, ptr(a), currentDirectory, ptr(b), exchange)
