/** Who comes in and what each may do: the page of people and access, in a browser in front of a real platform. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { type MailServer, startMailServer } from '@roost/test-support/mail/index'
import type { Page } from 'playwright-core'
import { eventually } from '../acceptance/platform.ts'
import { assertAccessible, type Bench, keepPicture, openBench, reviewPage, type Tab } from './bench.ts'
import { tellFailure } from './evidence.ts'
import { personOf } from './persons.ts'

const path = '/settings?tab=access'
const ann = 'ann@example.com'
const longAddress =
  'somebody-with-a-name-that-goes-on-and-on-until-it-ends@a-long-name-of-an-organisation.example.com'

describe('people and access', () => {
  let mail: MailServer
  let bench: Bench
  let annToken = ''
  before(async () => {
    mail = await startMailServer()
    bench = await openBench({ env: { ROOST_MAIL_URL: mail.url } })
    const here = { platform: bench.platform, mail }
    annToken = await personOf(here, ann, 'creator')
    await personOf(here, longAddress)
  })
  after(async () => {
    await bench?.[Symbol.asyncDispose]()
    await mail?.close()
  })
  afterEach((context) => tellFailure(bench, context))

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
  const done = async (tab: Tab) => {
    assert.deepEqual(tab.faults, [])
    await tab.context.close()
  }

  test('axe finds nothing and nothing runs over, in both themes and widths', async () => {
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
      path: `${path}&person=${encodeURIComponent(ann)}`,
      ready: (page) => page.getByRole('dialog', { name: ann }).getByText('No own agents').waitFor(),
    })
    await reviewPage(bench, {
      name: 'people-no-match',
      path: `${path}&q=nobody-like-it`,
      ready: (page) => page.getByText('No matching users').waitFor(),
    })
  })

  test('a role is changed from the row, holds on the server, and is taken back by Undo', async () => {
    const tab = await open()
    const { page } = tab
    await rowOf(page, ann)
      .getByRole('button', { name: `Actions for ${ann}` })
      .click()
    await keepPicture(tab, 'people-menu-light-desktop')
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
    await done(tab)
  })

  test('a suspended person is out at once, and in again when it is undone', async () => {
    const tab = await open({}, `${path}&person=${encodeURIComponent(ann)}`)
    const dialog = tab.page.getByRole('dialog', { name: ann })
    await dialog.getByRole('button', { name: 'Suspend' }).click()
    await dialog.getByText('This account is suspended.').waitFor()
    await keepPicture(tab, 'people-suspended-light-desktop')
    await assertAccessible(tab, 'a suspended person')
    const status = async () =>
      (await bench.platform.request('GET', '/api/users/me', undefined, { token: annToken })).status
    await eventually(status, (code) => code === 403 || code === 401)
    await dialog.getByRole('button', { name: 'Unsuspend' }).click()
    await eventually(status, (code) => code === 200)
    await done(tab)
  })

  test('the own role cannot be changed, and the page says who can', async () => {
    const tab = await open({}, `${path}&person=admin`)
    const dialog = tab.page.getByRole('dialog', { name: 'admin' })
    await dialog.getByText('You cannot change your own role').waitFor()
    assert.ok(await dialog.getByRole('combobox', { name: 'Role' }).isDisabled())
    assert.equal(await dialog.getByRole('button', { name: 'Suspend' }).count(), 0)
    await done(tab)
  })

  test('a person is found by search, and the search stands in the address', async () => {
    const tab = await open()
    await rowOf(tab.page, ann).first().waitFor()
    await tab.page.getByLabel('Search users').fill('ann@')
    await rowOf(tab.page, 'admin').waitFor({ state: 'detached' })
    assert.match(tab.page.url(), /q=ann/)
    await tab.page.reload()
    await rowOf(tab.page, ann).first().waitFor()
    assert.equal(await rowOf(tab.page, 'admin').count(), 0)
    await done(tab)
  })

  test('an invited address may sign in with its role; taken off the list, it may not', async () => {
    const tab = await open()
    const { page } = tab
    await page.getByRole('button', { name: 'Add user' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add user' })
    await dialog.getByLabel('E-mail address').fill('not an address')
    await dialog.getByRole('button', { name: 'Add user' }).click()
    await dialog.getByText('must be an e-mail address').waitFor()
    await keepPicture(tab, 'people-invite-light-desktop')
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
    // Whoever leaves the page does not take it back.
    await page.getByRole('link', { name: 'General', exact: true }).click()
    await eventually(listed, (entry) => entry === undefined)
    await done(tab)
  })

  test('the ways in are switched, and the policy of the second factor is stored', async () => {
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
    await done(tab)
  })

  test('with the keyboard alone: down to a person, in, and back to the row', async () => {
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
    await done(tab)
  })

  test('who is no admin sees neither people nor the log', async () => {
    const tab = await open({ token: annToken })
    await tab.page.getByRole('heading', { name: 'MCP keys' }).waitFor()
    assert.equal(await tab.page.getByRole('link', { name: 'Users and access' }).count(), 0)
    assert.ok(!tab.requests.includes('GET /api/users'))
    await done(tab)
  })

  test('a list that cannot be loaded says so, and is no empty list', async () => {
    const tab = await bench.open()
    await tab.page.route('**/api/users', (route) => route.fulfill({ status: 500, json: refusal }))
    await tab.goto(path)
    await tab.page.getByText('Could not load the users').waitFor()
    await tab.page.getByText('internal_error').first().waitFor()
    await assertAccessible(tab, 'people that could not be loaded')
    await keepPicture(tab, 'people-error-light-desktop')
    await tab.page.unroute('**/api/users')
    await tab.page.getByRole('button', { name: 'Retry' }).first().click()
    await rowOf(tab.page, ann).first().waitFor()
    await done(tab)
  })
})

describe('without mail', () => {
  test('the page says why nobody can sign in by e-mail', async () => {
    await using bench = await openBench()
    await reviewPage(bench, {
      name: 'people-no-mail',
      path,
      ready: (page) => page.getByText('Sign-in by e-mail is not available.').scrollIntoViewIfNeeded(),
    })
  })
})

const refusal = { detail: 'Something went wrong.', error: 'internal_error', request_id: 'r-1' }
