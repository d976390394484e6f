/**
 * Replaces the host of a platform address with the host of the link. In a network without other egress, the
 * platform has a different address than elsewhere.
 */
export function atPlatform(address: string, linkUrl: string): string {
  if (!URL.canParse(address)) return address
  const url = new URL(address)
  const { hostname } = new URL(linkUrl)
  if (url.hostname === hostname) return address
  url.hostname = hostname
  return url.href.replace(/\/$/, address.endsWith('/') ? '/' : '')
}

/** Returns a platform request with the git address in it rewritten, if it has one. */
export function withOwnTransfer(message: Record<string, unknown>, linkUrl: string): Record<string, unknown> {
  const { transfer } = message
  if (typeof transfer !== 'object' || transfer === null || !('url' in transfer)) return message
  return { ...message, transfer: { ...transfer, url: atPlatform(String(transfer.url), linkUrl) } }
}
