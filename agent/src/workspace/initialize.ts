import { spawn } from 'node:child_process'
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../kit/clock.ts'
import { timestamp } from '../kit/clock.ts'
import { faultText, type Log } from '../kit/log.ts'
import type { OwnersFiles } from '../principals/owners-files.ts'
import { copyInto } from '../processes/copy.ts'
import type { Environment } from '../processes/environment.ts'
import type { Identities } from '../processes/identity.ts'
import { removeFrom } from './open-folder.ts'
import { codeOf } from './paths.ts'
import type { TemplateSource } from './template.ts'

/** Created at every start, so that other code can rely on them. */
const folders = ['.tmp', 'uploads', 'content', '.roost']
/** Mount point for folders of other agents. Skipped when a template contains it. */
const mountedFolder = 'shared-in'
const marker = '.roost-initialized'
/** The same on the volume that turns cannot reach: a deleted marker must not bring the template back. */
const ownMarker = 'workspace-initialized'
/** Locks left by an earlier process. */
const staleLocks = ['index.lock', 'HEAD.lock', 'config.lock', 'packed-refs.lock']
const retryMs = 10_000

/** `staging` is the program's folder on the second volume. */
export type InitializeDeps = {
  home: string
  staging: string
  identities: Identities
  /** Folder of a template that a platform up to 0.1.0 has put into the container. */
  template: string
  source: TemplateSource
  clock: Clock
  log: Log
  /** The program ends. */
  signal: AbortSignal
}

/**
 * Creates the workspace's folders and fills it from the template at the first start. Retries until it succeeds,
 * because runs need a complete workspace. Rejects only when the program ends.
 */
export async function initializeWorkspace(deps: InitializeDeps): Promise<void> {
  for (;;) {
    try {
      return await initialize(deps)
    } catch (fault) {
      deps.signal.throwIfAborted()
      deps.log.warn('workspace not initialized', { reason: faultText(fault), retry_ms: retryMs })
      await new Promise<void>((resolve) => deps.clock.after(retryMs, resolve))
    }
  }
}

async function initialize(deps: InitializeDeps): Promise<void> {
  const { home, staging, clock } = deps
  for (const folder of folders) await mkdir(join(home, folder), { recursive: true })
  // Staged files of an earlier process.
  for (const name of ['parts', 'packs', 'sealed-parts', 'skills', 'template.tar'])
    await rm(join(staging, name), { recursive: true, force: true })
  await removeFrom(home, '.roost', ['skills'])
  await removeFrom(home, '.claude', ['.roost-skills'])
  for (const name of staleLocks) await rm(join(home, '.git', name), { force: true }).catch(() => {})
  const isInitialized = (await exists(join(home, marker))) || (await exists(join(staging, ownMarker)))
  if (!isInitialized) {
    await fillFromTemplate(deps)
    await writeFile(join(home, marker), `${timestamp(clock)}\n`)
  }
  await writeFile(join(staging, ownMarker), '')
}

async function fillFromTemplate({ home, staging, identities, template, source, log }: InitializeDeps) {
  // Images up to 0.1.0 have the folder, empty.
  const names = (await exists(template)) ? await readdir(template) : []
  if (names.length > 0) {
    const sources = names.filter((name) => name !== mountedFolder).map((name) => join(template, name))
    await copyInto(home, sources, identities)
    log.info('template copied')
    return
  }
  // Loaded at the first start only: later ones save the memory.
  const { receiveTemplate, unpackTemplate } = await import('./template.ts')
  const archive = join(staging, 'template.tar')
  try {
    if (!(await receiveTemplate(archive, source))) return
    await unpackTemplate(archive, home, identities)
    log.info('template received')
  } finally {
    await rm(archive, { force: true })
  }
}

const setupTimeoutMs = 300_000
const maxOutputLength = 2000

/** Runs the workspace's `.roost/setup.sh`, if present, as the developer for at most five minutes. */
export async function runSetup(options: {
  home: string
  ownersFiles: Pick<OwnersFiles, 'isOwners'>
  env: Environment
  identities: Identities
  log: Log
}): Promise<void> {
  const script = join(options.home, '.roost', 'setup.sh')
  if (!(await exists(script))) return
  if (!(await options.ownersFiles.isOwners('.roost/setup.sh'))) {
    options.log.warn('setup.sh ignored, because somebody other than the owner may have written it')
    return
  }
  const { identities } = options
  const { command, args, options: asUser } = identities.as(identities.developer, '/bin/bash', [script])
  const child = spawn(command, args, {
    ...asUser,
    cwd: options.home,
    env: options.env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: setupTimeoutMs,
    killSignal: 'SIGKILL',
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString('utf8')).slice(-maxOutputLength)
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
