/** The inbox: items appear live, are answered with one key, and reach the agent. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { eventually, type Loose } from '../acceptance/platform.ts'
import { createAgent, docker } from '../acceptance/steps.ts'
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

const name = 'qa-inbox'
const path = '/inbox'
const longTitle =
  'May I delete everything in the directory of the build that was made for the release before the last one, and its caches?'

describe('the inbox', () => {
  let bench: Bench
  let key = ''
  before(async () => {
    bench = await openBench()
    await createAgent(bench.platform, name)
    key = await docker('exec', bench.platform.containerOf(name), 'printenv', 'ROOST_AGENT_KEY')
  })
  after(async () => {
    await bench?.[Symbol.asyncDispose]()
  })
  afterEach((context) => reportFailure(bench, context))

  let count = 0
  const ask = async (fields: object): Promise<Loose> => {
    count += 1
    const reply = await bench.platform.request(
      'POST',
      `/api/agents/${name}/operator-queue`,
      { request_id: `ask-${count}`, title: 'May I?', ...fields },
      { token: key },
    )
    assert.equal(reply.status, 201, reply.text)
    return reply.json
  }
  const item = async (id: string): Promise<Loose> =>
    (await bench.platform.request('GET', `/api/operator-queue/${id}`)).json
  const becomes = (id: string, status: string) =>
    eventually(
      () => item(id),
      (row) => row.status === status,
    )
  const open = async (options: Parameters<Bench['open']>[0] = {}, at = path): Promise<Tab> => {
    const tab = await bench.open(options)
    await tab.goto(at)
    return tab
  }
  const items = (page: Page) => page.getByRole('list', { name: 'Items' })
  const titles = (page: Page) =>
    items(page).getByRole('link').locator('span.font-medium.truncate').allInnerTexts()

  test('explains itself when empty', async () => {
    await reviewPage(bench, {
      name: 'inbox-empty',
      path,
      ready: (page) => page.getByText('Inbox is empty').waitFor(),
    })
  })

  test('a new item appears with its count in the sidebar and is answered with one key', async () => {
    const tab = await open()
    const { page } = tab
    await page.getByText('Inbox is empty').waitFor()
    const { id } = await ask({
      title: 'Deploy build 118?',
      type: 'approval',
      priority: 'high',
      options: ['Approve', 'Reject'],
      question: 'All **tests** are green.',
      proposal: { build: 118 },
    })
    await items(page).getByText('Deploy build 118?').waitFor()
    await page.getByRole('link', { name: /^Inbox 1 waiting/ }).waitFor()
    await page.getByText('tests', { exact: true }).waitFor()
    await page.keyboard.press('2')
    await page.getByText('Answered “Reject”.', { exact: true }).waitFor()
    await page.getByText('Inbox is empty').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await items(page).getByText('Deploy build 118?').waitFor()
    assert.equal((await item(id)).status, 'pending')
    await page.keyboard.press('1')
    await page.getByText('Answered “Approve”.', { exact: true }).waitFor()
    // Leaving the page runs pending actions.
    await page.getByRole('link', { name: 'Home', exact: true }).click()
    const answered = await becomes(id, 'responded')
    assert.equal(answered.response, 'Approve')
    await page.getByRole('link', { name: 'Inbox', exact: true }).waitFor()
    await closeTab(tab)
  })

  test('works with the keyboard alone: next, answer, dismiss', async () => {
    const low = await ask({ title: 'Which colour?', priority: 'low' })
    const critical = await ask({ title: 'The disk is full', type: 'alert', priority: 'critical' })
    const tab = await open()
    const { page } = tab
    await items(page).waitFor()
    assert.deepEqual(await titles(page), ['The disk is full', 'Which colour?'])
    await page.keyboard.press('x')
    await page.getByText('Dismissed without answer.', { exact: true }).waitFor()
    await page.getByRole('heading', { name: 'Which colour?' }).waitFor()
    await page.keyboard.press('r')
    await page.keyboard.type('Green, please')
    await page.keyboard.press('Control+Enter')
    const answered = await becomes(low.id, 'responded')
    assert.equal(answered.response, 'Green, please')
    await page.getByText('Inbox is empty').waitFor()
    await page.reload()
    await becomes(critical.id, 'cancelled')
    await closeTab(tab)
  })

  test('the address holds the filters, and resolved items keep their answer', async () => {
    const { id } = await ask({ title: 'Shall I go on?' })
    await bench.platform.request('POST', `/api/operator-queue/${id}/respond`, { response: 'Yes, go on' })
    await ask({ title: 'Another alert', type: 'alert' })
    const tab = await open()
    const { page } = tab
    await page.getByRole('combobox', { name: 'Status' }).click()
    await page.getByRole('option', { name: 'Answered' }).click()
    await page.waitForURL(/status=responded/)
    await items(page).getByText('Shall I go on?').click()
    await page.waitForURL(new RegExp(`item=${id}`))
    await page.getByText('Yes, go on').waitFor()
    await page.reload()
    await page.getByText('Yes, go on').waitFor()
    await page.getByRole('combobox', { name: 'Type' }).click()
    await page.getByRole('option', { name: 'Alert' }).click()
    await page.getByText('No matching items').waitFor()
    await page.getByRole('button', { name: 'Show pending items' }).click()
    await items(page).getByText('Another alert').waitFor()
    await page.getByRole('link', { name: 'Resolved' }).click()
    await page.waitForURL(/tab=resolved/)
    await items(page).getByText('Shall I go on?').click()
    await page.getByText('Yes, go on').waitFor()
    assert.equal(await items(page).getByText('Another alert').count(), 0)
    await closeTab(tab)
  })

  test('reports an answer of another user and refreshes the list', async () => {
    const { id } = await ask({ title: 'Who is faster?' })
    const tab = await open({}, `${path}?item=${id}`)
    const { page } = tab
    await page.getByRole('textbox', { name: 'Answer' }).fill('Me')
    // Delays the page's first response; others pass through.
    let isFirst = true
    await page.route('**/api/operator-queue/*/respond', async (route) => {
      if (isFirst) {
        isFirst = false
        await bench.platform.request('POST', `/api/operator-queue/${id}/respond`, { response: 'No, me' })
      }
      await route.continue()
    })
    await page.getByRole('button', { name: /^Answer/ }).click()
    await items(page).getByText('Who is faster?').waitFor({ state: 'detached' })
    assert.equal((await item(id)).response, 'No, me')
    await closeTab(tab)
  })

  test('answers and dismisses several selected items; undone items are pending again', async () => {
    const ids: string[] = []
    for (const title of ['Merge 1?', 'Merge 2?', 'Merge 3?'])
      ids.push((await ask({ title, type: 'approval', options: ['Merge', 'Wait'] })).id)
    const other = await ask({ title: 'Something else' })
    const tab = await open()
    const { page } = tab
    const answer = page.getByRole('dialog', { name: /^Answer/ })
    await page.getByRole('checkbox', { name: 'Select “Merge 1?”' }).click()
    await page.getByRole('checkbox', { name: 'Select “Merge 3?”' }).click({ modifiers: ['Shift'] })
    await page.getByText('3 selected').waitFor()
    await page.getByRole('button', { name: 'Answer…' }).click()
    await answer.getByRole('textbox', { name: 'Note' }).fill('All green')
    await saveScreenshot(tab, 'inbox-bulk-light-desktop')
    await assertAccessible(tab, 'an answer to several items')
    await answer.getByRole('button', { name: 'Merge', exact: true }).click()
    await page.getByText('3 items answered “Merge”.', { exact: true }).waitFor()
    await items(page).getByText('Merge 1?').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Undo' }).click()
    await items(page).getByText('Merge 1?').waitFor()
    assert.equal((await item(ids[0] ?? '')).status, 'pending')

    await page.getByRole('checkbox', { name: 'Select all' }).click()
    await page.getByText('5 selected').waitFor()
    await page.getByRole('button', { name: 'Answer…' }).click()
    await answer.getByText('have no common answer').waitFor()
    await answer.getByRole('button', { name: 'Cancel' }).click()
    for (const [title, left] of [
      ['Another alert', 4],
      ['Something else', 3],
    ] as const) {
      await items(page).getByRole('link', { name: title }).click()
      await page.getByRole('heading', { name: title }).waitFor()
      await page.keyboard.press('m')
      await page.getByText(`${left} selected`).waitFor()
    }
    await page.getByRole('button', { name: 'Answer…' }).click()
    await answer.getByRole('button', { name: 'Wait', exact: true }).click()
    await items(page).getByText('Merge 1?').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Home', exact: true }).click()
    for (const id of ids) assert.equal((await becomes(id, 'responded')).response, 'Wait')

    await tab.goto(path)
    await page.getByRole('checkbox', { name: 'Select all' }).click()
    await page.getByRole('button', { name: 'Dismiss', exact: true }).click()
    await page.getByText('Inbox is empty').waitFor()
    await page.getByRole('link', { name: 'Home', exact: true }).click()
    await becomes(other.id, 'cancelled')
    await closeTab(tab)
  })

  test('splits a long list into pages; the address holds the page', async () => {
    const { id } = await ask({ title: 'One of many' })
    const one = await item(id)
    const all = Array.from({ length: 230 }, (_, n) => ({ ...one, id: `many-${n}`, title: `Ask ${n + 1}` }))
    const tab = await bench.open()
    const { page } = tab
    await page.route('**/api/operator-queue?*', (route) => {
      const query = new URL(route.request().url()).searchParams
      assert.equal(query.get('order'), 'urgent')
      const [offset, limit] = [Number(query.get('offset')), Number(query.get('limit'))]
      const shown = all.slice(offset, offset + limit)
      const has_more = offset + limit < all.length
      const next_offset = has_more ? offset + limit : null
      return route.fulfill({ json: { items: shown, total: all.length, has_more, next_offset } })
    })
    await tab.goto(path)
    await page.getByText('1–100 of 230 items').waitFor()
    await page.getByText('230 pending items.').waitFor()
    await page.getByRole('button', { name: 'Next page' }).click()
    await page.waitForURL(/page=2/)
    await items(page).getByText('Ask 101', { exact: true }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Next page' }).click()
    await page.getByText('201–230 of 230 items').waitFor()
    await saveScreenshot(tab, 'inbox-page-light-desktop')
    await assertAccessible(tab, 'the last page of the inbox')
    assert.equal(await page.getByRole('button', { name: 'Next page' }).isDisabled(), true)
    await page.getByRole('checkbox', { name: 'Select all' }).click()
    await page.getByRole('button', { name: 'Dismiss', exact: true }).click()
    await page.getByText('All items on this page are resolved').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await items(page).getByText('Ask 201', { exact: true }).waitFor()
    await bench.platform.request('POST', `/api/operator-queue/${id}/cancel`)
    await closeTab(tab)
  })

  test('on a phone one item at a time is answered with a note', async () => {
    const { id } = await ask({
      title: longTitle,
      type: 'approval',
      priority: 'critical',
      options: ['Yes', 'No'],
    })
    const tab = await open({ width: 360, hasTouch: true })
    const { page } = tab
    await items(page)
      .getByText(/^May I delete everything/)
      .tap()
    await page.getByRole('textbox', { name: 'Note' }).fill('But keep the caches')
    await page.getByRole('button', { name: 'Yes', exact: true }).tap()
    await page.getByText('Answered “Yes”.', { exact: true }).waitFor()
    await tab.goto('/account')
    const answered = await becomes(id, 'responded')
    assert.deepEqual([answered.response, answered.response_text], ['Yes', 'But keep the caches'])
    await closeTab(tab)
  })

  test('a refused request is not shown as an empty inbox', async () => {
    const tab = await bench.open()
    await tab.page.route('**/api/operator-queue?*', (route) =>
      route.fulfill({ status: 500, json: { error: 'internal_error', detail: 'It broke.' } }),
    )
    await tab.goto(path)
    await tab.page.getByText('Could not load the inbox').waitFor()
    await assertAccessible(tab, 'the inbox that failed')
    await tab.context.close()
  })

  test('has no axe violations and no overflow in both themes and widths', async () => {
    const soon = new Date(Date.now() + 16 * 60_000).toISOString()
    const { id } = await ask({
      title: longTitle,
      type: 'approval',
      priority: 'critical',
      options: ['Approve', 'Approve but keep a copy of everything that is older than a year', 'Reject'],
      question: 'It takes **40 GB**.\n\n- `build/`\n- `cache/`',
      proposal: 'rm -rf build cache',
      context: { directory: '/home/developer/build', bytes: 42_000_000_000 },
      expires_at: soon,
    })
    await ask({ title: 'Which branch?', priority: 'medium' })
    await reviewPage(bench, {
      name: 'inbox',
      path,
      ready: (page) => items(page).getByText('Which branch?').waitFor(),
    })
    await reviewPage(bench, {
      name: 'inbox-item',
      path: `${path}?item=${id}`,
      ready: (page) => page.getByRole('button', { name: /Approve but keep/ }).waitFor(),
    })
  })

  test('the mobile page answers items, and stops and starts an agent', async () => {
    await reviewPage(bench, {
      name: 'mobile',
      path: '/m',
      ready: async (page) => {
        await items(page).getByText('Which branch?').waitFor()
        await page.getByRole('button', { name: `Stop ${name}` }).waitFor()
      },
    })
    const tab = await open({ width: widths.phone }, '/m')
    const { page } = tab
    await items(page).getByText('Which branch?').click()
    await page.getByRole('textbox', { name: 'Answer' }).fill('main')
    await page.getByRole('button', { name: /^Answer/ }).click()
    await items(page).getByText('Which branch?').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: `Stop ${name}` }).click()
    await page.getByRole('button', { name: `Start ${name}` }).click()
    await page.getByRole('button', { name: `Stop ${name}` }).waitFor()
    await closeTab(tab)
  })
})
