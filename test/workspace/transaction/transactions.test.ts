import { describe, expect } from "bun:test"
import {
  closeSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { openTransactions } from "../../../src/workspace/transaction/transactions.ts"
import { missingProgram, testWhere } from "../../support/requirement.ts"
import { smallDisk } from "../../support/workspace/mount-namespace.ts"
import { manifestDifferences, missingOverlay, runInOverlay } from "../../support/workspace/overlay-command.ts"
import { attributesBelow, layerRoom, owned } from "./support.ts"

const layerTest = testWhere(missingOverlay)

describe("a merge", () => {
  layerTest("makes the workspace what the kernel showed, and its undo what it was", async () => {
    using room = layerRoom({
      "src/a.ts": "a\n",
      "src/b.ts": "b\n",
      "old/x": "x\n",
      "old/deep/y": "y\n",
      "made again/z": "z\n",
      linked: "l\n",
    })
    linkSync(room.at("linked"), room.at("linked too"))
    Bun.spawnSync(["mkfifo", room.at("pipe")])
    const before = room.manifest()
    const script = String.raw`
      echo more >> src/a.ts; mv src/b.ts src/c.ts; rm -rf old; rm -r "made again"; mkdir -p "made again/sub"
      echo new > "made again/z"; mkdir -p empty/one empty/two; chmod 700 empty/two; chmod 750 src
      mkfifo -m 600 fifo; ln -s ../nowhere link; echo s > s; ln s s2; echo changed >> linked; rm pipe; mkdir pipe
      printf x > "$(printf 'line\nend')"; printf y > "$(printf 'bytes\377\376')"; touch -d @1 src/c.ts; chmod 4755 s
      perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Local => "socket", Listen => 1) or die'
      truncate -s 8M sparse; printf '%s' "" > "-r"`
    const { view, exitCode, conflicts, id } = await room.run(script)
    expect([exitCode, conflicts]).toEqual([0, []])
    expect(manifestDifferences(view, room.manifest())).toEqual([])
    expect(view.has("bytes\udcff\udcfe") && view.has("line\nend") && view.has("empty/one")).toBe(true)
    expect(view.get("socket")).toStartWith("s ")
    expect(room.ino("s")).toBe(room.ino("s2"))
    expect(lstatSync(room.at("sparse")).blocks).toBe(0)
    expect(attributesBelow(room.root)).toBe("")
    expect(attributesBelow(room.directory)).toContain("user.overlay.")
    expect((await room.transactions.undo(id, owned)).foreign).toEqual([])
    expect(manifestDifferences(before, room.manifest())).toEqual([])
  })

  layerTest(
    "takes hard links that one command removes and replaces for no other program's change",
    async () => {
      using room = layerRoom({ a: "1\n", "in/keep": "k\n" })
      for (const path of ["b", "c", "in/d"]) linkSync(room.at("a"), room.at(path))
      const before = room.manifest()
      const { conflicts, view, id } = await room.run("rm a; echo 2 > b; rm c; rm -r in; echo f > in")
      expect([conflicts, manifestDifferences(view, room.manifest())]).toEqual([[], []])
      expect((await room.transactions.undo(id, owned)).foreign).toEqual([])
      expect(manifestDifferences(before, room.manifest())).toEqual([])
    },
  )

  layerTest("lists files that git ignores, and a new directory as one change", async () => {
    using room = layerRoom({ ".gitignore": "dist/\n" })
    const { changes } = await room.run("mkdir -p dist/js; echo 1 > dist/js/a; echo 2 > dist/b")
    expect(changes.map(({ path, kind, inner }) => ({ path, kind, inner }))).toEqual([
      { path: "dist", kind: "create", inner: 3 },
    ])
  })

  layerTest("skips a file that was opened and not changed, and sees one of equal size and time", async () => {
    using room = layerRoom({ same: "1234\n", other: "1234\n" })
    for (const path of ["same", "other"]) utimesSync(room.at(path), 1000, 1000)
    const { changes, view } = await room.run(
      ": >> same; touch -d @1000 same; echo 5678 > other; touch -d @1000 other; chmod 600 same; chmod 644 same",
    )
    expect(changes.map(({ path }) => path)).toEqual(["other"])
    expect(manifestDifferences(view, room.manifest())).toEqual([])
  })

  layerTest("of several commands is taken back one after the other", async () => {
    using room = layerRoom({ a: "0\n", "d/b": "0\n" })
    const before = room.manifest()
    const ids: string[] = []
    for (const script of [
      "echo 1 > a; mkdir n; echo 1 > n/x",
      "echo 2 > a; echo 2 > n/x; rm -r d",
      "rm -r n a",
    ])
      ids.push((await room.run(script)).id)
    for (const id of ids.reverse()) expect((await room.transactions.undo(id, owned)).foreign).toEqual([])
    expect(manifestDifferences(before, room.manifest())).toEqual([])
  })

  layerTest("leaves out what policy refuses, inside a new directory as well", async () => {
    using room = layerRoom({ "keep/secret": "s\n", "keep/x": "x\n" })
    const { refused, asked, merged } = await room.run(
      "mkdir -p lib/.git/hooks; echo a > lib/a; echo h > lib/.git/hooks/h; echo e > .env; rm -r keep; echo q > q",
      {
        decide: ({ path }) => {
          if (/(^|\/)(\.git|\.env|secret)$/.test(path)) return "refuse"
          return path === "q" ? "ask" : "merge"
        },
      },
    )
    expect([refused.toSorted(), asked]).toEqual([[".env", "keep/secret", "lib/.git"], ["q"]])
    expect(merged.map(({ path }) => path)).toEqual(["lib"])
    expect([...room.manifest().keys()].sort()).toEqual(["keep", "keep/secret", "keep/x", "lib", "lib/a"])
  })

  layerTest(
    "of directories nested deeper than it can hold open is refused, and their layer removed",
    async () => {
      using room = layerRoom({ a: "1\n" })
      const { refused, merged, id } = await room.run(
        `echo 2 > a; i=0; while [ $i -lt 300 ]; do mkdir d && cd -P d || exit 1; i=$((i+1)); done; echo x > deep`,
      )
      expect([refused, merged.map(({ path }) => path)]).toEqual([["d"], ["a"]])
      expect(room.transactions.collect([id], 0).removed).toEqual([id])
      expect(room.transactions.ids()).toEqual([])
    },
  )
})

describe("beside another program", () => {
  const saveByRename = (at: string) => {
    writeFileSync(`${at}.tmp`, "theirs\n")
    renameSync(`${at}.tmp`, at)
  }

  layerTest("nothing is merged when both changed a file, and both versions exist", async () => {
    using room = layerRoom({ "d/a": "0\n", b: "0\n" })
    const { conflicts, merged, id } = await room.run("echo ours > d/a; echo ours > b", {
      meanwhile: () => saveByRename(room.at("d/a")),
    })
    expect([merged, conflicts]).toEqual([[], [{ path: "d/a", why: "changedByBoth" }]])
    expect([readFileSync(room.at("d/a"), "utf8"), readFileSync(room.at("b"), "utf8")]).toEqual([
      "theirs\n",
      "0\n",
    ])
    expect(readFileSync(join(room.directory, id, "upper/d/a"), "utf8")).toBe("ours\n")
    expect(await room.transactions.recover(owned)).toEqual([{ id, outcome: "held", conflicts }])
  })

  layerTest("everything without a conflict is merged where a person chose that", async () => {
    using room = layerRoom({ "d/a": "0\n", b: "0\n" })
    const { conflicts, merged } = await room.run("echo ours > d/a; echo ours > b", {
      meanwhile: () => writeFileSync(room.at("d/a"), "theirs\n"),
      rest: true,
    })
    expect([merged.map(({ path }) => path), conflicts.map(({ path }) => path)]).toEqual([["b"], ["d/a"]])
    expect([readFileSync(room.at("d/a"), "utf8"), readFileSync(room.at("b"), "utf8")]).toEqual([
      "theirs\n",
      "ours\n",
    ])
  })

  const cases: readonly [string, string, (at: (path: string) => string) => void, string, string][] = [
    [
      "deletes a file that the command changed",
      "echo 1 >> d/a",
      at => rmSync(at("d/a")),
      "d/a",
      "deletedByOthers",
    ],
    [
      "removes the directory of a changed file",
      "echo 1 >> d/a",
      at => rmSync(at("d"), { recursive: true }),
      "d",
      "deletedByOthers",
    ],
    ["renames that directory", "echo 1 >> d/a", at => renameSync(at("d"), at("d2")), "d", "deletedByOthers"],
    ["creates the same file", "echo 1 > n", at => writeFileSync(at("n"), "theirs\n"), "n", "createdByBoth"],
    [
      "edits a file that the command removed",
      "rm d/a",
      at => writeFileSync(at("d/a"), "theirs\n"),
      "d/a",
      "changedByBoth",
    ],
    [
      "saves inside a directory that the command removed",
      "rm -r d",
      at => writeFileSync(at("d/e/b"), "theirs\n"),
      "d",
      "othersInside",
    ],
    [
      "moves in a directory whose files are old",
      "echo 1 > d/a",
      at => {
        renameSync(at("d"), at("d.away"))
        renameSync(at("old"), at("d"))
      },
      "d/a",
      "changedByBoth",
    ],
    [
      "removes a hard link that the command touched",
      "chmod 600 h1; chmod 644 h1",
      at => rmSync(at("h1")),
      "h1",
      "deletedByOthers",
    ],
  ]
  for (const [name, script, meanwhile, path, why] of cases)
    layerTest(`that ${name}, its work stays`, async () => {
      using room = layerRoom({ "d/a": "0\n", "d/e/b": "0\n", "old/a": "old\n", h1: "h\n" })
      linkSync(room.at("h1"), room.at("h2"))
      let theirs: ReadonlyMap<string, string> = new Map()
      const { conflicts, merged } = await room.run(script, {
        meanwhile: () => {
          meanwhile(room.at)
          theirs = room.manifest()
        },
      })
      expect([merged, conflicts]).toEqual([[], [{ path, why: expect.stringMatching(why) }]])
      expect(manifestDifferences(theirs, room.manifest())).toEqual([])
    })

  layerTest("a rename by the command in the same directory is no conflict", async () => {
    using room = layerRoom({ "d/a": "0\n", "d/b": "0\n" })
    const { conflicts } = await room.run("mv d/a d/c", { meanwhile: () => saveByRename(room.at("d/b")) })
    expect(conflicts).toEqual([])
    expect(readdirSync(room.at("d")).sort()).toEqual(["b", "c"])
    expect(readFileSync(room.at("d/b"), "utf8")).toBe("theirs\n")
  })

  layerTest("that has a file open for writing, the file stays its own", async () => {
    using room = layerRoom({ log: "0\n", b: "0\n" })
    const fd = openSync(room.at("log"), "r+")
    try {
      const { conflicts, merged } = await room.run("echo ours > log; echo ours > b")
      expect([merged, conflicts]).toEqual([[], [{ path: "log", why: "changedByBoth" }]])
      expect([readFileSync(room.at("log"), "utf8"), readFileSync(room.at("b"), "utf8")]).toEqual([
        "0\n",
        "0\n",
      ])
    } finally {
      closeSync(fd)
    }
  })

  layerTest("an undo leaves and names what was changed since", async () => {
    using room = layerRoom({ a: "0\n", b: "0\n" })
    const { id } = await room.run("echo 1 > a; echo 1 > b; mkdir n; echo 1 > n/x")
    writeFileSync(room.at("a"), "theirs\n")
    writeFileSync(room.at("n/mine"), "theirs\n")
    const undone = await room.transactions.undo(id, owned)
    expect(undone).toEqual({ restored: ["b"], foreign: ["a", "n"] })
    expect(readFileSync(room.at("n/mine"), "utf8") + readFileSync(room.at("a"), "utf8")).toBe(
      "theirs\ntheirs\n",
    )
    expect(readFileSync(room.at("b"), "utf8")).toBe("0\n")
  })

  layerTest("a displaced file that was written since keeps its layer", async () => {
    using room = layerRoom({ a: "0\n" })
    linkSync(room.at("a"), room.at("same"))
    const { id } = await room.run("echo 1 > a")
    writeFileSync(room.at("same"), "written later\n")
    expect(room.transactions.collect([id], 0)).toMatchObject({ removed: [], kept: [{ id, paths: ["a"] }] })
  })

  layerTest("a clock that was set back makes everything a question", async () => {
    let offsetNs = 5_000_000_000n
    using room = layerRoom({ a: "0\n" }, { layerClock: { offsetNs: () => offsetNs, bootNs: () => 1n } })
    const { conflicts, merged } = await room.run("echo 1 > a; echo 1 > b", {
      meanwhile: () => {
        offsetNs -= 1_000_000_000n
      },
    })
    expect(merged).toEqual([])
    expect(conflicts).toEqual([
      { path: "a", why: "clockMoved" },
      { path: "b", why: "clockMoved" },
    ])
  })
})

describe("what a process leaves", () => {
  layerTest("is dropped when it was never merged, and left alone while the process lives", async () => {
    using room = layerRoom({ a: "0\n" })
    using live = room.transactions.begin("trn_live")
    const left = room.transactions.begin("trn_left")
    await runInOverlay(left.layers, "echo 1 > a; mkdir -p x/y; chmod 000 x")
    left[Symbol.dispose]()
    const recovered = await room.transactions.recover(owned)
    expect(recovered).toEqual([{ id: "trn_left", outcome: "dropped", conflicts: [] }])
    expect(room.transactions.ids()).toEqual(["trn_live"])
    live.discard()
    expect([room.transactions.ids(), readFileSync(room.at("a"), "utf8")]).toEqual([[], "0\n"])
  })

  layerTest("is not merged into another directory of the same name", async () => {
    using room = layerRoom({ a: "0\n" })
    const { id } = await room.run("echo 1 > a")
    renameSync(room.root, `${room.root}.away`)
    mkdirSync(room.root)
    writeFileSync(room.at("a"), "another\n")
    using transactions = openTransactions(room)
    await expect(transactions.undo(id, owned)).rejects.toThrow("was replaced")
    expect(readFileSync(room.at("a"), "utf8")).toBe("another\n")
  })

  layerTest("with a damaged journal is not acted upon", async () => {
    using room = layerRoom({ a: "0\n" })
    const { id } = await room.run("echo 1 > a")
    const journal = join(room.directory, id, "journal")
    writeFileSync(journal, readFileSync(journal, "utf8").replace('"path":"a"', '"path":"b"'))
    await expect(room.transactions.undo(id, owned)).rejects.toMatchObject({
      report: { code: "ACODE-SEC-004" },
    })
  })
})

describe("limits", () => {
  layerTest("hundreds of changed files are merged and undone in bounded memory", async () => {
    using room = layerRoom({ "d/keep": "0\n" })
    const before = room.manifest()
    const held = process.memoryUsage.rss()
    const { view, id } = await room.run(`perl -e 'for (1..600) { open my $f, ">", "d/f$_"; print $f $_ }'`)
    expect(manifestDifferences(view, room.manifest())).toEqual([])
    expect((await room.transactions.undo(id, owned)).foreign).toEqual([])
    expect(process.memoryUsage.rss() - held).toBeLessThan(150 * 1024 * 1024)
    expect(manifestDifferences(before, room.manifest())).toEqual([])
  })

  layerTest("a full disk leaves the workspace as it was", () => {
    const program = join(import.meta.dir, "full-disk-program.ts")
    using room = layerRoom({})
    const run = Bun.spawnSync([...smallDisk(room.root, 4_000_000), process.execPath, program, room.root])
    expect([run.stderr.toString(), run.exitCode]).toEqual(["", 0])
    expect(JSON.parse(run.stdout.toString())).toEqual({
      error: "ACODE-FS-010",
      differences: [],
      left: [],
      merged: ["a"],
    })
  })

  // Permissions apply to root as well without these capabilities, as they do to everybody else.
  const through = process.getuid?.() === 0 ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] : []
  const canApply = missingOverlay ?? (through.length === 0 ? null : missingProgram("setpriv"))

  testWhere(canApply)("directories that their owner may not write in are merged and undone", () => {
    using room = layerRoom({ "ro/in/x": "x\n", "gone/y": "y\n", "inside/z": "z\n" })
    Bun.spawnSync(["sh", "-c", "chmod 555 ro/in ro gone inside"], {
      cwd: room.root,
    })
    const program = join(import.meta.dir, "merge-and-die-program.ts")
    const before = room.manifest()
    const work = {
      root: room.root,
      directory: room.directory,
      id: "trn_ro",
      kill: null,
      script:
        "chmod 755 gone inside ro; rm -rf gone; echo 2 > inside/z; chmod 555 inside; chmod 755 ro/in; rm -r ro/in; " +
        "mkdir -p ro/in mod/a; echo 1 > mod/a/f; chmod 555 mod/a mod ro/in ro",
    }
    const perform = (action: string) => {
      const run = Bun.spawnSync([...through, process.execPath, program, JSON.stringify({ ...work, action })])
      expect(run.stderr.toString()).toBe("")
      return run.stdout
        .toString()
        .trim()
        .split("\n")
        .map(line => JSON.parse(line))
    }
    const [view, violations] = perform("merge")
    expect(violations).toEqual([])
    expect(manifestDifferences(new Map(view), room.manifest())).toEqual([])
    expect(perform("undo")).toEqual([[]])
    expect(manifestDifferences(before, room.manifest())).toEqual([])
  })
})
