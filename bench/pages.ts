/**
 * The web UI in a real browser: size of the first page, scrolling and filtering 500 agents, time to show a 5 MB log.
 * The peer of the frame times is an idle page in the same browser.
 */
import type { Page } from 'playwright-core'
import { firstPageScriptBytes, openBench, type Tab } from '../checks/browser/bench.ts'
import { openContentBench } from '../checks/browser/content-bench.ts'
import { answer, logText, transcriptLines } from '../checks/browser/content-samples.ts'
import { keepBenchmark } from './keeper/index.ts'
import { median, ms, quantile, record, report } from './measure.ts'

await keepBenchmark()

const agents = 500

const bench = await openBench({ env: { ROOST_CONTAINERS_URL: 'fake:', ROOST_LOG_LEVEL: 'info' } })
for (let index = 0; index < agents; index += 1) {
  const name = `fleet-${String(index).padStart(3, '0')}`
  const reply = await bench.platform.request('POST', '/api/agents', { name, tags: [`team-${index % 7}`] })
  if (reply.status !== 200) throw new Error(reply.text)
}

const weight = await firstPageScriptBytes(bench)
record({
  row: 'compressed JavaScript of the first page',
  ours: `${Math.round(weight / 1024)} KB`,
  peer: '-',
  value: weight / 1024,
  limit: 'under 250 KB',
  ok: weight < 250 * 1024,
})

const table = await bench.open()
await table.goto('/?view=table')
const grid = table.page.getByRole('grid', { name: 'Agents' })
await grid.getByText('fleet-000').waitFor()
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
for (let round = 0; round < 9; round += 1) filtered.push(await filterTime(table, `fleet-${450 + round}`))
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
