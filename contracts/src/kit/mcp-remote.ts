/** Returns the option that the bridge `mcp-remote` needs for plain http to another machine, which it refuses by default. */
export function plainHttp(url: string): string[] {
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && !['localhost', '127.0.0.1'].includes(hostname) ? ['--allow-http'] : []
}
