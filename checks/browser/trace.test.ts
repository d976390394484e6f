/** The page of a run as a trace: bars and lines that select each other, zoom, runs beside it, comparison. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { createAgent, isOver, untilExecution } from '../acceptance/steps.ts'
import { assertAccessible, type Bench, closeTab, openBench, reviewPage, saveScreenshot } from './bench.ts'
import { reportFailure } from './evidence.ts'
import { gateOf } from './gates.ts'

const name = 'qa-trace'
let bench: Bench
before(async () => {
  bench = await openBench()
  await createAgent(bench.platform, name)
  await bench.platform.request('PUT', `/api/agents/${name}/capacity`, { max_parallel_tasks: 3 })
})
after(async () => {
  await bench?.[Symbol.asyncDispose]()
})
afterEach((context) => reportFailure(bench, context))

const runPath = (id: string, search = '') => `/agents/${name}/executions/${id}${search}`
const tree = (page: Page) => page.getByRole('tree', { name: 'Trace of the run' })
const span = (page: Page, words: RegExp) => tree(page).getByRole('treeitem', { name: words }).first()
const marked = (page: Page) => page.getByRole('list', { name: 'Steps' }).locator('[aria-current=location]')
const details = (page: Page) => page.getByRole('region', { name: 'Selected span' })

async function task(message: string, body: object = {}): Promise<string> {
  const reply = await bench.platform.request('POST', `/api/agents/${name}/task`, {
    message,
    async_mode: true,
    ...body,
  })
  assert.equal(reply.status, 200, reply.text)
  return reply.json.execution_id
}
async function finished(message: string, body: object = {}): Promise<string> {
  const id = await task(message, body)
  await untilExecution(bench.platform, name, id, isOver)
  return id
}

describe('the trace of a run', () => {
  test('shows model calls and tool calls, and a bar and its line select each other', async () => {
    const id = await finished('Look. [[usage:120,34]] [[tool:Bash:echo seen-it]] [[reply:all done]]')
    const tab = await bench.open()
    const { page } = tab
    await tab.goto(runPath(id))
    await span(page, /^Tool: Bash, echo seen-it.*took/).click()
    await details(page).getByText('seen-it', { exact: true }).last().waitFor()
    await marked(page).getByRole('button', { name: /^Bash/ }).waitFor()
    assert.match(page.url(), /span=tool/)
    await page.reload()
    await marked(page).getByRole('button', { name: /^Bash/ }).waitFor()
    await span(page, /^Model: Model call, .*120 tokens in, 34 out, time to first token/).click()
    const words = await details(page).innerText()
    assert.match(words, /120 in, 34 out[\s\S]*Cost\s+≈?\$[\s\S]*First token\s+\d/)
    // From the transcript to the bar.
    await page
      .getByRole('list', { name: 'Steps' })
      .getByRole('listitem')
      .filter({ hasText: 'all done' })
      .last()
      .getByRole('link', { name: /^Line \d+$/ })
      .click()
    await tree(page).locator('[aria-selected=true]').filter({ hasText: 'Model call' }).waitFor()
    await closeTab(tab)
  })

  test('is used by keyboard, and zooms', async () => {
    const id = await finished('Work. [[tool:Bash:echo by-keyboard]] [[reply:typed]]')
    const tab = await bench.open()
    const { page } = tab
    await tab.goto(runPath(id))
    await span(page, /^Tool: Bash/).waitFor()
    await tree(page).focus()
    await page.keyboard.press('Home')
    await tree(page).locator('[aria-selected=true]').filter({ hasText: 'Model call' }).waitFor()
    for (let press = 0; press < 20; press += 1) {
      if (await tree(page).locator('[aria-selected=true]').filter({ hasText: 'Bash' }).count()) break
      await page.keyboard.press('ArrowDown')
    }
    await tree(page).locator('[aria-selected=true]').filter({ hasText: 'Bash' }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/line=\d+/)
    await marked(page).getByRole('button', { name: /^Bash/ }).waitFor()
    await page.getByRole('button', { name: 'Zoom in' }).click()
    await page.getByText(/\d of \d+ spans in view/).waitFor()
    await page.getByRole('button', { name: 'Show whole run' }).click()
    await page.getByText(/^\d+ spans$/).waitFor()
    await closeTab(tab)
  })

  test('nests a run that it started, with its own calls', async () => {
    const gate = gateOf(bench.platform, name, 'calling')
    const id = await task(`Ask someone. ${gate.directive} [[reply:asked]]`)
    await untilExecution(
      bench.platform,
      name,
      id,
      (row) => row.status === 'running' && row.tool_calls.length > 0,
    )
    const inner = 'The inner one. [[tool:Bash:echo inner-call]] [[reply:inner]]'
    await finished(inner, { parent_execution_id: id })
    await gate.open()
    await untilExecution(bench.platform, name, id, isOver)
    const tab = await bench.open()
    const { page } = tab
    await tab.goto(runPath(id))
    const called = span(page, /^Agent run: qa-trace, The inner one/)
    await called.click()
    assert.equal(await called.getAttribute('aria-level'), '2')
    await details(page).getByRole('link', { name: 'Open this run' }).waitFor()
    await tree(page).focus()
    await page.keyboard.press('ArrowRight')
    await span(page, /^Tool: Bash, echo inner-call/).waitFor()
    await closeTab(tab)
  })

  test('leads to the runs beside it, those of the list that it was opened from', async () => {
    const first = await finished('Beside one. [[reply:1]]')
    await finished('Beside two. [[fail]]')
    const third = await finished('Beside three. [[reply:3]]')
    const tab = await bench.open()
    const { page } = tab
    const beside = page.getByRole('navigation', { name: 'Runs beside this one' })
    await tab.goto(runPath(third))
    await beside.getByRole('link', { name: 'Previous run' }).click()
    await page.getByRole('heading', { level: 1, name: /^Beside two/ }).waitFor()
    await tab.goto(`/agents/${name}?tab=executions&status=success&q=Beside`)
    await page.getByRole('grid', { name: 'Runs' }).getByText('Beside three').click()
    await page.getByRole('heading', { level: 1, name: /^Beside three/ }).waitFor()
    await beside.getByRole('link', { name: 'Previous run' }).click()
    await page.getByRole('heading', { level: 1, name: /^Beside one/ }).waitFor()
    assert.ok(page.url().includes(first))
    await page.setViewportSize({ width: 1440, height: 400 })
    await page.mouse.wheel(0, 2000)
    await page.locator('nav[aria-label="Runs beside this one"]').waitFor()
    await page
      .getByText(/^Beside one/)
      .last()
      .waitFor()
    await closeTab(tab)
  })

  test('of 10,000 tool calls stays usable', async () => {
    const id = await finished('Long. [[reply:long]]')
    const tab = await bench.open()
    const { page } = tab
    const start = Date.parse('2026-01-01T00:00:00.000Z')
    const at = (ms: number) => new Date(start + ms).toISOString()
    const lines = Array.from({ length: 10_000 }, (_, index) => [
      {
        ...{ _n: index * 2 + 1, _ts: at(index * 1000), type: 'assistant' },
        message: {
          role: 'assistant',
          content: [{ type: 'tool_use', id: `t${index}`, name: 'Bash', input: { command: `echo ${index}` } }],
        },
      },
      {
        ...{ _n: index * 2 + 2, _ts: at(index * 1000 + 500), type: 'user' },
        message: {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: `t${index}`, content: 'out' }],
        },
      },
    ]).flat()
    const events = [
      ...lines.map((line) => `id: ${line._n}\ndata: ${JSON.stringify(line)}\n\n`),
      'data: {"type":"stream_end","status":"success"}\n\n',
    ]
    await page.route(`**/api/executions/${id}/trace`, (route) =>
      route.fulfill({ json: { model_calls: [], started_runs: [] } }),
    )
    await page.route('**/executions/*/stream*', (route) =>
      route.fulfill({ contentType: 'text/event-stream', body: events.join('') }),
    )
    await page.route(`**/api/agents/${name}/executions/${id}`, async (route) => {
      const reply = await route.fetch()
      const run = await reply.json()
      await route.fulfill({
        response: reply,
        json: { ...run, started_at: at(0), completed_at: at(10_000_000) },
      })
    })
    await tab.goto(runPath(id))
    await page.getByText(/^\d+,\d+ spans$|^\d{5} spans$/).waitFor()
    await tree(page).focus()
    await page.keyboard.press('End')
    await span(page, /echo 9999/).waitFor()
    await marked(page).getByRole('button', { name: /^Bash/ }).waitFor()
    assert.ok((await tree(page).getByRole('treeitem').count()) < 200)
    await page.getByRole('button', { name: 'Zoom in' }).click()
    await page.getByText(/spans in view/).waitFor()
    await tab.context.close()
  })

  test('has no axe violations and no overflow in both themes and widths', async () => {
    const id = await finished('Review me. [[tool:Bash:echo reviewed]] [[reply:fine]]')
    const details = await bench.platform.request('GET', `/api/agents/${name}/executions/${id}`)
    const tool = details.json.tool_calls[0]?.id
    await reviewPage(bench, {
      name: 'run-trace',
      path: runPath(id, `?span=tool%3A${encodeURIComponent(tool)}`),
      ready: (page) => page.getByRole('region', { name: 'Selected span' }).waitFor(),
    })
  })
})

describe('a comparison', () => {
  test('is opened from two selected runs, and shows both side by side', async () => {
    const one = await finished('Compare A. [[usage:100,10]] [[tool:Bash:echo a]] [[reply:answer A]]')
    const two = await finished('Compare B. [[usage:300,30]] [[reply:answer B]]')
    const tab = await bench.open()
    const { page } = tab
    await tab.goto(`/agents/${name}?tab=executions&q=Compare`)
    const grid = page.getByRole('grid', { name: 'Runs' })
    for (const words of ['Compare A', 'Compare B'])
      await grid.getByRole('row').filter({ hasText: words }).getByRole('checkbox').click()
    await page.getByRole('link', { name: 'Compare', exact: true }).click()
    await page.waitForURL(new RegExp(`${one}/compare/${two}`))
    const row = (label: string) =>
      page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: label, exact: true }) })
    assert.match(await row('Tokens out').innerText(), /20\s+30\s+\+10/)
    assert.match(await row('Tool calls').innerText(), /1\s+0\s+−1/)
    await page.getByText('answer A').first().waitFor()
    await page.getByText('answer B').first().waitFor()
    await page
      .getByRole('tree', { name: 'Trace of the left run' })
      .getByRole('treeitem', { name: /^Tool: Bash/ })
      .click()
    await details(page).waitFor()
    await saveScreenshot(tab, 'run-comparison-selected')
    await assertAccessible(tab, 'a comparison')
    await reviewPage(bench, {
      name: 'run-comparison',
      path: `/agents/${name}/executions/${one}/compare/${two}`,
      ready: (each) => each.getByRole('tree', { name: 'Trace of the right run' }).waitFor(),
    })
    await closeTab(tab)
  })
})
