/** Access of users and other agents to an agent: sharing, permissions and folders. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { type MailServer, startMailServer } from '@roost/test-support/mail/index'
import type { Page } from 'playwright-core'
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
import { signInUser } from './users.ts'

const [scout, writer, longName] = [
  'qa-scout',
  'qa-writer',
  'qa-a-name-that-goes-on-and-on-until-it-is-as-long-as-names-get',
] as const
const ann = 'ann@example.com'

let mail: MailServer
let bench: Bench
let annToken = ''
before(async () => {
  mail = await startMailServer()
  bench = await openBench({ env: { ROOST_MAIL_URL: mail.url } })
  annToken = await signInUser({ platform: bench.platform, mail }, ann)
  for (const name of [scout, writer, longName]) await createAgent(bench.platform, name)
})
after(async () => {
  await bench?.[Symbol.asyncDispose]()
  await mail?.close()
})
afterEach((context) => reportFailure(bench, context))

const open = async (at: string, options: Parameters<Bench['open']>[0] = {}): Promise<Tab> => {
  const tab = await bench.open(options)
  await tab.goto(at)
  return tab
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

  test('explains sharing for an agent without shares', async () => {
    await reviewPage(bench, {
      name: 'sharing-alone',
      path,
      ready: (page) => page.getByText('This agent is not shared yet').waitFor(),
    })
  })

  test('shares by e-mail, so that the user sees the agent; errors appear at the field', async () => {
    const tab = await open(path)
    const { page } = tab
    await page.getByLabel('Share with').fill('no address')
    await page.getByLabel('Share with').press('Enter')
    await page.getByText('must be an e-mail address').waitFor()
    await page.getByLabel('Share with').fill('ANN@example.com')
    await page.getByLabel('Share with').press('Enter')
    await people(page).getByText(ann).waitFor()
    // The list may know of it before the form does.
    await page.getByText(`Shared with ${ann}.`).first().waitFor()
    await page.getByLabel('Share with').fill(ann)
    await page.getByLabel('Share with').press('Enter')
    await page
      .getByText(/already/i)
      .first()
      .waitFor()
    await saveScreenshot(tab, 'sharing-refused-light-desktop')
    await assertAccessible(tab, 'shared twice')
    const userTab = await open('/', { token: annToken })
    await userTab.page.waitForURL((url) => url.pathname === '/workspace')
    await userTab.page.getByRole('complementary', { name: 'Your agents' }).getByText(scout).first().waitFor()
    await userTab.goto('/agents')
    await userTab.page.getByRole('link', { name: scout, exact: true }).waitFor()
    await closeTab(userTab)
    await closeTab(tab)
  })

  test('the owner narrows a share, and decides what strangers may do with files', async () => {
    await bench.platform.request('POST', `/api/agents/${scout}/share`, { email: ann })
    const tab = await open(path)
    const { page } = tab
    await page.getByLabel(`Files for ${ann}`).click()
    await page.getByRole('option', { name: 'Read only' }).click()
    await page.getByText(`Changed what ${ann} may do with files.`).first().waitFor()
    await page.getByLabel('Files for strangers').click()
    await page.getByRole('option', { name: 'No access' }).click()
    await page.getByText('Saved. It applies to their next turn.').first().waitFor()
    const get = async (what: string) =>
      (await bench.platform.request('GET', `/api/agents/${scout}/${what}`)).json
    assert.equal((await get('strangers')).access, 'none')
    const [share] = (await get('shares')).filter((each: Loose) => each.shared_with_email === ann)
    assert.equal(share.access, 'read')
    await closeTab(tab)
    const file = `/api/agents/${scout}/files?path=note.txt`
    assert.equal((await bench.platform.request('PUT', file, { content: 'a note' })).status, 200)
    const controls = async (filesTab: Tab) => {
      const { page } = filesTab
      const button = (name: string) => page.getByRole('button', { name, exact: true })
      await button('Actions for the workspace').waitFor()
      const found = [await button('Upload').count(), await button('New').count()]
      await page.getByRole('treeitem', { name: 'note.txt', exact: true }).click()
      await page.getByRole('textbox', { name: 'Text of note.txt' }).waitFor()
      await assertAccessible(filesTab, 'a file of the owner and a reader')
      found.push(await button('Edit').count())
      await button('Actions for “note.txt”').first().click()
      await page.getByRole('menuitem', { name: 'Download' }).waitFor()
      found.push(await page.getByRole('menuitem', { name: 'Delete' }).count())
      return found
    }
    for (const [token, expected] of [
      [bench.platform.token, [1, 1, 1, 1]],
      [annToken, [0, 0, 0, 0]],
    ] as const) {
      const filesTab = await open(`/agents/${scout}?tab=files`, { token })
      if (token === annToken) await filesTab.page.getByText('You cannot change its files.').waitFor()
      assert.deepEqual(await controls(filesTab), expected)
      await closeTab(filesTab)
    }
  })

  test('has no axe violations and no overflow in both themes and widths', async () => {
    const email = 'somebody-with-a-name-that-goes-on-and-on-until-it-ends@a-long-name.example.com'
    await bench.platform.request('POST', `/api/agents/${scout}/share`, { email })
    await reviewPage(bench, {
      name: 'sharing',
      path,
      ready: (page) => people(page).getByText('never signed in').waitFor(),
    })
  })

  test('users with a share do not see the tab', async () => {
    const tab = await open(path, { token: annToken })
    await tab.page.getByRole('link', { name: 'Access', exact: true }).click()
    await tab.page.getByRole('link', { name: 'Permissions' }).waitFor()
    assert.equal(await tab.page.getByRole('link', { name: 'Sharing' }).count(), 0)
    await closeTab(tab)
  })

  test('users with a share see no owner actions on the dashboard', async () => {
    const ownerTab = await open('/agents?view=table')
    await ownerTab.page.getByRole('checkbox', { name: `Select ${scout}` }).waitFor()
    await closeTab(ownerTab)
    const userTab = await open('/agents?view=table', { token: annToken })
    await userTab.page.getByRole('grid', { name: 'Agents' }).getByText(scout).waitFor()
    assert.equal(await userTab.page.getByRole('checkbox').count(), 0)
    await userTab.page.getByRole('radio', { name: 'Tiles' }).click()
    await userTab.page.getByRole('button', { name: `Stop ${scout}` }).waitFor()
    assert.equal(await userTab.page.getByRole('switch').count(), 0)
    await closeTab(userTab)
  })

  test('users with a share answer questions but cannot dismiss them', async () => {
    const { platform } = bench
    const key = await docker('exec', platform.containerOf(scout), 'printenv', 'ROOST_AGENT_KEY')
    const ask = { request_id: 'colour', type: 'approval', title: 'Which colour?', options: ['Green', 'Blue'] }
    const created = await platform.request(
      'POST',
      `/api/agents/${scout}/operator-queue`,
      { ...ask, to_email: ann },
      { token: key },
    )
    assert.equal(created.status, 201, created.text)
    const inbox = '/inbox'
    const ownerTab = await open(inbox)
    await ownerTab.page.getByRole('button', { name: 'Dismiss without answer' }).waitFor()
    await closeTab(ownerTab)
    const userTab = await open(inbox, { token: annToken })
    const { page } = userTab
    await page.getByRole('button', { name: 'Green' }).waitFor()
    assert.equal(await page.getByRole('button', { name: /Dismiss/ }).count(), 0)
    await page.getByRole('checkbox', { name: 'Select all' }).click()
    await page.getByRole('button', { name: 'Answer…' }).waitFor()
    assert.equal(await page.getByRole('button', { name: /Dismiss/ }).count(), 0)
    await saveScreenshot(userTab, 'inbox-addressed-light-desktop')
    await page.keyboard.press('x')
    await page.getByRole('button', { name: 'Green' }).click()
    await page.getByText('Inbox is empty').waitFor()
    assert.deepEqual(userTab.failures, [])
    await closeTab(userTab)
    // Leaving the page ends the time for Undo.
    await eventually(
      async () => (await platform.request('GET', `/api/operator-queue/${created.json.id}`)).json.response,
      (response) => response === 'Green',
    )
  })

  test('removes a share when Undo has passed or the page is left', async () => {
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
    await page.getByRole('link', { name: 'Automations' }).click()
    await eventually(shares, (emails) => !emails.includes(ann))
    await closeTab(tab)
  })
})

describe('permissions', () => {
  const path = `/agents/${scout}?tab=permissions`
  const rowSwitch = (page: Page, name: string) => page.getByRole('switch', { name: `May call ${name}` })

  test('a switch grants and revokes, also in another open browser', async () => {
    const [ownerTab, other] = [await open(path), await open(path)]
    await rowSwitch(other.page, writer).waitFor()
    await rowSwitch(ownerTab.page, writer).click()
    await eventually(
      () => permitted(scout),
      (names) => names.includes(writer),
    )
    await other.page.getByRole('switch', { name: `May call ${writer}`, checked: true }).waitFor()
    await rowSwitch(ownerTab.page, writer).click()
    await eventually(
      () => permitted(scout),
      (names) => names.length === 0,
    )
    await closeTab(ownerTab)
    await closeTab(other)
  })

  test('permits all listed agents, with Undo', async () => {
    const tab = await open(path)
    await tab.page.getByRole('button', { name: 'Permit all listed' }).click()
    await eventually(
      () => permitted(scout),
      (names) => names.includes(writer) && names.includes(longName),
    )
    assert.ok(
      !(await permitted(scout)).includes('roost-system'),
      'the system agent must be permitted individually',
    )
    await tab.page.getByRole('button', { name: 'Undo' }).click()
    await eventually(
      () => permitted(scout),
      (names) => names.length === 0,
    )
    await closeTab(tab)
  })

  test('has no axe violations and no overflow in both themes and widths', async () => {
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
      path: '/agents?tab=permissions',
      ready: (page) => page.getByRole('checkbox', { name: `${scout} may call ${writer}` }).waitFor(),
    })
  })

  test('arrows move in the matrix and Space toggles', async () => {
    const tab = await open('/agents?tab=permissions')
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
    assert.ok(!(await permitted(longName)).includes(longName), 'an agent got a permission to call itself')
    await page.getByLabel('Search callers').fill('nobody')
    await page.getByText('No matching agents').waitFor()
    assert.match(page.url(), /q=nobody/)
    await closeTab(tab)
  })

  test('users with a share can only read the permissions', async () => {
    await bench.platform.request('POST', `/api/agents/${scout}/share`, { email: ann })
    await bench.platform.request('POST', `/api/agents/${writer}/share`, { email: ann })
    const tab = await open(path, { token: annToken })
    await tab.page.getByText('Only the owner can change').waitFor()
    assert.ok(await rowSwitch(tab.page, writer).isDisabled())
    await saveScreenshot(tab, 'permissions-reader-light-desktop')
    await assertAccessible(tab, 'permissions to read')
    await closeTab(tab)
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

  test('explains folders for an agent that may call no publisher', async () => {
    const tab = await open(of(scout))
    await tab.page.getByText('No folders available').waitFor()
    await tab.page.getByRole('link', { name: 'Set permissions' }).click()
    await tab.page.getByRole('switch', { name: `May call ${writer}` }).waitFor()
    await closeTab(tab)
  })

  test('a reader mounts a published folder after a restart; both open pages update', async () => {
    await bench.platform.request('POST', `/api/agents/${scout}/permissions/${writer}`)
    const [publisher, reader] = [await open(of(writer)), await open(of(scout))]
    await publisher.page.getByRole('switch', { name: 'Publish folder' }).click()
    await row(reader.page, 'Folders of other agents', writer).getByText('Not mounted').waitFor()
    await reader.page.getByRole('switch', { name: 'Read folders of other agents' }).click()
    await row(reader.page, 'Folders of other agents', writer).getByText('Mounted at the next start').waitFor()
    await row(publisher.page, 'Readers', scout).getByText('Mounted at the next start').waitFor()
    await reader.page.getByText('Restart required').waitFor()
    await saveScreenshot(reader, 'folders-waiting-light-desktop')
    await reader.page.getByRole('button', { name: 'Restart' }).click()
    await reader.page.getByRole('dialog').getByRole('button', { name: 'Restart agent' }).click()
    await row(reader.page, 'Folders of other agents', writer).getByText('Mounted', { exact: true }).waitFor()
    await row(publisher.page, 'Readers', scout).getByText('Mounted', { exact: true }).waitFor()
    await reader.page.getByText('Restart required').waitFor({ state: 'detached' })
    assert.equal((await foldersOf(scout)).consumed_folders[0].currently_mounted, true)
    await publisher.page.getByRole('switch', { name: 'Publish folder' }).click()
    await row(reader.page, 'Folders of other agents', writer)
      .getByText('Unmounted at the next start')
      .waitFor()
    await publisher.page.getByRole('switch', { name: 'Publish folder' }).click()
    await row(reader.page, 'Folders of other agents', writer).getByText('Mounted', { exact: true }).waitFor()
    await closeTab(publisher)
    await closeTab(reader)
  })

  test('has no axe violations and no overflow in both themes and widths', async () => {
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

  test('users with a share can only read the folder settings', async () => {
    const tab = await open(of(scout), { token: annToken })
    await tab.page.getByText('Only the owner can change').waitFor()
    await row(tab.page, 'Folders of other agents', writer).waitFor()
    assert.ok(await tab.page.getByRole('switch', { name: 'Read folders of other agents' }).isDisabled())
    assert.equal(
      await row(tab.page, 'Folders of other agents', longName).count(),
      0,
      'the folder of an agent without access is listed',
    )
    await assertAccessible(tab, 'folders to read')
    await closeTab(tab)
  })
})
