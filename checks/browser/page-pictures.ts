/** Looks at whole pages at fixed widths in both themes, and keeps a picture of each. */
import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Page } from 'playwright-core'
import { eventually, type Loose } from '../acceptance/platform.ts'
import {
  assertAccessible,
  assertNoSideways,
  type Bench,
  openBench,
  type Tab,
  type Theme,
  widths,
} from './bench.ts'

const demoAgents = ['demo-support', 'demo-developer', 'demo-digest']
/** Git ignores it. */
const folder = resolve(import.meta.dirname, '../../artifacts/pages')

/** Opens a platform with the demo data. Its agents are idle, and a question waits in the inbox. */
export async function openDemoBench(): Promise<Bench> {
  const bench = await openBench({ isDemo: true })
  try {
    await settleDemo(bench)
    return bench
  } catch (error) {
    await bench[Symbol.asyncDispose]()
    throw error
  }
}

async function settleDemo({ platform }: Bench): Promise<void> {
  const get = async (path: string) => (await platform.request('GET', path)).json
  await platform.startBeside('server/src/start/scheduler.ts')
  await eventually(
    async () => (await get('/api/demo')).state,
    (state) => state === 'ready',
    240_000,
  )
  // The newest are real runs.
  for (const name of demoAgents)
    await eventually(
      () => get(`/api/agents/${name}/executions`),
      (runs) => runs.every(({ status }: Loose) => !['queued', 'running'].includes(status)),
      240_000,
    )
  await eventually(
    async () => (await get('/api/operator-queue/stats')).pending,
    (pending) => pending > 0,
    240_000,
  )
}

/** Looks at one page after another in the same tab. After a failed test, which closes the tab, it opens a new one. */
export function reviewerOf(bench: Bench): (page: PagePath) => Promise<void> {
  let reviewer: Awaited<ReturnType<typeof openPageReviewer>> | null = null
  return async (page) => {
    if (bench.tabs.size === 0) reviewer = null
    reviewer ??= await openPageReviewer(bench)
    await reviewer.look(page)
  }
}

/** A page of the router. `route`: its path there. */
export type PagePath = { name: string; route: string; path: string }

type Look = { theme: Theme; width: number; axe: 'all' | 'colours' }

/** In an order that changes one thing at a time. Of the rules, only those about colours depend on the theme. */
const looks: readonly Look[] = [
  { theme: 'light', width: 1440, axe: 'all' },
  { theme: 'dark', width: 1440, axe: 'colours' },
  { theme: 'dark', width: 390, axe: 'colours' },
  { theme: 'light', width: 390, axe: 'all' },
]
const heightOf = (width: number) => (width < 600 ? 844 : 900)

/** Opens pages one after the other in one tab. `token` null: not signed in. */
export async function openPageReviewer(bench: Bench, token?: string | null) {
  await mkdir(folder, { recursive: true })
  const tab = await bench.open(token === undefined ? {} : { token })
  return {
    /** Opens the page once, and changes width and theme in place. Throws for a fault of the page. */
    async look({ name, path }: PagePath): Promise<void> {
      const before = tab.faults.length
      await show(tab, looks[0])
      await tab.goto(path)
      // Parts that load later. A page may follow something for as long as it is open.
      await tab.page.waitForLoadState('networkidle', { timeout: 5000 }).catch(() => {})
      for (const look of looks) {
        const what = `${name}-${look.theme}-${look.width}`
        await show(tab, look)
        await tab.page.locator(`html[data-theme=${look.theme}]`).waitFor()
        await loaded(tab.page)
        await assertNoSideways(tab, what)
        await assertWholeWords(tab.page, what)
        await tab.page.screenshot({ path: join(folder, `${what}.png`), fullPage: true })
        await assertAccessible(tab, what, look.axe)
      }
      await tab.page.setViewportSize({ width: widths.phone, height: heightOf(widths.phone) })
      await assertNoSideways(tab, `${name} at ${widths.phone}`)
      const faults = tab.faults.slice(before)
      if (faults.length > 0) throw new Error(`${name}: ${faults.join('\n')}`)
    },
    close: () => tab.context.close(),
  }
}

/** Asserts that no short word of the title is broken over two lines. */
async function assertWholeWords(page: Page, what: string): Promise<void> {
  const broken = await page
    .locator('h1')
    .first()
    .evaluate((title) => {
      const texts = document.createTreeWalker(title, NodeFilter.SHOW_TEXT)
      const found: string[] = []
      for (let text = texts.nextNode(); text; text = texts.nextNode()) {
        for (const { 0: word, index } of (text.nodeValue ?? '').matchAll(/\S{2,16}/g)) {
          const range = document.createRange()
          range.setStart(text, index)
          range.setEnd(text, index + word.length)
          if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) found.push(word)
        }
      }
      return found
    })
  assert.deepEqual(broken, [], `${what}: words of the title that are broken`)
}

async function show({ page }: Tab, look: Look | undefined): Promise<void> {
  if (!look) return
  await page.setViewportSize({ width: look.width, height: heightOf(look.width) })
  await page.emulateMedia({ colorScheme: look.theme })
}

/** Resolves when the page has a heading and nothing on it is a placeholder any more. */
async function loaded(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor({ state: 'attached' })
  await eventually(
    () => page.locator('div.animate-pulse, [aria-busy=true]').count(),
    (count) => count === 0,
  )
}
