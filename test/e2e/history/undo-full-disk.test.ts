import { afterEach, beforeEach, expect } from "bun:test"
import { mkdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { acodeProgram } from "../../support/acode.ts"
import { type PlanWorkspace, planWorkspace } from "../../support/plan/plan-workspace.ts"
import { testWhere } from "../../support/requirement.ts"
import { mountSkip, smallDisk } from "../../support/workspace/mount-namespace.ts"

let room: PlanWorkspace
beforeEach(() => {
  room = planWorkspace({})
})
afterEach(() => room[Symbol.dispose]())

const files = ["b1", "b2", "b3", "b4"]
/** How much of the disk is free when the undo begins. */
const freeKilobytes = [60, 300]

/** Undoes a session on a small disk that is nearly full, and again with room; the manifests are of sha256sum. */
function script(kilobytes: number): string {
  const manifest = (name: string) => `(cd "$DISK/ws" && sha256sum *) > "$REPORT/${kilobytes}.${name}"`
  return [
    `rm -rf "$DISK"/* && mkdir "$DISK/ws" && cd "$DISK/ws" || exit 1`,
    ...files.map(name => `head -c 100000 /dev/urandom > ${name}`),
    manifest("first"),
    `"$ACODE" plan approve "$PLAN" >/dev/null && "$ACODE" plan run "$PLAN" >/dev/null || exit 2`,
    manifest("changed"),
    `free=$(df -k --output=avail "$DISK" | tail -1)`,
    `dd if=/dev/zero of="$DISK/fill" bs=1k count=$((free - ${kilobytes})) 2>/dev/null`,
    `"$ACODE" session undo > "$REPORT/${kilobytes}.told" 2>&1`,
    manifest("between"),
    `rm -f "$DISK/fill"; "$ACODE" session undo >/dev/null 2>&1`,
    manifest("last"),
  ].join("\n")
}

testWhere(mountSkip())(
  "an undo on a disk that fills up says what it restored, and is finished when there is room",
  async () => {
    const [disk, report] = ["disk", "report"].map(name => join(room.workspace.outside, name)) as [
      string,
      string,
    ] // as: of two names
    for (const directory of [disk, report]) mkdirSync(directory)
    const changed = files.map(path => ({ path, content: path.repeat(30_000) }))
    const made = ["n1", "n2", "n3"].map(path => ({ path, content: "new\n" }))
    room.plan([...made, ...changed].map(file => ["write_file", file]))
    const env = {
      ...room.workspace.environment,
      XDG_STATE_HOME: join(disk, "state"),
      ACODE: acodeProgram(),
      DISK: disk,
      PLAN: room.planFile,
      REPORT: report,
    }
    const line = [...smallDisk(disk, 6_000_000), "sh", "-c", freeKilobytes.map(script).join("\n")]
    const child = Bun.spawn(line, { cwd: room.workspace.outside, env, stderr: "inherit" })
    expect(await child.exited).toBe(0)
    const read = (kilobytes: number, name: string) =>
      readFileSync(join(report, `${kilobytes}.${name}`), "utf8")
    const partly = freeKilobytes.filter(kilobytes => {
      expect([kilobytes, read(kilobytes, "last")]).toEqual([kilobytes, read(kilobytes, "first")])
      return ![read(kilobytes, "changed"), read(kilobytes, "first")].includes(read(kilobytes, "between"))
    })
    expect(partly).not.toEqual([])
    for (const kilobytes of partly) {
      expect(read(kilobytes, "told")).toMatch(/^removed: n|paths? had been restored or removed by then$/m)
      expect(read(kilobytes, "told")).toMatch(/what was there before is kept: `acode checkpoint restore chk_/)
    }
  },
  60_000,
)
