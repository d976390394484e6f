/** The audit log page, against a real platform. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
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

const path = '/audit'
const agent = 'qa-a-name-that-goes-on-and-on-until-it-is-as-long-as-names-get'

describe('the audit log', () => {
  let bench: Bench
  let keyId = ''
  before(async () => {
    bench = await openBench()
    const { platform } = bench
    await createAgent(platform, agent)
    const key = await platform.request('POST', '/api/mcp/keys', { name: 'CI' })
    keyId = key.json.id
    const token = key.json.key
    await platform.request('PUT', `/api/agents/${agent}/tags`, { tags: ['eu'] }, { token })
    // Requires a signed-in user: the key is refused and the refusal is logged.
    await platform.request('PUT', '/api/users/me/email', { email: 'x@example.com' }, { token })
    for (let count = 0; count < 260; count++)
      await platform.request('PUT', '/api/settings/note', { value: String(count) })
  })
  after(async () => {
    await bench?.[Symbol.asyncDispose]()
  })
  afterEach((context) => reportFailure(bench, context))

  const grid = (page: Page) => page.getByRole('grid', { name: 'Audit log' })
  const rowOf = (page: Page, what: string) => grid(page).getByRole('row').filter({ hasText: what }).first()
  const open = async (at = path): Promise<Tab> => {
    const tab = await bench.open()
    await tab.goto(at)
    return tab
  }

  test('has no axe violations and no overflow in both themes and widths', async () => {
    await reviewPage(bench, {
      name: 'audit',
      path,
      ready: async (page) => {
        await rowOf(page, 'Put setting').waitFor()
        await page.getByRole('img').or(page.locator('svg.recharts-surface')).first().waitFor()
      },
    })
    const { json } = await bench.platform.request('GET', '/api/audit-log?outcome=refused')
    await reviewPage(bench, {
      name: 'audit-entry',
      path: `${path}?entry=${json.entries[0].event_id}`,
      ready: (page) => page.getByRole('dialog').getByText('"event_id"').first().waitFor(),
    })
    await reviewPage(bench, {
      name: 'audit-no-match',
      path: `${path}?type=webhook`,
      ready: (page) => page.getByText('No matching entries').waitFor(),
    })
  })

  test('filters refusals by outcome; the address holds the filter', async () => {
    const tab = await open()
    const { page } = tab
    await page.getByRole('combobox', { name: 'Outcome' }).click()
    await page.getByRole('option', { name: 'Refused' }).click()
    await rowOf(page, 'Set email').getByText('Refused').first().waitFor()
    assert.match(page.url(), /outcome=refused/)
    assert.equal(await grid(page).getByText('Put setting').count(), 0)
    await page.reload()
    await rowOf(page, 'Set email').click()
    const sheet = page.getByRole('dialog', { name: 'Set email' })
    await sheet.getByText('human_only').first().waitFor()
    await sheet.getByText('CI (user)').waitFor()
    await sheet.getByRole('button', { name: 'Filter by this key' }).click()
    await rowOf(page, 'Set tags').waitFor()
    assert.match(page.url(), new RegExp(`key=${keyId}`))
    assert.equal(await page.getByRole('dialog').count(), 0)
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await rowOf(page, 'Put setting').waitFor()
    await closeTab(tab)
  })

  test('on a phone a button opens the filters and shows their number', async () => {
    const tab = await bench.open({ width: widths.phone })
    const { page } = tab
    await tab.goto(path)
    await page.getByRole('button', { name: 'Filters' }).click()
    const filters = page.getByRole('dialog', { name: 'Filters' })
    await filters.getByRole('combobox', { name: 'Outcome' }).click()
    await page.getByRole('option', { name: 'Refused' }).click()
    await saveScreenshot(tab, 'audit-filters-light-phone')
    await assertAccessible(tab, 'filters on a phone')
    await filters.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'Filters (1)' }).waitFor()
    await rowOf(page, 'Set email').waitFor()
    await closeTab(tab)
  })

  test('filters by agent and by action', async () => {
    const tab = await open(`${path}?agent=${agent}`)
    const { page } = tab
    await rowOf(page, 'Set tags').waitFor()
    assert.equal(await grid(page).getByText('Put setting').count(), 0)
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByRole('button', { name: 'More filters', exact: true }).click()
    await page.getByLabel('Action').fill('create_key')
    await saveScreenshot(tab, 'audit-more-light-desktop')
    await assertAccessible(tab, 'more filters')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Escape')
    await rowOf(page, 'Create key').waitFor()
    await page.getByText('1 of 1 entries').waitFor()
    await closeTab(tab)
  })

  test('hides the tickets for live connections until they are asked for', async () => {
    const tab = await open()
    const { page } = tab
    await rowOf(page, 'Put setting').waitFor()
    const { json } = await bench.platform.request('GET', '/api/audit-log?event_action=create_socket_ticket')
    assert.ok(json.total > 0, 'no page has opened a live connection')
    assert.equal(await grid(page).getByText('Create socket ticket').count(), 0)
    await page.getByRole('button', { name: 'Show tickets for live connections' }).click()
    await rowOf(page, 'Create socket ticket').waitFor()
    assert.match(page.url(), /routine=true/)
    await page.getByRole('button', { name: 'Hide tickets for live connections' }).click()
    await rowOf(page, 'Create socket ticket').waitFor({ state: 'detached' })
    await closeTab(tab)
  })

  test('loads a long log while scrolling and renders few rows', async () => {
    const tab = await open(`${path}?action=put_setting`)
    const { page } = tab
    await page.getByText('200 of 260 entries').waitFor()
    await grid(page).getByRole('row').nth(1).focus()
    await page.keyboard.press('End')
    await page.getByText('260 of 260 entries').waitFor()
    assert.ok((await grid(page).getByRole('row').count()) < 80)
    await closeTab(tab)
  })

  test('filters by custom days and all time', async () => {
    const tab = await open()
    const { page } = tab
    await page.getByRole('radio', { name: 'Custom', exact: true }).click()
    await page.getByLabel('From').fill('2020-01-01')
    await page.getByLabel('To', { exact: true }).fill('2020-01-31')
    await page.getByText('No entries in this time range').waitFor()
    await page.getByRole('button', { name: 'Show all time' }).click()
    await rowOf(page, 'Put setting').waitFor()
    await closeTab(tab)
  })

  test('verifies the chain and names the first invalid entry', async () => {
    const tab = await open()
    const { page } = tab
    await page.getByRole('button', { name: 'Verify log' }).click()
    await page.getByText('The audit log is intact.').waitFor()
    await saveScreenshot(tab, 'audit-verified-light-desktop')
    await assertAccessible(tab, 'verified')
    // The database refuses changes to the log, so a tampered result is simulated.
    const tampered = { valid: false, status: 'tampered', checked: 41, first_invalid_id: 17 }
    await page.route('**/api/audit-log/verify', (route) => route.fulfill({ json: tampered }))
    await page.getByRole('button', { name: 'Verify log' }).click()
    await page.getByText('The first invalid entry is number 17').waitFor()
    await saveScreenshot(tab, 'audit-tampered-light-desktop')
    await assertAccessible(tab, 'tampered')
    await closeTab(tab)
  })

  test('exports the entries of the time range as CSV and JSON', async () => {
    const tab = await open()
    const { page } = tab
    for (const format of ['CSV', 'JSON']) {
      await page.getByRole('button', { name: 'Export' }).click()
      const downloading = page.waitForEvent('download')
      await page.getByRole('menuitem', { name: format }).click()
      const download = await downloading
      assert.equal(download.suggestedFilename(), `roost-audit-log.${format.toLowerCase()}`)
      assert.match(await readFile(await download.path(), 'utf8'), /put_setting/)
    }
    await closeTab(tab)
  })

  test('shows an error when the log cannot be loaded', async () => {
    const tab = await bench.open()
    const refusal = { detail: 'Something went wrong.', error: 'internal_error', request_id: 'r-1' }
    await tab.page.route(/\/api\/audit-log\?/, (route) => route.fulfill({ status: 500, json: refusal }))
    await tab.goto(path)
    await tab.page.getByText('Could not load the audit log').waitFor()
    await assertAccessible(tab, 'a log that could not be loaded')
    await tab.page.unroute(/\/api\/audit-log\?/)
    await tab.page.getByRole('button', { name: 'Retry' }).click()
    await rowOf(tab.page, 'Put setting').waitFor()
    await closeTab(tab)
  })
})
