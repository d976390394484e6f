/** A git configuration setting for one call. */
export type Setting = readonly [name: string, value: string]

/** Returns git's whole environment: no configuration files, and the caller's settings last. */
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
    // Larger files are streamed, because a megabyte may expand to a gigabyte.
    ['core.bigFileThreshold', '1m'],
    // Limits git's caches of unpacked and mapped data, which would exceed the memory limit.
    ['core.deltaBaseCacheLimit', '8m'],
    ['core.packedGitWindowSize', '1m'],
    ['core.packedGitLimit', '8m'],
    // Keeps small packs as one file too, which the size limit counts.
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

/** Passes the token in the environment, because every user can read arguments. */
export function tokenSettings(token: string | null | undefined): Setting[] {
  if (!token) return []
  const basic = Buffer.from(`x-access-token:${token}`).toString('base64')
  return [['http.extraHeader', `Authorization: Basic ${basic}`]]
}
