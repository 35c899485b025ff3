import { expect, test } from "bun:test"
import { encodeArguments, type Profile, profileArguments } from "../../../src/sandbox/bwrap/launch.ts"

const profile: Profile = {
  mounts: [],
  environment: {},
  cwd: "/work",
  network: "none",
  disableUserNamespaces: true,
  scratchBytesMax: null,
  maskFile: "/state/mask",
  descriptors: { seccomp: 4, status: 5, block: 6 },
}

/** The arguments that follow an option, as many as asked for. */
function after(args: readonly string[], option: string, count: number): readonly string[] {
  const at = args.indexOf(option)
  return at < 0 ? [] : args.slice(at + 1, at + 1 + count)
}

test("everything is unshared, and no capability is left", () => {
  const args = profileArguments(profile)
  for (const option of [
    "--unshare-all",
    "--unshare-user",
    "--disable-userns",
    "--new-session",
    "--die-with-parent",
  ])
    expect(args).toContain(option)
  expect(after(args, "--cap-drop", 1)).toEqual(["ALL"])
  expect(args).not.toContain("--share-net")
})

test("the host's network is shared only when asked for", () => {
  expect(profileArguments({ ...profile, network: "host" })).toContain("--share-net")
})

test("an old bubblewrap is not given the option it does not know", () => {
  const args = profileArguments({ ...profile, disableUserNamespaces: false })
  expect(args).not.toContain("--disable-userns")
  expect(args).toContain("--seccomp")
})

test("the settings of the kernel are read-only from the start", () => {
  const args = profileArguments(profile)
  const proc = args.indexOf("--proc")
  expect(args.slice(proc, proc + 7).join(" ")).toBe(
    "--proc /proc --ro-bind /proc/sys /proc/sys --remount-ro /proc",
  )
})

test("the environment is cleared before the variables of the command are set", () => {
  const args = profileArguments({ ...profile, environment: { A: "1", B: "two words" } })
  const clear = args.indexOf("--clearenv")
  expect(args.slice(clear, clear + 7)).toEqual([
    "--clearenv",
    "--setenv",
    "A",
    "1",
    "--setenv",
    "B",
    "two words",
  ])
})

test("each kind of mount becomes its own option, in the order given", () => {
  const args = profileArguments({
    ...profile,
    mounts: [
      { kind: "readOnly", path: "/usr" },
      { kind: "link", path: "/bin", target: "usr/bin" },
      { kind: "scratch", path: "/tmp", mode: 0o1777 },
      { kind: "writable", path: "/work" },
      { kind: "hiddenFile", path: "/work/.env" },
      { kind: "scratch", path: "/work/secrets", mode: 0 },
      { kind: "frozen", path: "/work/.agent" },
    ],
  })
  expect(args.join(" ")).toContain(
    "--ro-bind /usr /usr --symlink usr/bin /bin --perms 1777 --tmpfs /tmp --bind /work /work " +
      "--ro-bind /state/mask /work/.env --perms 0000 --tmpfs /work/secrets --remount-ro /work/.agent --chdir /work",
  )
})

test("what is written to memory is limited, and a mask holds nothing", () => {
  const args = profileArguments({
    ...profile,
    scratchBytesMax: 1_000_000,
    mounts: [
      { kind: "scratch", path: "/tmp", mode: 0o1777 },
      { kind: "scratch", path: "/work/secrets", mode: 0 },
      { kind: "scratch", path: "/state", mode: 0o555 },
    ],
  })
  expect(args.join(" ")).toContain(
    "--perms 1777 --size 1000000 --tmpfs /tmp --perms 0000 --size 4096 --tmpfs /work/secrets " +
      "--perms 0555 --size 4096 --tmpfs /state",
  )
})

test("the descriptors are the numbers the child sees", () => {
  const args = profileArguments({ ...profile, descriptors: { seccomp: 11, status: 12, block: 13 } })
  expect(after(args, "--seccomp", 1)).toEqual(["11"])
  expect(after(args, "--json-status-fd", 1)).toEqual(["12"])
  expect(after(args, "--block-fd", 1)).toEqual(["13"])
})

test("arguments are told apart by NUL, so that newlines, spaces and empty values survive", () => {
  const values = ["--setenv", "A", "", "line\nline", "ünï"]
  const decoded = Buffer.from(encodeArguments(values)).toString("utf8").split("\0")
  expect(decoded).toEqual([...values, ""])
})
