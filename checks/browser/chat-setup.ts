/** The chat tab of one agent, for the test files that use it. */
import assert from 'node:assert/strict'
import { after, afterEach, before } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { chat, createAgent } from '../acceptance/steps.ts'
import { type Bench, openBench, type Tab } from './bench.ts'
import { reportFailure } from './evidence.ts'

export const name = 'qa-chat-page'
export const path = (session: string) => `/agents/${name}?tab=chat&session=${session}`

export const composer = (page: Page) => page.getByRole('textbox', { name: `Message to ${name}` })
export const messages = (page: Page) => page.getByRole('region', { name: 'Messages' })
export const turn = (page: Page, index = 0) =>
  messages(page).getByRole('list', { name: 'Conversation' }).locator('> li').nth(index)
export const copyAnswer = (inside: Locator) => inside.getByRole('button', { name: 'Copy answer' })

export async function sendMessage({ page }: Tab, text: string): Promise<void> {
  await composer(page).fill(text)
  await composer(page).press('Enter')
}

/** Starts a platform with the agent before the tests of a file, and stops it after them. */
export function setUpChat() {
  let bench: Bench
  before(async () => {
    bench = await openBench()
    await createAgent(bench.platform, name)
    // The first turn starts the runtime, so it takes longer than later ones.
    assert.equal((await chat(bench.platform, name, '[[reply:ready]]')).status, 200)
  })
  after(async () => {
    await bench?.[Symbol.asyncDispose]()
  })
  afterEach((context) => reportFailure(bench, context))

  return {
    bench: () => bench,

    async openChat(options: Parameters<Bench['open']>[0] = {}, session = 'new'): Promise<Tab> {
      const tab = await bench.open(options)
      await tab.goto(path(session))
      await composer(tab.page).waitFor()
      return tab
    },

    /** Creates a conversation before any page is opened. */
    async newSession(): Promise<string> {
      const reply = await bench.platform.request('POST', `/api/agents/${name}/sessions`, {})
      assert.equal(reply.status, 201, reply.text)
      return reply.json.id
    },

    async sayBefore(session: string, message: string, status = 200): Promise<void> {
      const reply = await chat(bench.platform, name, message, { path: `sessions/${session}/message` })
      assert.equal(reply.status, status, reply.text)
    },
  }
}
