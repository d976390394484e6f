/**
 * What the bridge `mcp-remote` has to be told of an address: it refuses http to another machine unless that is meant.
 */
export function plainHttp(url: string): string[] {
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && !['localhost', '127.0.0.1'].includes(hostname) ? ['--allow-http'] : []
}
