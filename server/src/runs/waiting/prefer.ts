/**
 * Whether a client prefers the least of a reply, from its `Prefer: return=minimal` header (RFC 7240, section 4.2):
 * the reply of a run then leaves the transcript out.
 */
export function prefersMinimal(prefer: string | undefined): boolean {
  return /(?:^|[,;]\s*)return\s*=\s*"?minimal"?\s*(?=[,;]|$)/i.test(prefer ?? '')
}

/**
 * How long a client prefers to wait, from its `Prefer: wait=25` header (RFC 7240, section 4.3), in
 * milliseconds; null when it says nothing that can be read. A preference never makes a wait longer.
 */
export function preferredWaitMs(prefer: string | undefined): number | null {
  const seconds = /(?:^|[,;]\s*)wait\s*=\s*"?(\d{1,6})"?\s*(?=[,;]|$)/i.exec(prefer ?? '')?.[1]
  return seconds === undefined ? null : Number(seconds) * 1000
}
