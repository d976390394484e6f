/** Finding runs: the filter language, its completion and mistakes, error groups, the period and saved views. */
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { createAgent, isOver, untilExecution } from '../acceptance/steps.ts'
import {
  assertAccessible,
  type Bench,
  closeTab,
  openBench,
  saveScreenshot,
  type Tab,
  themes,
} from './bench.ts'
import { reportFailure } from './evidence.ts'

const [finder, other] = ['qa-finder', 'qa-find-other'] as const
const widths = [1440, 390] as const
let bench: Bench
before(async () => {
  bench = await openBench()
  for (const agent of [finder, other]) await createAgent(bench.platform, agent)
  await run(finder, 'Needle in the haystack [[reply:found]]')
  await run(finder, 'Broken once [[fail]]')
  await run(other, 'Broken twice [[fail]]')
  await run(other, 'All is well [[reply:yes]]')
})
after(async () => {
  await bench?.[Symbol.asyncDispose]()
})
afterEach((context) => reportFailure(bench, context))

async function run(agent: string, message: string): Promise<void> {
  const body = { message, async_mode: true }
  const reply = await bench.platform.request('POST', `/api/agents/${agent}/task`, body)
  assert.equal(reply.status, 200, reply.text)
  await untilExecution(bench.platform, agent, reply.json.execution_id, isOver)
}

const field = (page: Page) => page.getByRole('combobox', { name: 'Filter runs' })
const runs = (page: Page) => page.getByRole('grid', { name: 'Runs', exact: true })
const options = (page: Page) => page.getByRole('listbox', { name: 'Suggestions' }).getByRole('option')
const shows = (page: Page, message: string) => runs(page).getByText(message).waitFor()
const hides = (page: Page, message: string) => runs(page).getByText(message).waitFor({ state: 'detached' })

async function review({ page, ...tab }: Tab, name: string): Promise<void> {
  for (const width of widths) {
    await page.setViewportSize({ width, height: width < 600 ? 740 : 900 })
    for (const theme of themes) {
      await page.emulateMedia({ colorScheme: theme })
      await page.locator(`html[data-theme=${theme}]`).waitFor()
      await saveScreenshot({ page }, `${name}-${theme}-${width}`)
      await assertAccessible({ page, ...tab }, `${name}, ${theme}, ${width}`)
    }
  }
  await page.setViewportSize({ width: 1440, height: 900 })
}

test('the field completes filters and values by keyboard, and the selects show the same filter', async () => {
  const tab = await bench.open({ width: 1440 })
  const { page } = tab
  await tab.goto('/runs')
  await shows(page, 'All is well')
  await field(page).click()
  await options(page).first().waitFor()
  await page.keyboard.type('sta')
  await options(page).filter({ hasText: 'status' }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await options(page).filter({ hasText: 'Failed' }).waitFor()
  await saveScreenshot(tab, 'find-suggestions')
  await assertAccessible(tab, 'suggestions of the filter field')
  await page.keyboard.type('fail')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL(/status=failed/)
  assert.equal(await field(page).inputValue(), 'status:failed ')
  await shows(page, 'Broken twice')
  await hides(page, 'All is well')
  await page.getByRole('combobox', { name: 'Status', exact: true }).getByText('Failed').waitFor()

  await page.keyboard.type(`agent:${finder} tokens:>0`)
  await page.keyboard.press('Enter')
  await page.waitForURL(new RegExp(`agent=${finder}`))
  await page.keyboard.press('Escape')
  await hides(page, 'Broken twice')
  await page.reload()
  await field(page).waitFor()
  assert.equal(await field(page).inputValue(), `agent:${finder} status:failed tokens:>0`)

  await page.getByRole('button', { name: 'Clear filters' }).first().click()
  await shows(page, 'All is well')
  assert.equal(await field(page).inputValue(), '')
  await field(page).fill('needle "in the"')
  await page.waitForURL(/q=needle/)
  await hides(page, 'All is well')
  await shows(page, 'Needle in the haystack')
  await closeTab(tab)
})

test('a mistake names the word and its position, and does not change the list', async () => {
  const tab = await bench.open({ width: 1440 })
  const { page } = tab
  await tab.goto('/runs')
  await shows(page, 'All is well')
  await field(page).fill('status:failed colour:red')
  await page.getByRole('alert').getByText('Character 15: “colour” is not a filter.').waitFor()
  assert.equal(await field(page).getAttribute('aria-invalid'), 'true')
  await shows(page, 'All is well')
  assert.ok(!page.url().includes('status'))
  await review(tab, 'find-mistake')
  await field(page).fill('status:failed')
  await page.waitForURL(/status=failed/)
  await hides(page, 'All is well')
  await closeTab(tab)
})

test('errors are grouped above the list, each group leads to its runs', async () => {
  const tab = await bench.open({ width: 1440 })
  const { page } = tab
  await tab.goto('/runs')
  const group = page
    .getByRole('region', { name: 'Errors' })
    .getByRole('link', { name: /2 × agent_error since/ })
  await group.waitFor()
  await review(tab, 'find-errors')
  await group.click()
  await page.waitForURL(/error=agent_error/)
  await shows(page, 'Broken once')
  await hides(page, 'All is well')
  assert.equal(await field(page).inputValue(), 'status:failed error:agent_error')
  await page.getByRole('combobox', { name: 'Error code' }).getByText('agent_error').waitFor()
  await runs(page).getByRole('columnheader', { name: 'Error' }).waitFor()
  await runs(page).getByRole('columnheader', { name: 'Tokens' }).waitFor()
  await group.click()
  await shows(page, 'All is well')

  // The home page leads to the same list.
  await tab.goto('/')
  await page
    .getByRole('list', { name: 'Causes of failures' })
    .getByRole('link', { name: /2 runs/ })
    .click()
  await page.waitForURL(/error=agent_error/)
  await shows(page, 'Broken once')
  await closeTab(tab)
})

test('days are picked and written as filters', async () => {
  const tab = await bench.open({ width: 1440 })
  const { page } = tab
  await tab.goto('/runs')
  await page.getByRole('button', { name: 'Days', exact: true }).click()
  const today = new Date().toISOString().slice(0, 10)
  await page.getByLabel('First day (UTC)').fill(today)
  await page.getByLabel('Last day (UTC)').fill(today)
  await page.waitForURL(new RegExp(`to=${today}`))
  assert.equal(await field(page).inputValue(), `since:${today} until:${today}`)
  await page.keyboard.press('Escape')
  await shows(page, 'All is well')
  await page.getByRole('radio', { name: 'All', exact: true }).click()
  await page.waitForURL(/hours=0/)
  assert.equal(await field(page).inputValue(), 'since:all')
  await closeTab(tab)
})

test('a filter is saved, shared, applied, renamed and deleted', async () => {
  const tab = await bench.open({ width: 1440 })
  const { page } = tab
  await tab.goto('/runs?status=failed&hours=168')
  const menu = () => page.getByRole('button', { name: /^(Saved views|View: )/ })
  await menu().click()
  await page.getByRole('menuitem', { name: 'Save this filter…' }).click()
  const dialog = page.getByRole('dialog')
  assert.equal(await dialog.getByLabel('Filter').inputValue(), 'status:failed since:7d')
  await dialog.getByLabel('Name').fill('Failures of the week')
  await dialog.getByRole('switch', { name: 'Share' }).click()
  await review(tab, 'find-save-view')
  await dialog.getByRole('button', { name: 'Save view' }).click()
  await page.getByRole('button', { name: 'View: Failures of the week' }).waitFor()

  await tab.goto('/runs')
  await shows(page, 'All is well')
  await menu().click()
  await page.getByRole('menuitem', { name: /^Failures of the week/ }).click()
  await page.waitForURL(/status=failed/)
  await hides(page, 'All is well')

  await menu().click()
  await page.getByRole('menuitem', { name: 'Manage views…' }).click()
  await dialog.getByText('shared', { exact: true }).waitFor()
  await review(tab, 'find-manage-views')
  await dialog.getByRole('button', { name: 'Change the view Failures of the week' }).click()
  await dialog.getByLabel('Filter').fill('status:done')
  await dialog.getByRole('button', { name: 'Save view' }).click()
  await dialog.getByText(/Character 1: “done” is not a status/).waitFor()
  await dialog.getByLabel('Filter').fill('status:failed since:7d')
  await dialog.getByLabel('Name').fill('Weekly failures')
  await dialog.getByRole('button', { name: 'Save view' }).click()
  await dialog.getByRole('button', { name: 'Delete the view Weekly failures' }).click()
  await dialog.getByText('No saved views').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Saved views' }).waitFor()
  await closeTab(tab)
})
