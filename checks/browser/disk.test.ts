/** Disk quotas: usage on the agent's page, its quota and the default. */
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { eventually } from '../acceptance/platform.ts'
import { createAgent } from '../acceptance/steps.ts'
import { assertAccessible, type Bench, closeTab, openBench, reviewPage, saveScreenshot } from './bench.ts'
import { reportFailure } from './evidence.ts'

const name = 'qa-disk'
let bench: Bench
before(async () => {
  bench = await openBench({ env: { ROOST_DISK_SECONDS: '5' } })
  await createAgent(bench.platform, name)
})
after(async () => {
  await bench?.[Symbol.asyncDispose]()
})
afterEach((context) => reportFailure(bench, context))

const disk = async () => (await bench.platform.request('GET', `/api/agents/${name}/disk`)).json

test('shows usage of the quota, explains a full agent, and lets an admin raise the quota', async () => {
  const content = 'x'.repeat(4_500_000)
  for (const file of [1, 2, 3, 4, 5]) {
    const path = `/api/agents/${name}/files?path=hoard-${file}.txt`
    assert.equal((await bench.platform.request('PUT', path, { content })).status, 200)
  }
  await eventually(disk, ({ used_bytes }) => used_bytes > 22_000_000)
  const tab = await bench.open()
  const { page } = tab
  await tab.goto(`/agents/${name}?tab=settings`)
  const section = page.getByRole('region', { name: 'Disk' })
  const quota = section.getByLabel('Quota')
  const save = section.getByRole('button', { name: 'Save' })
  await section.getByText(/MB of 20 GB$/).waitFor()
  await quota.fill('0.001')
  await save.click()
  await section.getByText('The quota must be 0 or at least 0.01 GB.').waitFor()
  await quota.fill('0.02')
  await save.click()
  await section.getByText('The disk quota is used up.').waitFor()
  assert.equal((await disk()).state, 'full')
  assert.equal(await quota.inputValue(), '0.02')
  await section.scrollIntoViewIfNeeded()
  await saveScreenshot(tab, 'agent-disk-full-light-desktop')
  await assertAccessible(tab, 'a full disk')
  await quota.fill('0')
  await save.click()
  await section.getByText(/MB used, no quota$/).waitFor()
  await section.getByText('The disk quota is used up.').waitFor({ state: 'detached' })
  await quota.fill('')
  await save.click()
  await eventually(disk, ({ own_quota_bytes }) => own_quota_bytes === null)
  await closeTab(tab)
  await reviewPage(bench, {
    name: 'agent-info-disk',
    path: `/agents/${name}?tab=info`,
    ready: (page) => page.getByText(/MB of 20 GB$/).waitFor(),
  })
})

test('changes the default quota', async () => {
  const tab = await bench.open()
  const { page } = tab
  await tab.goto('/settings?tab=agents')
  const section = page.getByRole('region', { name: 'Disk quota' })
  await section.getByLabel('Default quota').fill('30')
  await section.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Default disk quota set to 30 GB.', { exact: true }).waitFor()
  assert.equal((await disk()).quota_bytes, 30 * 1024 ** 3)
  await closeTab(tab)
})
