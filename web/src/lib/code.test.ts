import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CodeNotLoaded, type CodeSetting, loadCode } from './code.ts'

const missed = new TypeError('Failed to fetch dynamically imported module: https://roost.test/assets/a-1.js')

function setup(failures: number, status: number | null = null) {
  const pauses: number[] = []
  const requested: string[] = []
  const setting: CodeSetting = {
    wait: async (ms) => void pauses.push(ms),
    async statusOf(url) {
      requested.push(url)
      return status
    },
  }
  let left = failures
  const load = async () => {
    left -= 1
    if (left >= 0) throw missed
    return 'part'
  }
  return { pauses, requested, run: () => loadCode(load, setting) }
}

test('a failed code part is loaded again with growing delays', async () => {
  const { run, pauses } = setup(3)
  assert.equal(await run(), 'part')
  assert.deepEqual(pauses, [250, 1000, 2000])
})

test('loading a code part fails after about 15 s of retries', async () => {
  const { run, pauses } = setup(Number.POSITIVE_INFINITY)
  await assert.rejects(run(), (error) => error instanceof CodeNotLoaded && error.cause === missed)
  assert.equal(
    pauses.reduce((sum, ms) => sum + ms),
    15_250,
  )
})

test('a missing file fails without a retry', async () => {
  const { run, pauses, requested } = setup(1, 404)
  await assert.rejects(run(), CodeNotLoaded)
  assert.deepEqual([pauses, requested], [[], ['https://roost.test/assets/a-1.js']])
})
