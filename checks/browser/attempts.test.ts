/** Attempts: started from a form, compared on a page, one kept after a conflict. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { eventually } from '../acceptance/platform.ts'
import { createAgent } from '../acceptance/steps.ts'
import { assertAccessible, assertNoSideways, type Bench, closeTab, openBench } from './bench.ts'
import { reportFailure } from './evidence.ts'

const name = 'qa-attempts'

describe('attempts at a task', () => {
  let bench: Bench
  before(async () => {
    bench = await openBench()
    await createAgent(bench.platform, name)
  })
  after(async () => {
    await bench?.[Symbol.asyncDispose]()
  })
  afterEach((context) => reportFailure(bench, context))

  const read = async (path: string) =>
    (await bench.platform.request('GET', `/api/agents/${name}/files/download?path=${path}`)).text

  test('two wordings are tried, compared, and one of them is kept', async () => {
    const tab = await bench.open({ width: 1280 })
    const { page } = tab
    await tab.goto(`/agents/${name}?tab=executions`)
    await page.getByRole('link', { name: 'Try several times…' }).click()
    const form = page.getByRole('form', { name: 'New attempts' })
    await form.getByLabel('Task').fill('[[tool:Bash:echo one > plan.txt]] [[reply:wrote one]]')
    await form.getByRole('button', { name: 'Add wording' }).click()
    await form
      .getByRole('textbox', { name: 'Wording 2' })
      .fill('[[tool:Bash:echo two > plan.txt]] [[reply:wrote two]]')
    await form.getByLabel('Repeats').fill('9')
    await form.getByText('18 attempts: at most 10 are possible.').waitFor()
    await form.getByLabel('Repeats').fill('1')
    await form.getByLabel('Check command').fill('grep two plan.txt')
    await assertAccessible(tab, 'the form of attempts')
    await form.getByRole('button', { name: 'Start attempts' }).click()

    const rows = page.getByRole('group', { name: 'Comparison of the attempts' })
    await rows.getByText('Passed').waitFor({ timeout: 120_000 })
    await rows.getByText('Exit code 1').waitFor({ timeout: 120_000 })
    await page.getByText('Ready to compare').waitFor({ timeout: 60_000 })
    await rows.getByRole('button', { name: 'Attempt 2' }).click()
    await page.getByText('wrote two', { exact: true }).waitFor()
    await page.getByRole('list', { name: 'Files changed by the attempt' }).getByRole('button').first().click()
    await page.getByRole('group', { name: 'Changes of plan.txt' }).getByText('+two').waitFor()
    await assertAccessible(tab, 'the comparison of attempts')
    await page.setViewportSize({ width: 390, height: 844 })
    await assertNoSideways(tab, 'the comparison of attempts')
    await page.setViewportSize({ width: 1280, height: 900 })

    const put = { content: 'by hand\n' }
    const file = `/api/agents/${name}/files?path=${encodeURIComponent('plan.txt')}`
    assert.equal((await bench.platform.request('PUT', file, put)).status, 200)
    await page.getByRole('button', { name: 'Keep this attempt…' }).click()
    await page.getByRole('button', { name: 'Keep attempt 2' }).click()
    await page.getByText('Attempt 2 was not kept').waitFor({ timeout: 60_000 })
    await page.getByRole('button', { name: 'Keep and overwrite…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('plan.txt').waitFor()
    await dialog.getByRole('button', { name: 'Overwrite and keep' }).click()
    await page.getByText('Attempt 2 is the workspace now.').waitFor({ timeout: 60_000 })
    await eventually(
      () => read('plan.txt'),
      (text) => text === 'two\n',
    )
    await page.getByRole('link', { name: `Attempts of ${name}` }).click()
    await page.getByRole('list', { name: 'Sets of attempts' }).getByText('Kept attempt 2').waitFor()
    await page.setViewportSize({ width: 390, height: 844 })
    await assertNoSideways(tab, 'the list of attempts')
    await closeTab(tab)
  })

  test('a set is discarded after a confirmation, and deleted from the list', async () => {
    const started = await bench.platform.request('POST', `/api/agents/${name}/attempts`, {
      messages: ['[[reply:fine]]'],
    })
    assert.equal(started.status, 202, started.text)
    const tab = await bench.open({ width: 1280 })
    const { page } = tab
    await tab.goto(`/agents/${name}/attempts/${started.json.id}`)
    await page.getByRole('button', { name: 'Discard all…' }).click()
    await page.getByRole('button', { name: 'Discard all attempts' }).click()
    await page.getByRole('button', { name: 'Delete from the list' }).click({ timeout: 60_000 })
    await page.getByRole('heading', { name: 'Earlier attempts' }).waitFor()
    const listed = await bench.platform.request('GET', `/api/agents/${name}/attempts`)
    assert.equal(listed.json.total, 1)
    await closeTab(tab)
  })
})
