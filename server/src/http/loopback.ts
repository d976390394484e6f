/** The address is of this machine. Undefined on a unix socket, behind which a sandbox's agent stands. */
export function isLoopback(address: string | undefined): boolean {
  return (
    address !== undefined &&
    (address === '::1' || address.startsWith('127.') || address.startsWith('::ffff:127.'))
  )
}
