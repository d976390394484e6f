/** The costs page: figures by day and group, limits, and ways to the runs behind them. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, afterEach, before, test } from 'node:test'
import { createAgent, isOver, untilExecution } from '../acceptance/steps.ts'
import { assertAccessible, type Bench, closeTab, openBench, reviewPage, saveScreenshot } from './bench.ts'
import { reportFailure } from './evidence.ts'

const [spender, other] = ['qa-spender', 'qa-other-spender'] as const
let bench: Bench
before(async () => {
  bench = await openBench()
  for (const agent of [spender, other]) await createAgent(bench.platform, agent)
})
after(async () => {
  await bench?.[Symbol.asyncDispose]()
})
afterEach((context) => reportFailure(bench, context))

async function run(agent: string, message: string): Promise<string> {
  const body = { message, async_mode: true }
  const reply = await bench.platform.request('POST', `/api/agents/${agent}/task`, body)
  assert.equal(reply.status, 200, reply.text)
  await untilExecution(bench.platform, agent, reply.json.execution_id, isOver)
  return reply.json.execution_id
}

test('before the first run, the page says when costs appear', async () => {
  await reviewPage(bench, {
    name: 'costs-empty',
    path: '/costs',
    ready: (page) => page.getByText('No costs in this period').waitFor(),
  })
})

test('costs are grouped, limited and downloaded, and each group leads to its runs', async () => {
  await run(spender, 'First cost [[reply:one]]')
  const id = await run(spender, 'Second cost [[reply:two]]')
  await run(other, 'Elsewhere [[reply:three]]')
  const tag = await bench.platform.request('PUT', `/api/agents/${spender}/tags`, { tags: ['qa-tag'] })
  assert.equal(tag.status, 200, tag.text)
  const path = `/api/agents/${spender}/spend-cap`
  const { spent_today_usd: spent } = (await bench.platform.request('GET', path)).json
  assert.equal((await bench.platform.request('PUT', path, { daily_usd: spent * 2 })).status, 200)
  await reviewPage(bench, {
    name: 'costs',
    path: '/costs',
    ready: async (page) => {
      await page.getByRole('region', { name: 'Costs by agent' }).getByText(spender).waitFor()
      await page.getByText(`${spender} (spend cap)`).waitFor()
    },
  })

  const tab = await bench.open()
  const { page } = tab
  await tab.goto('/')
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Costs' }).click()
  await page.getByRole('heading', { name: 'Costs', level: 1 }).waitFor()
  await page.getByText('All agents (alert)').waitFor()
  await page.getByText('Forecast', { exact: true }).waitFor()
  await page.getByRole('grid', { name: 'Most expensive runs' }).getByText('Second cost').waitFor()
  const table = page.getByRole('table', { name: 'Cost per day by agent' })
  assert.equal(await table.getByRole('row').count(), 31)

  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download CSV' }).click()
  const file = await (await download).path()
  assert.match(await readFile(file, 'utf8'), new RegExp(`^date,agent,cost_usd\r\n.*${spender},`, 's'))

  // A group leads to its runs in the same period.
  await page.getByRole('region', { name: 'Costs by agent' }).getByRole('link', { name: spender }).click()
  await page.waitForURL(/runs\?.*agent=qa-spender/)
  // The costs page has a grid whose name contains this word.
  const runs = page.getByRole('grid', { name: 'Runs', exact: true })
  await runs.getByText('First cost').waitFor()
  assert.equal(await runs.getByText('Elsewhere').count(), 0)
  await page.goBack()

  // So does a group that only the address can filter by, whose filter is removed by its button.
  await page.getByRole('radio', { name: 'Tag', exact: true }).click()
  await page.waitForURL(/by=tag/)
  await page.getByRole('region', { name: 'Costs by tag' }).getByRole('link', { name: 'qa-tag' }).click()
  await page.waitForURL(/tag=qa-tag/)
  await runs.getByText('Second cost').waitFor()
  assert.equal(await runs.getByText('Elsewhere').count(), 0)
  await saveScreenshot(tab, 'costs-runs-of-tag')
  await assertAccessible(tab, 'runs of a tag')
  await page.getByRole('button', { name: 'Remove the filter “Tag: qa-tag”' }).click()
  await runs.getByText('Elsewhere').waitFor()

  // A single day, one agent, and its cap as a line.
  const today = new Date().toISOString().slice(0, 10)
  await tab.goto(`/costs?by=model&agent=${spender}&from=${today}&to=${today}`)
  await page.getByText('Daily limit: $').first().waitFor()
  assert.equal(await page.getByLabel('First day (UTC)').inputValue(), today)
  const bar = page.getByRole('region', { name: 'Costs by day' }).locator('.recharts-bar-rectangle').first()
  await bar.click()
  await page.waitForURL(new RegExp(`runs\\?.*from=${today}`))
  await runs.getByText('Second cost').waitFor()
  await page.goBack()
  await page.getByRole('grid', { name: 'Most expensive runs' }).getByText('Second cost').click()
  await page.waitForURL(new RegExp(id))
  await closeTab(tab)
})

test('an invalid period is explained', async () => {
  const tab = await bench.open()
  await tab.goto('/costs?from=2026-02-01&to=2026-01-01')
  await tab.page.getByText('Could not load the costs').waitFor()
  await saveScreenshot(tab, 'costs-error')
  await assertAccessible(tab, 'costs that could not be loaded')
  await tab.context.close()
})
