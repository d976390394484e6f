/** The Workspace in a real browser: people talk to agents that are theirs or shared with them. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { type MailServer, startMailServer } from '@roost/test-support/mail/index'
import { agentKeyOf, createAgent } from '../acceptance/steps.ts'
import { assertAccessible, type Bench, keepPicture, openBench, reviewPage, type Tab } from './bench.ts'
import { tellFailure } from './evidence.ts'
import { personOf } from './persons.ts'

const name = 'qa-workspace'
const email = 'ann@example.com'
const patienceMs = 60_000

describe('the Workspace', () => {
  let mail: MailServer
  let bench: Bench
  let ann = ''
  before(async () => {
    mail = await startMailServer()
    bench = await openBench({ env: { ROOST_MAIL_URL: mail.url } })
    ann = await personOf({ platform: bench.platform, mail }, email, 'user')
    await createAgent(bench.platform, name)
  })
  after(async () => {
    await bench?.[Symbol.asyncDispose]()
    await mail?.close()
  })
  afterEach((context) => tellFailure(bench, context))

  const open = async (path: string, options: Parameters<Bench['open']>[0] = {}): Promise<Tab> => {
    const tab = await bench.open({ token: ann, ...options })
    tab.page.setDefaultTimeout(patienceMs)
    await tab.goto(path)
    return tab
  }
  const done = async (tab: Tab) => {
    assert.deepEqual(tab.faults, [])
    await tab.context.close()
  }

  test('nobody sees an agent there that is not shared with them', async () => {
    const tab = await open(`/workspace/${name}`)
    await tab.page.getByText(`${name} is not shared with you`).waitFor()
    await done(tab)
    await reviewPage(bench, {
      name: 'workspace-empty',
      path: '/workspace',
      token: ann,
      ready: (page) => page.getByText('No agent is shared with you').waitFor(),
    })
    const shared = await bench.platform.request('POST', `/api/agents/${name}/share`, { email })
    assert.ok(shared.status < 300, shared.text)
  })

  test('one talks in Main, through a reload in the middle, and rates the answer', async () => {
    const tab = await open('/workspace')
    const { page } = tab
    await page.getByRole('list', { name: 'Agents' }).getByText(name).click()
    const field = page.getByRole('textbox', { name: `Message to ${name}` })
    await field.fill('Hello. [[tool:Bash:sleep 6]] [[reply:**Welcome** here.]]')
    await field.press('Enter')
    await page.getByRole('button', { name: 'Stop' }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Stop' }).waitFor()
    await page.getByText('Welcome', { exact: true }).waitFor()
    const good = page.getByRole('button', { name: 'A good answer' })
    await good.click()
    await page.getByRole('button', { name: 'A good answer', pressed: true }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'A good answer', pressed: true }).waitFor()
    assert.equal(await page.getByText(/^Hello\./).count(), 1, 'no message is doubled')
    await done(tab)
  })

  test('a turn is stopped, and another conversation stands beside Main', async () => {
    const tab = await open(`/workspace/${name}`)
    const { page } = tab
    await page.getByRole('button', { name: 'New conversation' }).click()
    await page.waitForURL(/chat=/)
    const field = page.getByRole('textbox', { name: `Message to ${name}` })
    await field.fill('Wait. [[tool:Bash:sleep 60]] [[reply:never]]')
    await field.press('Enter')
    await page.getByText(/^Using Bash/).waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('The last answer came to nothing').waitFor()
    await page.getByRole('link', { name: 'Main' }).click()
    await page.getByText('Welcome', { exact: true }).waitFor()
    await done(tab)
  })

  test('what the agent asks of this person is answered there', async () => {
    const asked = await bench.platform.request(
      'POST',
      `/api/agents/${name}/operator-queue`,
      {
        request_id: 'colour',
        title: 'Which colour?',
        type: 'approval',
        options: ['Green', 'Blue'],
        to_email: email,
      },
      { token: await agentKeyOf(name) },
    )
    assert.equal(asked.status, 201, asked.text)
    const tab = await open('/workspace')
    const { page } = tab
    await page.getByRole('heading', { name: 'Which colour?' }).locator('visible=true').waitFor()
    await keepPicture(tab, 'workspace-asks-light-desktop')
    await assertAccessible(tab, 'an ask in the Workspace')
    await page.getByRole('button', { name: 'Green' }).locator('visible=true').click()
    await page.getByText('Choose an agent to talk to').waitFor()
    await page.getByRole('heading', { name: 'Which colour?' }).first().waitFor({ state: 'detached' })
    const item = await bench.platform.request('GET', `/api/operator-queue/${asked.json.id}`)
    assert.equal(item.json.response, 'Green')
    await done(tab)
  })

  test('axe finds nothing and nothing runs over, in both themes and widths', async () => {
    await reviewPage(bench, {
      name: 'workspace',
      path: `/workspace/${name}`,
      token: ann,
      ready: (page) => page.getByText('Welcome', { exact: true }).waitFor(),
    })
  })
})
