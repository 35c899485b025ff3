import { afterEach, beforeEach, expect, test } from "bun:test"
import { once } from "node:events"
import { chmodSync, existsSync, writeFileSync } from "node:fs"
import { type AddressInfo, createServer, type Server, type Socket } from "node:net"
import { join } from "node:path"
import { connectionRulesFor } from "../../src/app/wiring/sandbox.ts"
import { unlimited } from "../../src/domain/command.ts"
import { connectionLines, noConnections } from "../../src/domain/connections.ts"
import type { Confinement } from "../../src/sandbox/contract.ts"
import { eventually } from "../support/eventually.ts"
import { missingProgram } from "../support/requirement.ts"
import { confinementOf, inEverySandbox, openRoom, type Ran, type Room, run, sh } from "./room.ts"

let room: Room
let servers: Server[]
let sockets: Socket[]
beforeEach(() => {
  room = openRoom({ resolveHost: async () => ["127.0.0.1"] })
  servers = []
  sockets = []
})
afterEach(() => {
  for (const socket of sockets) socket.destroy()
  for (const server of servers) server.close()
  room.remove()
})

/** A server of this machine that answers each request with a word, and keeps what it was sent. */
async function serve(word: string): Promise<{ readonly port: number; readonly received: () => string }> {
  let received = ""
  const server = createServer(socket => {
    sockets.push(socket)
    socket.on("error", () => undefined)
    socket.on("data", chunk => {
      received += chunk.toString("latin1")
      if (received.includes("\r\n\r\n"))
        socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${word.length}\r\nConnection: close\r\n\r\n${word}`)
    })
  })
  servers.push(server)
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo // as: it listens on a port and not on a path
  return { port, received: () => received }
}

function toHosts(...hosts: readonly string[]): Partial<Confinement> {
  return { network: "hosts", connections: connectionRulesFor(hosts, null) }
}

function linesOf({ report }: Ran): readonly string[] {
  return connectionLines(report.connections ?? noConnections)
}

inEverySandbox(
  "a command with a list of hosts",
  () => {
    test("reaches the hosts of the list by the proxy of its environment, and no others", async () => {
      const [allowed, forbidden] = [await serve("allowed"), await serve("forbidden")]
      const hosts = toHosts(`allowed.test:${allowed.port}`, `127.0.0.1:${allowed.port}`)
      const ran = await sh(
        room,
        `curl -s http://allowed.test:${allowed.port}/one; curl -sp http://allowed.test:${allowed.port}/two
       curl -s --noproxy '' -o /dev/null -w ' %{http_code}' http://localhost:${forbidden.port}/
       curl -sp -o /dev/null http://forbidden.test:${forbidden.port}/; echo " $?"`,
        hosts,
      )
      expect(ran.stdout).toBe("allowedallowed 403 56\n")
      expect(allowed.received()).toContain("GET /one HTTP/1.1")
      expect(forbidden.received()).toBe("")
      expect(linesOf(ran)).toEqual([
        expect.stringMatching(/^connected to allowed\.test:\d+ \(2 times\), \d+ bytes sent, \d+ received$/),
        expect.stringContaining(`refused localhost:${forbidden.port}: it is not among the hosts`),
        expect.stringContaining(`refused forbidden.test:${forbidden.port}: it is not among the hosts`),
      ])
    })

    test("has a listed port of this machine under its own number, for programs without a proxy", async () => {
      const [listed, other] = [await serve("listed"), await serve("other")]
      const ran = await sh(
        room,
        `for port in ${listed.port} ${other.port}; do curl -s --noproxy '*' http://localhost:$port/ || echo " $?"; done`,
        toHosts(`localhost:${listed.port}`),
      )
      expect(ran.stdout).toBe("listed 7\n")
      expect(other.received()).toBe("")
      expect(linesOf(ran)).toEqual([expect.stringContaining(`connected to localhost:${listed.port}`)])
    })

    test("is the same process with the same rights, limits and descriptors as without one", async () => {
      const looks = `echo pid $$ $PPID; ulimit -a; ls -l /proc/self/fd | sed 's/.*[0-9] //'
      grep -E '^(Sig|Shd|Cap|NoNew|Seccomp|Threads|Umask|Uid|Gid)' /proc/self/status
      for p in /proc/[0-9]*; do cat $p/comm; done; cat /proc/self/oom_score_adj; cat /proc/self/cgroup | wc -l
      cat /proc/self/mountinfo | wc -l; env | grep -vi proxy | sort; kill -TERM $$`
      const [plain, listed] = [await sh(room, looks), await sh(room, looks, toHosts("example.com"))]
      const pipes = (text: string) => text.replace(/pipe:\[\d+\]|\d+\/fd/g, "…")
      expect(pipes(listed.stdout)).toBe(pipes(plain.stdout))
      expect(listed.stdout).toContain("pid 2 1")
      expect([listed.exit, plain.exit]).toEqual([plain.exit, { exitCode: 128 + 15, signal: null }])
    })

    test("starts under limits that leave no room for anything but itself", async () => {
      const limits = { ...unlimited, memoryBytesMax: 4 * 1024 * 1024, cpuSecondsMax: 1, fileBytesMax: 1 }
      for (const processesMax of [null, 2])
        for (const changes of [{}, toHosts("example.com")]) {
          const confinement = confinementOf(room, ["/bin/true"], {
            ...changes,
            limits: { ...limits, processesMax },
          })
          expect((await run(room, confinement)).exit).toEqual({ exitCode: 0, signal: null })
        }
    })

    test("is started as without a list: scripts of all kinds, and none that cannot be", async () => {
      writeFileSync(join(room.root, "plain"), 'echo "plain $0 $1 $2"; exit 3')
      writeFileSync(join(room.root, "broken"), "#!/no/such/interpreter\n")
      for (const name of ["plain", "broken"]) chmodSync(join(room.root, name), 0o755)
      const argvOf = (name: string) => [join(room.root, name), "a b", ""]
      const plain = await run(room, confinementOf(room, argvOf("plain"), toHosts("example.com")))
      expect(plain).toMatchObject({
        exit: { exitCode: 3 },
        stdout: `plain ${join(room.root, "plain")} a b \n`,
      })
      const broken = await run(room, confinementOf(room, argvOf("broken"), toHosts("example.com")))
      expect(broken.tree.startFailure?.()?.report).toMatchObject({ code: "ACODE-EXE-010" })
      expect(broken.tree.startFailure?.()?.report.message).toContain("error 2 of the system")
      expect(plain.tree.startFailure?.()).toBeNull()
    })

    test("cannot take the address of the proxy over, and keeps servers of its own", async () => {
      const ran = await sh(
        room,
        `perl -MIO::Socket::INET -e '
         my ($port) = $ENV{HTTP_PROXY} =~ /:(\\d+)$/;
         for my $at ($port, 0) {
           my $s = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1", LocalPort => $at, ReusePort => 1);
           print $s ? "listens " : "refused ";
           next unless $s;
           my $c = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $s->sockport);
           print $s->accept && $c ? "accepts" : "alone";
         }'`,
        toHosts("example.com"),
      )
      expect(ran.stdout).toBe("refused listens accepts")
    })

    test("leaves no connection when it is killed in the middle of one", async () => {
      const ended: string[] = []
      const silent = createServer(socket => {
        sockets.push(socket)
        socket.on("error", () => undefined)
        socket.on("close", () => ended.push("closed"))
        socket.resume()
      })
      servers.push(silent)
      silent.listen(0, "127.0.0.1")
      await once(silent, "listening")
      const { port } = silent.address() as AddressInfo // as: it listens on a port and not on a path
      const confinement = confinementOf(room, ["curl", "-s", `http://slow.test:${port}/`], {
        ...toHosts(`slow.test:${port}`, `127.0.0.1:${port}`),
      })
      const ran = await run(
        room,
        { ...confinement, argv: ["/usr/bin/env", ...confinement.argv] },
        async tree => {
          await eventually("the server is reached", () => sockets.length === 1)
          await tree.kill()
        },
      )
      expect(ran.report.connections?.listed).toMatchObject([{ host: "slow.test", decision: "allowed" }])
      await eventually("the server sees the end", () => ended.length === 1)
    })

    test("leaves nothing open in acode, however it ends", async () => {
      const descriptors = () =>
        [...new Bun.Glob("*").scanSync({ cwd: "/proc/self/fd", onlyFiles: false })].length
      const once = async () => {
        await sh(room, "exit 1", toHosts("example.com", "localhost:2345"))
        await run(room, confinementOf(room, ["/bin/sleep", "60"], toHosts("example.com")), tree =>
          tree.kill(),
        )
        const launch = await room.sandbox.prepare(confinementOf(room, ["/bin/true"], toHosts("example.com")))
        await launch.cleanUp()
      }
      await once()
      const before = descriptors()
      for (let round = 0; round < 5; round++) await once()
      // The runtime closes what belongs to a process that has ended a moment after its end was reported.
      await eventually("every descriptor of the five rounds is closed", () => descriptors() <= before)
      expect(existsSync(room.root)).toBe(true)
    })
  },
  missingProgram("curl"),
)
