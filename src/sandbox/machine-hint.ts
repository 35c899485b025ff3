import { readFileSync } from "node:fs"

/** Returns the usual cause of a failure to confine, and what to do about it. */
export function hintFor(message: string, setting: (name: string) => string | null = kernelSetting): string {
  if (setting("user/max_user_namespaces") === "0")
    return "allow user namespaces: sysctl user.max_user_namespaces=15000"
  if (setting("kernel/unprivileged_userns_clone") === "0")
    return "allow user namespaces: sysctl kernel.unprivileged_userns_clone=1"
  if (setting("kernel/apparmor_restrict_unprivileged_userns") === "1")
    return "AppArmor forbids it to programs without a profile: `acode doctor --apparmor` prints one for acode and says how to load it"
  if (/mount \/?proc|proc.*not permitted/i.test(message))
    return "/proc is masked, as in many containers: start the container with --security-opt systempaths=unconfined"
  if (/permission|not permitted|namespace|EPERM|EACCES|ENOSPC/i.test(message))
    return "a container or a security module forbids namespaces: allow them (docker run --security-opt seccomp=unconfined), or run acode outside of it"
  return "run `acode doctor` to see what was tried"
}

function kernelSetting(name: string): string | null {
  try {
    return readFileSync(`/proc/sys/${name}`, "utf8").trim()
  } catch {
    // Most kernels have only some of these settings.
    return null
  }
}
