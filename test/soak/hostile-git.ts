import { hostileCommands } from "../support/hostile/hostile-commands.ts"
import { ranByGit } from "../support/hostile/hostile-git.ts"
import { confinedKind } from "../support/requirement.ts"
import { inParallel, type Programme } from "./programme.ts"

export const hostileGit: Programme = {
  name: "hostile-git",
  summary:
    "commands that plant what git would run: real git in every directory, during and after, runs nothing of it",
  count: hostileCommands.length,
  run: ({ count, sandboxes, progress }) => {
    let done = 0
    // One after the other: commands that run in this process are waited for by whoever asks first.
    return inParallel(count, 1, async index => {
      const hostile = hostileCommands[index % hostileCommands.length]
      if (hostile === undefined || sandboxes.every(each => each === "none")) return []
      const found = [...(await ranByGit(hostile, confinedKind))]
      const outside = await ranByGit(hostile, "none")
      if (outside.length === 0 && hostile.isHarmlessHere === undefined)
        found.push(`${hostile.name}: it does nothing without a sandbox either`)
      progress(++done)
      return found
    })
  },
}
