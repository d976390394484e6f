/** Runs: sent, watched, stopped, explained and searched, single and in parallel. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { eventually } from '../acceptance/platform.ts'
import { createAgent, isOver, untilExecution } from '../acceptance/steps.ts'
import {
  assertAccessible,
  type Bench,
  closeTab,
  openBench,
  reviewPage,
  saveScreenshot,
  type Tab,
  themes,
} from './bench.ts'
import { reportFailure } from './evidence.ts'
import { gateOf } from './gates.ts'

const name = 'qa-runs-page'
const busy = 'qa-runs-busy'
const idle = 'qa-runs-idle'
const fresh = 'qa-runs-fresh'
let bench: Bench
before(async () => {
  bench = await openBench()
  for (const agent of [name, busy, idle, fresh]) await createAgent(bench.platform, agent)
  const one = await bench.platform.request('PUT', `/api/agents/${busy}/capacity`, { max_parallel_tasks: 1 })
  assert.equal(one.status, 200, one.text)
})
after(async () => {
  await bench?.[Symbol.asyncDispose]()
})
afterEach((context) => reportFailure(bench, context))

const open = (): Promise<Tab> => bench.open()
const review = (of: Parameters<typeof reviewPage>[1]) => reviewPage(bench, of)

const tabOf = (agent: string, search = '') => `/agents/${agent}?tab=executions${search}`
const runPath = (agent: string, id: string, search = '') => `/agents/${agent}/executions/${id}${search}`
const isRun = /\/executions\/[^/?]+$/
const messageField = (page: Page) => page.getByRole('textbox', { name: 'Message' })
const bashStep = (page: Page) =>
  page.getByRole('list', { name: 'Steps' }).getByRole('button', { name: /^Bash/ })
const history = (page: Page) => page.getByRole('grid', { name: 'Runs' })

/** Starts an asynchronous task and returns its run ID. */
async function task(agent: string, message: string, body: object = {}): Promise<string> {
  const reply = await bench.platform.request('POST', `/api/agents/${agent}/task`, {
    message,
    async_mode: true,
    ...body,
  })
  assert.equal(reply.status, 200, reply.text)
  return reply.json.execution_id
}
async function finished(agent: string, message: string): Promise<string> {
  const id = await task(agent, message)
  await untilExecution(bench.platform, agent, id, isOver)
  return id
}

describe('a task', () => {
  test('is sent, and its page shows its steps through a reload to its end and cost', async () => {
    const tab = await open()
    const { page } = tab
    await tab.goto(tabOf(name))
    const gate = gateOf(bench.platform, name, 'tidy')
    await messageField(page).fill(`Tidy up. ${gate.directive} [[reply:It is **tidy** now.]]`)
    await messageField(page).press('Control+Enter')
    await page.waitForURL(isRun)
    await bashStep(page).waitFor()
    await page.getByText('Live', { exact: true }).waitFor()
    await page.reload()
    await bashStep(page).waitFor()
    await gate.open()
    await page.getByRole('heading', { name: 'Answer' }).waitFor()
    // The bar of a page that was scrolled says it, too.
    await page.getByText('Succeeded', { exact: true }).first().waitFor()
    assert.equal(await bashStep(page).count(), 1, 'no step is doubled')
    assert.match(await page.locator('dl').first().innerText(), /Duration[\s\S]*Cost\s+\$[\s\S]*1 tool call/)
    await page.getByRole('complementary', { name: 'About this run' }).getByText('Manual').waitFor()
    await closeTab(tab)
  })

  test('accepts files and tools, and shows a timeout error', async () => {
    const tab = await open()
    const { page } = tab
    await tab.goto(tabOf(name))
    await messageField(page).fill('Count them. [[reply:counted]]')
    await page
      .getByTestId('attachments')
      .setInputFiles([{ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('one\ntwo') }])
    await page.getByRole('list', { name: 'Files to send' }).getByText('notes.txt').waitFor()
    await page.getByLabel('Allowed tools').fill('Read')
    await page.getByLabel('Allowed tools').press('Enter')
    await page.getByLabel('Timeout', { exact: true }).fill('5')
    await page.getByRole('button', { name: 'Send task' }).click()
    await page.getByText(/must be at least 10/).waitFor()
    await page.getByLabel('Timeout', { exact: true }).fill('120')
    await page.getByRole('button', { name: 'Send task' }).click()
    await page.waitForURL(isRun)
    const about = page.getByRole('complementary', { name: 'About this run' })
    await about.getByText('Read', { exact: true }).waitFor()
    await about.getByText('2m', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Retry', exact: true }).click()
    await page.getByRole('dialog').getByText('Retry without files?').waitFor()
    const first = page.url()
    await page.getByRole('button', { name: 'Retry without files' }).click()
    await page.waitForURL((url) => isRun.test(url.pathname) && url.href !== first)
    await tab.context.close()
  })

  test('is stopped, and the page names the user', async () => {
    const id = await task(name, '[[tool:Bash:sleep 100]] [[reply:never]]')
    const tab = await open()
    const { page } = tab
    await tab.goto(runPath(name, id))
    await bashStep(page).waitFor()
    await page.getByRole('button', { name: 'Stop', exact: true }).click()
    await page.getByText('Run stopped.', { exact: true }).waitFor()
    await page.getByText('Cancelled', { exact: true }).waitFor()
    await page.getByText(/^Cancelled by admin/).waitFor()
    await page.getByRole('button', { name: 'Retry', exact: true }).waitFor()
    await closeTab(tab)
  })

  test('that failed is explained and run again', async () => {
    const id = await finished(name, 'Read my mail. [[fail-first:runs-page-retry:1]] [[reply:fine now]]')
    const tab = await open()
    const { page } = tab
    await tab.goto(runPath(name, id))
    await page.getByText('The runtime failed', { exact: true }).waitFor()
    await page.getByText('agent_error', { exact: true }).first().waitFor()
    await page.getByRole('button', { name: 'Retry', exact: true }).click()
    await page.waitForURL((url) => isRun.test(url.pathname) && !url.pathname.endsWith(id))
    await page.getByRole('heading', { name: 'Answer' }).waitFor()
    await page.getByText('fine now').first().waitFor()
    await tab.context.close()
  })

  test('has a search, a trace and raw lines, each with an address', async () => {
    const id = await finished(name, '[[tool:Bash:echo needle-in-it]] [[reply:the answer]]')
    const tab = await open()
    const { page } = tab
    await tab.goto(runPath(name, id))
    await page.getByRole('searchbox', { name: 'Search steps' }).fill('needle')
    await page.getByText(/^1 of \d+ steps$/).waitFor()
    assert.match(page.url(), /q=needle/)
    const trace = page.getByRole('tree', { name: 'Trace of the run' })
    await trace.getByRole('treeitem', { name: /^Tool: Bash/ }).click()
    await page.waitForURL(/span=tool/)
    await page.locator('[aria-current=location]').waitFor()
    await tab.goto(runPath(name, id, '?view=raw'))
    await page.getByText('"subtype":"init"').first().waitFor()
    await closeTab(tab)
  })
})

describe('a queued run', () => {
  test('shows its position and the reason, moves up, and is cleared', async () => {
    const { directive } = gateOf(bench.platform, busy, 'never')
    const first = await task(busy, `The long one. ${directive} [[reply:long]]`)
    await untilExecution(bench.platform, busy, first, (row) => row.status === 'running')
    const ids = []
    for (const word of ['alpha', 'beta', 'gamma']) ids.push(await task(busy, `Wait ${word}. [[reply:ok]]`))
    const tab = await open()
    const { page } = tab
    await tab.goto(tabOf(busy))
    const queue = page.getByRole('region', { name: /^Queued/ })
    await queue.getByText('The only slot is in use.').waitFor()
    await queue.getByRole('link', { name: /^Wait gamma/ }).click()
    await page.getByText('Queued at position 3 of 3').waitFor()
    await page.getByText('The only slot is in use; 2 runs are ahead of it.').waitFor()
    await page.getByRole('link', { name: /^The long one/ }).waitFor()
    await review({
      name: 'run-waiting',
      path: runPath(busy, ids[2] ?? ''),
      ready: (each) => each.getByText('Queued at position 3 of 3').waitFor(),
    })
    await review({
      name: 'executions-tab-busy',
      path: tabOf(busy),
      ready: (each) =>
        each
          .getByRole('link', { name: /^Wait gamma/ })
          .first()
          .waitFor(),
    })
    await bench.platform.request('POST', `/api/agents/${busy}/executions/${ids[0]}/terminate`)
    await page.getByText('Queued at position 2 of 2').waitFor()
    await tab.goto(tabOf(busy))
    await page.getByRole('button', { name: 'Clear queue' }).click()
    await page.getByLabel(`Type ${busy} to confirm`).fill(busy)
    await page.getByRole('dialog').getByRole('button', { name: 'Clear queue' }).click()
    await page.getByText('2 queued runs cancelled.', { exact: true }).waitFor()
    await queue.waitFor({ state: 'detached' })
    await page
      .getByRole('region', { name: /^Running/ })
      .getByRole('button', { name: /^Stop/ })
      .click()
    await page.getByRole('region', { name: /^Running/ }).waitFor({ state: 'detached' })
    await closeTab(tab)
  })
})

describe('parallel tasks', () => {
  test('are entered as a list, with results in the same order', async () => {
    const tab = await open()
    const { page } = tab
    await tab.goto(tabOf(name, '&ask=several'))
    await page.getByRole('textbox', { name: 'Task 1' }).fill('[[tool:Bash:sleep 2]] [[reply:answer one]]')
    await page.getByRole('textbox', { name: 'Task 2' }).fill('[[fail]] two')
    await page.getByRole('button', { name: 'Add task' }).click()
    await page.getByRole('textbox', { name: 'Task 3' }).fill('[[reply:answer three]]')
    await page.getByRole('button', { name: 'Send 3 tasks' }).click()
    await page.getByText('3 tasks: 2 succeeded, 1 failed').waitFor()
    const rows = await page.getByRole('region', { name: 'Fan-out' }).getByRole('listitem').allInnerTexts()
    assert.match(rows[0] ?? '', /t1[\s\S]*Succeeded[\s\S]*answer one/)
    assert.match(rows[1] ?? '', /t2[\s\S]*Failed/)
    assert.match(rows[2] ?? '', /t3[\s\S]*answer three/)
    await saveScreenshot(tab, 'fan-out')
    await assertAccessible(tab, 'a fan-out')
    await page.reload()
    await page.getByText('3 tasks: 2 succeeded, 1 failed').waitFor()
    await page
      .getByRole('region', { name: 'Fan-out' })
      .getByRole('link', { name: /answer one/ })
      .click()
    await page.getByRole('heading', { name: 'Fan-out of 3' }).waitFor()
    await page.getByRole('link', { name: /^t2/ }).click()
    await page.getByText('The run failed').or(page.getByText('The runtime failed')).first().waitFor()
    await closeTab(tab)
  })
})

describe('runs of all agents', () => {
  test('are filtered through the address, and a row opens its run', async () => {
    const id = await finished(name, 'A needle for the fleet page [[reply:found]]')
    const tab = await open()
    const { page } = tab
    const oneRun = page.getByRole('navigation', { name: 'Pages of runs' }).getByText('1 run', { exact: true })
    await tab.goto('/runs?status=failed')
    await history(page).getByRole('row').nth(1).waitFor()
    await eventually(
      () => history(page).getByRole('row').allInnerTexts(),
      (rows) => rows.length > 1 && rows.slice(1).every((row) => row.includes('Failed')),
    )
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByRole('combobox', { name: 'Filter runs' }).fill('needle for the fleet')
    await page.waitForURL(/q=needle/)
    await history(page).getByText('A needle for the fleet page').waitFor()
    await oneRun.waitFor()
    await history(page).getByRole('row').nth(1).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(new RegExp(id))
    await page.goBack()
    await oneRun.waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('heading', { name: 'Runs' }).click()
    await page.keyboard.press('g')
    await page.keyboard.press('e')
    await page.waitForURL(/\/runs$/)
    await closeTab(tab)
  })

  test('include a run that starts while the page is open', async () => {
    const tab = await open()
    await tab.goto('/runs')
    await history(tab.page).getByRole('row').nth(1).waitFor()
    await task(name, 'Seen as it comes [[reply:yes]]')
    await history(tab.page).getByText('Seen as it comes').waitFor()
    await tab.context.close()
  })

  test('show a load error and retry', async () => {
    const tab = await open()
    await tab.page.route('**/api/executions?**', (route) =>
      route.fulfill({
        status: 500,
        contentType: 'application/json',
        body: JSON.stringify({ detail: 'Something failed.', error: 'internal_error', request_id: 'r1' }),
      }),
    )
    await tab.goto('/runs')
    await tab.page.getByText('Could not load the runs').waitFor()
    await saveScreenshot(tab, 'fleet-executions-error')
    await assertAccessible(tab, 'runs that could not be loaded')
    const retry = await tab.page.getByRole('button', { name: 'Retry', exact: true }).elementHandle()
    await tab.page.unroute('**/api/executions?**')
    // A live update may load the list before the click, which then has no effect.
    await retry?.evaluate((button) => (button as HTMLElement).click())
    await history(tab.page).getByRole('row').nth(1).waitFor()
    await tab.context.close()
  })
})

describe('the overview', () => {
  test('links to failed runs', async () => {
    await finished(name, 'This one fails for the overview [[fail]]')
    const tab = await open()
    const { page } = tab
    await tab.goto(`/agents/${name}?tab=overview`)
    const failures = page.getByRole('list', { name: 'Latest failures' })
    await failures.getByText('This one fails for the overview').click()
    await page.getByText('The runtime failed', { exact: true }).waitFor()
    await closeTab(tab)
  })
})

describe('runs over time', () => {
  test('are marks on the lanes of their agents, selected by arrow keys', async () => {
    const id = await finished(idle, 'A mark on the lane [[reply:ok]]')
    const tab = await open()
    const { page } = tab
    await tab.goto(`/?view=timeline&q=${idle}`)
    const lane = page.getByRole('list', { name: new RegExp(`^${idle}: 1 run`) })
    await lane.focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    await page.waitForURL(new RegExp(id))
    await closeTab(tab)
  })
})

describe('screenshots for a reviewer', () => {
  test('a run: succeeded, failed, live and missing', async () => {
    const done = await finished(
      name,
      'Summarise the night.\n\n## The night in short\n\nThree runs, **one** failed:\n\n| run | state |\n|---|---|\n| digest | ok |\n| backup | failed |\n\n[[tool:Bash:ls -la /; sleep 1]] [[echo]]',
    )
    await review({
      name: 'run-done',
      path: runPath(name, done),
      ready: (page) => bashStep(page).waitFor(),
    })
    const failed = await finished(name, 'Read my mail. [[autherror]]')
    await review({
      name: 'run-failed',
      path: runPath(name, failed),
      ready: (page) => page.getByText('The model provider rejected the API key').waitFor(),
    })
    await review({
      name: 'run-missing',
      path: runPath(name, 'exec_nothing'),
      ready: (page) => page.getByText('Run not found').waitFor(),
    })
    const { directive } = gateOf(bench.platform, name, 'never')
    const id = await task(name, `Look around. ${directive} [[reply:late]]`)
    const tab = await open()
    await tab.goto(runPath(name, id))
    await bashStep(tab.page).waitFor()
    for (const theme of themes) {
      await tab.page.emulateMedia({ colorScheme: theme })
      await tab.page.locator(`html[data-theme=${theme}]`).waitFor()
      await saveScreenshot(tab, `run-live-${theme}`)
      await assertAccessible(tab, `a live run, ${theme}`, theme === 'light' ? 'all' : 'colours')
    }
    await tab.context.close()
    await bench.platform.request('POST', `/api/agents/${name}/executions/${id}/terminate`)
  })

  test('tabs and lists: full and empty', async () => {
    const pages = [
      ['agents-timeline', '/agents?view=timeline', 'Runs over time'],
      ['overview-full', `/agents/${name}?tab=overview`, 'Latest failures'],
      ['overview-empty', `/agents/${fresh}?tab=overview`, 'No run in this time'],
      ['executions-tab-full', tabOf(name), null],
      ['executions-tab-empty', tabOf(fresh), 'No runs yet'],
      ['executions-tab-several', tabOf(idle, '&ask=several'), 'Add task'],
      ['fleet-executions-full', '/runs', null],
      ['fleet-executions-no-match', '/runs?q=nothing-like-it', 'No matching runs'],
    ] as const
    for (const [picture, path, words] of pages) {
      await review({
        name: picture,
        path,
        ready: async (page) => {
          const mark = words === null ? history(page).getByRole('row').nth(1) : page.getByText(words)
          const list = page.getByRole('list', { name: words ?? 'none' })
          await mark.or(list).first().waitFor()
          await page.waitForLoadState('networkidle')
        },
      })
    }
  })
})
