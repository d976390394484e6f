import { createHash } from 'node:crypto'
import { mkdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'

/** What `roost up` leaves in the data folder while it runs. `url` is null until the platform is ready. */
export type RunningInfo = {
  pid: number
  started_at: string
  process_started: string
  /** Where the public listener is on this machine, whatever address people use from outside. */
  host: string
  port: number
  url: string | null
}

export type UpLock = {
  /** Writes down the address, for whoever asks later. */
  ready(url: string): Promise<void>
  release(): Promise<void>
}

const fileName = 'up.json'

/**
 * The right to run the platform on this data folder; answers who has it when it is taken. The file is for
 * reading, by others.
 */
export async function takeUpLock(
  dataDir: string,
  listener: { host: string; port: number },
): Promise<UpLock | { heldBy: RunningInfo | null }> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const folder = await realpath(dataDir)
  const held = await hold('up', folder)
  if (!held) return { heldBy: await readRunning(folder) }
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
      await held.release()
    },
  }
}

/**
 * The right to do one thing with one folder, of all processes of this machine: a socket in the kernel's abstract
 * namespace, which ends with its process however that ends. Null while somebody else has it.
 */
export async function hold(purpose: string, folder: string): Promise<{ release(): Promise<void> } | null> {
  const server = createServer((socket) => socket.destroy())
  const name = createHash('sha256').update(folder).digest('hex').slice(0, 24)
  const isOurs = await new Promise<boolean>((resolve, reject) => {
    server.on('error', (error) =>
      'code' in error && error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    )
    server.listen(`\0roost-${purpose}-${name}`, () => resolve(true))
  })
  if (!isOurs) return null
  server.unref()
  return { release: () => new Promise<void>((done) => server.close(() => done())) }
}

/** Null when no `roost up` runs on this data folder; a file that a killed one left behind does not count. */
export async function readRunning(dataDir: string): Promise<RunningInfo | null> {
  try {
    // Written by `takeUpLock` alone; a file that is no such thing fails below.
    const info = JSON.parse(await readFile(join(dataDir, fileName), 'utf8')) as RunningInfo
    const isAlive = (await processStart(info.pid)) === info.process_started && info.process_started !== ''
    return isAlive ? info : null
  } catch {
    return null
  }
}

/** When a process started, in the kernel's ticks: with the id it names one process for good. */
async function processStart(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The second field is a name in brackets that may hold anything, blanks included.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
}
