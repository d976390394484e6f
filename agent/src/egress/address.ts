/**
 * An address of the platform as this container reaches it: where the link leads. A container without another way
 * out stands in a network in which the platform has another address than it has for the others.
 */
export function atPlatform(address: string, linkUrl: string): string {
  if (!URL.canParse(address)) return address
  const url = new URL(address)
  const { hostname } = new URL(linkUrl)
  if (url.hostname === hostname) return address
  url.hostname = hostname
  return url.href.replace(/\/$/, address.endsWith('/') ? '/' : '')
}

/** A call of the platform with the address of its git in it, if it has one. */
export function withOwnTransfer(message: Record<string, unknown>, linkUrl: string): Record<string, unknown> {
  const { transfer } = message
  if (typeof transfer !== 'object' || transfer === null || !('url' in transfer)) return message
  return { ...message, transfer: { ...transfer, url: atPlatform(String(transfer.url), linkUrl) } }
}
