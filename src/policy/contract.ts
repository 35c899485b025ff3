export const pathOperations = ["read", "write", "delete", "list"] as const
export type PathOperation = (typeof pathOperations)[number]
