/** A code people can look up: what it means and what to do about it. The error page is made of them. */
export interface ErrorCode {
  readonly code: string
  readonly meaning: string
  readonly action: string
}
