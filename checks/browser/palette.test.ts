/** The command palette and the help of a page, with the keyboard alone. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { type MailServer, startMailServer } from '@roost/test-support/mail/index'
import type { Page } from 'playwright-core'
import { eventually, signIn } from '../acceptance/platform.ts'
import { chat, createAgent } from '../acceptance/steps.ts'
import { assertNoSideways, type Bench, closeTab, openBench, reviewPage, type Tab, widths } from './bench.ts'
import { reportFailure } from './evidence.ts'
import { signInUser } from './users.ts'

const scout = 'qa-scout'
const uiScout = 'qa-ui-scout'
/** A word that occurs in one run and in one conversation. */
const word = 'zanzibar'
let mail: MailServer
let bench: Bench
let annToken = ''
let runId = ''
before(async () => {
  mail = await startMailServer()
  bench = await openBench({ env: { ROOST_MAIL_URL: mail.url } })
  const { platform } = bench
  for (const name of [scout, uiScout]) await createAgent(platform, name)
  annToken = await signInUser({ platform, mail }, 'ann@example.com')
  const shared = await platform.request('POST', `/api/agents/${uiScout}/share`, { email: 'ann@example.com' })
  assert.equal(shared.status, 200, shared.text)
  const run = await chat(platform, scout, `[[reply:fine]] Look up ${word}`, { path: 'task' })
  assert.equal(run.status, 200, run.text)
  runId = run.json.execution_id
  const said = await platform.request('POST', `/api/enterprise/client-portal/agents/${scout}/chat`, {
    message: `[[reply:fine]] Tell me about ${word}`,
  })
  assert.equal(said.status, 200, said.text)
})
after(async () => {
  await bench?.[Symbol.asyncDispose]()
  await mail?.close()
})
afterEach((context) => reportFailure(bench, context))

const home = (page: Page) => page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
const openTab = async (at = '/account', options: Parameters<Bench['open']>[0] = {}): Promise<Tab> => {
  const tab = await bench.open(options)
  await tab.goto(at)
  await tab.page.getByRole('heading', { level: 1 }).first().waitFor()
  return tab
}
/** Opens the palette and types. The first hit must be `hit`. */
async function find(page: Page, text: string, hit: string | RegExp): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').waitFor()
  await page.keyboard.type(text)
  await page.locator('[cmdk-item][data-selected=true]').filter({ hasText: hit }).waitFor()
}
const run = async (page: Page, text: string, hit: string | RegExp): Promise<void> => {
  await find(page, text, hit)
  await page.keyboard.press('Enter')
}
const stateOf = async (name: string): Promise<string> =>
  (await bench.platform.request('GET', `/api/agents/${name}`)).json.status
const until = (name: string, state: string) =>
  eventually(
    () => stateOf(name),
    (now) => now === state,
  )

describe('the palette', () => {
  test('stops and starts an agent by its name', async () => {
    const tab = await openTab()
    const { page } = tab
    await run(page, `stop ${scout}`, `Stop ${scout}`)
    await page.getByText(`Stopping ${scout}…`).first().waitFor()
    await until(scout, 'stopped')
    await run(page, `${scout} boot`, `Start ${scout}`)
    await until(scout, 'running')
    assert.equal(await stateOf(uiScout), 'running')
    await closeTab(tab)
  })

  test('opens a tab of an agent, in any order of the words and with a typing error', async () => {
    const tab = await openTab()
    const { page } = tab
    const at = (tabId: string, name: string) =>
      page.waitForURL((url) => url.pathname === `/agents/${name}` && url.searchParams.get('tab') === tabId)
    await run(page, `${uiScout} files`, `${uiScout} › Files`)
    await at('files', uiScout)
    await run(page, `credentails ${scout}`, `${scout} › Credentials`)
    await at('credentials', scout)
    // On the page of an agent, its name is understood.
    await run(page, 'logs', `${scout} › Logs`)
    await at('logs', scout)
    await closeTab(tab)
  })

  test('asks for the agent of a new schedule, and opens the form', async () => {
    const tab = await openTab()
    const { page } = tab
    await run(page, 'new schedule', 'New schedule…')
    await page
      .locator('[cmdk-item][data-selected=true]')
      .filter({ hasText: `New schedule for ${scout}` })
      .waitFor()
    await page.keyboard.type('ui')
    await page.locator('[cmdk-item][data-selected=true]').filter({ hasText: uiScout }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'New schedule' }).waitFor()
    await page.waitForURL((url) => url.pathname === `/agents/${uiScout}`)
    await page.keyboard.press('Escape')
    await page.waitForURL(
      (url) => url.searchParams.get('tab') === 'schedules' && !url.searchParams.has('create'),
    )
    assert.equal(await page.getByRole('dialog').count(), 0)
    await closeTab(tab)
  })

  test('finds runs and conversations by their text, from two letters on', async () => {
    const tab = await openTab()
    const { page } = tab
    const searches = () =>
      tab.requests.filter((request) => /api\/executions$|client-portal\/search$/.test(request))
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').waitFor()
    await page.keyboard.type('z')
    await page.getByText('No results.').waitFor()
    assert.deepEqual(searches(), [])
    await page.keyboard.type(word.slice(1))
    const runs = page.getByRole('group', { name: 'Runs' })
    const conversations = page.getByRole('group', { name: 'Conversations' })
    await conversations.getByRole('option').filter({ hasText: word }).waitFor()
    const option = runs.getByRole('option').filter({ hasText: `Look up ${word}` })
    await option.waitFor()
    // Typing was faster than the delay, so the parts of the word were not searched.
    assert.ok(searches().length <= 4, searches().join())
    while ((await option.getAttribute('data-selected')) !== 'true') await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL((url) => url.pathname === `/agents/${scout}/executions/${runId}`)
    await page.keyboard.press('Control+k')
    await page.keyboard.type(word)
    await conversations.getByRole('option').first().waitFor()
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await page.waitForURL((url) => url.pathname.startsWith('/workspace/c/'))
    await closeTab(tab)
  })

  test('lists recent items of this person only', async () => {
    const tab = await openTab()
    const { page } = tab
    await run(page, 'audit', 'Audit')
    await page.waitForURL((url) => url.pathname === '/audit')
    await page.keyboard.press('Control+k')
    const recent = page.getByRole('group', { name: 'Recent' })
    await recent.getByRole('option', { name: /^Audit\b/ }).waitFor()
    const keys = await page.evaluate(() =>
      Object.keys(localStorage).filter((key) => key.startsWith('roost:palette')),
    )
    const { json: me } = await bench.platform.request('GET', '/api/users/me')
    assert.deepEqual(keys, [`roost:palette-recent:${me.id}`])
    await page.keyboard.press('Escape')
    await closeTab(tab)
  })

  test('deletes only after the name is typed, as the page does', async () => {
    const tab = await openTab()
    const { page } = tab
    await run(page, `delete ${scout}`, `Delete ${scout}…`)
    const dialog = page.getByRole('dialog', { name: `Delete ${scout}?` })
    await dialog.waitFor()
    assert.equal(await dialog.getByRole('button', { name: 'Delete agent' }).isDisabled(), true)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await run(page, 'pause schedules', 'Pause all schedules…')
    await page.getByRole('dialog', { name: 'Pause all schedules?' }).waitFor()
    await page.keyboard.press('Escape')
    assert.equal(await stateOf(scout), 'running')
    await closeTab(tab)
  })

  test('offers only what the person may do', async () => {
    const tab = await openTab('/account', { token: annToken })
    const { page } = tab
    const options = page.getByRole('option')
    await find(page, uiScout, uiScout)
    const names = await options.allTextContents()
    const offers = (text: string) => names.some((name) => name.includes(text))
    assert.ok(offers(`${uiScout} › Files`))
    for (const text of ['Delete', 'Sharing', 'Terminal']) assert.ok(!offers(text), text)
    await page.getByRole('combobox').fill('settings')
    await options.filter({ hasText: `${uiScout} › Settings` }).waitFor()
    assert.equal(await options.filter({ hasText: 'General settings' }).count(), 0)
    await closeTab(tab)
  })

  test('signs out', async () => {
    const tab = await openTab('/account', { token: await signIn(bench.platform) })
    await run(tab.page, 'log out', 'Sign out')
    await tab.page.waitForURL((url) => url.pathname === '/login')
    await closeTab(tab)
  })

  for (const { name, text, ready } of [
    {
      name: 'palette',
      text: '',
      ready: (page: Page) => page.getByRole('option', { name: 'Sign out' }).waitFor(),
    },
    {
      name: 'palette-hits',
      text: word.slice(0, 5),
      ready: (page: Page) => page.getByRole('group', { name: 'Conversations' }).waitFor(),
    },
  ])
    test(`${name}: no axe violations, overflow or errors in both themes and widths`, () =>
      reviewPage(bench, {
        name,
        path: '/account',
        ready: async (page) => {
          await page.getByRole('heading', { name: 'Account', level: 1 }).waitFor()
          await page.keyboard.press('Control+k')
          await page.getByRole('combobox').fill(text)
          await ready(page)
        },
      }))
})

describe('the help of a page', () => {
  test('opens with ? except in fields, has the guide and the shortcuts, and returns the focus', async () => {
    const tab = await openTab('/keys')
    const { page } = tab
    const dialog = page.getByRole('dialog', { name: 'Help' })
    await page.getByRole('link', { name: 'Keys', exact: true }).focus()
    await page.keyboard.press('?')
    const guide = dialog.getByRole('link', { name: 'Guide: MCP keys' })
    await guide.waitFor()
    assert.equal(await guide.getAttribute('href'), '/help/operate/keys')
    assert.equal(await guide.getAttribute('target'), '_blank')
    assert.ok(await guide.evaluate((link) => link === document.activeElement))
    for (const label of ['Search or run a command', 'Fleet health', 'Next row', 'Dismiss'])
      await dialog.getByText(label, { exact: true }).waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    assert.ok(
      await page
        .getByRole('link', { name: 'Keys', exact: true })
        .evaluate((link) => link === document.activeElement),
    )
    await run(page, 'shortcuts', 'Keyboard shortcuts')
    await guide.waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').waitFor()
    await page.keyboard.type('?')
    assert.equal(await page.getByRole('combobox').inputValue(), '?')
    assert.equal(await dialog.count(), 0)
    await closeTab(tab)
  })

  for (const width of [widths.desktop, widths.phone])
    test(`is in the header of every page at ${width} px`, async () => {
      const tab = await bench.open({ width })
      const { page } = tab
      for (const path of [
        '/',
        '/library',
        '/library?tab=skills',
        '/inbox',
        '/agents',
        '/agents?tab=health',
        '/runs',
        '/schedules',
        '/costs',
        '/people',
        '/keys',
        '/audit',
        '/settings',
        '/account',
        '/m',
        '/workspace',
        '/workspace/inbox',
        `/workspace/a/${scout}`,
        `/agents/${scout}`,
        `/agents/${scout}?tab=logs`,
        `/agents/${scout}/executions/${runId}`,
      ]) {
        await tab.goto(path)
        const button = page.getByRole('button', { name: 'Help', exact: true }).filter({ visible: true })
        await button.first().waitFor()
        assert.equal(await button.count(), 1, path)
        await assertNoSideways(tab, path)
      }
      await closeTab(tab)
    })

  test('help-dialog: no axe violations, overflow or errors in both themes and widths', () =>
    reviewPage(bench, {
      name: 'help-dialog',
      path: '/',
      ready: async (page) => {
        await home(page)
        await page.keyboard.press('?')
        await page.getByRole('dialog', { name: 'Help' }).waitFor()
      },
    }))
})
