/** A large deletion by retention, which waits until an admin approves it in the settings. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, afterEach, before, test } from 'node:test'
import { eventually, signIn } from '../acceptance/platform.ts'
import { type Bench, openBench, reviewPage } from './bench.ts'
import { reportFailure } from './evidence.ts'

let bench: Bench
before(async () => {
  bench = await openBench({ env: { ROOST_CONTAINERS_URL: 'fake:' } })
  const { platform } = bench
  await platform.stopApi()
  addHealthChecks(join(platform.dataDir, 'roost.db'), 1200)
  await platform.startApi()
  platform.token = await signIn(platform)
})
after(async () => {
  await bench?.[Symbol.asyncDispose]()
})
afterEach((context) => reportFailure(bench, context))

/** Results of a year ago. */
function addHealthChecks(path: string, count: number): void {
  const db = new DatabaseSync(path)
  db.exec('begin')
  const insert = db.prepare(
    "insert into health_checks (agent_id, checked_at, status, container_status, issues) values ('x', ?, 'healthy', 'running', '[]')",
  )
  const yearAgo = Date.now() - 365 * 24 * 3600_000
  for (let n = 0; n < count; n += 1) insert.run(new Date(yearAgo + n * 1000).toISOString())
  db.exec('commit')
  db.close()
}

const held = async () => {
  const { json } = await bench.platform.request('GET', '/api/settings/retention')
  return json.windows.find(({ key }: { key: string }) => key === 'health_check_retention_days').held
}

test('names the rows and the window, and is approved after a question', async () => {
  await eventually(held, (found) => found !== null)
  const path = '/settings?tab=retention'
  const words = /1,200 rows older than 7 days, 100 % of the table/
  await reviewPage(bench, {
    name: 'retention-held',
    path,
    ready: (page) => page.getByText(words).waitFor(),
  })
  const tab = await bench.open()
  const { page } = tab
  await tab.goto(path)
  await page.getByRole('button', { name: 'Approve deletion…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete 1,200 rows older than 7 days?' })
  await dialog.getByRole('button', { name: 'Approve deletion' }).click()
  await page.getByText('Deletion approved.').first().waitFor()
  await page.getByText(words).waitFor({ state: 'detached' })
  assert.equal(await held(), null)
  assert.deepEqual(tab.faults, [])
  await tab.context.close()
})
