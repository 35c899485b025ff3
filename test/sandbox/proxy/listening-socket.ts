import { dlopen, FFIType, ptr } from "bun:ffi"

const { i32, ptr: pointer } = FFIType
const libc = dlopen("libc.so.6", {
  socket: { args: [i32, i32, i32], returns: i32 },
  bind: { args: [i32, pointer, i32], returns: i32 },
  listen: { args: [i32, i32], returns: i32 },
  getsockname: { args: [i32, pointer, pointer], returns: i32 },
}).symbols

/** A socket that listens on a free port of 127.0.0.1, as the starter makes them. Whoever serves it closes it. */
export function listeningSocket(): { readonly fd: number; readonly port: number } {
  const fd = libc.socket(2, 1 | 0o2000000, 0)
  const address = new Uint8Array([2, 0, 0, 0, 127, 0, 0, 1, ...Array<number>(8).fill(0)])
  const length = new Int32Array([address.length])
  const results = [
    libc.bind(fd, ptr(address), address.length),
    libc.listen(fd, 512),
    libc.getsockname(fd, ptr(address), ptr(length)),
  ]
  if (fd < 0 || results.some(result => result !== 0)) throw new Error("there is no socket to listen on")
  return { fd, port: new DataView(address.buffer).getUint16(2, false) }
}
