import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { type GitServer, startGitServer } from '@roost/test-support/git/index'
import { type Pack, treeOf } from '@roost/test-support/git/packs'
import { createGit } from './binary.ts'
import { startWatched } from './test/watched.ts'

const branch = { kind: 'branch', name: 'main' } as const
const megabyte = 1024 * 1024
const maxGrowth = 64 * megabyte
/** Processor seconds of git and its child processes. */
const maxSeconds = 1.5

let server: GitServer
let folder: string
let watched: Awaited<ReturnType<typeof startWatched>>
before(async () => {
  watched = await startWatched()
  server = await startGitServer()
  folder = await mkdtemp(join(tmpdir(), 'roost-git-bombs-'))
})
after(async () => {
  await watched[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

async function plant(name: string, build: (pack: Pack) => string): Promise<string> {
  await server.plantPack(`bombs/${name}`, build)
  return `${server.url}/bombs/${name}`
}

const git = () => createGit({ baseUrl: server.url, mayBeInner: true, folder, path: process.env.PATH ?? '' })

/** Fetches and lists: some bombs take effect only in the second step. */
async function fetchAndList(address: string, t: TestContext) {
  const result = await watched.fetch({ baseUrl: server.url, folder, address })
  t.diagnostic(`${Math.round(result.bytes / megabyte)} MB, ${result.seconds.toFixed(2)} s`)
  return result
}

const bombs: { name: string; build(pack: Pack): string; fault?: string }[] = [
  {
    name: 'one-blob-of-8-gigabytes',
    build: (pack) => pack.add('tree', treeOf([{ name: 'zeros', sha: pack.addPlain(8192) }])),
  },
  {
    name: 'three-hundred-blobs-of-32-megabytes',
    build: (pack) => {
      const names = Array.from({ length: 300 }, (_, index) => `f${1000 + index}`)
      return pack.add(
        'tree',
        treeOf(names.map((name, index) => ({ name, sha: pack.addPlain(32, index % 256) }))),
      )
    },
  },
  {
    name: 'a-delta-of-4-gigabytes',
    build: (pack) => {
      const bytes = Buffer.alloc(64 * 1024, 'x')
      const base = { sha: pack.add('blob', bytes), bytes: bytes.length }
      return pack.add(
        'tree',
        treeOf([
          { name: 'base', sha: base.sha },
          { name: 'copies', sha: pack.addCopies(base, 4095) },
        ]),
      )
    },
  },
  {
    name: 'thousands-of-deltas-of-16-megabytes',
    build: (pack) => {
      const bytes = Buffer.alloc(64 * 1024, 'x')
      const base = { sha: pack.add('blob', bytes), bytes: bytes.length }
      const copies = Array.from({ length: 2000 }, (_, index) => ({
        name: `c${10_000 + index}`,
        sha: pack.addCopies(base, 16),
      }))
      return pack.add('tree', treeOf([{ name: 'base', sha: base.sha }, ...copies]))
    },
  },
  {
    name: 'a-tree-of-half-a-million-entries',
    build: (pack) => {
      const sha = pack.add('blob', Buffer.from('x'))
      return pack.add(
        'tree',
        treeOf(Array.from({ length: 500_000 }, (_, n) => ({ name: `n${1e7 + n}`, sha }))),
      )
    },
  },
  {
    name: 'a-tree-of-trees-of-trees',
    build: (pack) => {
      let sha = pack.add('tree', treeOf([{ name: 'x', sha: pack.add('blob', Buffer.from('x')) }]))
      for (let depth = 0; depth < 12; depth += 1) {
        const ten = Array.from({ length: 10 }, (_, n) => ({ name: `d${n}`, sha, isFolder: true }))
        sha = pack.add('tree', treeOf(ten))
      }
      return sha
    },
  },
  {
    name: 'four-thousand-folders-in-each-other',
    build: (pack) => {
      let sha = pack.add('tree', treeOf([{ name: 'x', sha: pack.add('blob', Buffer.from('x')) }]))
      for (let depth = 0; depth < 4000; depth += 1)
        sha = pack.add('tree', treeOf([{ name: 'd', sha, isFolder: true }]))
      return sha
    },
  },
  {
    name: 'a-blob-that-claims-a-petabyte',
    fault: 'failed',
    build: (pack) => pack.add('tree', treeOf([{ name: 'claim', sha: pack.addClaim(1n << 50n) }])),
  },
]

for (const { name, build, fault = 'too_large' } of bombs) {
  test(`${name.replaceAll('-', ' ')}: refused by name, with little work and memory`, async (t) => {
    const address = await plant(name, build)
    const { outcome, bytes, seconds } = await fetchAndList(address, t)
    assert.equal(outcome, fault)
    assert.ok(bytes < maxGrowth, `${Math.round(bytes / megabyte)} MB`)
    assert.ok(seconds < maxSeconds, `${seconds} s`)
  })
}

test('three hundred thousand branches with one prefix are refused by name', async (t) => {
  const address = await plant('branches', (pack) =>
    pack.add('tree', treeOf([{ name: 'x', sha: pack.add('blob', Buffer.from('x')) }])),
  )
  const repository = 'bombs/branches'
  const commit = await server.git(repository, 'rev-parse', 'main')
  const lines = Array.from({ length: 300_000 }, (_, n) => `${commit} refs/heads/main${1e6 + n}\n`)
  const home = await server.git(repository, 'rev-parse', '--absolute-git-dir')
  await writeFile(
    join(home, 'packed-refs'),
    `# pack-refs with: peeled fully-peeled sorted \n${lines.join('')}`,
  )
  const { outcome, bytes, seconds } = await fetchAndList(address, t)
  assert.equal(outcome, 'too_large')
  assert.ok(bytes < maxGrowth && seconds < maxSeconds, `${bytes} bytes, ${seconds} s`)
})

test('ordinary files stay far below the limits: 20 MB of text are fetched, listed and read', async (t) => {
  const address = await plant('honest', (pack) => {
    const text = (n: number) =>
      Buffer.from(Array.from({ length: 20_000 }, (_, line) => `${n} ${line * n}\n`).join(''))
    const files = Array.from({ length: 100 }, (_, n) => ({
      name: `f${1000 + n}`,
      sha: pack.add('blob', text(n)),
    }))
    return pack.add('tree', treeOf(files))
  })
  const { outcome, entries } = await fetchAndList(address, t)
  assert.deepEqual([outcome, entries], ['ok', 100])
})

test('leftovers of an aborted fetch are deleted by a later fetch once they are old', async () => {
  const address = `${server.url}/bombs/${bombs[0]?.name}`
  const leftovers = async () => {
    const all = await readdir(folder, { recursive: true })
    return all.filter((name) => name.includes('tmp_pack')).map((name) => join(folder, name))
  }
  const left = await leftovers()
  assert.ok(left.length > 0)
  for (const file of left) await utimes(file, new Date(0), new Date(0))
  await git().fetch(address, branch)
  const later = new Set(await leftovers())
  assert.equal(left.filter((file) => !later.has(file)).length, 1)
})
