/** True for an address of this machine. Undefined on a unix socket, which a sandboxed agent uses. */
export function isLoopback(address: string | undefined): boolean {
  return (
    address !== undefined &&
    (address === '::1' || address.startsWith('127.') || address.startsWith('::ffff:127.'))
  )
}
