import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Apt } from './apt.ts'
import { type EngineAddress, readRuntimes } from './engine-client.ts'
import { hasProgram, run } from './run.ts'

/** The name under which Docker lists gVisor, which is also its program and its package. */
export const gvisor = 'runsc'
const configPath = '/etc/docker/daemon.json'
const engine: EngineAddress = { socketPath: '/var/run/docker.sock' }

/**
 * Installs gVisor from the distribution and registers it with the local Docker engine, without a restart of the
 * engine. Does nothing if the engine lists it. Throws with the reason when that is not possible.
 */
export async function prepareGvisor(
  apt: Apt | null,
  { onProgress, signal }: { onProgress: (text: string) => void; signal?: AbortSignal },
): Promise<void> {
  if ((await readRuntimes(engine)).listed.includes(gvisor)) return
  if (!(await hasProgram(gvisor))) {
    if (!apt) throw new Error('gVisor is not installed: as root, `apt-get install runsc`')
    await apt.install([gvisor], { onProgress, signal })
  }
  onProgress(`registering ${gvisor} in ${configPath}`)
  const path = (await run('sh', ['-c', `command -v ${gvisor}`])).stdout.trim()
  const config = withRuntime(await readFile(configPath, 'utf8').catch(() => ''), gvisor, path)
  await mkdir(dirname(configPath), { recursive: true })
  await writeFile(configPath, config)
  // Docker reads its runtimes again on this signal; running containers are not affected.
  process.kill(Number(await readFile('/var/run/docker.pid', 'utf8')), 'SIGHUP')
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; await wait(100, undefined, { signal })) {
    if ((await readRuntimes(engine)).listed.includes(gvisor)) return
  }
  throw new Error(`the engine does not list ${gvisor} although ${configPath} names it`)
}

/** Returns the configuration of the Docker engine with one more runtime. Throws if `text` is not an object. */
export function withRuntime(text: string, name: string, path: string): string {
  const config: unknown = text.trim() === '' ? {} : JSON.parse(text)
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    throw new Error(`${configPath} is not a JSON object`)
  }
  const { runtimes = {} } = config as { runtimes?: object }
  return `${JSON.stringify({ ...config, runtimes: { ...runtimes, [name]: { path } } }, null, 2)}\n`
}
