import { access, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openApt } from '../machine/apt.ts'
import { planEngine } from '../machine/engine.ts'
import { prepareEngine } from '../machine/prepare-engine.ts'
import { repository } from '../machine/repository.ts'
import { hasProgram, run } from '../machine/run.ts'
import { buildPages } from '../machine/web-build.ts'
import { runStep } from '../platform/run-step.ts'
import type { Progress } from '../terminal/progress.ts'
import { findPostgres, hasRedis, type Service, startPostgres, startRedis } from './services.ts'

export type TestMachine = {
  /** Variables that tell tests what is there. */
  env: NodeJS.ProcessEnv
  /** What could not be had, and so which tests are skipped. */
  missing: string[]
  stop(): Promise<void>
}

const chromiumPath = '/usr/bin/chromium-headless-shell'

/** Packages that tests need beside the container engine, and how to tell that they are there. */
const packages: { name: string; isThere: () => Promise<boolean> }[] = [
  { name: 'bubblewrap', isThere: () => hasProgram('bwrap') },
  { name: 'postgresql', isThere: async () => (await findPostgres()) !== null },
  { name: 'redis-server', isThere: hasRedis },
  // The part of Chromium that a browser without a window needs: half of the time for a page.
  { name: 'chromium-headless-shell', isThere: () => isFile(chromiumPath) },
  { name: 'openssh-client', isThere: () => hasProgram('ssh') },
  // The smallest image there is: one static program.
  { name: 'busybox-static', isThere: () => isFile('/bin/busybox') },
]

/**
 * Everything that tests stand on: what is missing is installed where that is possible, servers are started in
 * a folder of their own. What could not be had is told, not thrown: its tests skip themselves.
 */
export async function prepareTestMachine(progress: Progress, signal: AbortSignal): Promise<TestMachine> {
  const services: Service[] = []
  const missing: string[] = []
  const env: NodeJS.ProcessEnv = {}
  const stop = async () => {
    for (const service of services.splice(0)) await service.stop()
  }
  const attempt = async (what: string, work: () => Promise<void>) => {
    try {
      await work()
    } catch (error) {
      if (signal.aborted) throw error
      missing.push(`${what}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  try {
    await installPackages(progress, signal, missing)
    await attempt('agents’ containers', () => prepareContainers(env, progress, signal))
    await attempt('the CLIs of the runtimes', async () => {
      env.ROOST_TEST_CLIS = await installClis(progress, signal)
    })
    await attempt('the pages of the web UI', async () => {
      await progress.step('Building the pages', () => buildPages({ signal }))
    })
    const folder = await mkdtemp(join(tmpdir(), 'roost-test-'))
    services.push({ url: '', stop: () => rm(folder, { recursive: true, force: true }) })
    await run('chmod', ['755', folder])
    env.ROOST_TEST_SHARED_FOLDER = folder
    const postgres = await findPostgres()
    if (postgres) {
      await attempt('PostgreSQL', async () => {
        const service = await progress.step('Starting PostgreSQL', () => startPostgres(postgres, folder))
        services.unshift(service)
        env.ROOST_TEST_POSTGRES_URL = service.url
      })
    }
    if (await hasRedis()) {
      await attempt('Redis', async () => {
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

async function installPackages(progress: Progress, signal: AbortSignal, missing: string[]): Promise<void> {
  const wanted: string[] = []
  for (const { name, isThere } of packages) if (!(await isThere())) wanted.push(name)
  if (wanted.length === 0) return
  const apt = await openApt()
  if (!apt) {
    missing.push(
      `${wanted.join(', ')}: not installed, and only root on Debian or Ubuntu can install them here`,
    )
    return
  }
  try {
    await progress.step(`Installing what tests need (${wanted.join(', ')})`, (onProgress) =>
      apt.install(wanted, { onProgress, signal, withoutServices: true }),
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
  if (!engine.isUsable) throw new Error(engine.why)
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

/** The runtimes' CLIs as ordinary npm packages, for tests that run them without a container. */
async function installClis(progress: Progress, signal: AbortSignal): Promise<string> {
  const folder = join(repository.local, 'test-clis')
  const text = await readFile(join(repository.root, 'images/agent/runtimes.json'), 'utf8')
  // The file is part of this repository, and its shape is held by the tests of the agent images.
  const runtimes = Object.values(JSON.parse(text) as Record<string, { package: string; version: string }>)
  const dependencies = Object.fromEntries(runtimes.map((each) => [each.package, each.version]))
  const allowScripts = Object.fromEntries(runtimes.map((each) => [each.package, true]))
  const manifest = `${JSON.stringify({ private: true, dependencies, allowScripts }, null, 2)}\n`
  if ((await readFile(join(folder, 'package.json'), 'utf8').catch(() => '')) === manifest) return folder
  const half = `${folder}.half`
  await rm(half, { recursive: true, force: true })
  await mkdir(half, { recursive: true })
  await writeFile(join(half, 'package.json'), manifest)
  await progress.step('Installing the CLIs of the runtimes', async () => {
    const args = ['install', '--ignore-scripts=false', '--no-audit', '--no-fund', '--no-package-lock']
    const { code, lastLines } = await run('npm', args, { cwd: half, signal })
    if (code !== 0) throw new Error(`npm install failed:\n${lastLines.join('\n')}`)
  })
  await rm(folder, { recursive: true, force: true })
  await rename(half, folder)
  return folder
}

function isFile(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
