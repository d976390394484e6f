import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { buildOnce } from './build-once.ts'

test('of three concurrent builds one runs; the others wait for it and use its result', async (t) => {
  const parent = await folder(t)
  let builds = 0
  let waiting = 0
  const others = Promise.withResolvers<void>()
  const make = async (target: string) => {
    builds += 1
    await others.promise
    await writeFile(join(target, 'index.html'), 'page')
  }
  const onWait = () => {
    waiting += 1
    if (waiting === 2) others.resolve()
  }
  const outcomes = await Promise.all([1, 2, 3].map(() => buildOnce({ parent, stamp: 'a', make, onWait })))
  assert.deepEqual(outcomes.sort(), ['built', 'fresh', 'fresh'])
  assert.equal(builds, 1)
  assert.equal(await readFile(join(parent, 'dist/index.html'), 'utf8'), 'page')
})

test('an unchanged stamp is not rebuilt; a new one replaces dist and removes interrupted builds', async (t) => {
  const parent = await folder(t)
  const make = (text: string) => (target: string) => writeFile(join(target, text), text)
  assert.equal(await buildOnce({ parent, stamp: 'a', make: make('one') }), 'built')
  assert.equal(await buildOnce({ parent, stamp: 'a', make: make('never') }), 'fresh')
  for (const name of ['dist.half', 'dist.half-1-2'])
    await mkdir(join(parent, name, 'assets'), { recursive: true })
  assert.equal(await buildOnce({ parent, stamp: 'b', make: make('two') }), 'built')
  assert.deepEqual(await readdir(parent), ['dist'])
  assert.deepEqual((await readdir(join(parent, 'dist'))).sort(), ['.sources', 'two'])
})

test('a failed build keeps the old one, and the next attempt builds again', async (t) => {
  const parent = await folder(t)
  await buildOnce({ parent, stamp: 'a', make: (target) => writeFile(join(target, 'one'), '') })
  const failing = buildOnce({ parent, stamp: 'b', make: () => Promise.reject(new Error('no room')) })
  await assert.rejects(failing, /no room/)
  assert.deepEqual((await readdir(join(parent, 'dist'))).sort(), ['.sources', 'one'])
  assert.deepEqual(await readdir(parent), ['dist'])
  assert.equal(await buildOnce({ parent, stamp: 'b', make: async () => {} }), 'built')
})

test('waiting for another build can be aborted', async (t) => {
  const parent = await folder(t)
  const end = Promise.withResolvers<void>()
  const stop = new AbortController()
  const started = Promise.withResolvers<void>()
  const first = buildOnce({
    ...{ parent, stamp: 'a' },
    make: () => {
      started.resolve()
      return end.promise
    },
  })
  await started.promise
  const second = buildOnce({
    ...{ parent, stamp: 'a', signal: stop.signal },
    make: async () => {},
    onWait: () => stop.abort(),
  })
  await assert.rejects(second, { name: 'AbortError' })
  end.resolve()
  assert.equal(await first, 'built')
})

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'roost-build-'))
  t.after(() => rm(path, { recursive: true, force: true }))
  return path
}
