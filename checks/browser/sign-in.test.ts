/** Sign-in with password, e-mail code and second factor, and managing the own second factor. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { type MailServer, startMailServer } from '@roost/test-support/mail/index'
import { generateSync } from 'otplib'
import type { Page } from 'playwright-core'
import { adminPassword } from '../acceptance/platform.ts'
import {
  assertAccessible,
  type Bench,
  openBench,
  reviewPage,
  saveScreenshot,
  signIn,
  type Tab,
} from './bench.ts'
import { reportFailure } from './evidence.ts'

const ann = 'ann@example.com'

describe('signing in', () => {
  let mail: MailServer
  let bench: Bench
  /** The secret of the admin's second factor. */
  let secret = ''
  let recoveryCodes: string[] = []

  before(async () => {
    mail = await startMailServer()
    bench = await openBench({ env: { ROOST_MAIL_URL: mail.url } })
    await ask('POST', '/api/settings/email-whitelist', { email: ann })
  })
  after(async () => {
    await bench?.[Symbol.asyncDispose]()
    await mail?.close()
  })
  afterEach((context) => reportFailure(bench, context))

  const ask = async (method: string, path: string, body?: unknown) => {
    const reply = await bench.platform.request(method, path, body)
    assert.ok(reply.status < 300, `${method} ${path}: ${reply.status} ${reply.text}`)
  }
  const requireOf = (...required_roles: string[]) =>
    ask('PUT', '/api/enterprise/2fa/policy', { required_roles })
  const openSignIn = async (path = '/login'): Promise<Tab> => {
    const tab = await bench.open({ token: null })
    await tab.goto(path)
    return tab
  }
  const codeOfMail = async () => {
    const { text } = await mail.next(ann)
    return /\b\d{6}\b/.exec(text)?.[0] ?? assert.fail(`no code in: ${text}`)
  }

  test('access requests work once an admin enables them', async () => {
    const tab = await openSignIn('/login?way=request')
    await tab.page.getByLabel('Password', { exact: true }).waitFor()
    assert.equal(await tab.page.getByRole('link', { name: 'Request access' }).count(), 0)
    await ask('PUT', '/api/settings/public_access_requests_enabled', { value: 'true' })
    await tab.page.reload()
    await reviewPage(bench, {
      name: 'request-access',
      path: '/login?way=request',
      token: null,
      ready: (page) => page.getByRole('heading', { name: 'Request access' }).waitFor(),
    })
    await tab.page.getByLabel('E-mail address').fill('new@example.com')
    await tab.page.getByRole('button', { name: 'Request access' }).click()
    await tab.page.getByText('This address may sign in now.').waitFor()
    await tab.page.getByRole('link', { name: 'Sign in with an e-mail code' }).click()
    await tab.page.getByRole('button', { name: 'Send code' }).waitFor()
    assert.deepEqual(tab.faults, [])
  })

  test('the sign-in pages render', async () => {
    await reviewPage(bench, {
      name: 'login',
      path: '/login',
      token: null,
      ready: (page) => page.getByLabel('Password', { exact: true }).waitFor(),
    })
    // The response is the same for an address that may not sign in.
    await reviewPage(bench, {
      name: 'login-mail-code',
      path: '/login?way=email',
      token: null,
      ready: (page) => askForCode(page, 'nobody@example.com'),
    })
  })

  test('by e-mail: a wrong code is shown at its field, a code can be resent, the right one signs in', async () => {
    const tab = await bench.open({ token: null })
    const { page } = tab
    await page.clock.install()
    await tab.goto('/login?way=email&next=%2Faccount')
    await askForCode(page, ann)
    const first = await codeOfMail()
    assert.ok(await page.getByRole('button', { name: /^Resend code in \d+ s$/ }).isDisabled())
    await giveCode(page, 'Code from the e-mail', first === '000000' ? '111111' : '000000')
    await page.getByText('The code is wrong or has expired.').waitFor()
    await assertAccessible(tab, 'a wrong code')
    await saveScreenshot(tab, 'login-mail-code-wrong-light-desktop')

    await page.clock.fastForward(31_000)
    await page.getByRole('button', { name: 'Resend code', exact: true }).click()
    const newest = await codeOfMail()
    await giveCode(page, 'Code from the e-mail', `${newest.slice(0, 3)} ${newest.slice(3)}`)
    await page.getByRole('heading', { name: 'Account', level: 1 }).waitFor()
    await page.getByText(ann).first().waitFor()
    assert.deepEqual(tab.faults, [])
  })

  test('an expired session keeps the page and its input, and continues after sign-in', async () => {
    const tab = await openSignIn('/settings?tab=general')
    await signIn(tab)
    const prompt = tab.page.getByLabel('Platform prompt')
    await prompt.fill('Typed before the end')
    assert.equal(await tab.page.title(), 'General · Settings · Roost')
    const token = await tab.page.evaluate(() => localStorage.getItem('roost.token'))
    await bench.platform.request('POST', '/api/auth/logout', undefined, { token })
    const ended = tab.page.getByRole('dialog', { name: 'Your session has expired' })
    await ended.getByLabel('User name').waitFor()
    await assertAccessible(tab, 'the end of a session')
    await saveScreenshot(tab, 'session-ended')
    await ended.getByLabel('User name').fill('admin')
    await ended.getByLabel('Password', { exact: true }).fill(adminPassword)
    await ended.getByRole('button', { name: 'Sign in', exact: true }).click()
    await ended.waitFor({ state: 'hidden' })
    assert.equal(await prompt.inputValue(), 'Typed before the end')
    await tab.page.getByRole('button', { name: 'Save' }).click()
    await tab.page.getByText('Settings saved. They apply to the next run.').first().waitFor()
    await tab.context.close()
  })

  test('a policy requires setting up a second factor and storing the recovery codes', async () => {
    await requireOf('admin')
    await reviewPage(bench, {
      name: 'login-enrol',
      path: '/login',
      token: null,
      ready: async (page) => {
        await signIn({ page })
        await page.getByRole('img', { name: /^QR code/ }).waitFor()
      },
    })
    const tab = await openSignIn()
    const { page } = tab
    await signIn(tab)
    secret = await secretOf(page)
    await page.getByRole('button', { name: 'Copy Secret' }).waitFor()
    await giveCode(page, 'Code from the app', wrongCode(secret))
    await page.getByText('The code is wrong or has expired.').waitFor()
    await giveCode(page, 'Code from the app', codeOf(secret))
    recoveryCodes = await storeRecoveryCodes(tab, 'login-recovery-codes-light-desktop')
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
    assert.deepEqual(tab.faults, [])
  })

  test('a password with an app code signs in; a wrong or used code does not', async () => {
    await reviewPage(bench, {
      name: 'login-factor',
      path: '/login',
      token: null,
      ready: async (page) => {
        await signIn({ page })
        await page.getByLabel('Code from the app').waitFor()
      },
    })
    const tab = await openSignIn()
    const { page } = tab
    await signIn(tab)
    await giveCode(page, 'Code from the app', wrongCode(secret))
    await page.getByText('The code is wrong or has expired.').waitFor()
    await saveScreenshot(tab, 'login-factor-wrong-light-desktop')
    await giveCode(page, 'Code from the app', '12')
    await page.getByText('The code must have 6 digits.').waitFor()
    // The next time step: the current one was used during the setup.
    await giveCode(page, 'Code from the app', codeOf(secret, 30))
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
    assert.deepEqual(tab.faults, [])
  })

  test('a recovery code replaces the app once', async () => {
    const code = recoveryCodes.shift() ?? assert.fail('none left')
    for (const isUsed of [false, true]) {
      const tab = await openSignIn()
      const { page } = tab
      await signIn(tab)
      await page.getByRole('button', { name: 'Use a recovery code' }).click()
      await assertAccessible(tab, 'the field of a recovery code')
      await saveScreenshot(tab, 'login-recovery-light-desktop')
      await giveCode(page, 'Recovery code', code.toLowerCase())
      await (isUsed
        ? page.getByText('The code is wrong or has expired.')
        : page.getByRole('heading', { name: 'Home', level: 1 })
      ).waitFor()
      assert.deepEqual(tab.faults, [])
    }
  })

  test('an expired sign-in starts over with a notice', async () => {
    const tab = await openSignIn()
    const { page } = tab
    await signIn(tab)
    await page.getByLabel('Code from the app').waitFor()
    const other = `${adminPassword} and more`
    const change = (current_password: string, new_password: string) =>
      ask('PUT', '/api/users/me/password', { current_password, new_password })
    await change(adminPassword, other)
    await giveCode(page, 'Code from the app', '123456')
    await page.getByText('The sign-in took too long: start it again.').waitFor()
    await assertAccessible(tab, 'started over')
    await saveScreenshot(tab, 'login-over-light-desktop')
    await page.getByLabel('Password', { exact: true }).waitFor()
    await change(other, adminPassword)
  })

  test('by e-mail: a policy requires the second factor as well', async () => {
    await requireOf('user')
    const tab = await openSignIn('/login?way=email')
    const { page } = tab
    await askForCode(page, ann)
    await giveCode(page, 'Code from the e-mail', await codeOfMail())
    await giveCode(page, 'Code from the app', codeOf(await secretOf(page)))
    await storeRecoveryCodes(tab)
    await page.waitForURL((url) => url.pathname === '/workspace')
    assert.deepEqual(tab.faults, [])
  })

  test('on the account page: saves the git token, never shows it, and deletes it', async () => {
    const tab = await bench.open()
    const { page } = tab
    await tab.goto('/account')
    const section = page.getByRole('region', { name: 'Git token' })
    await section.getByRole('button', { name: 'Set token' }).click()
    const dialog = page.getByRole('dialog', { name: 'Your git token' })
    await dialog.getByRole('textbox', { name: 'Token' }).fill('two words')
    await dialog.getByRole('button', { name: 'Save token' }).click()
    await dialog.getByText('must be printable characters without spaces').waitFor()
    await assertAccessible(tab, 'an invalid token')
    await dialog.getByRole('textbox', { name: 'Token' }).fill('ghp_of-the-account')
    await dialog.getByRole('button', { name: 'Save token' }).click()
    await section.getByText('Token set.').waitFor()
    assert.doesNotMatch(await page.content(), /ghp_of-the-account/)
    const status = async () => (await bench.platform.request('GET', '/api/users/me/github-pat')).json
    assert.equal((await status()).configured, true)
    await section.getByRole('button', { name: 'Delete…' }).click()
    await page.getByRole('button', { name: 'Delete token' }).click()
    await section.getByRole('button', { name: 'Set token' }).waitFor()
    assert.equal((await status()).configured, false)
    assert.deepEqual(tab.faults, [])
    await tab.context.close()
  })

  test('on the account page: new recovery codes, turn off, set up again', async () => {
    await requireOf('admin')
    const tab = await bench.open()
    const { page } = tab
    await tab.goto('/account')
    const section = page.getByRole('region', { name: 'Two-factor authentication' })
    await section.getByText('9 left').waitFor()
    assert.equal(await section.getByRole('button', { name: 'Turn off' }).count(), 0, 'the policy needs it')
    await section.getByRole('button', { name: 'New recovery codes' }).click()
    await page.getByRole('button', { name: 'Use a recovery code' }).click()
    await giveCode(page, 'Recovery code', recoveryCodes[0] ?? '')
    recoveryCodes = await storeRecoveryCodes(tab)
    await section.getByText('10 left').waitFor()

    await requireOf()
    await reviewPage(bench, {
      name: 'account-factor',
      path: '/account',
      ready: (shown) => shown.getByRole('button', { name: 'Turn off' }).scrollIntoViewIfNeeded(),
    })
    await page.reload()
    await section.getByRole('button', { name: 'Turn off' }).click()
    await giveCode(page, 'Code from the app', wrongCode(secret))
    await page.getByText('The code is wrong or has expired.').waitFor()
    await saveScreenshot(tab, 'account-factor-off-light-desktop')
    await page.getByRole('button', { name: 'Use a recovery code' }).click()
    await giveCode(page, 'Recovery code', recoveryCodes[0] ?? '')
    await section.getByText('Off', { exact: true }).waitFor()

    await section.getByRole('button', { name: 'Set up second factor' }).click()
    const newSecret = await secretOf(page)
    assert.notEqual(newSecret, secret)
    await assertAccessible(tab, 'setting up on the account page')
    await saveScreenshot(tab, 'account-factor-enrol-light-desktop')
    await giveCode(page, 'Code from the app', codeOf(newSecret))
    await storeRecoveryCodes(tab)
    await section.getByText('On', { exact: true }).waitFor()
    assert.deepEqual(tab.faults, [])
  })
})

async function askForCode(page: Page, address: string): Promise<void> {
  await page.getByLabel('E-mail address').fill(address)
  await page.getByRole('button', { name: 'Send code' }).click()
  await page.getByText('If this address may sign in, a code is on its way to it.').waitFor()
}

async function giveCode(page: Page, label: string, code: string): Promise<void> {
  await page.getByRole('textbox', { name: label }).fill(code)
  await page.getByRole('textbox', { name: label }).press('Enter')
}

async function secretOf(page: Page): Promise<string> {
  const text = await page.getByText(/^[A-Z2-7]{32}$/).textContent()
  return text ?? assert.fail('no secret')
}

/** Reads the ten codes and confirms that they are stored, which closes the dialog. */
async function storeRecoveryCodes(tab: Tab, picture?: string): Promise<string[]> {
  const dialog = tab.page.getByRole('dialog', { name: 'Your recovery codes' })
  await dialog.waitFor()
  await assertAccessible(tab, 'recovery codes')
  if (picture) await saveScreenshot(tab, picture)
  const text = await dialog.locator('code').textContent()
  const codes = text?.split('\n') ?? []
  assert.equal(codes.length, 10)
  assert.ok(await dialog.getByRole('button', { name: 'Done' }).isDisabled())
  await dialog.getByText('I have stored it').click()
  await dialog.getByRole('button', { name: 'Done' }).click()
  await dialog.waitFor({ state: 'hidden' })
  return codes
}

/** Computes a code like an authenticator app. `ahead`: seconds. */
function codeOf(secret: string, ahead = 0): string {
  return generateSync({ secret, epoch: Math.floor(Date.now() / 1000) + ahead })
}

/** A code that is not valid at any nearby time step. */
function wrongCode(secret: string): string {
  const right = [-60, -30, 0, 30, 60].map((ahead) => codeOf(secret, ahead))
  return (
    ['000000', '111111', '222222', '333333', '444444', '555555'].find((code) => !right.includes(code)) ?? ''
  )
}
