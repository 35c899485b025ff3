import { afterEach, beforeEach, expect, test } from "bun:test"
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { spawn } from "../../src/base/spawn.ts"
import { eventually } from "../support/eventually.ts"
import { missingProgram, testWhere } from "../support/requirement.ts"
import { confinementOf, inEverySandbox, openRoom, type Room, run, sh } from "./room.ts"

let room: Room
beforeEach(() => {
  room = openRoom()
})
afterEach(() => room.remove())

inEverySandbox("a confined command", () => {
  test("has its own environment and nothing of ours", async () => {
    const environment = { PATH: "/usr/bin:/bin", HOME: room.home, TOKEN: "value with\nnewline", EMPTY: "" }
    const ran = await sh(room, "env -0 | sort -z | tr '\\0' ';'", { environment })
    expect(ran.stdout.split(";").filter(entry => !/^(PWD|_|SHLVL|OLDPWD)=/.test(entry))).toEqual([
      "EMPTY=",
      `HOME=${room.home}`,
      "PATH=/usr/bin:/bin",
      "TOKEN=value with\nnewline",
      "",
    ])
  })

  test("shows neither its environment nor its masks on a command line of the host", async () => {
    const launch = await room.sandbox.prepare(
      confinementOf(room, ["/bin/true"], { environment: { SECRET: "on-the-command-line" } }),
    )
    expect(launch.spawn.argv.join(" ")).not.toContain("on-the-command-line")
    expect(launch.spawn.env).toEqual({})
    await launch.cleanUp()
  })

  test("works in its directory and writes what the host then has", async () => {
    mkdirSync(join(room.root, "src"))
    const ran = await sh(room, "pwd; echo content > made; mkdir d; mv made d/; cat d/made", {
      cwd: join(room.root, "src"),
    })
    expect(ran.stdout).toBe(`${room.root}/src\ncontent\n`)
    expect(existsSync(join(room.root, "src/d/made"))).toBe(true)
  })

  test("has places for temporary files that leave nothing on the host", async () => {
    const environment = { PATH: "/usr/bin:/bin", HOME: room.home, TMPDIR: "/tmp/of-its-own/deep" }
    const script =
      'for d in /tmp /var/tmp "$HOME" "$TMPDIR" /dev/shm; do echo x > "$d/acode-left" && echo ok; done'
    const ran = await sh(room, script, { environment })
    expect(ran.stdout).toBe("ok\n".repeat(5))
    for (const directory of ["/tmp", "/var/tmp", room.home, "/dev/shm"])
      expect(existsSync(join(directory, "acode-left"))).toBe(false)
  })

  testWhere(missingProgram("/usr/bin/python3"))("reads a server of its own on loopback", async () => {
    const program = `
import socket, threading
server = socket.create_server(('127.0.0.1', 0))
threading.Thread(target=lambda: server.accept()[0].sendall(b'hello')).start()
print(socket.create_connection(server.getsockname()).recv(10).decode())
a, b = socket.socketpair(); a.sendall(b'pair'); print(b.recv(10).decode())`
    const ran = await run(room, confinementOf(room, ["/usr/bin/python3", "-c", program]))
    expect(ran.stdout).toBe("hello\npair\n")
  })

  test("reaches the host's network only when it is given", async () => {
    const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("from the host") })
    const script = `exec 3<>/dev/tcp/127.0.0.1/${server.port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && cat <&3`
    const ask = (network: "none" | "host") =>
      run(room, confinementOf(room, ["/bin/bash", "-c", script], { network }))
    try {
      expect((await ask("none")).stdout).not.toContain("from the host")
      expect((await ask("host")).stdout).toContain("from the host")
    } finally {
      await server.stop(true)
    }
  })

  test("does not find a working directory that is hidden", async () => {
    room.write("secrets/x")
    const confinement = confinementOf(room, ["/bin/true"], { cwd: join(room.root, "secrets") })
    await expect(run(room, confinement)).rejects.toMatchObject({ report: { code: "ACODE-SEC-003" } })
  })

  test("is refused in a workspace that holds the system", async () => {
    for (const workspaceRoot of ["/", "/usr", "/etc"]) {
      const prepared = room.sandbox.prepare(
        confinementOf(room, ["/bin/true"], { workspaceRoot, cwd: workspaceRoot, writable: [] }),
      )
      await expect(prepared).rejects.toMatchObject({ report: { code: "ACODE-EXE-010" } })
    }
    expect(existsSync("/usr/.vscode")).toBe(false)
  })
})

inEverySandbox(
  "git inside",
  () => {
    const git = (script: string, writable: readonly string[] = []) =>
      sh(room, script, { writable, environment: { PATH: "/usr/bin:/bin", HOME: room.home, LC_ALL: "C" } })

    test("tells the state of the workspace without a word about masks", async () => {
      room.write("a.txt", "one")
      room.write(".env", "secret")
      room.write(".gitignore", ".env\n.agent/\n")
      const commit = "git init -q . && git add . && git -c user.name=a -c user.email=a@b commit -qm first"
      expect((await git(commit, [join(room.root, ".git")])).exit.exitCode).toBe(0)
      room.write("a.txt", "two")
      room.write("new.txt")
      const ran = await git("git status --porcelain && git log --format=%s && git diff --stat")
      expect(ran.stderr).toBe("")
      expect(ran.exit.exitCode).toBe(0)
      expect(ran.stdout).toStartWith(" M a.txt\n?? new.txt\nfirst\n")
    })

    test("does not take a placeholder for a repository", async () => {
      const ran = await git("git status")
      expect(ran.exit.exitCode).toBe(128)
      expect(ran.stderr).toContain("not a git repository")
    })

    test("works in a linked worktree, whose repository is elsewhere", async () => {
      const main = join(room.base, "main")
      mkdirSync(main)
      rmSync(room.root, { recursive: true })
      const setup = `git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first && git worktree add -q ${room.root}`
      const child = spawn({
        argv: ["/bin/sh", "-c", setup],
        env: { PATH: "/usr/bin:/bin", HOME: room.home },
        cwd: main,
        stdin: "null",
        stdout: "null",
        stderr: "null",
        extra: [],
      })
      expect((await child.exited).exitCode).toBe(0)
      child.close()
      mkdirSync(join(room.root, ".agent"))
      const ran = await git("git log --format=%s; git status --porcelain; echo x > .git")
      expect(ran.stdout).toBe("first\n")
      expect(ran.exit.exitCode).not.toBe(0)
      expect(lstatSync(join(room.root, ".git")).size).toBeGreaterThan(5)
    })
  },
  missingProgram("/usr/bin/git"),
)

inEverySandbox("what stays after a confined command", () => {
  const names = () => readdirSync(room.root).sort()

  test("is what it made and nothing of the sandbox", async () => {
    await sh(room, "ls -A; echo > made")
    expect(names()).toEqual([".agent", "made"])
    expect(readdirSync(join(room.root, ".agent/sandbox"))).toEqual(["mask"])
  })

  test("is nothing when it was never started, or could not be prepared", async () => {
    const launch = await room.sandbox.prepare(confinementOf(room, ["/bin/true"]))
    expect(names()).toEqual([".agent", ".git", ".vscode"])
    await launch.cleanUp()
    await launch.cleanUp()
    expect(names()).toEqual([".agent"])
    const hidden = join(room.home, "tool")
    writeFileSync(hidden, "#!/bin/sh\n")
    chmodSync(hidden, 0o755)
    const prepared = room.sandbox.prepare(confinementOf(room, [hidden]))
    await expect(prepared).rejects.toMatchObject({ report: { code: "ACODE-EXE-011" } })
    expect(names()).toEqual([".agent"])
  })

  test("is nothing of many that ran at once", async () => {
    const all = await Promise.all(
      Array.from({ length: 8 }, (_, index) => sh(room, `echo > made${index}; sleep 0.05`)),
    )
    expect(all.map(ran => ran.report.quarantined)).toEqual(all.map(() => []))
    expect(names()).toEqual([".agent", ...all.map((_, index) => `made${index}`)])
  })

  test("is no open descriptor of ours", async () => {
    await sh(room, "true")
    const before = readdirSync("/proc/self/fd").length
    for (let round = 0; round < 5; round++) await sh(room, "true")
    // The readers of the outputs give theirs up a moment later.
    await eventually("all are closed", () => readdirSync("/proc/self/fd").length <= before)
  })
})

inEverySandbox("the start of a confined command", () => {
  test("never gets to the program when nobody opens the gate", async () => {
    const launch = await room.sandbox.prepare(confinementOf(room, ["/bin/sh", "-c", "echo > ran"]))
    const child = spawn({ ...launch.spawn, stdin: "null", stdout: "null", stderr: "null" })
    child.close()
    const exit = await child.exited
    expect(exit.exitCode === 0).toBe(false)
    await launch.cleanUp()
    expect(readdirSync(room.root)).toEqual([".agent"])
  })

  test("is not taken for a failure when the program itself ends with 1 or 125", async () => {
    for (const code of [1, 125]) {
      const ran = await sh(room, `exit ${code}`)
      expect(ran.tree.startFailure?.() ?? null).toBeNull()
      expect(ran.exit.exitCode).toBe(code)
    }
  })
})
