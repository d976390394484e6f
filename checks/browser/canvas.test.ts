/** Canvases on the agent's page, in the Workspace and behind a share link. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { createAgent } from '../acceptance/steps.ts'
import {
  assertAccessible,
  type Bench,
  closeTab,
  openBench,
  reviewPage,
  saveScreenshot,
  type Tab,
  widths,
} from './bench.ts'
import { reportFailure } from './evidence.ts'

const name = 'qa-canvas'
const path = `/api/agents/${name}/canvas`
const dot =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const days = (...values: number[]) =>
  values.map((value, index) => ({ ts: `2030-01-${String(index + 1).padStart(2, '0')}`, value }))
const two = [
  { label: 'Answered', unit: 'tickets', points: days(12, 18, 9, 22, 17) },
  { label: 'Open', unit: 'tickets', points: days(4, 2, 8, 3, 6) },
]
const one = [
  {
    label: 'Share',
    points: [
      { ts: 'Mail', value: 12 },
      { ts: 'Chat', value: 30 },
      { ts: 'Phone', value: 7 },
    ],
  },
]
const flow = 'flowchart LR; A[Mail]-->B{Known?}; B-->|yes| C[Answer]; B-->|no| D[Ask a person]'

const dashboard = {
  title: 'Support',
  template: 'dashboard',
  audience: 'roster',
  blocks: [
    {
      id: 'figures',
      kind: 'kpi',
      slot: 'kpis',
      payload: {
        tiles: [
          { label: 'Answered', value: 1204 },
          { label: 'Cost', value: 12.5, unit: 'USD' },
        ],
      },
    },
    { kind: 'chart', title: 'By day', payload: { type: 'bar', series: two } },
    { kind: 'chart', title: 'Trend', payload: { type: 'area', series: two } },
    { kind: 'chart', title: 'Where from', slot: 'side', payload: { type: 'donut', series: one } },
    {
      kind: 'table',
      title: 'Oldest',
      slot: 'side',
      payload: {
        columns: ['Ticket', 'Days'],
        rows: [
          ['Invoice is wrong', 12],
          ['No sound', 3],
        ],
      },
    },
    { kind: 'diagram', title: 'How it goes', payload: { mermaid: flow } },
    { kind: 'diagram', title: 'Not drawn', slot: 'footer', payload: { mermaid: 'pie title Pets' } },
    {
      kind: 'html',
      title: 'Notes',
      slot: 'footer',
      payload: {
        html: '<h4>On holiday</h4><p onclick="x()">Ann, <b>until Monday</b></p><script>alert(1)</script>',
      },
    },
    {
      kind: 'timeline',
      title: 'This week',
      slot: 'side',
      payload: { events: [{ ts: '2030-01-05T09:00:00Z', label: 'New answers', detail: 'For invoices' }] },
    },
    { kind: 'markdown', slot: 'header', payload: { markdown: 'All is **well**.' } },
    { kind: 'image', slot: 'footer', payload: { src: dot, caption: 'A dot' } },
    { kind: 'image', slot: 'footer', payload: { src: 'https://example.org/plan.png' } },
    { kind: 'json', title: 'Raw', slot: 'footer', payload: { a: [1, null] } },
  ],
}

describe('canvases', () => {
  let bench: Bench
  before(async () => {
    bench = await openBench()
    await createAgent(bench.platform, name)
  })
  after(async () => {
    await bench?.[Symbol.asyncDispose]()
  })
  afterEach((context) => reportFailure(bench, context))

  const put = async (id: string, body: object) => {
    const reply = await bench.platform.request('PUT', `${path}/${id}`, body)
    assert.equal(reply.status, 200, reply.text)
  }
  const open = async (at: string, options: Parameters<Bench['open']>[0] = {}): Promise<Tab> => {
    const tab = await bench.open(options)
    await tab.goto(at)
    return tab
  }
  const drawn = async (page: Page) => {
    await page.getByRole('img', { name: /^How it goes/ }).waitFor()
    await page.getByText('Diagram not shown:').waitFor()
    await page.frameLocator('iframe[title="Notes"]').getByText('until Monday').waitFor()
    await page.locator('svg.recharts-surface').nth(2).waitFor()
  }

  test('explains canvases on the page of an agent without any', async () => {
    const tab = await open(`/agents/${name}?tab=canvas`)
    await tab.page.getByText('No canvases yet').waitFor()
    await assertAccessible(tab, 'no canvas')
    await closeTab(tab)
  })

  test('renders every kind of block in its slot without scripts and external requests', async () => {
    await put('main', dashboard)
    await reviewPage(bench, { name: 'canvas', path: `/agents/${name}?tab=canvas`, ready: drawn })
    const tab = await open(`/agents/${name}?tab=canvas`)
    await drawn(tab.page)
    const [row] = await tab.page.getByRole('table', { name: 'By day' }).locator('tbody tr').allInnerTexts()
    assert.match(row ?? '', /12 tickets\s+4 tickets/)
    assert.match(await tab.page.getByText(/^Diagram not shown:/).innerText(), /header/)
    await closeTab(tab)
  })

  test('an open page follows changes of the agent; owners pin, delete and undo', async () => {
    await put('plan', { title: 'Plan', blocks: [{ kind: 'markdown', payload: { markdown: 'First' } }] })
    const tab = await open(`/agents/${name}?tab=canvas&canvas=plan`)
    const { page } = tab
    await page.getByText('First', { exact: true }).waitFor()
    const change = { blocks: [{ id: 'b1', payload: { markdown: 'Second' } }] }
    await bench.platform.request('PATCH', `${path}/plan`, change)
    await page.getByText('Second', { exact: true }).waitFor()
    const links = page.getByRole('navigation', { name: 'Canvases' }).getByRole('link')
    await page.getByRole('button', { name: 'Pin', exact: true }).click()
    await links.first().getByText('pinned').waitFor()
    await page.getByRole('button', { name: 'Delete canvas' }).click()
    await page.getByRole('heading', { name: 'Support' }).waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await links.nth(1).waitFor()
    await closeTab(tab)
  })

  test('creates and revokes a public link; a link for users requires a sign-in', async () => {
    const tab = await open(`/agents/${name}?tab=canvas&canvas=main`)
    const { page } = tab
    await page.getByRole('button', { name: 'Share', exact: true }).click()
    await page.getByText('No links yet.').waitFor()
    await page.getByRole('button', { name: 'Create link' }).click()
    const rows = page.getByRole('list', { name: 'Links' }).getByRole('listitem')
    await rows.first().waitFor()
    await page.getByRole('radio', { name: /Anyone with the link/ }).click()
    await page.getByRole('button', { name: 'Create link' }).click()
    await rows.nth(1).waitFor()
    await saveScreenshot(tab, 'canvas-links-light-desktop')
    await assertAccessible(tab, 'links')
    const shares = (await bench.platform.request('GET', `${path}/shares`)).json
    const tokenOf = (scope: string) => shares.find((share: { scope: string }) => share.scope === scope).token
    const reader = await open(`/canvas/s/${tokenOf('public')}`, { token: null, width: widths.phone })
    await drawn(reader.page)
    await saveScreenshot(reader, 'shared-canvas-light-phone')
    await assertAccessible(reader, 'a shared canvas')
    await closeTab(reader)
    const stranger = await open(`/canvas/s/${tokenOf('authorized')}`, { token: null })
    await stranger.page.getByText('Sign in to see it').waitFor()
    await assertAccessible(stranger, 'a link that asks who one is')
    await closeTab(stranger)
    const person = await open(`/canvas/s/${tokenOf('authorized')}`, { theme: 'dark' })
    await drawn(person.page)
    await person.page.emulateMedia({ media: 'print' })
    await saveScreenshot(person, 'shared-canvas-print')
    const ground = await person.page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    assert.equal(ground, 'rgb(248, 248, 250)', 'paper is light')
    await closeTab(person)
    await bench.platform.request('DELETE', `${path}/shares/${shares[0].id}`)
    const late = await open(`/canvas/s/${shares[0].token}`, { token: null })
    await late.page.getByText('This link is not valid').waitFor()
    await closeTab(late)
    await closeTab(tab)
  })

  test('shows canvases beside the conversation in the Workspace', async () => {
    const tab = await open(`/workspace/a/${name}?rail=canvas`)
    await tab.page.getByRole('button', { name: /Support/ }).click()
    await drawn(tab.page)
    await saveScreenshot(tab, 'workspace-canvas-light-desktop')
    await assertAccessible(tab, 'a canvas in the Workspace')
    await closeTab(tab)
  })
})
