/** Who uses an agent and whom it may call: two tabs and the matrix, in a browser in front of a real platform. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { type MailServer, startMailServer } from '@roost/test-support/mail/index'
import { startFacilitator, type TestFacilitator } from '@roost/test-support/payments/index'
import { type SlackServer, slackApp, startSlack } from '@roost/test-support/slack/index'
import type { Page } from 'playwright-core'
import { eventually } from '../acceptance/platform.ts'
import { createAgent, docker } from '../acceptance/steps.ts'
import { assertAccessible, type Bench, keepPicture, openBench, reviewPage, type Tab } from './bench.ts'
import { tellFailure } from './evidence.ts'
import { personOf } from './persons.ts'

const [scout, writer, longName] = [
  'qa-scout',
  'qa-writer',
  'qa-a-name-that-goes-on-and-on-until-it-is-as-long-as-names-get',
] as const
const ann = 'ann@example.com'

let mail: MailServer
let slack: SlackServer
let facilitator: TestFacilitator
let bench: Bench
let annToken = ''
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
  annToken = await personOf({ platform: bench.platform, mail }, ann)
  for (const name of [scout, writer, longName]) await createAgent(bench.platform, name)
})
after(async () => {
  await bench?.[Symbol.asyncDispose]()
  await mail?.close()
  await slack?.close()
  await facilitator?.[Symbol.asyncDispose]()
})
afterEach((context) => tellFailure(bench, context))

const open = async (at: string, options: Parameters<Bench['open']>[0] = {}): Promise<Tab> => {
  const tab = await bench.open(options)
  await tab.goto(at)
  return tab
}
const done = async (tab: Tab) => {
  assert.deepEqual(tab.faults, [])
  await tab.context.close()
}
const permitted = async (name: string) => {
  const { json } = await bench.platform.request('GET', `/api/agents/${name}/permissions`)
  return json.permitted_agents.map((agent: { name: string }) => agent.name).sort()
}

describe('sharing', () => {
  const path = `/agents/${scout}?tab=sharing`
  const people = (page: Page) => page.getByRole('list', { name: 'Users with access' })
  const shares = async () => {
    const { json } = await bench.platform.request('GET', `/api/agents/${scout}/shares`)
    return json.map((share: { shared_with_email: string }) => share.shared_with_email)
  }

  test('an agent that nobody else uses says what to do', async () => {
    await reviewPage(bench, {
      name: 'sharing-alone',
      path,
      ready: (page) => page.getByText('This agent is not shared yet').waitFor(),
    })
  })

  test('shared by e-mail, the person finds the agent; a refusal is told on the field', async () => {
    const tab = await open(path)
    const { page } = tab
    await page.getByLabel('Share with').fill('no address')
    await page.keyboard.press('Enter')
    await page.getByText('must be an e-mail address').waitFor()
    await page.getByLabel('Share with').fill('ANN@example.com')
    await page.keyboard.press('Enter')
    await people(page).getByText(ann).waitFor()
    await page.getByLabel('Share with').fill(ann)
    await page.keyboard.press('Enter')
    await page
      .getByText(/already/i)
      .first()
      .waitFor()
    await keepPicture(tab, 'sharing-refused-light-desktop')
    await assertAccessible(tab, 'shared twice')
    const theirs = await open('/', { token: annToken })
    await theirs.page.getByRole('link', { name: scout, exact: true }).waitFor()
    await done(theirs)
    await done(tab)
  })

  test('axe finds nothing and nothing runs over, in both themes and widths', async () => {
    const email = 'somebody-with-a-name-that-goes-on-and-on-until-it-ends@a-long-name.example.com'
    await bench.platform.request('POST', `/api/agents/${scout}/share`, { email })
    await reviewPage(bench, {
      name: 'sharing',
      path,
      ready: (page) => people(page).getByText('never signed in').waitFor(),
    })
  })

  test('whoever it is shared with is not shown the tab', async () => {
    const tab = await open(path, { token: annToken })
    await tab.page.getByRole('link', { name: 'Permissions' }).waitFor()
    assert.equal(await tab.page.getByRole('link', { name: 'Sharing' }).count(), 0)
    await done(tab)
  })

  test('whoever it is shared with is not offered what is for its owner on the dashboard', async () => {
    const mine = await open('/?view=table')
    await mine.page.getByRole('checkbox', { name: `Select ${scout}` }).waitFor()
    await done(mine)
    const theirs = await open('/?view=table', { token: annToken })
    await theirs.page.getByRole('grid', { name: 'Agents' }).getByText(scout).waitFor()
    assert.equal(await theirs.page.getByRole('checkbox').count(), 0)
    await theirs.page.getByRole('radio', { name: 'Tiles' }).click()
    await theirs.page.getByRole('button', { name: `Stop ${scout}` }).waitFor()
    assert.equal(await theirs.page.getByRole('switch').count(), 0)
    await done(theirs)
  })

  test('whoever it is shared with answers what it asks of them, and is not offered to dismiss it', async () => {
    const { platform } = bench
    const key = await docker('exec', platform.containerOf(scout), 'printenv', 'ROOST_AGENT_KEY')
    const ask = { request_id: 'colour', type: 'approval', title: 'Which colour?', options: ['Green', 'Blue'] }
    const asked = await platform.request(
      'POST',
      `/api/agents/${scout}/operator-queue`,
      { ...ask, to_email: ann },
      { token: key },
    )
    assert.equal(asked.status, 201, asked.text)
    const inbox = '/operations?tab=queue'
    const mine = await open(inbox)
    await mine.page.getByRole('button', { name: 'Dismiss without answer' }).waitFor()
    await done(mine)
    const theirs = await open(inbox, { token: annToken })
    const { page } = theirs
    await page.getByRole('button', { name: 'Green' }).waitFor()
    assert.equal(await page.getByRole('button', { name: /Dismiss/ }).count(), 0)
    await page.getByRole('checkbox', { name: 'Select all' }).click()
    await page.getByRole('button', { name: 'Answer…' }).waitFor()
    assert.equal(await page.getByRole('button', { name: /Dismiss/ }).count(), 0)
    await keepPicture(theirs, 'inbox-addressed-light-desktop')
    await page.keyboard.press('x')
    await page.getByRole('button', { name: 'Green' }).click()
    await page.getByText('Inbox is empty').waitFor()
    assert.deepEqual(theirs.failures, [])
    await done(theirs)
    // The time for Undo is over when the page is left.
    await eventually(
      async () => (await platform.request('GET', `/api/operator-queue/${asked.json.id}`)).json.response,
      (response) => response === 'Green',
    )
  })

  test('removing waits for Undo, and is done when the page is left', async () => {
    const tab = await open(path)
    const { page } = tab
    await people(page)
      .getByRole('button', { name: `Remove ${ann}` })
      .click()
    await people(page).getByText(ann).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Undo' }).click()
    await people(page).getByText(ann).waitFor()
    assert.ok((await shares()).includes(ann))
    await people(page)
      .getByRole('button', { name: `Remove ${ann}` })
      .click()
    await page.getByRole('link', { name: 'Info', exact: true }).click()
    await eventually(shares, (emails) => !emails.includes(ann))
    await done(tab)
  })
})

describe('permissions', () => {
  const path = `/agents/${scout}?tab=permissions`
  const rowSwitch = (page: Page, name: string) => page.getByRole('switch', { name: `May call ${name}` })

  test('a switch grants and withdraws, and another browser sees it by itself', async () => {
    const [mine, other] = [await open(path), await open(path)]
    await rowSwitch(other.page, writer).waitFor()
    await rowSwitch(mine.page, writer).click()
    await eventually(
      () => permitted(scout),
      (names) => names.includes(writer),
    )
    await other.page.getByRole('switch', { name: `May call ${writer}`, checked: true }).waitFor()
    await rowSwitch(mine.page, writer).click()
    await eventually(
      () => permitted(scout),
      (names) => names.length === 0,
    )
    await done(mine)
    await done(other)
  })

  test('all shown at once, and back by Undo', async () => {
    const tab = await open(path)
    await tab.page.getByRole('button', { name: 'Permit all listed' }).click()
    await eventually(
      () => permitted(scout),
      (names) => names.includes(writer) && names.includes(longName),
    )
    assert.ok(!(await permitted(scout)).includes('roost-system'), 'what may do everything is chosen alone')
    await tab.page.getByRole('button', { name: 'Undo' }).click()
    await eventually(
      () => permitted(scout),
      (names) => names.length === 0,
    )
    await done(tab)
  })

  test('axe finds nothing and nothing runs over, in both themes and widths', async () => {
    await bench.platform.request('POST', `/api/agents/${scout}/permissions/${writer}`)
    await bench.platform.request('POST', `/api/agents/${longName}/permissions/${scout}`)
    await reviewPage(bench, {
      name: 'permissions',
      path,
      ready: async (page) => {
        await page.getByRole('switch', { name: `May call ${writer}`, checked: true }).waitFor()
        await page.getByRole('link', { name: longName }).waitFor()
      },
    })
    await reviewPage(bench, {
      name: 'permissions-matrix',
      path: '/operations?tab=permissions',
      ready: (page) => page.getByRole('checkbox', { name: `${scout} may call ${writer}` }).waitFor(),
    })
  })

  test('the matrix is walked by arrows and ticked by the space bar', async () => {
    const tab = await open('/operations?tab=permissions')
    const { page } = tab
    const cell = (from: string, to: string) =>
      page.getByRole('checkbox', { name: `${from} may call ${to}`, exact: true })
    await cell(longName, scout).focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Space')
    await eventually(
      () => permitted(longName),
      (names) => names.includes(writer),
    )
    await page.getByRole('checkbox', { name: `${longName} may call ${writer}`, checked: true }).waitFor()
    await page.keyboard.press('Home')
    await page.keyboard.press('Space')
    assert.ok(!(await permitted(longName)).includes(longName), 'an agent always reaches itself')
    await page.getByLabel('Search callers').fill('nobody')
    await page.getByText('No matching agents').waitFor()
    assert.match(page.url(), /q=nobody/)
    await done(tab)
  })

  test('whoever an agent is shared with reads whom it may call and changes nothing', async () => {
    await bench.platform.request('POST', `/api/agents/${scout}/share`, { email: ann })
    await bench.platform.request('POST', `/api/agents/${writer}/share`, { email: ann })
    const tab = await open(path, { token: annToken })
    await tab.page.getByText('Only the owner can change').waitFor()
    assert.ok(await rowSwitch(tab.page, writer).isDisabled())
    await keepPicture(tab, 'permissions-reader-light-desktop')
    await assertAccessible(tab, 'permissions to read')
    await done(tab)
  })
})

describe('folders', () => {
  const of = (name: string) => `/agents/${name}?tab=folders`
  const foldersOf = async (name: string) =>
    (await bench.platform.request('GET', `/api/agents/${name}/folders`)).json
  const row = (page: Page, list: string, name: string) =>
    page.getByRole('list', { name: list }).getByRole('listitem').filter({ hasText: name })
  before(async () => {
    await bench.platform.request('PUT', `/api/agents/${scout}/permissions`, { permitted_agents: [] })
  })

  test('an agent that may call no publisher says what to do', async () => {
    const tab = await open(of(scout))
    await tab.page.getByText('No folders available').waitFor()
    await tab.page.getByRole('link', { name: 'Permissions' }).click()
    await rowsShown(tab.page)
    await done(tab)
  })

  test('one publishes, the other reads after a restart, and both pages follow by themselves', async () => {
    await bench.platform.request('POST', `/api/agents/${scout}/permissions/${writer}`)
    const [publisher, reader] = [await open(of(writer)), await open(of(scout))]
    await publisher.page.getByRole('switch', { name: 'Publish folder' }).click()
    await row(reader.page, 'Folders of other agents', writer).getByText('Not mounted').waitFor()
    await reader.page.getByRole('switch', { name: 'Read folders of other agents' }).click()
    await row(reader.page, 'Folders of other agents', writer).getByText('Mounted at the next start').waitFor()
    await row(publisher.page, 'Readers', scout).getByText('Mounted at the next start').waitFor()
    await reader.page.getByText('Restart required').waitFor()
    await keepPicture(reader, 'folders-waiting-light-desktop')
    await reader.page.getByRole('button', { name: 'Restart' }).click()
    await reader.page.getByRole('dialog').getByRole('button', { name: 'Restart' }).click()
    await row(reader.page, 'Folders of other agents', writer).getByText('Mounted').waitFor()
    await row(publisher.page, 'Readers', scout).getByText('Mounted').waitFor()
    await reader.page.getByText('Restart required').waitFor({ state: 'detached' })
    assert.equal((await foldersOf(scout)).consumed_folders[0].currently_mounted, true)
    await publisher.page.getByRole('switch', { name: 'Publish folder' }).click()
    await row(reader.page, 'Folders of other agents', writer)
      .getByText('Unmounted at the next start')
      .waitFor()
    await publisher.page.getByRole('switch', { name: 'Publish folder' }).click()
    await row(reader.page, 'Folders of other agents', writer).getByText('Mounted').waitFor()
    await done(publisher)
    await done(reader)
  })

  test('axe finds nothing and nothing runs over, in both themes and widths', async () => {
    await bench.platform.request('PUT', `/api/agents/${longName}/folders`, { expose_enabled: true })
    await bench.platform.request('POST', `/api/agents/${scout}/permissions/${longName}`)
    await reviewPage(bench, {
      name: 'folders',
      path: of(scout),
      ready: (page) =>
        row(page, 'Folders of other agents', longName).getByText('Mounted at the next start').waitFor(),
    })
    await reviewPage(bench, {
      name: 'folders-published',
      path: of(writer),
      ready: (page) => row(page, 'Readers', scout).waitFor(),
    })
  })

  test('whoever an agent is shared with reads what it shares and changes nothing', async () => {
    const tab = await open(of(scout), { token: annToken })
    await tab.page.getByText('Only the owner can change').waitFor()
    await row(tab.page, 'Folders of other agents', writer).waitFor()
    assert.ok(await tab.page.getByRole('switch', { name: 'Read folders of other agents' }).isDisabled())
    assert.equal(
      await row(tab.page, 'Folders of other agents', longName).count(),
      0,
      'which she does not reach',
    )
    await assertAccessible(tab, 'folders to read')
    await done(tab)
  })
})

describe('public links', () => {
  const path = `/agents/${scout}?tab=sharing`
  const links = (page: Page) => page.getByRole('list', { name: 'Public links' })
  const stored = async () => (await bench.platform.request('GET', `/api/agents/${scout}/public-links`)).json
  const visitor = (options: Parameters<Bench['open']>[0] = {}) => bench.open({ token: null, ...options })
  const newLink = async (body: object) =>
    (await bench.platform.request('POST', `/api/agents/${scout}/public-links`, body)).json
  async function say(page: Page, message: string): Promise<void> {
    await page.getByRole('textbox', { name: /Message to/ }).fill(message)
    await page.keyboard.press('Enter')
  }

  test('an owner makes a link, changes it, switches it off, and deletes it after Undo', async () => {
    const tab = await open(path)
    const { page } = tab
    await page.getByRole('button', { name: 'Create link' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Website')
    await page.getByLabel('Daily message limit').fill('20')
    await page.getByRole('button', { name: 'Create link' }).click()
    await links(page).getByText('at most 20 messages per day').waitFor()
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
    await done(tab)
    await reviewPage(bench, {
      name: 'public-links',
      path,
      ready: (review) => links(review).getByText('Website').waitFor(),
    })
  })

  test('a visitor on a phone is answered, finds it after a reload, stops an answer, and begins anew', async () => {
    const { url, token } = await newLink({ name: 'Open' })
    const at = new URL(url).pathname
    const tab = await visitor({ width: 360 })
    const { page } = tab
    await tab.goto(at)
    await page.getByText('Ask anything.').waitFor()
    await say(page, 'Hello. [[reply:**Good day**]]')
    const talk = page.getByRole('list', { name: 'Conversation' })
    await talk.getByText('Good day', { exact: true }).waitFor()
    await page.reload()
    await talk.getByText('Good day', { exact: true }).waitFor()
    await say(page, 'Take your time. [[hold:visit]] [[reply:late]]')
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('The agent has stopped.').waitFor()
    bench.platform.model.release('visit')
    // The conversation of somebody else is not there.
    const other = await visitor()
    await other.goto(at)
    await other.page.getByText('Ask anything.').waitFor()
    await done(other)
    await page.getByRole('button', { name: 'New conversation' }).click()
    await page.getByText('Ask anything.').waitFor()
    assert.ok(!tab.requests.some((request) => request.includes('/api/users/me')), 'nobody is signed in')
    await reviewPage(bench, {
      name: 'public-chat',
      path: at,
      token: null,
      ready: (review) => review.getByText('Ask anything.').waitFor(),
    })
    await done(tab)
    await bench.platform.request('DELETE', `/api/agents/${scout}/public-links/${(await stored())[0].id}`)
    const gone = await visitor()
    await gone.goto(`/chat/${token}`)
    await gone.page.getByText('This link is not valid').waitFor()
    await done(gone)
  })

  test('a link that asks for an address is entered with the code from the mail', async () => {
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
    await say(page, 'Hello. [[reply:Welcome, Vic]]')
    await page
      .getByRole('list', { name: 'Conversation' })
      .getByText('Welcome, Vic', { exact: true })
      .waitFor()
    await keepPicture(tab, 'public-chat-answered-light-desktop')
    await assertAccessible(tab, 'public chat answered')
    // Over after a day: the address is asked for again, and what was written is not lost.
    const over = [`roost.public.${token}`, JSON.stringify({ session_token: 'over' })] as const
    await page.evaluate(([key, kept]) => localStorage.setItem(key, kept), over)
    await say(page, 'And now?')
    await confirm()
    await page
      .getByRole('list', { name: 'Conversation' })
      .getByText('Welcome, Vic', { exact: true })
      .waitFor()
    assert.equal(await page.getByRole('textbox', { name: /Message to/ }).inputValue(), 'And now?')
    await done(tab)
  })
})

describe('Slack', () => {
  const path = `/agents/${scout}?tab=sharing`
  const channel = async () => (await bench.platform.request('GET', `/api/agents/${scout}/slack/channel`)).json

  test('an admin connects an app, an owner binds a channel; refusals are told on the fields', async () => {
    const settings = await open('/settings?tab=integrations')
    await settings.page.getByRole('button', { name: 'Connect Slack' }).click()
    await settings.page.getByLabel('Signing secret').fill(slackApp.signingSecret)
    await settings.page.getByLabel('Bot token').fill('xoxb-wrong')
    await settings.page.getByRole('button', { name: 'Connect', exact: true }).click()
    await settings.page.getByText('is refused by Slack').waitFor()
    await settings.page.getByLabel('Bot token').fill(slackApp.token)
    await settings.page.getByRole('button', { name: 'Connect', exact: true }).click()
    await settings.page.getByText('Agents answer there as @roost').waitFor()
    await done(settings)

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
    await done(tab)
  })

  test('axe finds nothing and nothing runs over, in both themes and widths; unbound, it says what to do', async () => {
    await reviewPage(bench, {
      name: 'slack-channel',
      path,
      ready: (page) => page.getByText('#team', { exact: true }).waitFor(),
    })
    await reviewPage(bench, {
      name: 'settings-integrations-slack',
      path: '/settings?tab=integrations',
      ready: (page) => page.getByText('Agents answer there as @roost').waitFor(),
    })
    const tab = await open(path)
    await tab.page.getByRole('button', { name: 'Unbind' }).click()
    await tab.page.getByRole('dialog').getByRole('button', { name: 'Unbind' }).click()
    await tab.page.getByText('Invite the bot to a channel').waitFor()
    assert.equal((await channel()).bound, false)
    await done(tab)
  })
})

function rowsShown(page: Page): Promise<void> {
  return page.getByRole('switch', { name: `May call ${writer}` }).waitFor()
}

describe('payments', () => {
  const path = `/agents/${scout}?tab=payments`
  const payee = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C'

  test('the owner sets price and payee, is told of a typing error on the field, and sees a payment', async () => {
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
    const asked = await bench.platform.request('POST', chat, { message: 'hi' }, { token: null })
    assert.equal(asked.json.payment_required.accepts[0].amount, '50000')
    const proof = await poor.pay(asked.json.payment_required)
    const refused = await bench.platform.request(
      'POST',
      chat,
      { message: 'hi' },
      { token: null, headers: proof },
    )
    assert.equal(refused.status, 402, refused.text)
    await done(tab)
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
