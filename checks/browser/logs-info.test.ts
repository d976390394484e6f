/** What an agent's container writes and is, in a browser in front of a real one. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { answerOf, createAgent } from '../acceptance/steps.ts'
import { assertAccessible, type Bench, keepPicture, openBench, reviewPage } from './bench.ts'
import { tellFailure } from './evidence.ts'

const name = 'qa-logs-page'
const logs = `/agents/${name}?tab=logs`
const info = `/agents/${name}?tab=info`
let bench: Bench
before(async () => {
  bench = await openBench()
  await createAgent(bench.platform, name)
  await answerOf(bench.platform, name, '[[reply:ready]]')
})
after(async () => {
  await bench?.[Symbol.asyncDispose]()
})
afterEach((context) => tellFailure(bench, context))

const log = (page: Page) => page.getByRole('group', { name: `Log of ${name}` })

const template = `name: scout
display_name: Scout
tagline: Finds what is new
description: |
  Reads the news of the night.
  Says what matters.
version: "1.4"
author: Ada
use_cases: [Morning briefing, Watching competitors]
skills: [search, summarise]
mcp_servers: [crm]
credentials:
  mcp_servers:
    crm: { env_vars: [CRM_TOKEN] }
  env_file: [NEWS_KEY]
`

describe('the log', () => {
  test('new lines come by themselves; they are searched, paused and saved', async () => {
    const tab = await bench.open()
    const { page } = tab
    await tab.goto(logs)
    await log(page).getByText('link up').first().waitFor()
    await page.getByLabel('Search the log').fill('link up')
    const found = page.getByRole('status').filter({ hasText: / of \d+$/ })
    const before = (await found.textContent())?.split(' of ')[1]
    // The agent's program says so each time it reaches the platform.
    await bench.platform.request('POST', `/api/agents/${name}/stop`)
    await page.getByText('Stopped: the last it wrote').waitFor()
    await bench.platform.request('POST', `/api/agents/${name}/start`)
    await found.filter({ hasText: `of ${Number(before) + 1}` }).waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByText('Paused, as of').waitFor()
    const waited = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download the log' }).click()
    const download = await waited
    assert.equal(download.suggestedFilename(), `${name}.log`)
    assert.match(await readFile(await download.path(), 'utf8'), /link up/)
    assert.deepEqual(tab.faults, [])
    await tab.context.close()
  })

  test('the number of lines is a choice that the browser keeps', async () => {
    const tab = await bench.open()
    const { page } = tab
    await tab.goto(logs)
    await page.getByRole('radio', { name: '5,000' }).click()
    await page.waitForResponse((reply) => reply.url().includes('tail=5000'))
    await page.reload()
    await log(page).waitFor()
    assert.equal(await page.getByRole('radio', { name: '5,000' }).getAttribute('aria-checked'), 'true')
    await tab.context.close()
  })
})

describe('the facts', () => {
  test('an agent without a template is told how to say what it is for', async () => {
    await reviewPage(bench, {
      name: 'info-bare',
      path: info,
      ready: (page) => page.getByText('Put a template.yaml').waitFor(),
    })
  })

  test('a template in the workspace is shown, and access by SSH is given once', async () => {
    const query = new URLSearchParams({ path: 'template.yaml' })
    await bench.platform.request('PUT', `/api/agents/${name}/files?${query}`, { content: template })
    await reviewPage(bench, {
      name: 'info',
      path: info,
      ready: (page) => page.getByText('Finds what is new').waitFor(),
    })
    const tab = await bench.open()
    const { page } = tab
    await tab.goto(info)
    await page.getByRole('button', { name: 'Give access' }).click()
    const dialog = page.getByRole('dialog', { name: `SSH access to ${name}` })
    await dialog.getByLabel('For how long').fill('25')
    await dialog.getByRole('button', { name: 'Give access' }).click()
    await dialog.getByText(/24/).first().waitFor()
    await keepPicture(tab, 'info-ssh-form')
    await assertAccessible(tab, 'ssh form')
    await dialog.getByLabel('For how long').fill('1')
    await dialog.getByRole('button', { name: 'Give access' }).click()
    await dialog.getByText(/PRIVATE KEY/).waitFor()
    await dialog.getByText(/^ssh .*developer@/).waitFor()
    await keepPicture(tab, 'info-ssh-key')
    await assertAccessible(tab, 'ssh key')
    await dialog.getByLabel('I stored it').click()
    await dialog.getByRole('button', { name: 'Done' }).click()
    assert.equal(await page.getByText(/PRIVATE KEY/).count(), 0)
    assert.deepEqual(tab.faults, [])
    await tab.context.close()
  })
})

describe('how it looks', () => {
  test('the log of a running agent, and of a stopped one', async () => {
    const ready = (page: Page) => log(page).getByText('link up').first().waitFor()
    await reviewPage(bench, { name: 'logs', path: logs, ready })
    assert.equal((await bench.platform.request('POST', `/api/agents/${name}/stop`)).status, 200)
    const stopped = (page: Page) => page.getByText('Stopped: the last it wrote').waitFor()
    await reviewPage(bench, {
      name: 'logs-stopped',
      path: logs,
      ready: (page) => ready(page).then(() => stopped(page)),
    })
    await reviewPage(bench, {
      name: 'info-stopped',
      path: info,
      ready: (page) => page.getByText('Start the agent to see').waitFor(),
    })
  })
})
