/**
 * Records of a workspace with 50,000 files and 1 GB, compared with `git add -A && git commit` in a shadow repository:
 * the scanner of the agent program and the store of the platform, without the link between them. Then forks of it,
 * compared with `cp -a`, and turns in it, compared with turns without history. `node bench/history.ts [files] [rounds]`.
 */
import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createScanner, type Scan } from '../agent/src/history/scan.ts'
import { systemClock } from '../agent/src/kit/clock.ts'
import { saveMemory } from '../agent/src/kit/memory-saving.ts'
import { createIdentities, readIdentityFacts } from '../agent/src/processes/identity.ts'
import { defaultHistoryRules, type HistoryEntry } from '../contracts/src/link/history.ts'
import { storeName } from '../server/src/agents/history/index.ts'
import { openGitStore } from '../server/src/ports/workspace-history/git-store.ts'
import type { Draft } from '../server/src/ports/workspace-history/port.ts'
import { measureForks } from './fork-rows.ts'
import { keepBenchmark } from './keeper/index.ts'
import { alternate, compare, milliseconds, record, report } from './measure.ts'
import { measureTurns } from './turn-rows.ts'

await keepBenchmark()
// The agent program runs without the optimizing compilers. So does the store here, which makes it slower than it is.
saveMemory()

const run = promisify(execFile)
const [files, rounds] = [Number(process.argv[2] ?? 50_000), Number(process.argv[3] ?? 20)]
const filesPerFolder = 50
const fileBytes = 20_000
const changedFiles = 100

const folder = await mkdtemp('/tmp/roost-bench-history-')
try {
  await measure()
} finally {
  await rm(folder, { recursive: true, force: true })
}
await measureTurns({ files, fileBytes, filesPerFolder, rounds })
report()

async function measure(): Promise<void> {
  const home = join(folder, 'home')
  await fill(home)
  const store = await openGitStore({ folder: join(folder, 'store'), path: process.env.PATH ?? '' })
  const scanner = createScanner({
    home,
    file: join(folder, 'index'),
    identities: createIdentities(readIdentityFacts(await stat(home))),
    clock: systemClock,
  })
  let records = 0
  let base: string | null = null

  async function recordOurs(): Promise<void> {
    await using scan = await scanner.scan(defaultHistoryRules, base === null ? [] : [base])
    if (scan.came.length + scan.gone.length === 0) return
    await using draft = await store.open({
      agent: storeName('one'),
      base: scan.base,
      maxBytes: Number.MAX_SAFE_INTEGER,
    })
    await send(scan, draft)
    records += 1
    const name = `r${records}`
    await draft.commit(name)
    await scan.commit(name)
    base = name
  }

  const shadow = ['--git-dir', join(folder, 'shadow.git'), '--work-tree', home]
  const git = (...args: string[]) => run('git', [...shadow, ...args], { maxBuffer: 1024 ** 3 })
  await run('git', ['init', '-q', '--bare', join(folder, 'shadow.git')])
  for (const [name, value] of [
    ['user.name', 'bench'],
    ['user.email', 'bench@localhost'],
    ['gc.auto', '0'],
    ['core.bare', 'false'],
  ] as const)
    await git('config', name, value)
  async function recordPeer(): Promise<void> {
    await git('add', '-A')
    await git('commit', '-q', '--allow-empty', '-m', 'record')
  }

  const first = [await milliseconds(recordOurs), await milliseconds(recordPeer)] as const
  compare(`first record of ${files} files`, [first[0]], [first[1]], Number.POSITIVE_INFINITY)
  const still = await alternate(
    rounds,
    () => milliseconds(recordOurs),
    () => milliseconds(recordPeer),
  )
  compare('record, nothing changed', still.ours, still.peer, Number.POSITIVE_INFINITY)

  const sizesBefore = [await sizeOf(join(folder, 'store')), await sizeOf(join(folder, 'shadow.git'))] as const
  const changed = { ours: [] as number[], peer: [] as number[] }
  for (let round = 0; round < rounds; round += 1) {
    await change(home, round)
    const both = [
      ['ours', recordOurs],
      ['peer', recordPeer],
    ] as const
    for (const [side, act] of round % 2 === 0 ? both : both.toReversed())
      changed[side].push(await milliseconds(act))
  }
  compare(`record, ${changedFiles} files changed`, changed.ours, changed.peer, Number.POSITIVE_INFINITY)
  const bytes = rounds * changedFiles * fileBytes
  const grown = [
    ((await sizeOf(join(folder, 'store'))) - sizesBefore[0]) / bytes,
    ((await sizeOf(join(folder, 'shadow.git'))) - sizesBefore[1]) / bytes,
  ] as const
  record({
    row: 'growth of the store per changed byte',
    ours: grown[0].toFixed(3),
    peer: grown[1].toFixed(3),
    value: grown[0],
    limit: '≤ 1.2',
    ok: grown[0] <= 1.2,
  })
  await measureForks({ home, folder, history: store, agentId: 'one', recordId: base ?? '', rounds })
  await store.close()
}

/** What agent program and platform do over the link. Small files are read once. */
async function send(scan: Scan, draft: Draft): Promise<void> {
  for (const path of scan.gone) await draft.remove(path)
  for (const entry of scan.came) {
    if (entry.kind === 'folder') await draft.folder(entry)
    else await sendFile(scan, draft, entry)
  }
}

async function sendFile(scan: Scan, draft: Draft, entry: HistoryEntry): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of scan.content(entry)) chunks.push(chunk)
  const content = Buffer.concat(chunks)
  const name = createHash('sha256').update(`blob ${content.length}\0`).update(content).digest('hex')
  if (scan.base !== null && (await draft.keep(entry, name, entry.path))) return
  await draft.put(entry, only(content))
}

async function* only(content: Buffer): AsyncGenerator<Buffer> {
  yield content
}

function pathOf(home: string, index: number): { folder: string; name: string } {
  const at = Math.floor(index / filesPerFolder)
  return { folder: join(home, `a${at % 10}`, `b${at % 100}`, `c${at}`), name: `file-${index}.bin` }
}

async function fill(home: string): Promise<void> {
  for (let index = 0; index < files; index += 1) {
    const { folder: inside, name } = pathOf(home, index)
    if (index % filesPerFolder === 0) await mkdir(inside, { recursive: true })
    await writeFile(join(inside, name), randomBytes(fileBytes))
  }
}

/** Spread over as many folders, because a folder with a changed file is stored again. */
async function change(home: string, round: number): Promise<void> {
  for (let count = 0; count < changedFiles; count += 1) {
    const { folder: inside, name } = pathOf(home, (count * Math.floor(files / changedFiles) + round) % files)
    await writeFile(join(inside, name), randomBytes(fileBytes))
  }
}

async function sizeOf(path: string): Promise<number> {
  let size = 0
  for (const entry of await readdir(path, { withFileTypes: true, recursive: true }))
    if (entry.isFile()) size += (await stat(join(entry.parentPath, entry.name))).size
  return size
}
