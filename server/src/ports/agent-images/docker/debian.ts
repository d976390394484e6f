/** Where a release of a distribution gets packages from: one archive, one suite. */
export type AptSource = { uri: string; suite: string; components: string[] }
/** `main` is what a new system is made from; `sources` also hold its updates and security fixes. */
export type Distribution = { codename: string; main: AptSource; sources: AptSource[] }

/** Asks apt what it reads; the answer of this command is what `parseDistribution` takes. */
export const aptSourcesCommand = [
  'apt-get',
  'indextargets',
  '--format',
  '$(ORIGIN)|$(REPO_URI)|$(RELEASE)|$(COMPONENT)',
  'Created-By: Packages',
] as const

/**
 * The distribution of this machine and its mirrors. Archives of other vendors for the same release are left
 * out: a new system does not have their keys. Null when apt knows no archive of the release itself.
 */
export function parseDistribution(osRelease: string, aptSources: string): Distribution | null {
  const codename = /^VERSION_CODENAME="?([a-z]+)"?$/m.exec(osRelease)?.[1]
  if (!codename) return null
  const sources = new Map<string, AptSource>()
  for (const line of aptSources.split('\n')) {
    const [origin = '', uri = '', suite = '', component = ''] = line.split('|')
    if (!/^(Debian|Ubuntu)$/.test(origin)) continue
    if (![codename, `${codename}-updates`, `${codename}-security`].includes(suite)) continue
    const key = `${uri} ${suite}`
    const known = sources.get(key) ?? { uri, suite, components: [] }
    if (!known.components.includes(component)) known.components.push(component)
    sources.set(key, known)
  }
  const main = [...sources.values()].find(({ suite }) => suite === codename)
  return main ? { codename, main, sources: [...sources.values()] } : null
}
