/**
 * A full backup while agents work, compared with the bare program restic in a container with the same volumes; then a
 * restore into an empty data folder and engine. `node bench/backup.ts [agents] [megabytes of an agent]`. It needs root and
 * Docker.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { signIn, startPlatform } from '../checks/acceptance/platform.ts'
import { answerOf, createAgent } from '../checks/acceptance/steps.ts'
import { keepBenchmark } from './keeper/index.ts'
import { milliseconds, record, report } from './measure.ts'

await keepBenchmark()

const run = promisify(execFile)
const main = join(import.meta.dirname, '../cli/src/main.ts')
const [agents, megabytes] = [Number(process.argv[2] ?? 20), Number(process.argv[3] ?? 100)]
const passphrase = 'correct horse battery'
/** Half of the bytes in files of 1 MB that nothing compresses, half in small files of text. */
const fill = `const { mkdirSync, writeFileSync } = require('node:fs')
const { randomBytes } = require('node:crypto')
for (let mb = 0; mb < ${megabytes / 2}; mb += 1) {
  mkdirSync('work/' + mb, { recursive: true })
  writeFileSync('work/' + mb + '/data.bin', randomBytes(1e6))
  const line = randomBytes(24).toString('hex') + ' is a line of text\\n'
  for (let file = 0; file < 20; file += 1) writeFileSync('work/' + mb + '/' + file + '.txt', line.repeat(750))
}`

const folder = await mkdtemp(join(tmpdir(), 'roost-bench-backup-'))
try {
  await measure()
} finally {
  await rm(folder, { recursive: true, force: true })
}
report()

async function measure(): Promise<void> {
  await using platform = await startPlatform()
  const roost = (args: string[]) =>
    run(process.execPath, [main, ...args], {
      env: { ...process.env, ...platform.env, ROOST_BACKUP_PASSPHRASE: passphrase },
    })
  // Builds the image of backup jobs.
  await roost(['backup', 'run', '--file', join(folder, 'first.age')])
  const names = Array.from({ length: agents }, (_, index) => `saved-${index + 1}`)
  for (const name of names) {
    await createAgent(platform, name)
    await run('docker', [
      'exec',
      '-u',
      'developer',
      '-w',
      '/home/developer',
      `agent-${name}`,
      'node',
      '-e',
      fill,
    ])
  }
  const volumes = await volumesOf(names)
  const repository = join(folder, 'roost')
  const peer = join(folder, 'restic')
  const backUp = () => milliseconds(() => roost(['backup', 'run', '--repository', repository]))
  const image = (await run('docker', ['images', '-q', 'roost-backup'])).stdout.split('\n')[0] ?? ''
  // In a container like a job of Roost: the engine shares processor time among containers, and agents are containers.
  const restic = (...args: string[]) =>
    milliseconds(() =>
      run('docker', [
        ...['run', '--rm', '--user', '0', '--network', 'none', '-e', `RESTIC_PASSWORD=${passphrase}`],
        ...[...volumes.map((each) => `${each}:${each}:ro`), `${folder}:${folder}`].flatMap((each) => [
          '-v',
          each,
        ]),
        ...['--entrypoint', 'restic', image, '-q', '-r', peer, '--cache-dir', join(folder, 'cache'), ...args],
      ]).catch((error: { code?: number }) => {
        // 3: a file disappeared while it was read.
        if (error.code !== 3) throw error
      }),
    )
  const backUpPeer = () => restic('backup', ...volumes)

  let isWorking = true
  const work = Promise.all(
    names.map(async (name) => {
      for (let turn = 1; isWorking; turn += 1)
        await answerOf(platform, name, `[[tool:Bash:echo ${turn} >> work/log.txt]][[reply:done]]`)
    }),
  )
  await restic('init')
  const rounds = { first: [await backUp(), await backUpPeer()], second: [await backUp(), await backUpPeer()] }
  for (const [round, [ours = 0, theirs = 0]] of Object.entries(rounds))
    show(`${round} backup of ${agents} agents with ${megabytes} MB each, at work`, ours, theirs)
  const sizes = [await sizeOf(repository), await sizeOf(peer)]
  console.log(`repository: ours ${sizes[0]} MB, restic ${sizes[1]} MB, ${volumes.length} volumes`)
  isWorking = false
  await work

  await Promise.all(names.map((name) => platform.request('POST', `/api/agents/${name}/stop`)))
  await roost(['backup', 'run', '--repository', repository])
  const verifyMs = await milliseconds(() => roost(['backup', 'verify', '--repository', repository]))
  console.log(`verification by a restore: ${(verifyMs / 1000).toFixed(1)} s`)
  const before = await digestOf(volumes)
  await platform.stopApi()
  for (const name of names) await run('docker', ['rm', '-f', `agent-${name}`])
  await run('docker', ['volume', 'rm', ...(await ownVolumes())])
  const target = join(folder, 'restored')
  const restoreMs = await milliseconds(() =>
    roost(['restore', '--repository', repository, '--data-dir', target]),
  )
  console.log(`restore into an empty data folder and engine: ${(restoreMs / 1000).toFixed(1)} s`)
  const after = await digestOf(await volumesOf(names))
  const isSame = before === after
  // A restart ends all sessions, and the agents are removed over the API.
  await platform.startApi()
  platform.token = await signIn(platform)
  record({ row: 'restored files', ours: after, peer: before, value: 1, limit: 'same digest', ok: isSame })
}

function show(row: string, ours: number, peer: number): void {
  const seconds = (value: number) => `${(value / 1000).toFixed(1)} s`
  // The copy of the database, its sealing and the scan of the volumes cost a few seconds beside restic's own work.
  const [value, limit] = [ours / peer, 3]
  const ok = value <= limit || ours - peer < 15_000
  record({ row, ours: seconds(ours), peer: seconds(peer), value, limit: `≤ ${limit}, or 15 s more`, ok })
}

/** The folders of the agents' volumes on this machine, in a fixed order. */
async function volumesOf(names: string[]): Promise<string[]> {
  const own = (await ownVolumes()).filter((name) => names.some((agent) => name.startsWith(`agent-${agent}-`)))
  const { stdout } = await run('docker', ['volume', 'inspect', '-f', '{{.Mountpoint}}', ...own.toSorted()])
  return stdout.trim().split('\n')
}

async function ownVolumes(): Promise<string[]> {
  const { stdout } = await run('docker', ['volume', 'ls', '-q'])
  return stdout
    .trim()
    .split('\n')
    .filter((name) => name.startsWith('agent-saved-'))
}

async function sizeOf(path: string): Promise<number> {
  return Number((await run('du', ['-sm', path])).stdout.split('\t')[0])
}

/** Covers names, types, modes, owners and contents of all files. */
async function digestOf(folders: string[]): Promise<string> {
  const script = `for each in "$@"; do cd "$each"; find . -printf '%p|%y|%m|%U:%G|%l\\n' | LC_ALL=C sort
find . -type f -print0 | LC_ALL=C sort -z | xargs -0 -r sha256sum; done`
  const { stdout } = await run('sh', ['-c', script, 'sh', ...folders], { maxBuffer: 1024 ** 3 })
  return createHash('sha256').update(stdout).digest('hex').slice(0, 16)
}
