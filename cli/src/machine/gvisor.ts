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
  const { stdout: version } = await run(gvisor, ['--version'])
  const runtime = needsKernelNetwork(version, await showsMemoryDefaults())
    ? { path, runtimeArgs: ['--network=host'] }
    : { path }
  const config = withRuntime(await readFile(configPath, 'utf8').catch(() => ''), gvisor, runtime)
  await mkdir(dirname(configPath), { recursive: true })
  await writeFile(configPath, config)
  // Docker reads its runtimes again on this signal; running containers are not affected.
  process.kill(Number(await readFile('/var/run/docker.pid', 'utf8')), 'SIGHUP')
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; await wait(100, undefined, { signal })) {
    if ((await readRuntimes(engine)).listed.includes(gvisor)) return
  }
  throw new Error(`the engine does not list ${gvisor} although ${configPath} names it`)
}

type OciRuntime = { path: string; runtimeArgs?: string[] }

/**
 * True if gVisor's own network fails here: before August 2024 it took a network namespace with
 * `net.core.rmem_default` for that of the host, and Linux 6.11 shows it in all (google/gvisor issue 10704).
 */
export function needsKernelNetwork(version: string, showsInNamespaces: boolean): boolean {
  const date = /(20\d{6})/.exec(version)?.[1]
  return showsInNamespaces && date !== undefined && date < '20240901'
}

async function showsMemoryDefaults(): Promise<boolean> {
  return (await run('unshare', ['--net', 'test', '-e', '/proc/sys/net/core/rmem_default'])).code === 0
}

/** Returns the configuration of the Docker engine with one more runtime. Throws if `text` is not an object. */
export function withRuntime(text: string, name: string, runtime: OciRuntime): string {
  const config: unknown = text.trim() === '' ? {} : JSON.parse(text)
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    throw new Error(`${configPath} is not a JSON object`)
  }
  const { runtimes = {} } = config as { runtimes?: object }
  return `${JSON.stringify({ ...config, runtimes: { ...runtimes, [name]: runtime } }, null, 2)}\n`
}
