/** Of git's configuration, for one call. */
export type Setting = readonly [name: string, value: string]

/** All that git sees: nothing of anybody's configuration, and the caller's settings last. */
export function environment(path: string, cache: string, protocol: string, settings: Setting[]) {
  const all: Setting[] = [
    ['credential.helper', ''],
    ['core.hooksPath', '/dev/null'],
    ['core.fsmonitor', 'false'],
    ['core.autocrlf', 'false'],
    ['core.attributesFile', '/dev/null'],
    ['core.excludesFile', '/dev/null'],
    ['safe.directory', '*'],
    ['gc.auto', '0'],
    ['maintenance.auto', 'false'],
    ['pack.threads', '1'],
    // What is larger goes through in pieces: a megabyte may stand for a gigabyte.
    ['core.bigFileThreshold', '1m'],
    // What git keeps of what it has unpacked or looked into; it would take more than it may have.
    ['core.deltaBaseCacheLimit', '8m'],
    ['core.packedGitWindowSize', '1m'],
    ['core.packedGitLimit', '8m'],
    // Small packs too are kept as one file, which is what the bound of size counts.
    ['fetch.unpackLimit', '1'],
    ['submodule.recurse', 'false'],
    ['protocol.version', '2'],
    ['http.followRedirects', 'false'],
    ['http.lowSpeedLimit', '100'],
    ['http.lowSpeedTime', '30'],
    ...settings,
  ]
  return {
    PATH: path,
    HOME: '/nonexistent',
    LC_ALL: 'C',
    GIT_DIR: cache,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '/bin/false',
    GIT_ALLOW_PROTOCOL: protocol === 'http:' ? 'http' : 'https',
    GIT_CONFIG_COUNT: String(all.length),
    ...Object.fromEntries(
      all.flatMap(([name, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, name],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  }
}

/** In the environment: arguments are seen by every user of the machine. */
export function tokenSettings(token: string | null | undefined): Setting[] {
  if (!token) return []
  const basic = Buffer.from(`x-access-token:${token}`).toString('base64')
  return [['http.extraHeader', `Authorization: Basic ${basic}`]]
}
