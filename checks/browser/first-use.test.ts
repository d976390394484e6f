/** The first steps of a new user, with the mouse and with the keyboard alone. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { adminPassword, eventually } from '../acceptance/platform.ts'
import { assertAccessible, type Bench, openBench, reviewPage, saveScreenshot, type Tab } from './bench.ts'
import { reportFailure } from './evidence.ts'
import { focusOn } from './focus.ts'

const answer = (page: Page) => page.getByRole('region', { name: 'Messages' })

describe('with the mouse', () => {
  let bench: Bench
  let tab: Tab
  before(async () => {
    bench = await openBench({ password: false })
    tab = await bench.open({ token: null })
  })
  after(async () => {
    await bench?.[Symbol.asyncDispose]()
  })
  afterEach((context) => reportFailure(bench, context))

  test('every page of a new platform redirects to the setup page', async () => {
    await reviewPage(bench, {
      name: 'setup',
      path: '/setup',
      ready: (page) => page.getByLabel('Password', { exact: true }).waitFor(),
    })
    await tab.goto('/agents/nobody?tab=files')
    await tab.page.getByRole('heading', { name: 'Welcome to Roost' }).waitFor()
  })

  test('shows a weak or mistyped password at its field', async () => {
    const { page } = tab
    await page.getByLabel('Password', { exact: true }).fill('short')
    await page.getByLabel('Confirm password').fill('other')
    await page.getByRole('button', { name: 'Create admin account' }).click()
    await page.getByText('The password must have at least 12 characters.').waitFor()
    await assertAccessible(tab, 'setup with errors')
    await saveScreenshot(tab, 'setup-errors-light-desktop')
  })

  test('sets the password and signs in', async () => {
    const { page } = tab
    await page.getByLabel('Password', { exact: true }).fill(adminPassword)
    await page.getByLabel('Confirm password').fill(adminPassword)
    await page.getByRole('button', { name: 'Create admin account' }).click()
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
    bench.platform.token = await tokenOf(page)
  })

  test('creates an agent and opens its chat', async () => {
    const { page } = tab
    await page
      .getByRole('region', { name: 'First steps' })
      .getByRole('link', { name: 'Create agent' })
      .click()
    await page.getByLabel('Name').fill('qa-first')
    await page.getByRole('button', { name: 'Create and start' }).click()
    await page.getByRole('textbox', { name: 'Message to qa-first' }).waitFor()
  })

  test('an answer continues through a reload and can be stopped', async () => {
    const { page } = tab
    const composer = page.getByRole('textbox', { name: 'Message to qa-first' })
    const words = Array.from({ length: 400 }, (_, index) => `word${index}`).join(' ')
    await composer.fill(`[[drip:3000]] [[reply:${words}]]`)
    await composer.press('Enter')
    // The message begins with its directives, the answer with its first word.
    const growing = answer(page).locator('p', { hasText: /^word0 word1/ })
    await growing.waitFor()
    const first = (await growing.textContent())?.length ?? 0
    await eventually(
      async () => (await growing.textContent())?.length ?? 0,
      (length) => length > first,
    )
    await page.reload()
    await page.getByRole('button', { name: 'Stop', exact: true }).click()
    await answer(page)
      .getByText(/^Stopped/)
      .first()
      .waitFor()
    assert.equal(await growing.filter({ hasText: 'word399' }).count(), 0, 'it ended before its end')
  })

  test('creates and edits a file in the workspace', async () => {
    const { page } = tab
    await page.getByRole('link', { name: 'Files & tools' }).click()
    await page.getByRole('button', { name: 'New' }).click()
    await page.getByRole('menuitem', { name: 'File' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('plan.md')
    await page.getByRole('textbox', { name: 'Name' }).press('Enter')
    const editor = page.getByRole('textbox', { name: 'Text of plan.md' })
    await editor.waitFor()
    await editor.click()
    await focusOn(editor)
    await page.keyboard.type('one step')
    await page.keyboard.press('Control+s')
    await page.getByText('Saved', { exact: true }).first().waitFor()
    const stored = await bench.platform.request(
      'GET',
      '/api/agents/qa-first/files/download?path=/home/developer/plan.md',
    )
    assert.equal(stored.text.trim(), 'one step')
  })

  test('stops and deletes the agent', async () => {
    const { page } = tab
    await page.getByRole('button', { name: 'Stop agent' }).click()
    await page.getByRole('button', { name: 'Start agent' }).waitFor()
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: /Delete/ }).click()
    await page.getByLabel('Type qa-first to confirm').fill('qa-first')
    await page.getByRole('button', { name: /^Delete/ }).click()
    await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor()
    const reply = await bench.platform.request('GET', '/api/agents/qa-first')
    assert.equal(reply.status, 404)
    assert.deepEqual(tab.faults, [])
  })

  test('signing out opens the sign-in page and invalidates the token', async () => {
    const { page } = tab
    const token = await tokenOf(page)
    await page.getByRole('button', { name: /^Account of/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in to Roost' }).waitFor()
    assert.equal((await bench.platform.request('GET', '/api/users/me', undefined, { token })).status, 401)
  })

  test('a failed sign-in does not reveal which part was wrong and keeps the target page', async () => {
    const { page } = tab
    await tab.goto('/settings?tab=keys')
    await page.getByRole('heading', { name: 'Sign in to Roost' }).waitFor()
    await page.getByLabel('User name').fill('admin')
    await page.getByLabel('Password', { exact: true }).fill('not the password')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('User name or password is wrong.').waitFor()
    await page.getByLabel('Password', { exact: true }).fill(adminPassword)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'MCP keys' }).waitFor()
    bench.platform.token = await tokenOf(page)
  })
})

describe('with the keyboard alone', () => {
  let bench: Bench
  let tab: Tab
  before(async () => {
    bench = await openBench()
    tab = await bench.open({ token: null })
  })
  after(async () => {
    await bench?.[Symbol.asyncDispose]()
  })
  afterEach((context) => reportFailure(bench, context))

  test('sign in, create, chat, stop and delete', async () => {
    const { page } = tab
    await tab.goto('/login')
    // The first field has the focus.
    await focusOn(page.getByLabel('User name'))
    await page.keyboard.type('admin')
    await page.keyboard.press('Tab')
    await page.keyboard.type(adminPassword)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()

    await page.keyboard.press('Control+k')
    await focusOn(page.getByPlaceholder('Search or run a command…'))
    await page.keyboard.type('create an agent')
    await page.keyboard.press('Enter')
    await focusOn(page.getByRole('dialog', { name: 'Create agent' }).getByLabel('Name'))
    await page.keyboard.type('qa-keys')
    await page.keyboard.press('Enter')

    const composer = page.getByRole('textbox', { name: 'Message to qa-keys' })
    await composer.waitFor()
    await focusBy(page, composer)
    await page.keyboard.type('[[reply:typed and answered]]')
    await page.keyboard.press('Enter')
    await answer(page).getByText('typed and answered', { exact: true }).waitFor()

    await focusBy(page, page.getByRole('button', { name: 'Stop agent' }))
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Start agent' }).waitFor()
    await focusBy(page, page.getByRole('button', { name: 'More actions' }))
    await page.keyboard.press('Enter')
    await page.locator('[role=menuitem]:focus').waitFor()
    await page.keyboard.press('End')
    await page.locator('[role=menuitem]:focus', { hasText: 'Delete' }).waitFor()
    await page.keyboard.press('Enter')
    await focusOn(page.getByLabel('Type qa-keys to confirm'))
    await page.keyboard.type('qa-keys')
    await page.keyboard.press('Enter')
    await eventually(
      () => bench.platform.request('GET', '/api/agents/qa-keys'),
      ({ status }) => status === 404,
    )
    assert.deepEqual(tab.faults, [])
  })
})

test('an agent can be used on a phone', async () => {
  await using bench = await openBench()
  await bench.platform.request('POST', '/api/agents', { name: 'qa-phone' })
  const tab = await bench.open({ width: 360, hasTouch: true })
  await tab.goto('/agents/qa-phone?tab=chat')
  const composer = tab.page.getByRole('textbox', { name: 'Message to qa-phone' })
  await composer.fill('[[reply:from the phone]]')
  await tab.page.getByRole('button', { name: 'Send' }).tap()
  await answer(tab.page).getByText('from the phone', { exact: true }).waitFor()
  assert.deepEqual(tab.faults, [])
})

const tokenOf = (page: Page) => page.evaluate(() => localStorage.getItem('roost.token') ?? '')

/** Presses Tab until the element has the focus; fails when it never does. */
async function focusBy(page: Page, target: Locator): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    if (await target.evaluate((element) => element === document.activeElement)) return
    await page.keyboard.press('Tab')
  }
  assert.fail('the keyboard does not reach it')
}
