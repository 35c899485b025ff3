import { afterEach, beforeEach, expect, test } from "bun:test"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { connectionRulesFor } from "../../../src/app/wiring/sandbox.ts"
import { landlockRules } from "../../../src/sandbox/native/landlock-rules.ts"
import type { Mount } from "../../../src/sandbox/view/mounts.ts"
import { eventually } from "../../support/eventually.ts"
import { describeWhere } from "../../support/requirement.ts"
import { confinementOf, openRoom, type Room, run, sandboxKinds, sh } from "../room.ts"

/** A tree of directories; everything else is a file, but for what starts with a link. */
const directories: Readonly<Record<string, readonly string[]>> = {
  "/w": [".git", "src", "deep", "file", "link"],
  "/w/.git": ["config"],
  "/w/src": ["a"],
  "/w/deep": [".env", "open"],
  "/w/deep/open": [],
}
const host = {
  list: (path: string) => directories[path] ?? [],
  kindAt: (path: string) =>
    path.includes("link")
      ? ("link" as const)
      : directories[path] === undefined
        ? ("file" as const)
        : ("directory" as const),
}

test("a directory with something protected in it is granted name by name, and everything else whole", () => {
  const mounts: Mount[] = [
    { kind: "writable", path: "/w" },
    { kind: "readOnly", path: "/w/.git" },
    { kind: "writable", path: "/w/deep" },
    { kind: "hiddenFile", path: "/w/deep/.env" },
  ]
  expect(landlockRules(mounts, host)).toEqual([
    { path: "/w", access: "list" },
    { path: "/w/src", access: "write" },
    { path: "/w/file", access: "write" },
    { path: "/w/.git", access: "read" },
    { path: "/w/deep", access: "list" },
    { path: "/w/deep/open", access: "write" },
  ])
  expect(landlockRules(mounts.slice(0, 1), host)).toEqual([{ path: "/w", access: "write" }])
})

describeWhere(sandboxKinds.find(({ kind }) => kind === "reduced")?.missing ?? null)(
  "reduced confinement",
  () => {
    let room: Room
    beforeEach(() => {
      room = openRoom({}, "reduced")
      room.write("src/a", "a")
      room.write(".env", "secret")
      room.write(".git/config", "[core]")
    })
    afterEach(() => room.remove())

    test("lets a command work where nothing is protected, and has a place for temporary files", async () => {
      const script =
        'echo b > src/b; mv src/a src/c; echo t > "$TMPDIR/t" && cat "$TMPDIR/t" "$HOME/t"; exit 7'
      const ran = await sh(room, script)
      expect([ran.exit, ran.stdout, ran.stderr]).toEqual([{ exitCode: 7, signal: null }, "t\nt\n", ""])
      expect(readdirSync(join(room.root, "src")).sort()).toEqual(["b", "c"])
      expect(readdirSync(room.settings.workDirectory)).toEqual(["mask"])
    })

    test("keeps protected names, and anything new beside them", async () => {
      const ran = await sh(room, "cat .env; echo x > .git/config; mv .git g; echo > new; ls /root /home")
      expect(ran.stdout).toBe("")
      expect(ran.stderr.match(/denied/g)?.length).toBeGreaterThanOrEqual(5)
      expect(readFileSync(join(room.root, ".git/config"), "utf8")).toBe("[core]")
      expect(existsSync(join(room.root, "new"))).toBe(false)
    })

    test("has no connections, and is refused a list of hosts", async () => {
      const ran = await sh(room, "exec 3<>/dev/tcp/127.0.0.1/1", {
        argv: ["/bin/bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/1"],
      })
      expect(ran.stderr).toContain("not supported")
      const hosts = { network: "hosts", connections: connectionRulesFor(["example.com"], null) } as const
      await expect(room.sandbox.prepare(confinementOf(room, ["/bin/true"], hosts))).rejects.toMatchObject({
        report: { code: "ACODE-EXE-010", message: expect.stringContaining("list of hosts") },
      })
    })

    test("leaves nothing alive when it is killed or has ended", async () => {
      const daemon =
        "setsid sh -c 'echo $$ > src/pid; exec sleep 60' & while [ ! -s src/pid ]; do sleep 0.01; done"
      const alive = () => existsSync(`/proc/${readFileSync(join(room.root, "src/pid"), "utf8").trim()}`)
      await sh(room, daemon)
      expect(alive()).toBe(false)
      await run(
        room,
        confinementOf(room, ["/bin/sh", "-c", `rm src/pid; ${daemon}; sleep 60`]),
        async tree => {
          await eventually("the daemon runs", () => existsSync(join(room.root, "src/pid")) && alive())
          await tree.kill()
        },
      )
      expect(alive()).toBe(false)
    })
  },
)
