/** Model prices in the settings, and the mark of an estimated cost. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { createAgent } from '../acceptance/steps.ts'
import { type Bench, openBench, reviewPage } from './bench.ts'
import { reportFailure } from './evidence.ts'

const path = '/settings?tab=prices'
const unknown = 'claude-next-9'
const tableOf = (input: number) => ({
  format: 1,
  providers: {
    anthropic: { as_of: '2026-10-01', source: 'Our contract', models: [{ id: unknown, input, output: 2 }] },
  },
})

describe('model prices', () => {
  let bench: Bench
  before(async () => {
    bench = await openBench()
  })
  after(async () => {
    await bench?.[Symbol.asyncDispose]()
  })
  afterEach((context) => reportFailure(bench, context))

  const builtIn = (page: Page) =>
    page.getByRole('region', { name: 'Price table' }).getByText('Built in').first()
  const grid = (page: Page) => page.getByRole('grid', { name: 'Model prices' })

  test('axe finds nothing and nothing overflows, in both themes and widths', async () => {
    await reviewPage(bench, { name: 'model-prices', path, ready: (page) => builtIn(page).waitFor() })
  })

  test('the built-in table has a date and a source; a table is imported and removed', async () => {
    const tab = await bench.open()
    const { page } = tab
    await tab.goto(path)
    await builtIn(page).waitFor()
    await page.getByText(/2026-11-19 · \d+ models/).waitFor()
    await page.getByText(/platform\.claude\.com/).waitFor()

    await page.getByRole('button', { name: 'Import table…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Import price table' })
    await dialog.getByRole('textbox', { name: 'Price table' }).fill(JSON.stringify(tableOf(-1)))
    await dialog.getByRole('button', { name: 'Import table' }).click()
    await dialog.getByText(/providers\.anthropic\.models\.0\.input/).waitFor()
    const file = { name: 'prices.json', mimeType: 'application/json', buffer: bytesOf(tableOf(7)) }
    await dialog.getByLabel('Price table file').setInputFiles(file)
    await dialog.getByRole('button', { name: 'Import table' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await page.getByText('Our contract').waitFor()
    await page.getByText('Older than the built-in table').waitFor()
    await page.getByLabel('Search models').fill('next')
    await grid(page).getByRole('row').filter({ hasText: unknown }).getByText('$7.00').first().waitFor()
    const stored = (await bench.platform.request('GET', '/api/settings/model-prices')).json
    assert.deepEqual(stored.custom.providers.anthropic.models, tableOf(7).providers.anthropic.models)

    await page.getByRole('button', { name: 'Remove imported table…' }).click()
    await page.getByRole('button', { name: 'Remove table' }).click()
    await page.getByText('No model found').waitFor()
    assert.deepEqual(tab.faults, [])
    await tab.context.close()
  })

  test('an estimated cost is marked in the list and explained on the page of the run', async () => {
    await createAgent(bench.platform, 'estimator')
    const body = { message: '[[usage:1200,345]] [[reply:done]]', model: unknown }
    const reply = await bench.platform.request('POST', '/api/agents/estimator/task', body)
    assert.equal(reply.status, 200, reply.text)
    const tab = await bench.open()
    const { page } = tab
    await tab.goto('/agents/estimator?tab=tasks')
    const cost = page.getByTitle(/Estimated: the price table has no row/).first()
    await cost.waitFor()
    assert.match((await cost.textContent()) ?? '', /≈\$/)
    await tab.goto(`/agents/estimator/executions/${reply.headers.get('x-execution-id')}`)
    await page.getByText('estimated', { exact: true }).first().waitFor()
    assert.deepEqual(tab.faults, [])
    await tab.context.close()
  })
})

function bytesOf(table: object): Buffer {
  return Buffer.from(JSON.stringify(table))
}
