/**
 * Reports whether the client asks for a short reply with `Prefer: return=minimal` (RFC 7240, section 4.2).
 * The reply of a run then omits the transcript.
 */
export function prefersMinimal(prefer: string | undefined): boolean {
  return /(?:^|[,;]\s*)return\s*=\s*"?minimal"?\s*(?=[,;]|$)/i.test(prefer ?? '')
}

/**
 * Returns the wait that the client prefers, from `Prefer: wait=25` (RFC 7240, section 4.3), in milliseconds.
 * Null when the header has no readable wait. The caller never waits longer than it would without the header.
 */
export function preferredWaitMs(prefer: string | undefined): number | null {
  const seconds = /(?:^|[,;]\s*)wait\s*=\s*"?(\d{1,6})"?\s*(?=[,;]|$)/i.exec(prefer ?? '')?.[1]
  return seconds === undefined ? null : Number(seconds) * 1000
}
