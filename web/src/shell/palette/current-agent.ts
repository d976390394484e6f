/** The agent whose page or run has this address; null on other pages. */
export function currentAgent(pathname: string): string | null {
  const name = /^\/agents\/([^/]+)/.exec(pathname)?.[1]
  return name === undefined ? null : decodeURIComponent(name)
}
