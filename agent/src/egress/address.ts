/** Where programs of this container reach the platform: under the link's address, or through the forwarder. */
export type Near = { host: string; port: number; isForwarder: boolean }

/**
 * Replaces the host of a platform address. In a network without other egress, the platform has a different address
 * than elsewhere. The forwarder has a port of its own, too.
 */
export function atPlatform(address: string, { host, port, isForwarder }: Near): string {
  if (!URL.canParse(address)) return address
  const url = new URL(address)
  if (url.hostname === host && (!isForwarder || url.port === String(port))) return address
  url.hostname = host
  if (isForwarder) url.port = String(port)
  return url.href.replace(/\/$/, address.endsWith('/') ? '/' : '')
}

/** Returns a platform request with the git address in it rewritten, if it has one. */
export function withOwnTransfer(message: Record<string, unknown>, near: Near): Record<string, unknown> {
  const { transfer } = message
  if (typeof transfer !== 'object' || transfer === null || !('url' in transfer)) return message
  return { ...message, transfer: { ...transfer, url: atPlatform(String(transfer.url), near) } }
}
