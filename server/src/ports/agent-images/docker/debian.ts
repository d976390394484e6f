/** A package source of a distribution: one archive, one suite. */
export type AptSource = { uri: string; suite: string; components: string[] }
/**
 * `main` is the archive that a new system is built from; `sources` also include updates and security fixes.
 */
export type Distribution = { codename: string; main: AptSource; sources: AptSource[] }

/** Lists apt's sources; `parseDistribution` reads the output. */
export const aptSourcesCommand = [
  'apt-get',
  'indextargets',
  '--format',
  '$(ORIGIN)|$(REPO_URI)|$(RELEASE)|$(COMPONENT)',
  'Created-By: Packages',
] as const

/**
 * Returns the distribution of this machine and its mirrors. Excludes archives of other vendors, whose keys a
 * new system lacks. Null when apt has no archive of the release.
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
