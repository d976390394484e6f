import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { connect } from './connect.ts'

/** A new agent is offered after this time at the latest. */
const freshMs = 20_000
/** A shell waits for no platform longer than this. */
const timeoutMs = 800

/**
 * Prints the names of the agents for shell completion, one per line. Prints earlier names, or nothing, when the
 * platform does not answer in time. It never fails, because a shell would show the error in the middle of a line.
 */
export async function printAgentNames(env: NodeJS.ProcessEnv = process.env): Promise<number> {
  try {
    const names = await agentNames(env)
    if (names !== '') console.log(names)
  } catch {
    // Not signed in, or no platform: there is nothing to offer.
  }
  return 0
}

async function agentNames(env: NodeJS.ProcessEnv): Promise<string> {
  const { url, key } = await connect(undefined, env)
  const file = cacheFile(env, `${url} ${key}`)
  const age =
    Date.now() -
    (await stat(file).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    ))
  const stored = () => readFile(file, 'utf8').catch(() => '')
  if (age >= 0 && age < freshMs) return stored()
  try {
    // A plain request: the typed endpoints would load every schema first.
    const response = await fetch(`${url}/api/agents`, {
      headers: { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(timeoutMs),
    })
    if (!response.ok) return ''
    const agents = (await response.json()) as { name: string }[]
    const names = agents
      .map(({ name }) => name)
      // A shell would evaluate anything else.
      .filter((name) => /^[a-z0-9_-]+$/.test(name))
      .join('\n')
    await store(file, names).catch(() => {})
    return names
  } catch {
    return stored()
  }
}

/** One file per platform and key, because another person sees other agents. */
function cacheFile(env: NodeJS.ProcessEnv, owner: string): string {
  const folder = env.XDG_CACHE_HOME || join(env.HOME || homedir(), '.cache')
  return join(folder, 'roost', `agents-${createHash('sha256').update(owner).digest('hex').slice(0, 16)}`)
}

async function store(file: string, names: string): Promise<void> {
  await mkdir(join(file, '..'), { recursive: true, mode: 0o700 })
  const next = `${file}.${process.pid}.new`
  await writeFile(next, names, { mode: 0o600 })
  await rename(next, file)
}
