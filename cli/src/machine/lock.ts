import { createHash } from 'node:crypto'
import { mkdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'

/** The file that `roost up` keeps in the data folder while it runs. `url` is null until the platform is ready. */
export type RunningInfo = {
  pid: number
  started_at: string
  process_started: string
  /** The public listener as reached on this machine, regardless of the public address. */
  host: string
  port: number
  url: string | null
}

export type UpLock = {
  /** Stores the address for later readers of the file. */
  ready(url: string): Promise<void>
  release(): Promise<void>
}

const fileName = 'up.json'

/**
 * Acquires the exclusive right to run the platform on this data folder, or returns its holder. The file only
 * informs others; it is not the lock.
 */
export async function acquireUpLock(
  dataDir: string,
  listener: { host: string; port: number },
): Promise<UpLock | { heldBy: RunningInfo | null }> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const folder = await realpath(dataDir)
  const lock = await acquireLock('up', folder)
  if (!lock) return { heldBy: await readRunning(folder) }
  const path = join(folder, fileName)
  const write = async (url: string | null) => {
    const info: RunningInfo = {
      pid: process.pid,
      started_at: new Date().toISOString(),
      process_started: (await processStart(process.pid)) ?? '',
      ...listener,
      url,
    }
    await writeFile(path, `${JSON.stringify(info)}\n`, { mode: 0o600 })
  }
  await write(null)
  return {
    ready: write,
    async release() {
      await rm(path, { force: true })
      await lock.release()
    },
  }
}

/**
 * Acquires a machine-wide lock for one purpose and one folder. It is a socket in the kernel's abstract namespace,
 * so it ends with its process in every case. Returns null while another process holds it.
 */
export async function acquireLock(
  purpose: string,
  folder: string,
): Promise<{ release(): Promise<void> } | null> {
  const server = createServer((socket) => socket.destroy())
  const name = createHash('sha256').update(folder).digest('hex').slice(0, 24)
  const isAcquired = await new Promise<boolean>((resolve, reject) => {
    server.on('error', (error) =>
      'code' in error && error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    )
    server.listen(`\0roost-${purpose}-${name}`, () => resolve(true))
  })
  if (!isAcquired) return null
  server.unref()
  return { release: () => new Promise<void>((done) => server.close(() => done())) }
}

/** Returns null when no `roost up` runs on this data folder. The file of a killed process is ignored. */
export async function readRunning(dataDir: string): Promise<RunningInfo | null> {
  try {
    // Only `acquireUpLock` writes it; anything else fails below.
    const info = JSON.parse(await readFile(join(dataDir, fileName), 'utf8')) as RunningInfo
    const isAlive = (await processStart(info.pid)) === info.process_started && info.process_started !== ''
    return isAlive ? info : null
  } catch {
    return null
  }
}

/** Start time of a process in kernel ticks; together with the id it identifies the process uniquely. */
export async function processStart(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The second field is a name in parentheses that may contain anything, spaces included.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
}
