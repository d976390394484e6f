/**
 * Records of a workspace with 50,000 files and 1 GB, compared with `git add -A && git commit` in a shadow repository:
 * the history of the agent program and the store of the platform, without the link between them. Then restores, compared
 * with `git checkout`, forks, compared with `cp -a`, and turns, compared with turns without history.
 * `node bench/history.ts [files] [rounds]`.
 */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createHistory, type History } from '../agent/src/history/history.ts'
import { createScanner } from '../agent/src/history/scan.ts'
import { createWriters } from '../agent/src/history/writers.ts'
import { systemClock } from '../agent/src/kit/clock.ts'
import { saveMemory } from '../agent/src/kit/memory-saving.ts'
import { createIdentities, readIdentityFacts } from '../agent/src/processes/identity.ts'
import {
  defaultHistoryRules,
  type HistoryDigest,
  type HistoryPage,
  type HistoryRead,
} from '../contracts/src/link/history.ts'
import { storeName } from '../server/src/agents/history/index.ts'
import { pullScan } from '../server/src/agents/history/pull.ts'
import type { AgentLink } from '../server/src/ports/agent-link/port.ts'
import { openGitStore } from '../server/src/ports/workspace-history/git-store.ts'
import type { Walked, WorkspaceHistory } from '../server/src/ports/workspace-history/port.ts'
import { measureForks } from './fork-rows.ts'
import { keepBenchmark } from './keeper/index.ts'
import { alternate, compare, milliseconds, record, report } from './measure.ts'
import { measureRestores } from './restore-rows.ts'
import { measureTurns } from './turn-rows.ts'

await keepBenchmark()
// The agent program runs without the optimizing compilers. So does the store here, which makes it slower than it is.
saveMemory()

const run = promisify(execFile)
const [files, rounds] = [Number(process.argv[2] ?? 50_000), Number(process.argv[3] ?? 20)]
const filesPerFolder = 50
const fileBytes = 20_000
const changedFiles = 100
const agent = storeName('one')

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
  let records = 0

  /** Records the workspace after `base`. `isCopy`: the program knows no record, but the workspace probably equals it. */
  async function recordBy(program: History, base: string | null, isCopy = false): Promise<string | null> {
    const { handle } = await program.scan(defaultHistoryRules, base === null || isCopy ? [] : [base], true)
    if (handle === null) return base
    await using draft = await store.open({ agent, base, maxBytes: Number.MAX_SAFE_INTEGER })
    const assumed = { paths: () => pathsOf(store, base ?? ''), isWithheld: () => false, origin: null }
    await pullScan({
      ...{ agentId: 'one', handle, draft, link: linkTo(program), signal: new AbortController().signal },
      untouched: null,
      base: isCopy ? assumed : base === null ? null : 'compared',
    })
    records += 1
    const name = `r${records}`
    await draft.commit(name)
    await program.commit(handle, name)
    return name
  }

  const program = openProgram(home, join(folder, 'index'))
  let base: string | null = null
  async function recordOurs(): Promise<void> {
    base = await recordBy(program, base)
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
  const withoutIndex = { ...process.env, GIT_INDEX_FILE: join(folder, 'index-of-peer') }
  const copied = [
    await milliseconds(() => recordBy(openProgram(home, join(folder, 'index-of-copy')), base, true)),
    await milliseconds(() => run('git', [...shadow, 'add', '-A'], { env: withoutIndex })),
  ] as const
  compare('first record of an equal copy', [copied[0]], [copied[1]], Number.POSITIVE_INFINITY)
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
  // Both restore the same contents.
  await recordOurs()
  await recordPeer()
  await measureRestores({
    ...{ home, folder, history: store, agent, record: base ?? '', index: join(folder, 'index') },
    ...{ shadow: join(folder, 'shadow.git'), changed: someFiles(home), fileBytes },
  })
  await measureForks({ home, folder, history: store, agentId: 'one', recordId: base ?? '', rounds })
  await store.close()
}

/** The history of the agent program, for a workspace that anybody may change at any time. */
function openProgram(home: string, file: string): History {
  const identities = createIdentities(readIdentityFacts(statSync(home)))
  return createHistory({
    scanner: createScanner({ home, file, identities, clock: systemClock }),
    writers: createWriters(identities, () => []),
    mayLogIn: async () => true,
    clock: systemClock,
  })
}

/** Passes the platform's requests on without a link. */
function linkTo(program: History): Pick<AgentLink, 'call'> {
  const answers = {
    'history.page': ({ handle, offset }: HistoryPage) => program.page(handle, offset),
    'history.digest': ({ handle, at }: HistoryDigest) => program.digest(handle, at),
    'history.read': ({ handle, at, offset }: HistoryRead) => program.read(handle, at, offset),
  }
  const call = async (_agentId: string, t: keyof typeof answers, request: never) => answers[t](request)
  return { call } as unknown as Pick<AgentLink, 'call'>
}

async function* pathsOf(store: WorkspaceHistory, record: string): AsyncGenerator<string> {
  // Without contents it yields entries only.
  for await (const walked of store.walk({ agent, record }, { withContents: false }))
    yield (walked as Walked).entry.path
}

function pathOf(home: string, index: number): { folder: string; name: string } {
  const at = Math.floor(index / filesPerFolder)
  return { folder: join(home, `a${at % 10}`, `b${at % 100}`, `c${at}`), name: `file-${index}.bin` }
}

/** Two of five files, in all folders. */
function someFiles(home: string): string[] {
  const paths = Array.from({ length: files }, (_, index) => pathOf(home, index))
  return paths.filter((_, index) => index % 5 < 2).map(({ folder, name }) => join(folder, name))
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
