import { probeGroups, weakerReduced } from "../test/sandbox/escape-probes.ts"

/** The page about the mechanisms that confine commands: what each of them refuses, probe by probe. */
export function confinementPage(): string[] {
  const rows = Object.entries(probeGroups).flatMap(([title, probes]) => [
    `| **${title}** | | | | |`,
    ...probes.map(({ name }) => `| ${name} | refused | refused | refused | ${reduced(name)} |`),
  ])
  const count = Object.values(probeGroups).flat().length
  return [
    "A command is confined by the first of these that works here; `acode doctor` tries each and says what it lacks.",
    "",
    "| `--sandbox` | confines by | needs |",
    "|---|---|---|",
    "| `native` | acode's own launcher: namespaces, mounts, a filter of system calls | Linux 5.12, user namespaces, programs started from memory |",
    "| `perl` | the same list of system calls, executed by perl | Linux 5.12, user namespaces, perl |",
    "| `bwrap` | bubblewrap with the same view | bubblewrap, user namespaces |",
    "| `reduced` | Landlock and a filter of system calls, no namespaces | Linux 6.2 with Landlock |",
    "",
    "`reduced` is weaker: acode says so with every command, records it, and asks about each command as without a sandbox.",
    "A command then has no loopback, can make nothing new in a directory that holds something protected (the root of the",
    "workspace is one), may change the mode, the owner and the times of what its user owns, and is ended by its tag and by",
    "adoption instead of with its namespace. The temporary directory and `HOME` are a fresh directory of each command.",
    "",
    "In a container that masks `/proc` the launcher shows the `/proc` of the container read-only: a command sees the numbers",
    "of other processes there, and can neither read nor signal them. Where AppArmor gives namespaces to known programs only,",
    "`acode doctor --apparmor` prints a profile for acode. Real Ubuntu and Docker were not run by the tests; their rules were",
    "imitated where a user can.",
    "",
    `## ${count} attempts to get out`,
    "The tests make each of them inside every mechanism that works on the machine, as root and as an ordinary user, and the",
    "harmless ones without confinement as well, where they have to succeed. The column `reduced` is compared with what gets",
    "through, in both directions.",
    "",
    "| attempt | native | perl | bwrap | reduced |",
    "|---|---|---|---|---|",
    ...rows,
  ]
}

function reduced(name: string): string {
  const weaker = weakerReduced.find(row => row.name === name)
  if (weaker === undefined) return "refused"
  return { everybody: "**possible**", root: "**possible** as root", others: "**possible** but as root" }[
    weaker.user
  ]
}
