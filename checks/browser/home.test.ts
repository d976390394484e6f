/** The home page: first steps of a new installation, and figures that lead to their lists. */
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { type MailServer, startMailServer } from '@roost/test-support/mail/index'
import type { Page } from 'playwright-core'
import type { Loose } from '../acceptance/platform.ts'
import { createAgent, docker, isOver, untilExecution } from '../acceptance/steps.ts'
import { assertAccessible, type Bench, closeTab, openBench, reviewPage, saveScreenshot } from './bench.ts'
import { reportFailure } from './evidence.ts'
import { signInUser } from './users.ts'

const [scout, rover] = ['qa-home-scout', 'qa-home-rover'] as const
const hourMs = 3_600_000
let bench: Bench
let mail: MailServer
before(async () => {
  mail = await startMailServer()
  bench = await openBench({ env: { ROOST_MAIL_URL: mail.url } })
})
after(async () => {
  await bench?.[Symbol.asyncDispose]()
  await mail?.close()
})
afterEach((context) => reportFailure(bench, context))

async function request(method: string, path: string, body?: unknown, options?: { token: string }) {
  const reply = await bench.platform.request(method, path, body, options)
  assert.ok(reply.status < 300, reply.text)
  return reply.json
}

async function run(agent: string, message: string): Promise<void> {
  const { execution_id } = await request('POST', `/api/agents/${agent}/task`, { message, async_mode: true })
  await untilExecution(bench.platform, agent, execution_id, isOver)
}

const steps = (page: Page) => page.getByRole('region', { name: 'First steps' })
const step = (page: Page, title: string) => steps(page).getByRole('listitem').filter({ hasText: title })

test('a new installation shows its first steps', async () => {
  await reviewPage(bench, {
    name: 'home-first-steps',
    path: '/',
    ready: async (page) => {
      await steps(page).getByRole('list', { name: 'Templates' }).getByRole('link').first().waitFor()
      await page.getByText('No runs in the last 24 hours.').waitFor()
    },
  })
  const tab = await bench.open()
  const { page } = tab
  await tab.goto('/')
  // The environment of the test has provider keys.
  await step(page, 'Add a model key (done)').waitFor()
  await step(page, 'Chat with an agent (open)').getByText('Create an agent before this step.').waitFor()
  await page.getByText('No failed runs in the last 24 hours.').waitFor()
  const template = steps(page).getByRole('list', { name: 'Templates' }).getByRole('link').first()
  await template.click()
  await page.waitForURL(/\/agents\?.*template=/)
  await page.getByRole('dialog', { name: 'Create agent' }).waitFor()
  await tab.goto('/')
  await step(page, 'Create an agent (open)').getByRole('link', { name: 'All templates' }).click()
  await page.waitForURL(/\/library\?tab=templates/)
  await page.goBack()
  await step(page, 'Invite someone (open)').getByRole('link', { name: 'Go to people' }).click()
  await page.waitForURL(/\/people$/)
  await closeTab(tab)
})

test('steps are done by what exists, and stay hidden once they are hidden', async () => {
  for (const agent of [scout, rover]) await createAgent(bench.platform, agent)
  const tab = await bench.open()
  const { page } = tab
  await tab.goto('/')
  await step(page, 'Create an agent (done)').waitFor()
  await step(page, 'Chat with an agent (open)').getByRole('link', { name: 'Open chat' }).click()
  await page.waitForURL(/\/agents\/qa-home-\w+\?tab=chat/)
  await page.goBack()
  await step(page, 'Create a schedule (open)').getByRole('link', { name: 'New schedule' }).click()
  await page.getByRole('dialog', { name: 'New schedule' }).waitFor()
  await tab.goto('/')
  await run(scout, 'Say it. [[reply:said]]')
  // The live connection reports the run.
  await step(page, 'Chat with an agent (done)').waitFor()
  await steps(page).getByRole('button', { name: 'Hide first steps' }).click()
  await steps(page).waitFor({ state: 'detached' })
  await page.reload()
  await page.getByRole('list', { name: 'Agents that ran' }).getByRole('link', { name: scout }).waitFor()
  assert.equal(await steps(page).count(), 0)
  await closeTab(tab)
})

test('each figure leads to its list', async () => {
  for (const message of ['First try [[fail]]', 'Second try [[fail]]']) await run(rover, message)
  const key = await docker('exec', bench.platform.containerOf(scout), 'printenv', 'ROOST_AGENT_KEY')
  const ask = { request_id: 'home-1', title: 'May I delete the old index?', priority: 'critical' }
  const item = await request('POST', `/api/agents/${scout}/operator-queue`, ask, { token: key })
  const cap = `/api/agents/${scout}/spend-cap`
  const { spent_today_usd: spent } = await request('GET', cap)
  await request('PUT', cap, { daily_usd: spent / 2 })
  const nightly = { name: 'Nightly sweep', cron_expression: '0 3 * * *', message: 'Sweep.' }
  const schedule = await request('POST', `/api/agents/${scout}/schedules`, nightly)

  await reviewPage(bench, {
    name: 'home',
    path: '/',
    ready: async (page) => {
      await page.getByRole('region', { name: 'Open items' }).getByText(ask.title).waitFor()
      await page.getByRole('region', { name: 'Failures by cause' }).getByText('2 runs').waitFor()
      await page.getByRole('region', { name: 'Spend caps' }).getByText('Over budget').waitFor()
      await page.getByRole('list', { name: 'Agents that ran' }).getByText(rover).waitFor()
      await page.getByRole('region', { name: 'Backups' }).getByText('Last backup').waitFor()
      await page.getByText('No schedule is overdue').waitFor()
    },
  })

  const tab = await bench.open()
  const { page } = tab
  const today = new Date().toISOString().slice(0, 10)
  const runs = page.getByRole('grid', { name: 'Runs', exact: true })
  /** Follows a link of the home page, and returns there. */
  const follow = async (choose: (page: Page) => Promise<void>, url: RegExp, see: () => Promise<unknown>) => {
    await tab.goto('/')
    await choose(page)
    await page.waitForURL(url)
    await see()
  }
  const figure = (name: RegExp) => () => page.getByRole('link', { name }).click()
  const inList = (list: string, text: string) => () =>
    page.getByRole('list', { name: list }).getByRole('link').filter({ hasText: text }).click()
  const heading = (name: string) => () => page.getByRole('heading', { name }).first().waitFor()

  await follow(figure(/^Waiting for you/), /\/inbox$/, heading(ask.title))
  await follow(figure(/^Runs, 24 h/), /\/runs\?hours=24/, () => runs.getByText('Say it.').waitFor())
  await follow(figure(/^Failed runs, 24 h/), /\/runs\?.*status=failed/, async () => {
    await runs.getByText('First try').waitFor()
    assert.equal(await runs.getByText('Say it.').count(), 0)
  })
  await follow(figure(/^Cost today/), /\/costs\?/, async () => {
    assert.equal(await page.getByLabel('First day (UTC)').inputValue(), today)
  })
  await follow(
    inList('Most urgent items', ask.title),
    new RegExp(`/inbox\\?item=${item.id}`),
    heading(ask.title),
  )
  await follow(figure(/^\d+ questions?$/), /\/inbox\?kind=question/, heading(ask.title))
  await follow(inList('Causes of failures', '2 runs'), new RegExp(`/runs\\?.*agent=${rover}`), async () => {
    assert.match(page.url(), /status=failed/)
    await runs.getByText('Second try').waitFor()
  })
  await follow(inList('Agents that ran', scout), new RegExp(`/runs\\?.*agent=${scout}`), async () => {
    await runs.getByText('Say it.').waitFor()
    assert.equal(await runs.getByText('First try').count(), 0)
  })
  await follow(
    inList('Agents close to their spend cap', scout),
    new RegExp(`/costs\\?.*agent=${scout}`),
    () => page.getByText(`${scout} (spend cap)`).waitFor(),
  )

  // No scheduler runs here, so the reply is changed to what it says hours later.
  await page.route('**/api/ops/schedules', async (route) => {
    const reply: Loose = await (await route.fetch()).json()
    const hourAgo = new Date(Date.now() - hourMs).toISOString()
    const [stored] = reply.schedules
    const overdue = { ...stored, id: 'late', name: 'Quarterly', cron_expression: '*/15 * * * *' }
    await route.fulfill({
      json: {
        ...reply,
        schedules: [
          { ...stored, last_fire: { due_at: hourAgo, outcome: 'missed', reason: 'outside_grace' } },
          { ...overdue, updated_at: hourAgo, last_fire: null },
        ],
      },
    })
  })
  await tab.goto('/')
  const late = page.getByRole('list', { name: 'Overdue and missed schedules' }).getByRole('listitem')
  await late.filter({ hasText: 'Quarterly' }).getByText('Overdue').waitFor()
  await late.filter({ hasText: nightly.name }).getByText('Missed').waitFor()
  await page
    .getByRole('list', { name: 'Runs by hour' })
    .getByText(/failed/)
    .first()
    .waitFor()
  await saveScreenshot(tab, 'home-late-schedules')
  await assertAccessible(tab, 'home with late schedules')
  await late.filter({ hasText: nightly.name }).getByRole('link').click()
  await page.waitForURL(new RegExp(`schedule=${schedule.id}`))
  await closeTab(tab)
})

test('a part that fails leaves the others', async () => {
  const tab = await bench.open()
  const { page } = tab
  await page.route('**/api/costs?*', (route) =>
    route.fulfill({ status: 500, json: { error: 'internal_error', detail: 'It broke.' } }),
  )
  await tab.goto('/')
  await page.getByText('Could not load the costs').waitFor()
  await page.getByRole('list', { name: 'Causes of failures' }).getByText('2 runs').waitFor()
  await saveScreenshot(tab, 'home-part-failed')
  await assertAccessible(tab, 'home with a part that failed')
  await page.unroute('**/api/costs?*')
  await page.getByRole('button', { name: 'Retry' }).click()
  await page.getByRole('region', { name: 'Spend caps' }).waitFor()
  await closeTab(tab)
})

test('people who are not admins see their own agents, and nothing is refused', async () => {
  const token = await signInUser({ platform: bench.platform, mail }, 'maker@example.org', 'creator')
  const tab = await bench.open({ token })
  const { page } = tab
  await tab.goto('/')
  await step(page, 'Create an agent (open)').waitFor()
  assert.equal(await step(page, 'Invite someone').count(), 0)
  await page.getByText('No runs in the last 24 hours.').waitFor()
  await page.getByText('No open questions or alerts.').waitFor()
  assert.equal(await page.getByRole('region', { name: 'Backups' }).count(), 0)
  assert.deepEqual(
    tab.failures.filter((each) => / 4\d\d$/.test(each)),
    [],
  )
  assert.ok(!tab.requests.includes('GET /api/ops/schedules'))
  await closeTab(tab)
})
