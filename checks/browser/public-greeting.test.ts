/** What a visitor of a public link sees before the first message: picture, name, greeting and starter questions. */
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { createAgent } from '../acceptance/steps.ts'
import { type Bench, closeTab, openBench, reviewPage } from './bench.ts'
import { reportFailure } from './evidence.ts'

const agent = 'qa-greeter'
const greeting = 'Good day!\nAsk about **orders** and <b>returns</b>.'
const question = 'Where is my order? [[reply:On its way.]]'
let bench: Bench
let address = ''
before(async () => {
  bench = await openBench()
  await createAgent(bench.platform, agent, { label: 'The Greeter' })
})
after(() => bench?.[Symbol.asyncDispose]())
afterEach((context) => reportFailure(bench, context))

const starters = (page: Page) => page.getByRole('list', { name: 'Starter questions' })

test('the owner writes the greeting and the starter questions in the dialog of a link', async () => {
  const tab = await bench.open()
  const { page } = tab
  await tab.goto(`/agents/${agent}?tab=sharing`)
  await page.getByRole('button', { name: 'Create link' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name', { exact: true }).fill('Shop')
  await dialog.getByLabel('Greeting').fill(greeting)
  await dialog.getByLabel('Starter questions').fill('1\n2\n3\n4\n5')
  await dialog.getByRole('button', { name: 'Create link' }).click()
  await dialog.getByText('There can be at most 4 questions.').waitFor()
  await dialog.getByLabel('Starter questions').fill(`${question}\n\n What can I send back? `)
  await dialog.getByRole('button', { name: 'Create link' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Edit Shop' }).click()
  assert.equal(
    await dialog.getByLabel('Starter questions').inputValue(),
    `${question}\nWhat can I send back?`,
  )
  assert.equal(await dialog.getByLabel('Greeting').inputValue(), greeting)
  await closeTab(tab)
  const [link] = (await bench.platform.request('GET', `/api/agents/${agent}/public-links`)).json
  address = new URL(link.url).pathname
})

test('a visitor sees the agent and sends a question with one click', async () => {
  await reviewPage(bench, {
    name: 'public-greeting',
    path: address,
    token: null,
    async ready(page) {
      await page.getByText('The Greeter').first().waitFor()
      // Plain text: nothing in it becomes an element.
      await page.getByText('Ask about **orders** and <b>returns</b>.').waitFor()
      await starters(page).getByRole('button', { name: 'What can I send back?' }).waitFor()
      await page.locator('main img[src$="/picture"]').waitFor()
    },
  })
  const tab = await bench.open({ token: null, width: 360 })
  const { page } = tab
  await tab.goto(address)
  await starters(page).getByRole('button', { name: 'Where is my order?' }).click()
  await page.getByRole('list', { name: 'Conversation' }).getByText('On its way.', { exact: true }).waitFor()
  assert.equal(await starters(page).count(), 0)
  assert.equal(await page.getByText('Good day!').count(), 0)
  await closeTab(tab)
})
