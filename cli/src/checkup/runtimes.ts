import { engineAddress, readRuntimes } from '../machine/engine-client.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const about = 'OCI runtimes'

/** Lists the engine's OCI runtimes, and checks `ROOST_CONTAINER_RUNTIME` against them. */
export async function checkRuntimes(env: NodeJS.ProcessEnv): Promise<Finding> {
  const chosen = env.ROOST_CONTAINER_RUNTIME?.trim() || null
  const url = env.ROOST_CONTAINERS_URL?.trim() || 'docker:'
  if (url.startsWith('sandbox:')) {
    return chosen === null
      ? ok(about, 'none: agents run in sandboxes')
      : fail(
          about,
          'ROOST_CONTAINER_RUNTIME is set, but a sandbox has no OCI runtimes',
          'unset ROOST_CONTAINER_RUNTIME, or use a container engine',
        )
  }
  const address = engineAddress(url, env)
  if (!address) return ok(about, 'not checked: the engine has no local address')
  try {
    const { listed, default: byDefault } = await readRuntimes(address)
    const names = listed.map((name) => (name === byDefault ? `${name} (default)` : name)).join(', ')
    if (chosen === null) return ok(about, names || 'the engine lists none')
    return listed.includes(chosen)
      ? ok(about, `${names}; agents use ${chosen}`)
      : fail(
          about,
          `ROOST_CONTAINER_RUNTIME names ${chosen}, but the engine lists ${names || 'none'}`,
          `register ${chosen} in /etc/docker/daemon.json, or change ROOST_CONTAINER_RUNTIME`,
        )
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return warn(about, `could not be listed: ${reason}`, 'see the finding about the container engine')
  }
}
