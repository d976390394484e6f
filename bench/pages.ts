/**
 * The web UI in a real browser: requests and bytes of pages and API replies, lists of 1,000 agents and 100,000 runs, time
 * to show a 5 MB log. The peer of the frame times is an idle page in the same browser. Smaller lists:
 * `node bench/pages.ts 100 10000`.
 */
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import type { Page } from 'playwright-core'
import { openBench, pageWeight, type Tab, weighedPages } from '../checks/browser/bench.ts'
import { openContentBench } from '../checks/browser/content-bench.ts'
import { answer, logText, transcriptLines } from '../checks/browser/content-samples.ts'
import { keepBenchmark } from './keeper/index.ts'
import { median, milliseconds, ms, quantile, record, report } from './measure.ts'
import { insertRuns } from './seeded-runs.ts'

await keepBenchmark()

const [agents = 1000, runs = 100_000] = process.argv.slice(2).map(Number)
/** From the address to the filtered rows, with an empty cache. */
const usableMs = 2000

const bench = await openBench({ env: { ROOST_CONTAINERS_URL: 'fake:', ROOST_LOG_LEVEL: 'info' } })
const { platform } = bench
const processes = await bench.browser.newBrowserCDPSession()
for (let start = 0; start < agents; start += 20) {
  await Promise.all(Array.from({ length: 20 }, (_, place) => createAgent(start + place)))
}
await insertRuns(platform, runs)

for (const { name, path, ready, most } of weighedPages('fleet-0000')) {
  const weight = await pageWeight(bench, path, ready)
  const kilobytes = (bytes: number) => `${Math.round(bytes / 1024)} KB`
  record({
    row: `${name}: JavaScript requests`,
    ours: `${weight.scripts} of ${weight.requests} requests`,
    peer: '-',
    value: weight.scripts,
    limit: `at most ${most.scripts}`,
    ok: weight.scripts <= most.scripts,
  })
  record({
    row: `${name}: compressed bytes of JavaScript`,
    ours: `${kilobytes(weight.scriptBytes)} of ${kilobytes(weight.bytes)}`,
    peer: '-',
    value: weight.scriptBytes / 1024,
    limit: `at most ${most.scriptKilobytes} KB`,
    ok: weight.scriptBytes <= most.scriptKilobytes * 1024,
  })
}

for (const path of [
  '/api/agents',
  '/api/executions?hours=0&limit=50',
  '/api/agents/fleet-0000/executions',
  '/api/settings',
  '/openapi.json',
]) {
  const sent = { identity: await sentBytes(path, 'identity'), br: 0, gzip: 0 }
  for (const encoding of ['br', 'gzip'] as const) sent[encoding] = await sentBytes(path, encoding)
  const share = Math.max(sent.br, sent.gzip) / sent.identity
  record({
    row: `bytes of ${path}: brotli and gzip`,
    ours: `${sent.br} and ${sent.gzip}`,
    peer: `${sent.identity} uncompressed`,
    value: share,
    limit: 'at most 0.35 × the uncompressed reply',
    ok: share <= 0.35,
  })
}

for (const { row, path, shown } of [
  {
    row: `${agents} agents as tiles`,
    path: '/agents',
    shown: (page: Page) => page.getByRole('main').getByRole('listitem').nth(5),
  },
  {
    row: `${agents} agents as a table, filtered by name, tag and state`,
    path: '/agents?view=table&q=fleet-00&tags=team-3&status=running',
    shown: (page: Page) => page.getByRole('grid', { name: 'Agents' }).getByText('fleet-0003'),
  },
  {
    row: `${runs} runs of all agents and times`,
    path: '/runs?hours=0',
    shown: (page: Page) =>
      page
        .getByRole('grid')
        .getByText(`Run ${runs - 1}`, { exact: false })
        .first(),
  },
  {
    row: `${runs} runs, filtered by state and trigger`,
    path: '/runs?hours=0&status=failed&trigger=schedule',
    shown: (page: Page) => page.getByRole('grid').getByRole('row').nth(5),
  },
  {
    row: `${runs} runs, filtered by state, agent and text`,
    path: '/runs?hours=0&status=failed&agent=fleet-0003&q=needle',
    shown: (page: Page) => page.getByRole('grid').getByText('needle', { exact: false }).first(),
  },
  {
    row: `${runs} runs, grouped by error`,
    path: '/runs?hours=0',
    shown: (page: Page) => page.getByRole('region', { name: 'Errors' }).getByText('timeout'),
  },
  {
    row: `${runs} runs, filtered by error, cost, tokens, duration and model`,
    path: '/runs?hours=0&error=timeout&cost=>0.01&tokens=>1k&duration=>10s&model=opus',
    shown: (page: Page) => page.getByRole('grid').getByRole('row').nth(5),
  },
  {
    row: `the runs of an agent with ${runs / 2}`,
    path: '/agents/fleet-0000?tab=executions',
    shown: (page: Page) => page.getByRole('grid').getByRole('row').nth(5),
  },
]) {
  const times: number[] = []
  const processor: number[] = []
  for (let round = 0; round < 5; round += 1) {
    const tab = await bench.open()
    await (await tab.context.newCDPSession(tab.page)).send('Network.clearBrowserCache')
    const before = await processorSeconds()
    times.push(
      await milliseconds(async () => {
        await tab.goto(path)
        await shown(tab.page).waitFor()
      }),
    )
    processor.push((await processorSeconds()) - before)
    await tab.context.close()
  }
  const value = median(times)
  record({
    row: `${row}, from the address to the rows`,
    ours: `${ms(value)} (worst ${ms(Math.max(...times))}, processor time ${median(processor).toFixed(1)} s)`,
    peer: '-',
    value,
    limit: `under ${usableMs} ms`,
    ok: value < usableMs,
  })
}

const table = await bench.open()
await table.goto('/agents?view=table')
const grid = table.page.getByRole('grid', { name: 'Agents' })
await grid.getByText('fleet-0000').waitFor()
const idle = await frames(table.page, false)
const scrolling = await frames(table.page, true)
const frame = { ours: median(scrolling), peer: median(idle), late: quantile(scrolling, 0.95) }
record({
  row: `frames while ${agents} agents scroll, median and 95 %`,
  ours: `${ms(frame.ours)}, ${ms(frame.late)}`,
  peer: ms(frame.peer),
  value: frame.ours / frame.peer,
  limit: 'median at most 1.2 × a page at rest',
  ok: frame.ours <= frame.peer * 1.2,
})

const filtered: number[] = []
for (let round = 0; round < 9; round += 1) filtered.push(await filterTime(table, `fleet-00${50 + round}`))
record({
  row: `filtering ${agents} agents, key to paint`,
  ours: ms(median(filtered)),
  peer: '-',
  value: median(filtered),
  limit: 'under 50 ms',
  ok: median(filtered) < 50,
})

await bench[Symbol.asyncDispose]()

// A separate page with agent content: `web/src/test/content.tsx`.
const content = await openContentBench()
for (const { row, shown, limit } of [
  {
    row: 'a log of 5 MB, until it is painted',
    shown: { kind: 'log', text: logText(5_000_000) },
    limit: 1000,
  },
  {
    row: 'a transcript of 5,000 lines, until it is painted',
    shown: { kind: 'transcript', lines: transcriptLines(5000) },
    limit: 1500,
  },
]) {
  const { page, ...tab } = await content.open()
  const time = await content.fastest(page, shown)
  record({ row, ours: ms(time), peer: '-', value: time, limit: `under ${limit} ms`, ok: time < limit })
  await tab[Symbol.asyncDispose]()
}
const writing = await writingFrames((await content.open()).page)
record({
  row: 'frames while an answer of 20 KB is written, median and 95 %',
  ours: `${ms(median(writing))}, ${ms(quantile(writing, 0.95))}`,
  peer: '-',
  value: median(writing),
  limit: 'median under 50 ms',
  ok: median(writing) < 50,
})
await content[Symbol.asyncDispose]()
report()

/** Returns the processor time of the browser and the API so far. On an idle machine a list is faster than its share. */
async function processorSeconds(): Promise<number> {
  const { processInfo } = await processes.send('SystemInfo.getProcessInfo')
  const browser = processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0)
  // Fields 14 and 15 in hundredths of a second, counted after the name in parentheses (proc(5)).
  const [, , , , , , , , , , , user, system] = readFileSync(`/proc/${platform.apiPid()}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return browser + (Number(user) + Number(system)) / 100
}

async function createAgent(index: number): Promise<void> {
  const name = `fleet-${String(index).padStart(4, '0')}`
  const reply = await platform.request('POST', '/api/agents', { name, tags: [`team-${index % 7}`] })
  if (reply.status !== 200) throw new Error(reply.text)
}

/** Returns the length of the body of a reply as it was sent. */
function sentBytes(path: string, encoding: string): Promise<number> {
  const headers = { authorization: `Bearer ${platform.token}`, 'accept-encoding': encoding }
  return new Promise((resolve, reject) => {
    request(platform.url + path, { headers }, (reply) => {
      let bytes = 0
      reply.on('data', (piece: Buffer) => (bytes += piece.byteLength)).on('end', () => resolve(bytes))
    })
      .on('error', reject)
      .end()
  })
}

/** Returns the milliseconds between frames that each add 20 characters. */
async function writingFrames(page: Page): Promise<number[]> {
  return page.evaluate(async (whole) => {
    // Defined by `web/src/test/content.tsx`.
    const { show } = window as unknown as { show(content: object): void }
    const gaps: number[] = []
    let last = performance.now()
    for (let length = 0; length <= whole.length; length += 20) {
      show({ kind: 'markdown', text: whole.slice(0, length), isStreaming: true })
      await new Promise(requestAnimationFrame)
      const now = performance.now()
      gaps.push(now - last)
      last = now
    }
    return gaps
  }, answer(20_000))
}

/** Returns the milliseconds between 120 frames, at rest or while the table scrolls fast, 60 pixels per frame. */
async function frames(page: Page, moves: boolean): Promise<number[]> {
  return page.evaluate(async (isMoving) => {
    const scroller = document.querySelector('[role=grid]')?.parentElement
    if (!scroller) throw new Error('no table')
    const gaps: number[] = []
    let last = performance.now()
    for (let frame = 0; frame < 120; frame += 1) {
      await new Promise(requestAnimationFrame)
      const now = performance.now()
      gaps.push(now - last)
      last = now
      if (isMoving) scroller.scrollTop += 60
    }
    return gaps
  }, moves)
}

/** Returns the time from the last key to the frame after the table shows the single match. */
async function filterTime({ page }: Tab, word: string): Promise<number> {
  const field = page.getByRole('searchbox', { name: 'Filter agents' })
  await field.fill(word.slice(0, -1))
  await page
    .getByRole('grid', { name: 'Agents' })
    .getByText(`${word.slice(0, -1)}0`)
    .waitFor()
  await field.focus()
  // The page listens before the key is pressed and returns the time later.
  await page.evaluate((name) => {
    const shown = new Promise<number>((resolve) => {
      let started = 0
      addEventListener('keydown', () => (started = performance.now()), { once: true, capture: true })
      const look = () => {
        const rows = document.querySelectorAll('[role=grid] tbody tr[data-index]')
        if (started > 0 && rows.length === 1 && rows[0]?.textContent?.includes(name)) {
          resolve(performance.now() - started)
        } else requestAnimationFrame(look)
      }
      requestAnimationFrame(look)
    })
    Object.assign(window, { shown })
  }, word)
  await page.keyboard.press(word.slice(-1))
  // Defined above.
  return page.evaluate(() => (window as unknown as { shown: Promise<number> }).shown)
}
