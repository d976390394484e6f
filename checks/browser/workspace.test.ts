/** The Workspace: users chat with their own and shared agents. */
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import { type MailServer, startMailServer } from '@roost/test-support/mail/index'
import { eventually, type Loose } from '../acceptance/platform.ts'
import { createAgent, docker } from '../acceptance/steps.ts'
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
import { gateOf } from './gates.ts'
import { signInUser } from './users.ts'

const name = 'qa-workspace'
const email = 'ann@example.com'

describe('the Workspace', () => {
  let mail: MailServer
  let bench: Bench
  let ann = ''
  before(async () => {
    mail = await startMailServer()
    bench = await openBench({ env: { ROOST_MAIL_URL: mail.url } })
    ann = await signInUser({ platform: bench.platform, mail }, email, 'user')
    await createAgent(bench.platform, name)
  })
  after(async () => {
    await bench?.[Symbol.asyncDispose]()
    await mail?.close()
  })
  afterEach((context) => reportFailure(bench, context))

  const open = async (path: string, options: Parameters<Bench['open']>[0] = {}): Promise<Tab> => {
    const tab = await bench.open({ token: ann, ...options })
    await tab.goto(path)
    return tab
  }
  const portal = (token: string, method: string, path: string): Promise<Loose> =>
    bench.platform.request(method, `/api/enterprise/client-portal${path}`, undefined, { token })
  const agentKey = () => docker('exec', bench.platform.containerOf(name), 'printenv', 'ROOST_AGENT_KEY')

  test('hides agents that are not shared with the user', async () => {
    const tab = await open(`/workspace/a/${name}`)
    await tab.page.getByText(`${name} is not shared with you`).waitFor()
    await closeTab(tab)
    await reviewPage(bench, {
      name: 'workspace-empty',
      path: '/workspace',
      token: ann,
      ready: (page) => page.getByText('No agents are shared with you').waitFor(),
    })
    const shared = await bench.platform.request('POST', `/api/agents/${name}/share`, { email })
    assert.ok(shared.status < 300, shared.text)
  })

  test('chats in Main through a reload and rates the answer', async () => {
    const tab = await open('/workspace')
    const { page } = tab
    await page.getByRole('list', { name: 'Agents' }).getByText(name).click()
    const field = page.getByRole('textbox', { name: `Message to ${name}` })
    const gate = gateOf(bench.platform, name, 'main')
    await field.fill(`Hello. ${gate.directive} [[reply:**Welcome** here.]]`)
    await field.press('Enter')
    await page.getByRole('button', { name: 'Stop' }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Stop' }).waitFor()
    await gate.open()
    await page.getByText('Welcome', { exact: true }).waitFor()
    const good = page.getByRole('button', { name: 'Good answer' })
    await good.click()
    await page.getByRole('button', { name: 'Good answer', pressed: true }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Good answer', pressed: true }).waitFor()
    assert.equal(await page.getByText(/^Hello\./).count(), 1, 'no message is doubled')
    await closeTab(tab)
  })

  test('stops a turn in a second conversation besides Main', async () => {
    const tab = await open(`/workspace/a/${name}`)
    const { page } = tab
    await page.getByRole('button', { name: 'New conversation' }).click()
    await page.waitForURL(/workspace\/c\//)
    const field = page.getByRole('textbox', { name: `Message to ${name}` })
    await field.fill('Wait. [[tool:Bash:sleep 100]] [[reply:never]]')
    await field.press('Enter')
    await page.getByText(/^Using Bash/).waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('No answer to the last message').waitFor()
    await page.getByRole('link', { name: 'Main' }).click()
    await page.getByText('Welcome', { exact: true }).waitFor()
    await closeTab(tab)
  })

  test('answers a question of the agent', async () => {
    const created = await bench.platform.request(
      'POST',
      `/api/agents/${name}/operator-queue`,
      {
        request_id: 'colour',
        title: 'Which colour?',
        type: 'approval',
        options: ['Green', 'Blue'],
        to_email: email,
      },
      { token: await agentKey() },
    )
    assert.equal(created.status, 201, created.text)
    const tab = await open('/workspace')
    const { page } = tab
    await page.getByRole('heading', { name: 'Which colour?' }).locator('visible=true').waitFor()
    await saveScreenshot(tab, 'workspace-asks-light-desktop')
    await assertAccessible(tab, 'an ask in the Workspace')
    await page.getByRole('button', { name: 'Green' }).locator('visible=true').click()
    await page.getByText('Select an agent to chat with').waitFor()
    await page.getByRole('heading', { name: 'Which colour?' }).first().waitFor({ state: 'detached' })
    const item = await bench.platform.request('GET', `/api/operator-queue/${created.json.id}`)
    assert.equal(item.json.response, 'Green')
    await closeTab(tab)
  })

  test('renames, stars and finds a conversation, and starts Main over', async () => {
    const tab = await open(`/workspace/a/${name}`)
    const { page } = tab
    await page.getByRole('link', { name: /^Wait\./ }).click()
    await page.waitForURL(/workspace\/c\//)
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Rename…' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('The harbour')
    await page.getByRole('button', { name: 'Rename', exact: true }).click()
    await page.getByRole('heading', { name: /The harbour/ }).waitFor()
    await page.getByRole('button', { name: 'Add star' }).click()
    await page.getByRole('navigation', { name: 'Starred' }).getByText('The harbour').waitFor()
    await page.getByRole('searchbox', { name: 'Search conversations' }).fill('welcome')
    await page.waitForURL(/q=welcome/)
    await page.getByRole('list', { name: 'Search results' }).getByRole('link').click()
    await page.getByRole('heading', { name: /Main/ }).waitFor()
    await saveScreenshot(tab, 'workspace-found-light-desktop')
    await page.getByRole('searchbox', { name: 'Search conversations' }).fill('nobody said this')
    await page.getByText('No results').waitFor()
    await page.getByRole('searchbox', { name: 'Search conversations' }).fill('')

    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: /Start over/ }).click()
    await page.getByRole('button', { name: 'Start over', exact: true }).click()
    await page.getByText('Ask anything.').waitFor()
    await page.getByRole('button', { name: /^Archived/ }).click()
    await page.getByRole('link', { name: /^Previous Main/ }).click()
    await page.getByText('Welcome', { exact: true }).waitFor()
    await page.getByText('This conversation is archived').waitFor()
    assert.equal(await page.getByRole('textbox', { name: `Message to ${name}` }).count(), 0)
    await closeTab(tab)
  })

  test('uploads, downloads and deletes files', async () => {
    const file = join(tmpdir(), `roost-plan-${process.pid}.txt`)
    await writeFile(file, 'the plan')
    const tab = await open(`/workspace/a/${name}?rail=files`)
    const { page } = tab
    const files = page.getByRole('complementary', { name: 'Files' })
    await files.getByText('No files yet').waitFor()
    await page.getByTestId('documents').setInputFiles(file)
    await files.getByText(/^roost-plan-/).waitFor()
    await page.getByText('1 file uploaded.', { exact: true }).waitFor()
    await saveScreenshot(tab, 'workspace-files-light-desktop')
    await assertAccessible(tab, 'the files of the Workspace')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      files.getByRole('button', { name: /^Download/ }).click(),
    ])
    assert.equal(await readFile(await download.path(), 'utf8'), 'the plan')
    await files.getByRole('button', { name: /^Delete/ }).click()
    await files.getByText('No files yet').waitFor()
    await page.getByRole('button', { name: 'Close files' }).click()
    await page.waitForURL((url) => !url.search.includes('rail'))
    // Leaving the page runs pending actions.
    await eventually(
      () => portal(ann, 'GET', `/agents/${name}/documents`),
      ({ json }) => json.documents.length === 0,
    )
    await closeTab(tab)
  })

  test('shows reports for the Workspace, not those for operators', async () => {
    const token = await agentKey()
    for (const fields of [{ title: 'For you', audience: 'roster' }, { title: 'For the office' }]) {
      const body = { report_type: 'qa.week', payload: '**Seven** days', display_hint: 'markdown', ...fields }
      const reply = await bench.platform.request('POST', `/api/agents/${name}/reports`, body, { token })
      assert.equal(reply.status, 201, reply.text)
    }
    const tab = await open(`/workspace/a/${name}?rail=reports`)
    const { page } = tab
    const rail = page.getByRole('complementary', { name: 'Reports' })
    await rail.getByRole('button', { name: /^For you/ }).click()
    await page.getByRole('dialog', { name: 'For you' }).getByText('Seven').waitFor()
    assert.equal(await rail.getByText('For the office').count(), 0)
    await assertAccessible(tab, 'a report in the Workspace')
    await closeTab(tab)
  })

  test('rates a bad answer with a comment', async () => {
    const tab = await open(`/workspace/a/${name}`)
    const { page } = tab
    const field = page.getByRole('textbox', { name: `Message to ${name}` })
    await field.fill('Hello again. [[reply:**Welcome** back.]]')
    await field.press('Enter')
    await page.getByRole('button', { name: 'Bad answer' }).click()
    await page.getByRole('textbox', { name: 'What was wrong with the answer?' }).fill('Too short')
    await saveScreenshot(tab, 'workspace-rating-light-desktop')
    await assertAccessible(tab, 'a rating with a reason')
    await page.getByRole('button', { name: 'Send feedback' }).click()
    await page.getByText('Feedback sent. Thank you.', { exact: true }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Bad answer', pressed: true }).waitFor()
    await closeTab(tab)
  })

  test('a guest signs in with a code, sees only the Workspace, and is signed out', async () => {
    const guest = 'sam@example.org'
    await bench.platform.request('POST', `/api/agents/${name}/share`, { email: guest })
    await reviewPage(bench, {
      name: 'workspace-sign-in',
      path: '/workspace',
      token: null,
      ready: (page) => page.getByRole('heading', { name: 'Your Workspace' }).waitFor(),
    })
    const tab = await open(`/workspace/a/${name}`, { token: null })
    const { page } = tab
    await page.getByRole('textbox', { name: 'E-mail address' }).fill(guest)
    await page.getByRole('button', { name: 'Send code' }).click()
    const code = /\b\d{6}\b/.exec((await mail.next(guest)).text)?.[0] ?? assert.fail('no code')
    await page.getByRole('textbox', { name: 'Code from the e-mail' }).fill('000000')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByText(/code is wrong|not valid|invalid/i).waitFor()
    await page.getByRole('textbox', { name: 'Code from the e-mail' }).fill(code)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    const field = page.getByRole('textbox', { name: `Message to ${name}` })
    await field.fill('Hi. [[reply:Good **day**.]]')
    await field.press('Enter')
    await page.getByText('day', { exact: true }).waitFor()
    assert.equal(await page.getByRole('link', { name: 'Home', exact: true }).count(), 0)
    await page.reload()
    await page.getByText('day', { exact: true }).waitFor()
    for (const theme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: theme })
      await saveScreenshot(tab, `workspace-guest-${theme}-desktop`)
      await assertAccessible(tab, `the Workspace of a guest, ${theme}`)
    }
    await page.setViewportSize({ width: 360, height: 740 })
    await saveScreenshot(tab, 'workspace-guest-dark-phone')
    await assertAccessible(tab, 'the Workspace of a guest on a phone')
    assert.ok(tab.requests.every((request) => !/ \/(ws|api\/(ws|users|agents))/.test(request)))
    // The platform ends the session, so the page asks for a code again.
    const logout = `/api/enterprise/client-portal/agents/${name}/clients/${guest}/logout`
    assert.equal((await bench.platform.request('POST', logout)).status, 200)
    await page.reload()
    await page.getByRole('heading', { name: 'Your Workspace' }).waitFor()
    await closeTab(tab)
  })

  test('the owner sees the users, and an admin blocks one', async () => {
    const tab = await open(`/workspace/a/${name}?rail=people`, { token: bench.platform.token })
    const { page } = tab
    const people = page.getByRole('complementary', { name: 'Users' })
    await people.getByText('sam@example.org').waitFor()
    await saveScreenshot(tab, 'workspace-people-light-desktop')
    await assertAccessible(tab, 'the people of an agent')
    await people.getByRole('button', { name: 'Actions for sam@example.org' }).click()
    await page.getByRole('menuitem', { name: /^Block/ }).click()
    await people.getByText('blocked').waitFor()
    await people.getByRole('button', { name: 'Actions for sam@example.org' }).click()
    await page.getByRole('menuitem', { name: 'Unblock' }).click()
    await people.getByText('blocked').waitFor({ state: 'detached' })
    await closeTab(tab)
    await reviewPage(bench, {
      name: 'workspace-inbox',
      path: '/workspace/inbox',
      token: ann,
      ready: (page) => page.getByText('Which colour?').waitFor(),
    })
    await reviewPage(bench, {
      name: 'workspace-rail',
      path: `/workspace/a/${name}?rail=info`,
      token: ann,
      ready: (page) => page.getByText('Owner', { exact: true }).waitFor(),
    })
  })

  test('has no axe violations and no overflow in both themes and widths', async () => {
    await reviewPage(bench, {
      name: 'workspace',
      path: `/workspace/a/${name}`,
      token: ann,
      ready: (page) => page.getByText('Welcome', { exact: true }).waitFor(),
    })
  })
})
