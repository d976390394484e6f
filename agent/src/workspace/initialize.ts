import { spawn } from 'node:child_process'
import { cp, mkdir, rm, stat, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { Clock } from '../kit/clock.ts'
import { timestamp } from '../kit/clock.ts'
import { faultText, type Log } from '../kit/log.ts'
import type { Environment } from '../processes/environment.ts'
import type { Identities } from '../processes/identity.ts'
import { codeOf } from './paths.ts'

/** Made at each start, so that nothing has to look whether they are there. */
const folders = ['.tmp', 'uploads', 'content', '.roost', '.roost/state']
/** Where folders of other agents are mounted: nobody writes there, and a template that would is not refused for it. */
const mountedFolder = 'shared-in'
const marker = '.roost-initialized'
/** Nothing of an earlier life holds these any more. */
const staleLocks = ['index.lock', 'HEAD.lock', 'config.lock', 'packed-refs.lock']
const retryMs = 10_000

export type InitializeDeps = { home: string; template: string; clock: Clock; log: Log }

/**
 * Makes the workspace's folders and, at the first start, copies the template into it. Tries again until it
 * succeeds: a run in half a workspace would do harm.
 */
export async function initializeWorkspace(deps: InitializeDeps): Promise<void> {
  for (;;) {
    try {
      return await initialize(deps)
    } catch (fault) {
      deps.log.warn('workspace not initialized', { reason: faultText(fault), retry_ms: retryMs })
      await new Promise<void>((resolve) => deps.clock.after(retryMs, resolve))
    }
  }
}

async function initialize({ home, template, clock, log }: InitializeDeps): Promise<void> {
  for (const folder of folders) await mkdir(join(home, folder), { recursive: true })
  // Pieces of files and packages that a dead program left.
  for (const name of ['parts', 'packs', 'sealed-parts', 'skills'])
    await rm(join(home, '.roost', name), { recursive: true, force: true })
  for (const name of staleLocks) await rm(join(home, '.git', name), { force: true }).catch(() => {})
  if (await exists(join(home, marker))) return
  if (await exists(template)) {
    await cp(template, home, {
      recursive: true,
      force: true,
      verbatimSymlinks: true,
      preserveTimestamps: true,
      filter: (source) => relative(template, source) !== mountedFolder,
    })
    log.info('template copied')
  }
  await writeFile(join(home, marker), `${timestamp(clock)}\n`)
}

const setupTimeoutMs = 300_000
const keptOutput = 2000

/** Runs the workspace's `.roost/setup.sh`, if it has one, as the developer and at most five minutes. */
export async function runSetup(options: {
  home: string
  env: Environment
  identities: Identities
  log: Log
}): Promise<void> {
  const script = join(options.home, '.roost', 'setup.sh')
  if (!(await exists(script))) return
  const { command, args } = options.identities.as('developer', '/bin/bash', [script])
  const child = spawn(command, args, {
    cwd: options.home,
    env: options.env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: setupTimeoutMs,
    killSignal: 'SIGKILL',
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString('utf8')).slice(-keptOutput)
    })
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null))
    child.once('exit', resolve)
  })
  if (code === 0) options.log.info('setup.sh done')
  else options.log.warn('setup.sh failed', { code, output })
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
}
