import { createHash } from 'node:crypto'
import { copyFile, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { acquireLock } from '../../../cli/src/machine/lock.ts'
import { containerdConfiguration } from './configuration.ts'
import { lastLines, run, startDaemon, succeeds } from './processes.ts'

/** containerd's namespace for the kubelet. */
export const kubernetesNamespace = 'k8s.io'
const maxUnusedDays = 7
const replacedPrefix = 'roost.local/replaced:'
const dayMs = 86_400_000
const startTimeoutMs = 30_000
/** For one image of a gigabyte on a busy machine. */
export const imageTimeoutMs = 10 * 60_000

/** Images by reference: the id that was loaded, and when a cluster last used it (milliseconds since 1970). */
type Index = Record<string, { id: string; usedAt: number }>

export type ImageStore = {
  pauseImage: string
  /** Fills a new folder with all images of the store. Takes almost no time and disk space. */
  copyTo(folder: string): Promise<void>
}

export type ImageStoreOptions = {
  cache: string
  programs: string
  /** References of images of this machine's Docker engine. */
  images: readonly string[]
  env: NodeJS.ProcessEnv
  onProgress: (text: string) => void
}

/**
 * Runs `work` with a store that holds the images. The store is kept between runs: only images that changed are
 * loaded. Other processes wait until `work` ends.
 */
export async function withImageStore<T>(
  { cache, programs, images, env, onProgress }: ImageStoreOptions,
  work: (store: ImageStore) => Promise<T>,
): Promise<T> {
  const folder = join(cache, 'images')
  const root = join(folder, 'store')
  await mkdir(root, { recursive: true, mode: 0o700 })
  const lock = await waitForLock(folder)
  try {
    const pauseProgram = join(programs, 'pause')
    const pauseId = createHash('sha256')
      .update(await readFile(pauseProgram))
      .digest('hex')
    const pauseImage = `roost.local/pause:${pauseId.slice(0, 12)}`
    const wanted: Index = { [pauseImage]: { id: pauseId, usedAt: Date.now() } }
    for (const image of images) wanted[image] = { id: await idOf(image), usedAt: Date.now() }

    const indexPath = join(root, 'roost-index.json')
    // Only this function writes it, and replaces it as a whole.
    const index = JSON.parse(await readFile(indexPath, 'utf8').catch(() => '{}')) as Index
    const { add, remove } = planChanges(index, wanted, Date.now())
    // Clusters that run may use the layers of an image that is loaded again: it keeps another name for some days.
    const replaced = add.flatMap((image) => {
      const old = index[image]
      return old ? [[image, `${replacedPrefix}${old.id.replace('sha256:', '')}`] as const] : []
    })
    if (add.length + remove.length > 0) {
      await withEngine({ root, folder, env }, async (ctr) => {
        for (const image of remove) await succeeds('ctr', [...ctr, 'images', 'remove', fullName(image)])
        for (const [image, name] of replaced)
          await succeeds('ctr', [...ctr, 'images', 'tag', '--force', fullName(image), name])
        for (const image of add) {
          onProgress(`loading the image ${image}`)
          const archive = join(folder, 'image.tar')
          try {
            if (image === pauseImage) await archiveProgram(pauseProgram, image, archive)
            else await saveImage(image, archive)
            await run('ctr', [...ctr, 'images', 'import', archive], { timeoutMs: imageTimeoutMs })
          } finally {
            await rm(archive, { force: true })
          }
        }
      })
    }
    for (const image of remove) delete index[image]
    for (const [image, name] of replaced) Object.assign(index, { [name]: index[image] })
    await writeFile(`${indexPath}.new`, JSON.stringify({ ...index, ...wanted }, null, 2))
    await rename(`${indexPath}.new`, indexPath)
    return await work({ pauseImage, copyTo: (target) => linkStore(root, target) })
  } finally {
    await lock.release()
  }
}

/** Decides which images to load, and which to remove because no cluster used them for some days. */
export function planChanges(index: Index, wanted: Index, now: number): { add: string[]; remove: string[] } {
  const isOld = (usedAt: number) => now - usedAt > maxUnusedDays * dayMs
  return {
    add: Object.keys(wanted).filter((name) => index[name]?.id !== wanted[name]?.id),
    remove: Object.entries(index).flatMap(([name, { usedAt }]) =>
      !wanted[name] && isOld(usedAt) ? [name] : [],
    ),
  }
}

/** Returns a reference as the kubelet and containerd store it. */
export function fullName(reference: string): string {
  const [first = '', ...rest] = reference.split('/')
  const hasHost = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost')
  const path = hasHost ? reference : `docker.io/${rest.length > 0 ? '' : 'library/'}${reference}`
  const hasVersion = path.includes('@') || path.slice(path.lastIndexOf('/')).includes(':')
  return hasVersion ? path : `${path}:latest`
}

/** Writes an image of this machine's Docker engine into an archive. */
export async function saveImage(reference: string, archive: string): Promise<void> {
  await run('docker', ['save', '--output', archive, reference], { timeoutMs: imageTimeoutMs })
}

async function idOf(image: string): Promise<string> {
  return (await run('docker', ['image', 'inspect', '--format', '{{.Id}}', image])).trim()
}

type Engine = { root: string; folder: string; env: NodeJS.ProcessEnv }

/** Runs an engine without containers on the store, and passes the arguments of `ctr` that select it. */
async function withEngine(
  { root, folder, env }: Engine,
  work: (ctr: string[]) => Promise<void>,
): Promise<void> {
  const socket = join(folder, 'engine.sock')
  const config = join(folder, 'engine.toml')
  const log = join(folder, 'engine.log')
  const state = join(folder, 'engine')
  const options = { root, state, socket, podNetworkFolder: null, pauseImage: '' }
  await writeFile(config, containerdConfiguration(options))
  await rm(log, { force: true })
  // It mounts layers while it unpacks them.
  const command = ['--mount', 'containerd', '--config', config, '--log-level', 'warn']
  const engine = await startDaemon('unshare', command, { log, env })
  try {
    const ctr = ['-a', socket, '-n', kubernetesNamespace]
    for (const deadline = performance.now() + startTimeoutMs; ; await pause(50)) {
      if (await succeeds('ctr', [...ctr, 'version'])) break
      if (engine.hasEnded() || performance.now() > deadline)
        throw new Error(`containerd did not start:\n${await lastLines(log)}`)
    }
    await work(ctr)
  } finally {
    await engine.terminate()
    await rm(state, { recursive: true, force: true })
  }
}

/** Writes the archive of an image that holds only one static program, which is also its entry point. */
async function archiveProgram(program: string, reference: string, archive: string): Promise<void> {
  const work = `${archive}.d`
  await rm(work, { recursive: true, force: true })
  try {
    await mkdir(join(work, 'layer'), { recursive: true })
    await copyFile(program, join(work, 'layer/program'))
    await run('tar', [
      '-C',
      join(work, 'layer'),
      '--owner=0',
      '--group=0',
      '-cf',
      join(work, 'layer.tar'),
      '.',
    ])
    const digest = async (name: string) =>
      createHash('sha256')
        .update(await readFile(join(work, name)))
        .digest('hex')
    const config = {
      architecture: process.arch === 'x64' ? 'amd64' : process.arch,
      os: 'linux',
      config: { Entrypoint: ['/program'] },
      rootfs: { type: 'layers', diff_ids: [`sha256:${await digest('layer.tar')}`] },
    }
    await writeFile(join(work, 'config.json'), JSON.stringify(config))
    const manifest = [{ Config: 'config.json', RepoTags: [reference], Layers: ['layer.tar'] }]
    await writeFile(join(work, 'manifest.json'), JSON.stringify(manifest))
    await run('tar', ['-C', work, '-cf', archive, 'manifest.json', 'config.json', 'layer.tar'])
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/**
 * Makes a store with the same images. Engines never change a stored layer or blob, because containers write to a layer
 * of their own. Layers are symbolic links, because they have too many files to link each; only databases are copied.
 */
async function linkStore(root: string, target: string): Promise<void> {
  await mkdir(target)
  for (const { name } of (await readdir(root, { withFileTypes: true })).filter((entry) =>
    entry.isDirectory(),
  )) {
    await mkdir(join(target, name))
    for (const part of await readdir(join(root, name))) {
      const [from, to] = [join(root, name, part), join(target, name, part)]
      if (part.endsWith('.db')) await copyFile(from, to)
      else if (part === 'snapshots') await linkEntries(from, to)
      else await run('cp', ['-a', '--link', from, to])
    }
  }
}

async function linkEntries(from: string, to: string): Promise<void> {
  await mkdir(to)
  for (const name of await readdir(from)) await symlink(join(from, name), join(to, name))
}

async function waitForLock(folder: string): Promise<{ release(): Promise<void> }> {
  for (;;) {
    const lock = await acquireLock('cluster-images', folder)
    if (lock) return lock
    await pause(100)
  }
}
