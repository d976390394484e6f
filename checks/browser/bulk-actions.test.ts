/** Many at once: runs are cancelled, retried and exported, agents tagged, stopped and deleted, with a result per row. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { eventually, type Loose } from '../acceptance/platform.ts'
import { createAgent, execution, isOver, untilExecution } from '../acceptance/steps.ts'
import { assertAccessible, type Bench, closeTab, openBench, reviewPage, type Tab, widths } from './bench.ts'
import { reportFailure } from './evidence.ts'
import { gateOf } from './gates.ts'

const busy = 'qa-bulk-busy'
const other = 'qa-bulk-other'
const spare = ['qa-bulk-spare-1', 'qa-bulk-spare-2']
let bench: Bench
before(async () => {
  bench = await openBench()
  for (const agent of [busy, other, ...spare]) await createAgent(bench.platform, agent)
  const one = await bench.platform.request('PUT', `/api/agents/${busy}/capacity`, { max_parallel_tasks: 1 })
  assert.equal(one.status, 200, one.text)
})
after(async () => {
  await bench?.[Symbol.asyncDispose]()
})
afterEach((context) => reportFailure(bench, context))

async function task(agent: string, message: string, body: object = {}): Promise<string> {
  const path = `/api/agents/${agent}/task`
  const reply = await bench.platform.request('POST', path, { message, async_mode: true, ...body })
  assert.equal(reply.status, 200, reply.text)
  return reply.json.execution_id
}
async function finished(agent: string, message: string, body: object = {}): Promise<string> {
  const id = await task(agent, message, body)
  await untilExecution(bench.platform, agent, id, isOver)
  return id
}
const runsOf = async (agent: string): Promise<Loose[]> =>
  (await bench.platform.request('GET', `/api/agents/${agent}/executions`)).json
const agentRows = async (): Promise<Loose[]> => (await bench.platform.request('GET', '/api/agents')).json
const tickBox = (page: Page, label: string | RegExp) => page.getByRole('checkbox', { name: label })
const bar = (page: Page, noun: string) => page.getByRole('region', { name: `Selected ${noun}s` })
const dialog = (page: Page) => page.getByRole('dialog')
const results = (page: Page) => dialog(page).getByRole('list', { name: 'Results' })
/** Asserts the result of each row in the dialog, and closes it. */
async function closeResults(page: Page, summary: string, rows: readonly RegExp[]): Promise<void> {
  await dialog(page).getByRole('status').getByText(summary, { exact: true }).waitFor()
  const texts = await results(page).getByRole('listitem').allInnerTexts()
  assert.equal(texts.length, rows.length, texts.join('\n'))
  for (const row of rows)
    assert.ok(
      texts.some((text) => row.test(text)),
      `${row} in ${texts.join('\n')}`,
    )
  await dialog(page).getByRole('button', { name: 'Close', exact: true }).last().click()
  await dialog(page).waitFor({ state: 'detached' })
}
const fleetRuns = (search: string) => `/runs?q=${encodeURIComponent(search)}`

/** Asserts that a table needs no sideways scrolling. */
async function assertFits(page: Page, label: string): Promise<void> {
  const { content, room } = await page.getByRole('grid', { name: label }).evaluate((table) => {
    const { scrollWidth = 0, clientWidth = 0 } = table.parentElement ?? {}
    return { content: scrollWidth, room: clientWidth }
  })
  assert.ok(content <= room, `${content} pixels of columns on ${room}`)
}

describe('selected runs', () => {
  test('are cancelled, running and queued, and a finished one is refused with the reason', async () => {
    const ended = await finished(other, 'bulkcancel ended [[reply:ok]]')
    const { directive } = gateOf(bench.platform, busy, 'never')
    const running = await task(busy, `bulkcancel running ${directive}`)
    await untilExecution(bench.platform, busy, running, (row) => row.status === 'running' && !row.parked)
    const queued = await task(busy, 'bulkcancel queued [[reply:never]]')
    const tab = await bench.open()
    const { page } = tab
    await tab.goto(fleetRuns('bulkcancel'))
    // A range: the first and, with Shift, the last row.
    await tickBox(page, /^Select bulkcancel queued/).click()
    await tickBox(page, /^Select bulkcancel ended/).click({ modifiers: ['Shift'] })
    await bar(page, 'run').getByText('3 runs selected').waitFor()
    await bar(page, 'run').getByRole('button', { name: 'Cancel runs' }).click()
    await assertAccessible(tab, 'the question before cancelling')
    await dialog(page).getByRole('button', { name: 'Cancel 3 runs' }).click()
    await closeResults(page, '2 of 3 done, 1 refused', [
      /bulkcancel running[\s\S]*Run stopped/,
      /bulkcancel queued[\s\S]*Run removed from the queue/,
      /bulkcancel ended[\s\S]*Refused: The run had already ended\./,
    ])
    for (const id of [running, queued])
      assert.equal((await execution(bench.platform, busy, id)).status, 'cancelled')
    assert.equal((await execution(bench.platform, other, ended)).status, 'success')
    // Only what was refused stays selected.
    await bar(page, 'run').getByText('1 run selected').waitFor()
    await closeTab(tab)
  })

  test('stay selected when the list refreshes, and are deselected by another filter', async () => {
    await finished(other, 'bulkkeep one [[reply:ok]]')
    const tab = await bench.open()
    const { page } = tab
    await tab.goto(fleetRuns('bulkkeep'))
    await tickBox(page, /^Select bulkkeep one/).click()
    await bar(page, 'run').getByText('1 run selected').waitFor()
    await finished(other, 'bulkkeep two [[reply:ok]]')
    await tickBox(page, /^Select bulkkeep two/).waitFor()
    assert.ok(await tickBox(page, /^Select bulkkeep one/).isChecked())
    await page.getByRole('checkbox', { name: 'Select all' }).click()
    await bar(page, 'run').getByText('2 runs selected').waitFor()
    await page.getByRole('combobox', { name: 'Filter runs' }).fill('bulkkeep t')
    await bar(page, 'run').waitFor({ state: 'detached' })
    assert.ok(!(await tickBox(page, /^Select bulkkeep two/).isChecked()))
    await closeTab(tab)
  })

  test('are retried with the same request, except where the platform refuses', async () => {
    await finished(other, 'bulkretry good [[reply:ok]]', { allowed_tools: ['Read'], timeout_seconds: 90 })
    const [stopped = ''] = spare
    await finished(stopped, 'bulkretry stopped [[reply:ok]]')
    await bench.platform.request('POST', `/api/agents/${stopped}/stop`)
    const tab = await bench.open()
    const { page } = tab
    await tab.goto(fleetRuns('bulkretry'))
    await tickBox(page, /^Select bulkretry good/).click()
    await tickBox(page, /^Select bulkretry stopped/).click()
    await bar(page, 'run').getByRole('button', { name: 'Retry runs' }).click()
    await dialog(page).getByRole('button', { name: 'Retry 2 runs' }).click()
    await closeResults(page, '1 of 2 done, 1 refused', [
      /bulkretry good[\s\S]*Started as a new run/,
      /bulkretry stopped[\s\S]*Refused: [\s\S]*agent_not_running/,
    ])
    const repeated = (await runsOf(other)).filter(({ message }) => message?.startsWith('bulkretry good'))
    assert.equal(repeated.length, 2)
    const latest = await execution(bench.platform, other, repeated[0]?.id)
    assert.deepEqual([latest.allowed_tools, latest.timeout_seconds], [['Read'], 90])
    await bench.platform.request('POST', `/api/agents/${stopped}/start`)
    await closeTab(tab)
  })

  test('are exported as NDJSON and as CSV without formulas', async () => {
    const first = await finished(other, '=bulkexport, "first" [[reply:ok]]')
    const second = await finished(other, 'bulkexport second [[reply:ok]]')
    const tab = await bench.open()
    const { page } = tab
    await tab.goto(`/agents/${other}?tab=executions&q=bulkexport`)
    await tickBox(page, /^Select bulkexport second/).waitFor()
    await page.getByRole('checkbox', { name: 'Select all' }).click()
    const save = async (format: string) => {
      await bar(page, 'run').getByRole('button', { name: 'Export' }).click()
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: format }).click(),
      ])
      assert.match(download.suggestedFilename(), /^roost-runs-\d{4}-\d\d-\d\d\.(csv|ndjson)$/)
      return readFile(await download.path(), 'utf8')
    }
    const lines = (await save('NDJSON')).trimEnd().split('\n')
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).id),
      [second, first],
    )
    const [header = '', ...rows] = (await save('CSV')).trimEnd().split('\r\n')
    assert.match(header, /^id,agent_name,status,message,/)
    assert.ok(rows[0]?.startsWith(`${second},${other},success,bulkexport second`), rows[0])
    assert.ok(rows[1]?.startsWith(`${first},${other},success,"'=bulkexport, ""first""`), rows[1])
    await closeTab(tab)
  })

  test('are reviewed with a selection, and fit a phone', async () => {
    const select = async (page: Page) => {
      await tickBox(page, /^Select bulkexport second/).waitFor()
      await page.getByRole('checkbox', { name: 'Select all' }).click()
      await bar(page, 'run').waitFor()
    }
    await reviewPage(bench, { name: 'runs-selected', path: fleetRuns('bulkexport'), ready: select })
    const tab = await bench.open({ width: widths.phone, hasTouch: true })
    await tab.goto(fleetRuns('bulkexport'))
    await select(tab.page)
    await assertFits(tab.page, 'Runs')
    await closeTab(tab)
  })
})

describe('retry with changes', () => {
  const filledIn = async (page: Page, message: RegExp) => {
    await page.getByText('Filled in from').waitFor()
    const form = page.getByRole('form', { name: 'Single task' })
    await eventually(
      () => form.getByRole('textbox', { name: 'Message' }).inputValue(),
      (text) => message.test(text),
    )
    return form
  }

  test('fills in the request of a run, and sends it only on submit', async () => {
    const body = { model: 'haiku', allowed_tools: ['Read', 'Grep'], timeout_seconds: 120 }
    const id = await finished(other, 'bulkchange first [[reply:ok]]', body)
    const tab = await bench.open()
    const { page } = tab
    await tab.goto(`/agents/${other}/executions/${id}`)
    await page.getByRole('link', { name: 'Retry with changes' }).click()
    await page.waitForURL(new RegExp(`from=${id}`))
    const form = await filledIn(page, /^bulkchange first/)
    await form.getByText('haiku').waitFor()
    for (const tool of body.allowed_tools)
      await form.getByRole('button', { name: `Remove ${tool}` }).waitFor()
    assert.equal(await form.getByLabel('Timeout').inputValue(), '120')
    assert.ok(!tab.requests.includes(`POST /api/agents/${other}/task`), 'nothing was sent')
    await assertAccessible(tab, 'a task filled in from a run')
    await form.getByRole('textbox', { name: 'Message' }).fill('bulkchange second [[reply:changed]]')
    await form.getByRole('button', { name: 'Remove Grep' }).click()
    await form.getByRole('button', { name: 'Send task' }).click()
    await page.waitForURL((url) => /\/executions\/[^/]+$/.test(url.pathname) && !url.pathname.endsWith(id))
    const sent = await execution(bench.platform, other, new URL(page.url()).pathname.split('/').pop() ?? '')
    assert.deepEqual(
      [sent.message, sent.model, sent.allowed_tools, sent.timeout_seconds],
      ['bulkchange second [[reply:changed]]', 'haiku', ['Read'], 120],
    )
    await closeTab(tab)
  })

  test('starts from the menu of a row, and the form is cleared', async () => {
    const tab = await bench.open()
    const { page } = tab
    await tab.goto(fleetRuns('bulkchange first'))
    await page.getByRole('button', { name: /^Actions of bulkchange first/ }).click()
    await page.getByRole('menuitem', { name: 'Retry with changes' }).click()
    await filledIn(page, /^bulkchange first/)
    await page.getByRole('button', { name: 'Clear form' }).click()
    await page.getByText('Filled in from').waitFor({ state: 'detached' })
    assert.equal(await page.getByRole('textbox', { name: 'Message' }).inputValue(), '')
    await closeTab(tab)
  })
})

describe('selected agents', () => {
  const open = async (options: Parameters<Bench['open']>[0] = {}): Promise<Tab> => {
    const tab = await bench.open(options)
    await tab.goto('/agents?view=table&q=qa-bulk')
    for (const name of spare) await tickBox(tab.page, `Select ${name}`).click()
    await bar(tab.page, 'agent').getByText('2 agents selected').waitFor()
    return tab
  }
  const stateOf = async (name: string) => (await agentRows()).find((row) => row.name === name)

  test('are reviewed with a selection, and fit a phone', async () => {
    await reviewPage(bench, {
      name: 'agents-selected',
      path: '/agents?view=table&q=qa-bulk',
      ready: async (page) => {
        await tickBox(page, `Select ${busy}`).waitFor()
        await page.getByRole('checkbox', { name: 'Select all' }).click()
        await bar(page, 'agent').getByText('4 agents selected').waitFor()
      },
    })
    const tab = await open({ width: widths.phone, hasTouch: true })
    await assertFits(tab.page, 'Agents')
    await closeTab(tab)
  })

  test('exclude the system agent, with the reason', async () => {
    assert.ok((await agentRows()).some((row) => row.is_system))
    const tab = await bench.open()
    await tab.goto('/agents?view=table')
    const box = tickBox(tab.page, /^Select .*: The platform manages the system agent/)
    await box.waitFor()
    assert.ok(await box.isDisabled())
    await closeTab(tab)
  })

  test('are tagged, stopped, started and restarted', async () => {
    const tab = await open()
    const { page } = tab
    const button = (name: string) => bar(page, 'agent').getByRole('button', { name, exact: true })
    const reselect = async () => {
      for (const name of spare) await tickBox(page, `Select ${name}`).click()
    }
    const rows = (text: string) => spare.map((name) => new RegExp(`${name}[\\s\\S]*${text}`, 'i'))
    await button('Edit tags').click()
    assert.ok(await dialog(page).getByRole('button', { name: 'Save tags' }).isDisabled())
    await dialog(page).getByLabel('Tags to add').fill('night')
    await dialog(page).getByLabel('Tags to add').press('Enter')
    await assertAccessible(tab, 'the tags of two agents')
    await dialog(page).getByRole('button', { name: 'Save tags' }).click()
    await closeResults(page, '2 of 2 done', rows('Tags saved'))
    for (const name of spare) assert.deepEqual((await stateOf(name))?.tags, ['night'])
    const steps = [
      ['Stop', 'stop', 'stopped'],
      ['Start', 'start', 'running'],
      ['Restart', 'restarted', 'running'],
    ] as const
    for (const [label, text, status] of steps) {
      await reselect()
      await button(label).click()
      await dialog(page)
        .getByRole('button', { name: `${label} 2 agents` })
        .click()
      await closeResults(page, '2 of 2 done', rows(text))
      for (const name of spare) assert.equal((await stateOf(name))?.status, status)
    }
    await closeTab(tab)
  })

  test('are not changed after Cancel, and what has not begun ends with Stop', async () => {
    const tab = await bench.open()
    const { page } = tab
    await tab.goto('/agents?view=table&q=qa-bulk')
    // Requests that end only when the test releases them.
    const held: (() => void)[] = []
    await page.route('**/api/agents/*/tags/slow', (route) => {
      held.push(() => void route.continue())
    })
    for (const name of ['more-1', 'more-2']) await createAgent(bench.platform, `qa-bulk-${name}`)
    await tickBox(page, 'Select qa-bulk-more-2').waitFor()
    await page.getByRole('checkbox', { name: 'Select all' }).click()
    await bar(page, 'agent').getByText('6 agents selected').waitFor()
    await bar(page, 'agent').getByRole('button', { name: 'Stop', exact: true }).click()
    await dialog(page).getByRole('button', { name: 'Cancel' }).click()
    await bar(page, 'agent').getByText('6 agents selected').waitFor()
    await bar(page, 'agent').getByRole('button', { name: 'Edit tags' }).click()
    await dialog(page).getByLabel('Tags to add').fill('slow')
    await dialog(page).getByLabel('Tags to add').press('Enter')
    await dialog(page).getByRole('button', { name: 'Save tags' }).click()
    await eventually(
      async () => held.length,
      (count) => count === 4,
    )
    await dialog(page).getByText('0 of 6 done', { exact: true }).waitFor()
    await page.keyboard.press('Escape')
    await dialog(page).getByRole('button', { name: 'Stop', exact: true }).click()
    for (const release of held) release()
    await closeResults(page, '4 of 6 done, 2 not begun', [
      ...Array.from({ length: 4 }, () => /Tags saved/),
      /Not begun/,
      /Not begun/,
    ])
    await bar(page, 'agent').getByText('2 agents selected').waitFor()
    const tagged = (await agentRows()).filter((row) => row.tags.includes('slow'))
    assert.equal(tagged.length, 4)
    await closeTab(tab)
  })

  test('are deleted after their number is typed', async () => {
    const tab = await open()
    const { page } = tab
    await bar(page, 'agent').getByRole('button', { name: 'Delete' }).click()
    const confirm = dialog(page).getByRole('button', { name: 'Delete 2 agents' })
    assert.ok(await confirm.isDisabled())
    await dialog(page).getByLabel('Type delete 2 agents to confirm').fill('delete')
    assert.ok(await confirm.isDisabled())
    await dialog(page).getByLabel('Type delete 2 agents to confirm').fill('delete 2 agents')
    await confirm.click()
    await closeResults(
      page,
      '2 of 2 done',
      spare.map((name) => new RegExp(name)),
    )
    await bar(page, 'agent').waitFor({ state: 'detached' })
    const names = (await agentRows()).map(({ name }) => name)
    for (const name of spare) assert.ok(!names.includes(name), name)
    await closeTab(tab)
  })
})
