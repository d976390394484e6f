import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, mkdir, open, readdir, readFile, rename, rm, stat, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ContainerError, type ContainerSpec, type ContainerState } from '../port.ts'
import {
  containerFiles,
  type Folders,
  readJson,
  type StoredSpec,
  type StoredState,
  writeJson,
} from './folders.ts'
import { volumeData } from './launch.ts'
import { livingSupervisor } from './lock.ts'

/** Stores containers and volumes of an installation as folders. Starts nothing. */
export function createStore(folders: Folders, isRoot: boolean) {
  const folderOf = (id: string) => join(folders.containers, safeId(id))

  return {
    folderOf,

    /** Creates the shared folders and the /etc files of agents. */
    async prepare(): Promise<void> {
      for (const folder of Object.values(folders)) await mkdir(folder, { recursive: true, mode: 0o700 })
      // Readable for agents, who are another user. Other users of the host are excluded by the parent
      // folders.
      await chmod(folders.gateway, 0o755)
      await removeLeftovers()
      const files = {
        passwd: [
          'root:x:0:0:root:/root:/bin/sh',
          'developer:x:1000:1000::/home/developer:/bin/bash',
          'roost-agent:x:900:900::/nonexistent:/usr/sbin/nologin',
          'roost-reader:x:1001:1001::/home/developer:/bin/bash',
          'nobody:x:65534:65534::/nonexistent:/usr/sbin/nologin',
        ],
        group: [
          'root:x:0:',
          'roost-agent:x:900:',
          'roost-credentials:x:901:developer',
          'roost-workspace:x:902:developer,roost-reader',
          'roost-open:x:903:developer,roost-reader',
          'developer:x:1000:',
          'roost-reader:x:1001:developer',
          'nogroup:x:65534:',
        ],
        hosts: ['127.0.0.1 localhost', '::1 localhost'],
        'nsswitch.conf': ['passwd: files', 'group: files', 'hosts: files dns'],
      }
      for (const [file, lines] of Object.entries(files)) {
        await replace(join(folders.etc, file), `${lines.join('\n')}\n`)
      }
    },

    /** Identifies this folder, which has all containers and volumes; copies of it are the same engine. */
    async identity(): Promise<string> {
      const path = join(folders.etc, 'engine-id')
      const id = randomBytes(12).toString('hex')
      // Of concurrent starts the first one wins.
      await writeFile(path, id, { flag: 'wx', mode: 0o600 }).catch(async (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error
      })
      return (await readFile(path, 'utf8')).trim()
    },

    async add(spec: ContainerSpec): Promise<string> {
      const id = randomBytes(16).toString('hex')
      const folder = folderOf(id)
      const temporary = join(folders.containers, `.new-${id}`)
      await claimName(spec.name, id)
      try {
        // Empty mount points.
        for (const place of [containerFiles.tmp, containerFiles.devices]) {
          await mkdir(join(temporary, place), { recursive: true, mode: 0o700 })
        }
        const createdAt = new Date().toISOString()
        writeJson(join(temporary, containerFiles.spec), { id, createdAt, spec } satisfies StoredSpec)
        // Atomic, so that no list shows a container without its spec.
        await rename(temporary, folder)
      } catch (error) {
        await unlink(join(folders.names, spec.name)).catch(() => {})
        await rm(temporary, { recursive: true, force: true })
        throw error
      }
      return id
    },

    async spec(id: string): Promise<StoredSpec | null> {
      const stored = isId(id) ? await readJson<StoredSpec>(join(folderOf(id), containerFiles.spec)) : null
      return stored && withoutFolders(stored)
    },

    async remove(id: string, name: string): Promise<void> {
      const removed = join(folders.containers, `.gone-${id}`)
      await rename(folderOf(id), removed)
      await unlink(join(folders.names, name)).catch(() => {})
      await removeTree(removed)
    },

    ids: async (): Promise<string[]> => (await readdir(folders.containers).catch(() => [])).filter(isId),

    runState: (id: string): Promise<StoredState | null> =>
      readJson<StoredState>(join(folderOf(id), containerFiles.state)),

    /** Returns the stored state, corrected for a dead supervisor. */
    async state(id: string): Promise<ContainerState | null> {
      if (!isId(id)) return null
      const folder = folderOf(id)
      const stored = await readJson<StoredSpec>(join(folder, containerFiles.spec))
      if (!stored) return null
      const run = await readJson<StoredState>(join(folder, containerFiles.state))
      const { spec } = stored
      const isRunning = run?.status === 'running' && (await livingSupervisor(folder)) !== null
      return {
        id,
        name: spec.name,
        labels: spec.labels,
        status: run === null ? 'created' : isRunning ? 'running' : 'stopped',
        waiting: null,
        exitCode: isRunning ? null : (run?.exitCode ?? null),
        oomKilled: !isRunning && (run?.oomKilled ?? false),
        startedAt: run?.startedAt ?? null,
        volumes: spec.mounts.flatMap((mount) => (mount.type === 'volume' ? [mount.volume] : [])),
      }
    },

    async addVolume(name: string, labels: Record<string, string>): Promise<void> {
      const data = volumeData(folders, name)
      await mkdir(join(data, '..'), { recursive: true, mode: 0o700 })
      const isNew = await mkdir(data, { mode: 0o755 }).then(
        () => true,
        (error: NodeJS.ErrnoException) => {
          if (error.code === 'EEXIST') return false
          throw error
        },
      )
      if (!isNew) return
      await chmod(data, 0o755)
      // For root, `developer` is uid 1000 outside too; otherwise it is the platform's user.
      if (isRoot) await own(data)
      writeJson(join(data, '..', 'labels.json'), labels)
    },

    async removeVolume(name: string): Promise<void> {
      await removeTree(join(volumeData(folders, name), '..'))
    },

    volumes: (): Promise<string[]> => readdir(folders.volumes).catch(() => []),

    hasVolume: (name: string): Promise<boolean> =>
      stat(volumeData(folders, name)).then(
        (entry) => entry.isDirectory(),
        () => false,
      ),
  }

  /** Deletes what an interrupted creation or removal left. */
  async function removeLeftovers(): Promise<void> {
    for (const entry of await readdir(folders.containers)) {
      const path = join(folders.containers, entry)
      const age = Date.now() - ((await stat(path).catch(() => null))?.mtimeMs ?? Date.now())
      const isLeft = entry.startsWith('.gone-') || (entry.startsWith('.new-') && age > 60_000)
      // Another process may be deleting the folder; the rest is tried again at the next start.
      if (isLeft) await removeTree(path).catch(() => {})
    }
  }

  async function claimName(name: string, id: string): Promise<void> {
    const path = join(folders.names, name)
    for (let tries = 0; tries < 2; tries += 1) {
      try {
        await writeFile(path, id, { flag: 'wx', mode: 0o600 })
        return
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
        if (!(await isAbandoned(path))) break
        await unlink(path).catch(() => {})
      }
    }
    throw new ContainerError('name_taken', `the name ${name} is taken`)
  }

  /** True for a name without a container because its creator died; creation takes less than a minute. */
  async function isAbandoned(path: string): Promise<boolean> {
    const holder = await readFile(path, 'utf8').catch(() => '')
    if (isId(holder) && (await readJson(join(folderOf(holder), containerFiles.spec)))) return false
    const entry = await stat(path).catch(() => null)
    return entry !== null && Date.now() - entry.mtimeMs > 60_000
  }
}

/** Releases up to 0.1.0 mounted the folder of a template, which the agent program now receives over the link. */
function withoutFolders({ spec, ...stored }: StoredSpec): StoredSpec {
  const mounts = spec.mounts.filter(({ type }) => type === 'volume' || type === 'empty')
  return { ...stored, spec: { ...spec, mounts } }
}

export type Store = ReturnType<typeof createStore>

/** Replaces a file atomically and only if changed, because running agents read it. */
async function replace(path: string, text: string): Promise<void> {
  if ((await readFile(path, 'utf8').catch(() => null)) === text) return
  const temporary = `${path}.${randomBytes(6).toString('hex')}`
  await writeFile(temporary, text)
  // Makes the file readable for agents' users, independent of the umask.
  await chmod(temporary, 0o644)
  await rename(temporary, path)
}

async function own(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.chown(1000, 1000)
  } finally {
    await folder.close()
  }
}

function isId(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text)
}

function safeId(id: string): string {
  if (isId(id)) return id
  throw new ContainerError('no_such_container', `no container ${JSON.stringify(id)}`)
}

/** Deletes a folder with its contents, including unwritable files such as package caches. */
async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true })
  } catch {
    // `chmod -R` does not follow links. Another process may be deleting the same files, so its errors are
    // ignored; the second attempt shows whether anything remains.
    await promisify(execFile)('chmod', ['-R', 'u+rwX', path], { timeout: 60_000 }).catch(() => {})
    await rm(path, { recursive: true, force: true })
  }
}
