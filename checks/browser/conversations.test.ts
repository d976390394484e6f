/** Conversations: pin, archive, branch, share read-only, and pictures that stay after a reload. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { type MailServer, startMailServer } from '@roost/test-support/mail/index'
import type { Page } from 'playwright-core'
import { chat, createAgent } from '../acceptance/steps.ts'
import {
  assertAccessible,
  assertNoSideways,
  type Bench,
  closeTab,
  openBench,
  saveScreenshot,
  type Tab,
  themes,
} from './bench.ts'
import { reportFailure } from './evidence.ts'
import { signInUser } from './users.ts'

const agent = 'qa-conversations'
const eve = 'eve@example.com'
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
/** The widths that the pages are reviewed at, in CSS pixels. */
const reviewed = { desktop: 1440, phone: 390 } as const

let mail: MailServer
let bench: Bench
let eveToken = ''
before(async () => {
  mail = await startMailServer()
  bench = await openBench({ env: { ROOST_MAIL_URL: mail.url } })
  eveToken = await signInUser({ platform: bench.platform, mail }, eve)
  await createAgent(bench.platform, agent)
  assert.equal((await chat(bench.platform, agent, '[[reply:ready]]')).status, 200)
})
after(async () => {
  await bench?.[Symbol.asyncDispose]()
  await mail?.close()
})
afterEach((context) => reportFailure(bench, context))

const pathOf = (session: string) => `/agents/${agent}?tab=chat&session=${session}`
const sessionPath = (session: string) => `/api/agents/${agent}/sessions/${session}`
const messages = (page: Page) => page.getByRole('region', { name: 'Messages' })
const list = (page: Page) => page.getByRole('navigation', { name: 'Conversations', exact: true })
const picture = (page: Page) => page.getByRole('img', { name: 'dot.png' })
/** Resolves when the bytes of the picture are shown. */
const drawn = async (page: Page) => {
  await picture(page).waitFor()
  await page.waitForFunction(() => {
    const image = document.querySelector<HTMLImageElement>('img[alt="dot.png"]')
    return image?.complete === true && image.naturalWidth === 1
  })
}

async function conversation(title: string): Promise<string> {
  const reply = await bench.platform.request('POST', `/api/agents/${agent}/sessions`, { title })
  assert.equal(reply.status, 201, reply.text)
  return reply.json.id
}

async function say(session: string, message: string, files: object[] = []): Promise<void> {
  const path = `${sessionPath(session)}/message`
  const headers = { accept: 'application/json' }
  const reply = await bench.platform.request('POST', path, { message, files }, { headers })
  assert.equal(reply.status, 200, reply.text)
}

async function open(path: string, options: Parameters<Bench['open']>[0] = {}): Promise<Tab> {
  const tab = await bench.open({ width: reviewed.desktop, ...options })
  await tab.goto(path)
  return tab
}

async function choose(page: Page, title: string, item: string): Promise<void> {
  await list(page)
    .getByRole('button', { name: `Actions for “${title}”` })
    .click()
  await page.getByRole('menuitem', { name: item }).click()
}

/** A share opens neither the agent nor the conversation, its runs, files and sending. */
async function assertOpensNothing(session: string): Promise<void> {
  const { json } = await bench.platform.request('GET', sessionPath(session))
  const [{ id, execution_id, files }] = json.messages
  const run = `/api/agents/${agent}/executions/${execution_id}`
  for (const [method, path, body] of [
    ['GET', `/api/agents/${agent}`],
    ['GET', sessionPath(session)],
    ['GET', `${sessionPath(session)}/pictures/${files[0].picture_id}`],
    ['GET', `${sessionPath(session)}/shares`],
    ['POST', `${sessionPath(session)}/message`, { message: 'in your name' }],
    ['POST', `${sessionPath(session)}/branch`, { message_id: id }],
    ['GET', run],
    ['GET', `${run}/log`],
    ['GET', `${run}/stream`],
    ['GET', `/api/agents/${agent}/files`],
    ['GET', `/api/agents/${agent}/files/download?path=uploads/notes.txt`],
  ] as const) {
    const reply = await bench.platform.request(method, path, body, { token: eveToken })
    assert.deepEqual([reply.status, reply.json.error], [404, 'agent_not_found'], `${method} ${path}`)
  }
}

/** Runs axe and saves a picture in both themes, at the current width. */
async function review(tab: Tab, name: string): Promise<void> {
  for (const theme of themes) {
    await tab.page.emulateMedia({ colorScheme: theme })
    await tab.page.locator(`html[data-theme=${theme}]`).waitFor()
    await saveScreenshot(tab, `${name}-${theme}`)
    await assertAccessible(tab, `${name}, ${theme}`)
  }
  await assertNoSideways(tab, name)
}

describe('the list', () => {
  test('pins, archives and restores a conversation', async () => {
    const [plan, notes] = [await conversation('Plan'), await conversation('Notes')]
    const tab = await open(pathOf(notes))
    const { page } = tab
    await choose(page, 'Plan', 'Pin')
    await list(page).getByRole('heading', { name: 'Pinned' }).waitFor()
    assert.match((await list(page).getByRole('link').first().textContent()) ?? '', /^Plan/)

    await choose(page, 'Notes', 'Archive')
    // Not the announcement for screen readers, which also contains it.
    await page.getByText('Conversation archived', { exact: true }).waitFor()
    await list(page)
      .getByRole('link', { name: /^Notes/ })
      .waitFor({ state: 'detached' })
    // The page leaves the archived conversation; a navigation in progress would end the reload.
    await page.getByText(`Chat with ${agent}`).waitFor()
    await page.reload()
    await list(page).getByRole('link', { name: /^Plan/ }).waitFor()
    assert.equal(
      await list(page)
        .getByRole('link', { name: /^Notes/ })
        .count(),
      0,
    )
    await list(page).getByRole('button', { name: 'Archived' }).click()
    await list(page)
      .getByRole('link', { name: /^Notes/ })
      .waitFor()
    await review(tab, 'conversations-list')
    await choose(page, 'Notes', 'Restore')
    await list(page).getByText('No archived conversations.').waitFor()
    await list(page)
      .getByRole('link', { name: /^Notes/ })
      .waitFor()
    await choose(page, 'Plan', 'Unpin')
    await list(page).getByRole('heading', { name: 'Pinned' }).waitFor({ state: 'detached' })
    assert.equal((await bench.platform.request('GET', sessionPath(plan))).json.session.pinned, false)
    await closeTab(tab)
  })
})

describe('a branch', () => {
  test('continues from a message, while the original stays', async () => {
    const session = await conversation('Route')
    await say(session, 'the word is heron [[reply:noted]]')
    await say(session, 'the word is pelican [[reply:changed]]')
    const tab = await open(pathOf(session))
    const { page } = tab
    await messages(page).getByText('changed', { exact: true }).waitFor()
    const first = messages(page).getByRole('list', { name: 'Conversation' }).locator('> li').first()
    await first.getByRole('button', { name: 'Branch from here' }).click()
    await list(page)
      .getByRole('link', { name: /^Route \(branch\)/ })
      .waitFor()
    await messages(page).getByText('changed', { exact: true }).waitFor({ state: 'detached' })
    await messages(page).getByText('noted', { exact: true }).waitFor()
    const composer = page.getByRole('textbox', { name: `Message to ${agent}` })
    await composer.fill('[[echo]] and now?')
    await composer.press('Enter')
    const answer = messages(page).getByRole('list', { name: 'Conversation' }).locator('> li').nth(1)
    await answer.getByText('the word is heron').waitFor()
    assert.equal(await answer.getByText('pelican').count(), 0)
    const original = await bench.platform.request('GET', sessionPath(session))
    assert.equal(original.json.messages.length, 4)
    await closeTab(tab)
  })
})

describe('pictures and shares', () => {
  test('a picture stays after a reload; a person with a share sees it, and nothing after revoking', async () => {
    const session = await conversation('Drawing')
    const files = [
      { name: 'dot.png', mimetype: 'image/png', data_base64: png },
      { name: 'notes.txt', mimetype: 'text/plain', data_base64: 'aGk=' },
    ]
    await say(session, 'look at this [[tool:Bash:echo seen]][[reply:a dot]]', files)
    const tab = await open(pathOf(session))
    const { page } = tab
    await drawn(page)
    await page.reload()
    await drawn(page)
    await messages(page).getByText('notes.txt').waitFor()
    await review(tab, 'conversation-picture')

    await choose(page, 'Drawing', 'Share…')
    const dialog = page.getByRole('dialog', { name: 'Share conversation' })
    await dialog.getByText('Only you can read this conversation.').waitFor()
    await dialog.getByRole('textbox', { name: 'Person' }).fill('nobody@example.com')
    await dialog.getByRole('button', { name: 'Share', exact: true }).click()
    await dialog.getByText('account', { exact: false }).last().waitFor()
    await dialog.getByRole('textbox', { name: 'Person' }).fill(eve)
    await dialog.getByRole('button', { name: 'Share', exact: true }).click()
    await dialog.getByRole('list', { name: 'Shares' }).getByText(eve, { exact: true }).waitFor()
    await review(tab, 'conversation-share')
    const { json: shares } = await bench.platform.request('GET', `${sessionPath(session)}/shares`)
    const { pathname } = new URL(shares[0].url)

    const reader = await open(pathname, { token: eveToken })
    await reader.page.getByRole('heading', { name: 'Drawing', level: 1 }).waitFor()
    await drawn(reader.page)
    await reader.page.getByText('a dot', { exact: true }).waitFor()
    await reader.page.getByRole('button', { name: '1 tool call' }).click()
    await reader.page.getByRole('list', { name: 'Tool calls' }).getByText('echo seen').waitFor()
    assert.equal(await reader.page.getByRole('textbox', { name: /Message to/ }).count(), 0)
    await review(reader, 'shared-conversation-desktop')
    await reader.page.setViewportSize({ width: reviewed.phone, height: 780 })
    await review(reader, 'shared-conversation-phone')
    await reader.page.getByRole('link', { name: 'Shared with you' }).click()
    await reader.page.getByRole('link', { name: /^Drawing/ }).waitFor()
    await review(reader, 'shared-list-phone')

    await assertOpensNothing(session)
    await dialog.getByRole('button', { name: `Revoke for ${eve}` }).click()
    await dialog.getByText('Only you can read this conversation.').waitFor()
    await reader.goto(pathname)
    await reader.page.getByText('This conversation is not shared with you').waitFor()
    await review(reader, 'shared-conversation-ended')
    await closeTab(reader)
    await closeTab(tab)
  })

  test('the list and the dialog work on a phone', async () => {
    const session = await conversation('On the way')
    const tab = await open(pathOf(session), { width: reviewed.phone, hasTouch: true })
    const { page } = tab
    await page.getByRole('button', { name: /^Conversations: On the way/ }).click()
    const sheet = page.getByRole('dialog', { name: 'Conversations' })
    await sheet.getByRole('link', { name: /^On the way/ }).waitFor()
    await review(tab, 'conversations-phone')
    await sheet.getByRole('button', { name: 'Actions for “On the way”' }).click()
    await page.getByRole('menuitem', { name: 'Share…' }).click()
    await page.getByRole('dialog', { name: 'Share conversation' }).getByText('Only you').waitFor()
    await review(tab, 'conversation-share-phone')
    await closeTab(tab)
  })
})
