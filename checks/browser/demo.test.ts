/** The demo: its notice on every page, and the removal of its data. */
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { demoMessages } from '@roost/contracts/operations/demo'
import type { Page } from 'playwright-core'
import { type Loose, signIn } from '../acceptance/platform.ts'
import { type Bench, closeTab, openBench, reviewPage } from './bench.ts'
import { reportFailure } from './evidence.ts'

const agents = ['demo-developer', 'demo-digest', 'demo-support']
let bench: Bench
before(async () => {
  bench = await openBench({ env: { ROOST_DEMO: 'true' } })
})
after(() => bench?.[Symbol.asyncDispose]())
afterEach((context) => reportFailure(bench, context))

const notice = (page: Page) => page.getByRole('region', { name: 'Demo', exact: true })
const removal = (page: Page) => notice(page).getByRole('button', { name: 'Remove demo data…' })

async function restart(demo: 'true' | 'false'): Promise<void> {
  const { platform } = bench
  await platform.stopApi()
  Object.assign(platform.env, { ROOST_DEMO: demo })
  await platform.startApi()
  // Sessions end with the process that signed them.
  platform.token = await signIn(platform)
}

async function agentNames(): Promise<string[]> {
  const { json } = await bench.platform.request('GET', '/api/agents')
  return json.map(({ name }: Loose) => name).filter((name: string) => name.startsWith('demo-'))
}

test('every page says that answers are scripted and leads to the model keys', async () => {
  const tab = await bench.open()
  const { page } = tab
  const ready = page.waitForResponse(
    async (reply) => reply.url().endsWith('/api/demo') && (await reply.json()).state === 'ready',
  )
  await tab.goto('/')
  await notice(page).getByText('Demo: answers are scripted, no model is called.').waitFor()
  await ready
  await notice(page).getByText('Creating the demo agents…').waitFor({ state: 'detached' })
  await removal(page).waitFor()
  assert.deepEqual((await agentNames()).toSorted(), agents)
  await notice(page).getByRole('link', { name: 'add a model key' }).click()
  await page.waitForURL(/\/settings\?tab=integrations/)
  await notice(page).waitFor()
  await closeTab(tab)
  await reviewPage(bench, {
    name: 'demo-agents',
    path: '/agents',
    async ready(page) {
      await removal(page).waitFor()
      await page.getByText('demo-support').first().waitFor()
    },
  })
})

test('a new chat suggests messages that the scripted model can answer', async () => {
  const tab = await bench.open()
  const { page } = tab
  await tab.goto('/agents/demo-digest')
  await page.getByRole('button', { name: demoMessages.summarizeTickets }).click()
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByText('report.md').last().waitFor()
  await page.getByText('Daily digest (demo) has answered').waitFor({ state: 'attached' })
  assert.equal(await page.getByText('I am the scripted model').count(), 0)
  await closeTab(tab)
})

test('the costs have a history', async () => {
  const tab = await bench.open()
  const { page } = tab
  await tab.goto('/costs')
  await page.getByText('demo-support').first().waitFor()
  await closeTab(tab)
})

test('a dismissed notice stays away, also after a reload', async () => {
  const tab = await bench.open()
  const { page } = tab
  await tab.goto('/')
  await notice(page).getByRole('button', { name: 'Dismiss the demo notice' }).click()
  await notice(page).waitFor({ state: 'detached' })
  await page.reload()
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  assert.equal(await notice(page).count(), 0)
  await closeTab(tab)
})

test('after a start without the demo the settings have the removal', async () => {
  await restart('false')
  const tab = await bench.open()
  const { page } = tab
  await tab.goto('/settings')
  const section = page.getByRole('region', { name: 'Demo data' })
  await section.getByText('demo-developer, demo-digest, demo-support').waitFor()
  assert.equal(await notice(page).count(), 0)
  await section.getByRole('button', { name: 'Remove demo data…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await closeTab(tab)
  await reviewPage(bench, {
    name: 'settings-demo-data',
    path: '/settings',
    token: bench.platform.token,
    ready: (page) => page.getByRole('region', { name: 'Demo data' }).waitFor(),
  })
  await restart('true')
})

test('an admin removes the demo data after a confirmation', async () => {
  const tab = await bench.open()
  const { page } = tab
  await tab.goto('/agents')
  await removal(page).click()
  const dialog = page.getByRole('dialog', { name: 'Remove demo data?' })
  await dialog.getByText('demo-developer, demo-digest and demo-support').waitFor()
  await dialog.getByRole('button', { name: 'Remove demo data' }).click()
  await page.getByText('Demo data removed.', { exact: true }).waitFor()
  assert.deepEqual(await agentNames(), [])
  await removal(page).waitFor({ state: 'detached' })
  await notice(page).waitFor()
  const { json } = await bench.platform.request('GET', '/api/demo')
  assert.equal(json.state, 'removed')
  await closeTab(tab)
})
