import type { ListedModel } from "../../provider/server.ts"

/** Models that only turn text into numbers cannot answer, and those of a cloud are not on this machine. */
export function isUsable({ name }: Pick<ListedModel, "name">): boolean {
  return !/embed|rerank|(^|[/-])(bge|e5|gte|minilm)\b/i.test(name) && !/:(?:[^/:]*-)?cloud$/i.test(name)
}
