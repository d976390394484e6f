/** The users and access page, against a real platform. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { type MailServer, startMailServer } from '@roost/test-support/mail/index'
import type { Page } from 'playwright-core'
import { eventually } from '../acceptance/platform.ts'
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

const path = '/people'
const ann = 'ann@example.com'
const longAddress =
  'somebody-with-a-name-that-goes-on-and-on-until-it-ends@a-long-name-of-an-organisation.example.com'

describe('users and access', () => {
  let mail: MailServer
  let bench: Bench
  let annToken = ''
  before(async () => {
    mail = await startMailServer()
    bench = await openBench({ env: { ROOST_MAIL_URL: mail.url } })
    const here = { platform: bench.platform, mail }
    annToken = await signInUser(here, ann, 'creator')
    await signInUser(here, longAddress)
  })
  after(async () => {
    await bench?.[Symbol.asyncDispose]()
    await mail?.close()
  })
  afterEach((context) => reportFailure(bench, context))

  const people = (page: Page) => page.getByRole('grid', { name: 'Users' })
  const rowOf = (page: Page, who: string) => people(page).getByRole('row').filter({ hasText: who })
  const open = async (options: Parameters<Bench['open']>[0] = {}, at = path): Promise<Tab> => {
    const tab = await bench.open(options)
    await tab.goto(at)
    return tab
  }
  const userOf = async (name: string) => {
    const { json } = await bench.platform.request('GET', '/api/users')
    return json.find(({ username }: { username: string }) => username === name)
  }

  test('has no axe violations and no overflow in both themes and widths', async () => {
    const ready = (page: Page) => rowOf(page, ann).first().waitFor()
    await reviewPage(bench, { name: 'people', path, ready })
    await reviewPage(bench, {
      name: 'people-policy',
      path,
      ready: async (page) => {
        await ready(page)
        await page.getByRole('group', { name: 'Required for' }).scrollIntoViewIfNeeded()
      },
    })
    await reviewPage(bench, {
      name: 'people-one',
      path: `${path}?person=${encodeURIComponent(ann)}`,
      ready: (page) => page.getByRole('dialog', { name: ann }).getByText('No own agents').waitFor(),
    })
    await reviewPage(bench, {
      name: 'people-no-match',
      path: `${path}?q=nobody-like-it`,
      ready: (page) => page.getByText('No matching users').waitFor(),
    })
  })

  test('changes a role from its row and reverts it with Undo', async () => {
    const tab = await open()
    const { page } = tab
    await rowOf(page, ann)
      .getByRole('button', { name: `Actions for ${ann}` })
      .click()
    await saveScreenshot(tab, 'people-menu-light-desktop')
    await page.getByRole('menuitem', { name: 'Make operator' }).click()
    await rowOf(page, ann).getByText('Operator').waitFor()
    await eventually(
      () => userOf(ann),
      ({ role }) => role === 'operator',
    )
    await page.getByRole('button', { name: 'Undo' }).click()
    await rowOf(page, ann).getByText('Creator').waitFor()
    await eventually(
      () => userOf(ann),
      ({ role }) => role === 'creator',
    )
    await closeTab(tab)
  })

  test('suspends a user immediately and unsuspends', async () => {
    const tab = await open({}, `${path}?person=${encodeURIComponent(ann)}`)
    const dialog = tab.page.getByRole('dialog', { name: ann })
    await dialog.getByRole('button', { name: 'Suspend' }).click()
    await dialog.getByText('This account is suspended.').waitFor()
    await saveScreenshot(tab, 'people-suspended-light-desktop')
    await assertAccessible(tab, 'a suspended person')
    const status = async () =>
      (await bench.platform.request('GET', '/api/users/me', undefined, { token: annToken })).status
    await eventually(status, (code) => code === 403 || code === 401)
    await dialog.getByRole('button', { name: 'Unsuspend' }).click()
    await dialog.getByText('This account is suspended.').waitFor({ state: 'detached' })
    // The sessions of before stay ended.
    assert.equal(await status(), 401)
    annToken = await signInUser({ platform: bench.platform, mail }, ann)
    assert.equal(await status(), 200)
    await closeTab(tab)
  })

  test('the own role cannot be changed, with an explanation', async () => {
    const tab = await open({}, `${path}?person=admin`)
    const dialog = tab.page.getByRole('dialog', { name: 'admin' })
    await dialog.getByText('You cannot change your own role').waitFor()
    assert.ok(await dialog.getByRole('combobox', { name: 'Role' }).isDisabled())
    assert.equal(await dialog.getByRole('button', { name: 'Suspend' }).count(), 0)
    await closeTab(tab)
  })

  test('finds a user by search; the address holds the search', async () => {
    const tab = await open()
    await rowOf(tab.page, ann).first().waitFor()
    await tab.page.getByLabel('Search users').fill('ann@')
    await rowOf(tab.page, 'admin').waitFor({ state: 'detached' })
    assert.match(tab.page.url(), /q=ann/)
    await tab.page.reload()
    await rowOf(tab.page, ann).first().waitFor()
    assert.equal(await rowOf(tab.page, 'admin').count(), 0)
    await closeTab(tab)
  })

  test('an address on the allow list can sign in with its role, a removed one cannot', async () => {
    const tab = await open()
    const { page } = tab
    await page.getByRole('button', { name: 'Add user' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add user' })
    await dialog.getByLabel('E-mail address').fill('not an address')
    await dialog.getByRole('button', { name: 'Add user' }).click()
    await dialog.getByText('must be an e-mail address').waitFor()
    await saveScreenshot(tab, 'people-invite-light-desktop')
    await assertAccessible(tab, 'invite')
    await dialog.getByLabel('E-mail address').fill('Olga@Example.com')
    await dialog.getByRole('combobox', { name: 'Role' }).click()
    await page.getByRole('option', { name: /^Operator/ }).click()
    await dialog.getByRole('button', { name: 'Add user' }).click()
    const list = page.getByRole('grid', { name: 'Sign-in allow list' })
    const row = list.getByRole('row').filter({ hasText: 'olga@example.com' })
    await row.getByText('Never signed in').waitFor()
    const listed = async () => {
      const { json } = await bench.platform.request('GET', '/api/settings/email-whitelist')
      return json.find(({ email }: { email: string }) => email === 'olga@example.com')
    }
    assert.equal((await listed()).default_role, 'operator')

    await row.getByRole('button', { name: 'Remove olga@example.com' }).click()
    await row.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Undo' }).click()
    await row.waitFor()
    await row.getByRole('button', { name: 'Remove olga@example.com' }).click()
    await row.waitFor({ state: 'detached' })
    // Leaving the page ends the time for Undo.
    await page.getByRole('link', { name: 'Home', exact: true }).click()
    await eventually(listed, (entry) => entry === undefined)
    await closeTab(tab)
  })

  test('switches the sign-in methods and saves the two-factor policy', async () => {
    const tab = await open()
    const { page } = tab
    const requests = page.getByRole('switch', { name: 'Access requests' })
    await requests.click()
    await eventually(
      () => bench.platform.request('GET', '/api/auth/mode', undefined, { token: null }),
      ({ json }) => json.public_access_requests_enabled === true,
    )
    await page.getByRole('switch', { name: 'Sign-in by e-mail code' }).click()
    await page.getByText('Only the first admin can sign in.').waitFor()
    await page.getByRole('switch', { name: 'Sign-in by e-mail code' }).click()
    await page.getByText('Addresses on the sign-in allow list get').waitFor()

    const group = page.getByRole('group', { name: 'Required for' })
    await group.getByText('0 of 1 set up').first().waitFor()
    await group.getByLabel('Creators').click()
    await group.getByRole('button', { name: 'Save' }).click()
    await group.getByRole('button', { name: 'Save' }).waitFor({ state: 'detached' })
    const policy = await bench.platform.request('GET', '/api/enterprise/2fa/policy')
    assert.deepEqual(policy.json.required_roles, ['creator'])

    await page.getByLabel('Agents per creator').fill('1001')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText(/1000/).first().waitFor()
    await page.getByLabel('Agents per creator').fill('3')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Save' }).waitFor({ state: 'detached' })
    const quotas = await bench.platform.request('GET', '/api/settings/agent-quotas')
    assert.equal(quotas.json.max_agents_creator, 3)
    await closeTab(tab)
  })

  test('with the keyboard alone: select a user, open, and return to the row', async () => {
    const tab = await open()
    const { page } = tab
    await rowOf(page, ann).first().waitFor()
    await page.getByRole('columnheader', { name: 'User' }).getByRole('button').focus()
    for (let steps = 0; steps < 12; steps++) {
      await page.keyboard.press('Tab')
      if (await page.evaluate(() => document.activeElement?.matches('tr'))) break
    }
    await page.keyboard.press('End')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByText('Account created').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.locator('tr:focus').waitFor()
    await closeTab(tab)
  })

  test('users who are not admins see neither users nor the audit log', async () => {
    const tab = await open({ token: annToken })
    await tab.page.getByText('Only admins can view all accounts').waitFor()
    assert.equal(await tab.page.getByRole('link', { name: 'People', exact: true }).count(), 0)
    assert.ok(!tab.requests.includes('GET /api/users'))
    await closeTab(tab)
  })

  test('a load error is not shown as an empty list', async () => {
    const tab = await bench.open()
    await tab.page.route('**/api/users', (route) => route.fulfill({ status: 500, json: refusal }))
    await tab.goto(path)
    await tab.page.getByText('Could not load the users').waitFor()
    await tab.page.getByText('internal_error').first().waitFor()
    await assertAccessible(tab, 'people that could not be loaded')
    await saveScreenshot(tab, 'people-error-light-desktop')
    await tab.page.unroute('**/api/users')
    await tab.page.getByRole('button', { name: 'Retry' }).first().click()
    await rowOf(tab.page, ann).first().waitFor()
    await closeTab(tab)
  })
})

describe('without a mail server', () => {
  test('explains why sign-in by e-mail is not available', async () => {
    await using bench = await openBench()
    await reviewPage(bench, {
      name: 'people-no-mail',
      path,
      ready: (page) => page.getByText('Sign-in by e-mail is not available.').scrollIntoViewIfNeeded(),
    })
  })
})

const refusal = { detail: 'Something went wrong.', error: 'internal_error', request_id: 'r-1' }
