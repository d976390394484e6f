import { access, mkdir, mkdtemp, readFile, rename, rm, statfs, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openApt } from '../machine/apt.ts'
import { planEngine } from '../machine/engine.ts'
import { engineAddress, readRuntimes } from '../machine/engine-client.ts'
import { gvisor, prepareGvisor } from '../machine/gvisor.ts'
import { prepareEngine } from '../machine/prepare-engine.ts'
import { repository } from '../machine/repository.ts'
import { hasProgram, run } from '../machine/run.ts'
import { buildPages } from '../machine/web-build.ts'
import { runStep } from '../platform/run-step.ts'
import type { Progress } from '../terminal/progress.ts'
import { prepareCluster } from './cluster.ts'
import { removeDeadSessions, removeSession } from './leftovers.ts'
import { findPostgres, hasRedis, type Service, startPostgres, startRedis } from './services.ts'
import { installsVariable, newSession } from './session.ts'

export type TestMachine = {
  /** Variables that tell the tests what is available. */
  env: NodeJS.ProcessEnv
  /** What could not be prepared; the tests that need it are skipped. */
  missing: string[]
  stop(): Promise<void>
}

const chromiumPath = '/usr/bin/chromium-headless-shell'

type Package = { name: string; isInstalled: () => Promise<boolean> }

/** Packages that tests need besides the container engine, and how to detect them. */
const packages: Package[] = [
  { name: 'bubblewrap', isInstalled: () => hasProgram('bwrap') },
  { name: 'postgresql', isInstalled: async () => (await findPostgres()) !== null },
  { name: 'redis-server', isInstalled: hasRedis },
  // Headless Chromium only, which needs half the time per page.
  { name: 'chromium-headless-shell', isInstalled: () => isFile(chromiumPath) },
  { name: 'openssh-client', isInstalled: () => hasProgram('ssh') },
  // For the completion scripts of the command line.
  { name: 'zsh', isInstalled: () => hasProgram('zsh') },
  { name: 'fish', isInstalled: () => hasProgram('fish') },
  { name: 'nftables', isInstalled: () => hasProgram('nft') },
  // The reverse proxies of docs/operate/reverse-proxy.md.
  { name: 'nginx', isInstalled: () => hasProgram('nginx') },
  { name: 'caddy', isInstalled: () => hasProgram('caddy') },
  { name: 'iproute2', isInstalled: () => hasProgram('ip') },
  { name: 'docker-compose', isInstalled: () => hasProgram('docker-compose') },
  { name: 'docker-registry', isInstalled: () => hasProgram('docker-registry') },
  // Its promtool checks the alert rules.
  { name: 'prometheus', isInstalled: () => hasProgram('promtool') },
  // Backups of the sandbox engine, and the standard tool that opens their encrypted files.
  { name: 'restic', isInstalled: () => hasProgram('restic') },
  { name: 'age', isInstalled: () => hasProgram('age') },
  // One static program, used as the smallest possible image.
  { name: 'busybox-static', isInstalled: () => isFile('/bin/busybox') },
]

const clusterPackages: Package[] = [
  { name: 'containerd', isInstalled: () => hasProgram('containerd') },
  { name: 'iptables', isInstalled: () => hasProgram('iptables') },
  { name: 'conntrack', isInstalled: () => hasProgram('conntrack') },
  { name: 'containernetworking-plugins', isInstalled: () => isFile('/usr/lib/cni/ptp') },
  { name: 'dnsmasq-base', isInstalled: () => hasProgram('dnsmasq') },
  { name: 'openssl', isInstalled: () => hasProgram('openssl') },
  // For the build of the control plane.
  { name: 'patch', isInstalled: () => hasProgram('patch') },
  { name: 'xz-utils', isInstalled: () => hasProgram('xz') },
]

/**
 * Prepares the machine for tests: installs missing packages where possible and starts servers in a temporary
 * folder. Failures are reported in `missing`, not thrown, and the tests concerned skip themselves.
 */
export async function prepareTestMachine(
  progress: Progress,
  signal: AbortSignal,
  { runtime, cluster = false }: { runtime?: string | undefined; cluster?: boolean } = {},
): Promise<TestMachine> {
  const services: Service[] = []
  const missing: string[] = []
  const env: NodeJS.ProcessEnv = {}
  const stop = async () => {
    for (const service of services.splice(0)) await service.stop()
  }
  const tryToPrepare = async (title: string, work: () => Promise<void>) => {
    try {
      await work()
    } catch (error) {
      if (signal.aborted) throw error
      missing.push(`${title}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  try {
    await installPackages(cluster ? [...packages, ...clusterPackages] : packages, {
      progress,
      signal,
      missing,
    })
    await tryToPrepare('agent containers', () => prepareContainers(env, progress, signal))
    // Tests find containers by name, so those of a killed run would be taken for their own.
    const killed = await removeDeadSessions()
    if (killed.length > 0) progress.line('Removed the containers of an earlier run that was killed.')
    const session = await newSession()
    env[installsVariable] = session.installs
    // Networks that tests leave behind would use up the engine's address ranges, run by run.
    services.push({ url: '', stop: () => removeSession(session) })
    // Not a failure to report as missing: the tests would run under another runtime.
    if (runtime !== undefined)
      env.ROOST_TEST_CONTAINER_RUNTIME = await prepareRuntime(runtime, progress, signal)
    await tryToPrepare('runtime CLIs', async () => {
      env.ROOST_TEST_CLIS = await installClis(progress, signal)
    })
    await tryToPrepare('the web UI build', async () => {
      await progress.step('Building the web UI', () => buildPages({ signal }))
    })
    // Not a failure to report as missing: all tests of the run need it.
    if (cluster) await prepareCluster(progress, signal)
    const folder = await mkdtemp(join(tmpdir(), 'roost-test-'))
    services.push({ url: '', stop: () => rm(folder, { recursive: true, force: true }) })
    await run('chmod', ['755', folder])
    env.ROOST_TEST_SHARED_FOLDER = folder
    const postgres = await findPostgres()
    if (postgres) {
      await tryToPrepare('PostgreSQL', async () => {
        const parent = (await memoryFolder()) ?? folder
        const service = await progress.step('Starting PostgreSQL', () => startPostgres(postgres, parent))
        services.unshift(service)
        env.ROOST_TEST_POSTGRES_URL = service.url
      })
    }
    if (await hasRedis()) {
      await tryToPrepare('Redis', async () => {
        const service = await progress.step('Starting Redis', () => startRedis(folder))
        services.unshift(service)
        env.ROOST_TEST_REDIS_URL = service.url
      })
    }
    if (await isFile(chromiumPath)) env.ROOST_TEST_CHROMIUM = chromiumPath
    return { env, missing, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function installPackages(
  needed: readonly Package[],
  { progress, signal, missing }: { progress: Progress; signal: AbortSignal; missing: string[] },
): Promise<void> {
  const absent: string[] = []
  for (const { name, isInstalled } of needed) if (!(await isInstalled())) absent.push(name)
  if (absent.length === 0) return
  const apt = await openApt()
  if (!apt) {
    missing.push(`${absent.join(', ')}: not installed. Run as root on Debian or Ubuntu to install them`)
    return
  }
  try {
    await progress.step(`Installing what tests need (${absent.join(', ')})`, (onProgress) =>
      apt.install(absent, { onProgress, signal, withoutServices: true }),
    )
  } catch (error) {
    if (signal.aborted) throw error
    missing.push(error instanceof Error ? error.message : String(error))
  }
}

async function prepareContainers(
  env: NodeJS.ProcessEnv,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const apt = await openApt()
  const url = 'docker:'
  const plan = await planEngine({ url, apt, env: process.env })
  const engine = await prepareEngine(plan, { url, apt, progress, signal })
  if (!engine.isUsable) throw new Error(engine.reason)
  await progress.step('Preparing the agent images', (onProgress) =>
    runStep({
      file: repository.images,
      env: { ...process.env, ROOST_CONTAINERS_URL: url },
      cwd: repository.root,
      onProgress,
      signal,
    }),
  )
  env.ROOST_TEST_CONTAINERS_URL = url
}

/** Returns the OCI runtime once the engine lists it. gVisor is installed when missing; throws for others. */
async function prepareRuntime(runtime: string, progress: Progress, signal: AbortSignal): Promise<string> {
  const address = engineAddress('docker:', process.env)
  if (!address) throw new Error('--runtime needs a container engine with a local address')
  const { listed } = await readRuntimes(address)
  if (listed.includes(runtime)) return runtime
  if (runtime !== gvisor) {
    throw new Error(`--runtime: the engine does not list ${runtime}; it lists ${listed.join(', ')}`)
  }
  const apt = await openApt()
  await progress.step('Preparing gVisor', (onProgress) => prepareGvisor(apt, { onProgress, signal }))
  return runtime
}

/** Installs the runtimes' CLIs as npm packages, for tests that run them without a container. */
async function installClis(progress: Progress, signal: AbortSignal): Promise<string> {
  const folder = join(repository.local, 'test-clis')
  const text = await readFile(join(repository.root, 'images/agent/runtimes.json'), 'utf8')
  // The tests of the agent images check the format of this file.
  const runtimes = Object.values(JSON.parse(text) as Record<string, { package: string; version: string }>)
  const dependencies = Object.fromEntries(runtimes.map((each) => [each.package, each.version]))
  const allowScripts = Object.fromEntries(runtimes.map((each) => [each.package, true]))
  const manifest = `${JSON.stringify({ private: true, dependencies, allowScripts }, null, 2)}\n`
  if ((await readFile(join(folder, 'package.json'), 'utf8').catch(() => '')) === manifest) return folder
  const partial = `${folder}.half`
  await rm(partial, { recursive: true, force: true })
  await mkdir(partial, { recursive: true })
  await writeFile(join(partial, 'package.json'), manifest)
  await progress.step('Installing the runtime CLIs', async () => {
    const args = ['install', '--ignore-scripts=false', '--no-audit', '--no-fund', '--no-package-lock']
    const { code, lastLines } = await run('npm', args, { cwd: partial, signal })
    if (code !== 0) throw new Error(`npm install failed:\n${lastLines.join('\n')}`)
  })
  await rm(folder, { recursive: true, force: true })
  await rename(partial, folder)
  return folder
}

const minFreeMemoryBytes = 3 * 1024 ** 3

/** Returns a folder in memory, where a new database takes half the time, or null if there is too little of it. */
async function memoryFolder(): Promise<string | null> {
  const path = '/dev/shm'
  const found = await statfs(path).catch(() => null)
  return found && found.bavail * found.bsize >= minFreeMemoryBytes ? path : null
}

function isFile(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
