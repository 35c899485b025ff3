import { realpathSync } from "node:fs"
import { isAbsolute, join, relative, resolve } from "node:path"
import type { ConfigSource } from "./config-file.ts"
import type { AppEnvironment } from "./environment.ts"

/** The files that can say something, whether they exist or not. `--config` wins over ACODE_CONFIG_FILE. */
export function configSources(
  workspaceRoot: string,
  environment: AppEnvironment,
  configFile: string | null,
): { readonly user: ConfigSource; readonly project: ConfigSource } {
  const userPath = join(environment.xdgConfigHome, "acode", "config.yml")
  const root = realpathSync(workspaceRoot)
  const named = configFile ?? environment.configFile
  const projectPath = named === null ? join(root, ".agent", "config.yml") : resolve(named)
  return {
    user: {
      path: userPath,
      shown: shownPath(userPath, environment.home, "~/"),
      inside: null,
      isPersonal: true,
      mustExist: false,
    },
    project: {
      path: projectPath,
      shown: shownPath(projectPath, root, ""),
      inside: named === null ? root : null,
      isPersonal: false,
      mustExist: named !== null,
    },
  }
}

/** Short for what lies below `base`: a person knows a file by its place in the workspace or the home directory. */
function shownPath(path: string, base: string, prefix: string): string {
  const below = relative(base, path)
  return below === "" || below.startsWith("..") || isAbsolute(below) ? path : `${prefix}${below}`
}
