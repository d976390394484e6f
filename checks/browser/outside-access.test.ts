/** Access from outside: public links, Slack and payments of an agent. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { type MailServer, startMailServer } from '@roost/test-support/mail/index'
import { startFacilitator, type TestFacilitator } from '@roost/test-support/payments/index'
import { type SlackServer, slackApp, startSlack } from '@roost/test-support/slack/index'
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

const scout = 'qa-scout'

let mail: MailServer
let slack: SlackServer
let facilitator: TestFacilitator
let bench: Bench
before(async () => {
  mail = await startMailServer()
  slack = await startSlack()
  facilitator = await startFacilitator()
  bench = await openBench({
    env: {
      ROOST_MAIL_URL: mail.url,
      ROOST_SLACK_API_URL: slack.url,
      ROOST_X402_FACILITATOR_URL: facilitator.url,
    },
  })
  await createAgent(bench.platform, scout)
})
after(async () => {
  await bench?.[Symbol.asyncDispose]()
  await mail?.close()
  await slack?.close()
  await facilitator?.[Symbol.asyncDispose]()
})
afterEach((context) => reportFailure(bench, context))

const open = async (at: string): Promise<Tab> => {
  const tab = await bench.open()
  await tab.goto(at)
  return tab
}

describe('public links', () => {
  const path = `/agents/${scout}?tab=sharing`
  const links = (page: Page) => page.getByRole('list', { name: 'Public links' })
  const stored = async () => (await bench.platform.request('GET', `/api/agents/${scout}/public-links`)).json
  const visitor = (options: Parameters<Bench['open']>[0] = {}) => bench.open({ token: null, ...options })
  const newLink = async (body: object) =>
    (await bench.platform.request('POST', `/api/agents/${scout}/public-links`, body)).json
  async function sendMessage(page: Page, message: string): Promise<void> {
    await page.getByRole('textbox', { name: /Message to/ }).fill(message)
    await page.getByRole('textbox', { name: /Message to/ }).press('Enter')
  }

  test('creates, edits and disables a link, and deletes it with Undo', async () => {
    const tab = await open(path)
    const { page } = tab
    await page.getByRole('button', { name: 'Create link' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Website')
    await page.getByLabel('Daily message limit').fill('20')
    await page.getByLabel('Last day').fill('2999-12-31')
    await page.getByRole('button', { name: 'Create link' }).click()
    await links(page)
      .getByText(/Never used · at most 20 messages per day · expires [^'"]+$/)
      .waitFor()
    const [{ url }] = await stored()
    await links(page).getByText(url).waitFor()
    await page.getByRole('button', { name: 'Edit Website' }).click()
    await page.getByRole('switch', { name: 'Require e-mail address' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await links(page).getByText('requires e-mail').waitFor()
    await links(page).getByRole('switch', { name: 'Enable Website' }).click()
    await eventually(stored, ([link]) => link.enabled === false)
    await links(page).getByRole('button', { name: 'Delete Website' }).click()
    await page.getByText('No public links yet').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await links(page).getByText('Website').waitFor()
    assert.equal((await stored()).length, 1)
    await closeTab(tab)
    await reviewPage(bench, {
      name: 'public-links',
      path,
      ready: (review) => links(review).getByText('Website').waitFor(),
    })
  })

  test('a visitor on a phone chats, reloads, stops an answer and starts over', async () => {
    const { url, token } = await newLink({ name: 'Open' })
    const at = new URL(url).pathname
    const tab = await visitor({ width: 360 })
    const { page } = tab
    await tab.goto(at)
    await page.getByText('Ask anything.').waitFor()
    await sendMessage(page, 'Hello. [[reply:**Good day**]]')
    const talk = page.getByRole('list', { name: 'Conversation' })
    await talk.getByText('Good day', { exact: true }).waitFor()
    await page.reload()
    await talk.getByText('Good day', { exact: true }).waitFor()
    await sendMessage(page, 'Take your time. [[hold:visit]] [[reply:late]]')
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('The agent has stopped.').waitFor()
    bench.platform.model.release('visit')
    // A second visitor does not see this conversation.
    const other = await visitor()
    await other.goto(at)
    await other.page.getByText('Ask anything.').waitFor()
    await closeTab(other)
    await page.getByRole('button', { name: 'New conversation' }).click()
    await page.getByText('Ask anything.').waitFor()
    assert.ok(!tab.requests.some((request) => request.includes('/api/users/me')), 'nobody is signed in')
    await reviewPage(bench, {
      name: 'public-chat',
      path: at,
      token: null,
      ready: (review) => review.getByText('Ask anything.').waitFor(),
    })
    await closeTab(tab)
    await bench.platform.request('DELETE', `/api/agents/${scout}/public-links/${(await stored())[0].id}`)
    const late = await visitor()
    await late.goto(`/chat/${token}`)
    await late.page.getByText('This link is not valid').waitFor()
    await closeTab(late)
  })

  test('a link with required e-mail opens with the code from the e-mail', async () => {
    const { url, token } = await newLink({ require_email: true })
    const tab = await visitor()
    const { page } = tab
    await tab.goto(new URL(url).pathname)
    const confirm = async () => {
      await page.getByLabel('E-mail address').fill('vic@example.com')
      await page.getByRole('button', { name: 'Send code' }).click()
      const code = /\d{6}/.exec((await mail.next('vic@example.com')).text)?.[0] ?? ''
      await page.getByLabel('Code from the e-mail').fill(code)
      await page.getByRole('button', { name: 'Start chat' }).click()
    }
    await confirm()
    await sendMessage(page, 'Hello. [[reply:Welcome, Vic]]')
    await page
      .getByRole('list', { name: 'Conversation' })
      .getByText('Welcome, Vic', { exact: true })
      .waitFor()
    await saveScreenshot(tab, 'public-chat-answered-light-desktop')
    await assertAccessible(tab, 'public chat answered')
    // The confirmation expires after a day: the address is requested again, and the message is kept.
    await page.getByRole('textbox', { name: /Message to/ }).fill('And now?')
    // In one step: a refresh of the history in between would already show the form.
    await page.getByRole('button', { name: 'Send' }).evaluate((send: HTMLButtonElement, key) => {
      localStorage.setItem(key, JSON.stringify({ session_token: 'over' }))
      send.click()
    }, `roost.public.${token}`)
    await confirm()
    await page
      .getByRole('list', { name: 'Conversation' })
      .getByText('Welcome, Vic', { exact: true })
      .waitFor()
    assert.equal(await page.getByRole('textbox', { name: /Message to/ }).inputValue(), 'And now?')
    await closeTab(tab)
  })
})

describe('Slack', () => {
  const path = `/agents/${scout}?tab=sharing`
  const channel = async () => (await bench.platform.request('GET', `/api/agents/${scout}/slack/channel`)).json

  test('an admin connects an app and an owner binds a channel; errors appear at the fields', async () => {
    const settings = await open('/settings?tab=integrations')
    await settings.page.getByRole('button', { name: 'Connect Slack' }).click()
    await settings.page.getByLabel('Signing secret').fill(slackApp.signingSecret)
    await settings.page.getByLabel('Bot token').fill('xoxb-wrong')
    await settings.page.getByRole('button', { name: 'Connect', exact: true }).click()
    await settings.page.getByText('is refused by Slack').waitFor()
    await settings.page.getByLabel('Bot token').fill(slackApp.token)
    await settings.page.getByRole('button', { name: 'Connect', exact: true }).click()
    await settings.page.getByText('Agents answer as @roost').waitFor()
    await closeTab(settings)

    slack.channels.set('C0123456789', { name: 'team', isMember: false })
    const tab = await open(path)
    const { page } = tab
    await page.getByRole('button', { name: 'Bind channel' }).click()
    await page.getByLabel('Channel ID').fill('C0123456789')
    await page.getByRole('switch', { name: 'Answer direct messages' }).click()
    await page.getByRole('button', { name: 'Bind', exact: true }).click()
    await page.getByText('invite it there first').waitFor()
    await assertAccessible(tab, 'a channel that was refused')
    slack.channels.set('C0123456789', { name: 'team', isMember: true })
    await page.getByRole('button', { name: 'Bind', exact: true }).click()
    await page.getByText('#team', { exact: true }).waitFor()
    assert.deepEqual(await channel(), {
      bound: true,
      channel_id: 'C0123456789',
      channel_name: 'team',
      is_dm_default: true,
    })
    await closeTab(tab)
  })

  test('has no axe violations and no overflow; explains an unbound channel', async () => {
    await reviewPage(bench, {
      name: 'slack-channel',
      path,
      ready: (page) => page.getByText('#team', { exact: true }).waitFor(),
    })
    await reviewPage(bench, {
      name: 'settings-integrations-slack',
      path: '/settings?tab=integrations',
      ready: (page) => page.getByText('Agents answer as @roost').waitFor(),
    })
    const tab = await open(path)
    await tab.page.getByRole('button', { name: 'Unbind' }).click()
    await tab.page.getByRole('dialog').getByRole('button', { name: 'Unbind channel' }).click()
    await tab.page.getByText('Invite the bot to a channel').waitFor()
    assert.equal((await channel()).bound, false)
    await closeTab(tab)
  })
})
describe('payments', () => {
  const path = `/agents/${scout}?tab=payments`
  const payee = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C'

  test('sets price and wallet, shows a typing error at its field, and lists a payment', async () => {
    const tab = await open(path)
    const { page } = tab
    await page.getByText('No payments yet').waitFor()
    await page.getByRole('switch', { name: 'Enable paid chat' }).click()
    await page.getByRole('spinbutton', { name: 'Price per message' }).fill('0.05')
    await page.getByRole('combobox', { name: 'Network' }).click()
    await page.getByRole('option', { name: /Base Sepolia/ }).click()
    const wallet = page.getByRole('textbox', { name: 'Wallet address' })
    await wallet.fill(payee.replace('Bc', 'bC'))
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText(/the checksum in its letters is wrong/).waitFor()
    await wallet.fill(payee)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Paid chat enabled.').first().waitFor()

    const poor = facilitator.payer(1n)
    const chat = `/api/paid/${scout}/chat`
    const created = await bench.platform.request('POST', chat, { message: 'hi' }, { token: null })
    assert.equal(created.json.payment_required.accepts[0].amount, '50000')
    const proof = await poor.pay(created.json.payment_required)
    const refused = await bench.platform.request(
      'POST',
      chat,
      { message: 'hi' },
      { token: null, headers: proof },
    )
    assert.equal(refused.status, 402, refused.text)
    await closeTab(tab)
    await reviewPage(bench, {
      name: 'payments',
      path,
      ready: async (each) => {
        const row = each.getByRole('list', { name: 'Payments' }).getByRole('listitem')
        await row.getByText('rejected').waitFor()
        await row.getByText('$0.05').waitFor()
      },
    })
  })
})
