import { runAcode } from "../support/acode.ts"
import { check } from "../support/checker/checker.ts"
import { endProcesses, processesWith } from "../support/processes.ts"
import { tempWorkspace } from "../support/workspace/temp-workspace.ts"
import { inParallel, type Programme } from "./programme.ts"

/** Ways to hide from whoever kills a process group. `$M` is the marker all of them sleep for. */
const treeShapes: readonly (readonly [string, string])[] = [
  ["one process", "exec sleep $M"],
  ["a child in the background", "sleep $M & wait"],
  ["a deaf shell", "trap '' TERM INT HUP; sleep $M; sleep $M"],
  ["a session of its own", "setsid sleep $M & wait"],
  ["forked twice, with a session of its own", "(setsid sh -c 'sleep $M & sleep $M' &); sleep $M"],
  ["deaf and forked twice", "(trap '' TERM; setsid sh -c \"trap '' TERM; sleep $M\" &); exec sleep $M"],
  ["ten in a row", "for i in 1 2 3 4 5 6 7 8 9 10; do sleep $M & done; wait"],
  ["one that holds the output open", "sleep $M >/dev/null & sleep $M & exit 0"],
  ["one below the other", 'sh -c \'sh -c "sh -c \\"sleep $M; :\\"; :"; :\'; :'],
  ["an orphan that forks on", "(setsid sh -c 'while :; do sleep 0.02; done; : $M' &); sleep $M"],
]

export const timedOutTrees: Programme = {
  name: "timed-out-trees",
  summary: "process trees that hide, each ended by its deadline: no survivor when acode returns",
  count: 1_000,
  run: async ({ count, random, sandboxes, progress }) => {
    using workspace = tempWorkspace()
    const found = await inParallel(count, 4, async index => {
      const [shape, script] = random.oneOf(treeShapes)
      const sandbox = random.oneOf(sandboxes)
      const marker = `7${process.pid}${String(index).padStart(5, "0")}`
      const timeout = (0.15 + random.whole(100) / 1_000).toFixed(3)
      const args = [
        "exec",
        "--sandbox",
        sandbox,
        "--timeout",
        timeout,
        "--",
        "sh",
        "-c",
        script.replaceAll("$M", marker),
      ]
      const { exitCode, stderr } = await runAcode(args, { cwd: workspace.root, env: workspace.environment })
      // Looked at once: acode has returned, and that is the moment it promised.
      const left = processesWith(marker)
      endProcesses(left)
      progress(index + 1)
      const expected = shape === "one that holds the output open" ? [0, 124] : [124]
      return [
        ...(expected.includes(exitCode ?? -1)
          ? []
          : [`#${index} ${shape} (${sandbox}): exit ${exitCode} ${stderr}`]),
        ...left.map(({ commandLine }) => `#${index} ${shape} (${sandbox}): survivor ${commandLine}`),
      ]
    })
    return [...found, ...(await check(workspace))]
  },
}
