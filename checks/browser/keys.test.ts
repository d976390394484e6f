/** MCP keys, against a real platform. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { type MailServer, startMailServer } from '@roost/test-support/mail/index'
import type { Page } from 'playwright-core'
import { eventually } from '../acceptance/platform.ts'
import { createAgent } from '../acceptance/steps.ts'
import {
  assertAccessible,
  type Bench,
  closeTab,
  openBench,
  reviewPage,
  saveScreenshot,
  type Tab,
} from './bench.ts'
import { reportFailure } from './evidence.ts'
import { signInUser } from './users.ts'

const path = '/keys'
const longName =
  'A key whose name goes on and on until it is as long as the name of a key may ever become, or nearly'

describe('keys', () => {
  let mail: MailServer
  let bench: Bench
  let annToken = ''
  before(async () => {
    mail = await startMailServer()
    bench = await openBench({ env: { ROOST_MAIL_URL: mail.url } })
    annToken = await signInUser({ platform: bench.platform, mail }, 'ann@example.com', 'creator')
  })
  after(async () => {
    await bench?.[Symbol.asyncDispose]()
    await mail?.close()
  })
  afterEach((context) => reportFailure(bench, context))

  const rowOf = (page: Page, name: string) =>
    page.getByRole('grid', { name: 'Keys' }).getByRole('row').filter({ hasText: name })
  const dialogOf = (page: Page, name: string | RegExp) => page.getByRole('dialog', { name })
  const open = async (options: Parameters<Bench['open']>[0] = {}, at = path): Promise<Tab> => {
    const tab = await bench.open(options)
    await tab.goto(at)
    return tab
  }
  const statusWith = async (key: string, at: string) =>
    (await bench.platform.request('GET', at, undefined, { token: key })).status

  test('explains keys when there are none', async () => {
    await reviewPage(bench, {
      name: 'keys-empty',
      path,
      ready: (page) => page.getByText('No keys yet').waitFor(),
    })
  })

  test('creates a key with the scope ops and an expiry, shows it once, and it has the stated permissions', async () => {
    const tab = await open()
    const { page } = tab
    // An empty list has a second button for the same dialog.
    await page.getByRole('button', { name: 'Create key' }).first().click()
    const form = dialogOf(page, 'Create MCP key')
    await form.getByLabel('Name').fill('Monitoring')
    await form.getByRole('radio', { name: /^Ops/ }).click()
    await form.getByRole('combobox', { name: 'Expires' }).click()
    await page.getByRole('option', { name: 'On a specific day' }).click()
    await form.getByRole('button', { name: 'Create key' }).click()
    await form.getByText('The last day must be today or later.').waitFor()
    await saveScreenshot(tab, 'keys-create-light-desktop')
    await assertAccessible(tab, 'creating a key')
    await form.getByLabel('Last day').fill('2099-12-31')
    await form.getByRole('button', { name: 'Create key' }).click()

    const shown = dialogOf(page, 'Key “Monitoring”')
    await shown.waitFor()
    await saveScreenshot(tab, 'keys-created-light-desktop')
    await assertAccessible(tab, 'the key, once')
    const key = (await shown.getByText(/^svc_mcp_/).textContent()) ?? ''
    await page.keyboard.press('Escape')
    await shown.waitFor()
    await shown.getByText('I have stored it').click()
    await shown.getByRole('button', { name: 'Done' }).click()
    await rowOf(page, 'Monitoring').getByText('Ops').waitFor()
    assert.equal(await page.getByText(key).count(), 0)
    assert.equal(await statusWith(key, '/api/executions'), 200)
    assert.equal(await statusWith(key, '/api/users/me'), 403)

    await rowOf(page, 'Monitoring').click()
    const sheet = dialogOf(page, 'Monitoring')
    await sheet.getByText('Runs with their logs and live streams').waitFor()
    await sheet.getByText(/2099/).first().waitFor()
    await closeTab(tab)
  })

  test('has no axe violations and no overflow in both themes and widths', async () => {
    const created = await bench.platform.request('POST', '/api/mcp/keys', {
      name: longName,
      description: 'Used by the build of the shop that nobody has looked at for years',
    })
    await reviewPage(bench, {
      name: 'keys',
      path,
      ready: (page) => rowOf(page, 'A key whose name').waitFor(),
    })
    await reviewPage(bench, {
      name: 'keys-one',
      path: `${path}?key=${created.json.id}`,
      ready: (page) =>
        dialogOf(page, /^A key whose name/)
          .getByRole('heading', { name: 'Allowed', exact: true })
          .waitFor(),
    })
    await reviewPage(bench, {
      name: 'keys-all',
      path: `${path}?all=true`,
      ready: (page) => page.getByRole('columnheader', { name: 'Key' }).waitFor(),
    })
  })

  test('a revoked key is refused and stays listed, a deleted key is removed', async () => {
    const { json } = await bench.platform.request('POST', '/api/mcp/keys', { name: 'Old build' })
    assert.equal(await statusWith(json.key, '/api/users/me'), 200)
    const tab = await open()
    const { page } = tab
    const row = rowOf(page, 'Old build')
    const choose = async (what: string) => {
      await row.getByRole('button', { name: 'Actions for Old build' }).click()
      await page.getByRole('menuitem', { name: what }).click()
    }
    await choose('Revoke…')
    await saveScreenshot(tab, 'keys-revoke-light-desktop')
    await assertAccessible(tab, 'revoking a key')
    await page.getByRole('button', { name: 'Revoke key' }).click()
    await row.getByText('Revoked').waitFor()
    assert.equal(await statusWith(json.key, '/api/users/me'), 401)
    await choose('Delete…')
    await page.getByRole('button', { name: 'Delete key' }).click()
    await row.waitFor({ state: 'detached' })
    await closeTab(tab)
  })

  test('users who are not admins see no other scopes and only their own keys', async () => {
    const tab = await open({ token: annToken })
    const { page } = tab
    // An empty list has a second button for the same dialog.
    await page.getByRole('button', { name: 'Create key' }).first().click()
    const form = dialogOf(page, 'Create MCP key')
    await form.getByLabel('Name').fill('My laptop')
    assert.equal(await form.getByRole('radio').count(), 0)
    await page.keyboard.press('Enter')
    const shown = dialogOf(page, 'Key “My laptop”')
    await shown.getByText('I have stored it').click()
    await shown.getByRole('button', { name: 'Done' }).click()
    await rowOf(page, 'My laptop').waitFor()
    assert.equal(await rowOf(page, 'Monitoring').count(), 0)
    assert.equal(await page.getByRole('radio', { name: 'All keys' }).count(), 0)
    await closeTab(tab)
  })

  test('an admin finds keys of all users by owner', async () => {
    const tab = await open({}, `${path}?all=true&q=ann%40`)
    await rowOf(tab.page, 'My laptop').getByText('ann@example.com').waitFor()
    assert.equal(await rowOf(tab.page, 'Monitoring').count(), 0)
    await eventually(
      async () => tab.page.getByRole('radio', { name: 'All keys' }).getAttribute('aria-checked'),
      (checked) => checked === 'true',
    )
    await closeTab(tab)
  })

  test('shows an error when the list cannot be loaded', async () => {
    const tab = await bench.open()
    const refusal = { detail: 'Something went wrong.', error: 'internal_error', request_id: 'r-1' }
    await tab.page.route('**/api/mcp/keys', (route) => route.fulfill({ status: 500, json: refusal }))
    await tab.goto(path)
    await tab.page.getByText('Could not load the keys').waitFor()
    await assertAccessible(tab, 'keys that could not be loaded')
    await tab.page.unroute('**/api/mcp/keys')
    await tab.page.getByRole('button', { name: 'Retry' }).click()
    await rowOf(tab.page, 'Monitoring').waitFor()
    await closeTab(tab)
  })
})

describe('the keys of an agent', () => {
  const name = 'qa-key-holder'
  const path = `/agents/${name}?tab=settings`
  let bench: Bench
  before(async () => {
    bench = await openBench()
    await createAgent(bench.platform, name)
  })
  after(async () => {
    await bench?.[Symbol.asyncDispose]()
  })
  afterEach((context) => reportFailure(bench, context))
  const region = (page: Page, title: string) => page.getByRole('region', { name: title })

  test('shows the state of the agent key, checks it in the container and replaces it', async () => {
    const tab = await bench.open()
    const { page } = tab
    await tab.goto(path)
    const section = region(page, 'Agent key')
    await section.getByText(/^svc_mcp_/).waitFor()
    const before = await section.getByText(/^svc_mcp_/).textContent()
    await section.getByRole('button', { name: 'Check key in container' }).click()
    await section.getByText(/^In the container:/).waitFor()
    await section.scrollIntoViewIfNeeded()
    await saveScreenshot(tab, 'agent-own-key-light-desktop')
    await assertAccessible(tab, 'agent key')
    await section.getByRole('button', { name: 'Replace key…' }).click()
    await page.getByRole('button', { name: 'Replace key' }).click()
    await page.getByText('New agent key created.', { exact: true }).waitFor()
    await eventually(
      () => section.getByText(/^svc_mcp_/).textContent(),
      (prefix) => prefix !== before,
    )
    assert.deepEqual(tab.faults, [])
    await tab.context.close()
  })

  test('shows a connector key once with client configuration; it gives access to its agent until it is revoked', async () => {
    const tab = await bench.open()
    const { page } = tab
    await tab.goto(path)
    const section = region(page, 'Connector')
    await section.getByText('No connector keys yet.').waitFor()
    await section.getByRole('button', { name: 'Create connector key' }).click()
    const dialog = page.getByRole('dialog', { name: `Connector key of ${name}` })
    const key = (await dialog.getByText(/^svc_mcp_\S+$/).textContent()) ?? ''
    await dialog.getByRole('radio', { name: 'Claude Desktop' }).click()
    await dialog.getByText('mcp-remote').first().waitFor()
    await saveScreenshot(tab, 'agent-connector-key-light-desktop')
    await assertAccessible(tab, 'connector key')
    await dialog.getByText('I have stored it').click()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await section.getByRole('switch', { name: 'Enable connector', checked: true }).waitFor()
    const check = async () =>
      (await bench.platform.request('POST', '/api/mcp/validate', {}, { token: key })).status
    assert.equal(await check(), 200)
    await section.getByRole('switch', { name: 'Expose all playbooks' }).click()
    await section.getByLabel('Exposed playbooks', { exact: true }).fill('morning-report')
    await page.keyboard.press('Enter')
    await eventually(
      () => bench.platform.request('GET', `/api/agents/${name}/connector`),
      ({ json }) => json.exposed_playbooks.includes('morning-report'),
    )
    await section.getByRole('button', { name: /^Revoke/ }).click()
    await page.getByRole('button', { name: 'Revoke key' }).click()
    await section.getByText('No connector keys yet.').waitFor()
    assert.equal(await check(), 401)
    assert.deepEqual(tab.faults, [])
    await tab.context.close()
  })

  test('has no axe violations and no overflow in both themes and widths', async () => {
    await bench.platform.request('POST', `/api/agents/${name}/connector/key`)
    await reviewPage(bench, {
      name: 'agent-keys',
      path,
      ready: async (page) => {
        await region(page, 'Agent key')
          .getByText(/^svc_mcp_/)
          .waitFor()
        await page.getByRole('list', { name: 'Connector keys' }).waitFor()
        await region(page, 'Connector').scrollIntoViewIfNeeded()
      },
    })
  })
})
