/** The log, the terminal and the info page of an agent's container. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { answerOf, createAgent } from '../acceptance/steps.ts'
import { assertAccessible, type Bench, openBench, reviewPage, saveScreenshot } from './bench.ts'
import { reportFailure } from './evidence.ts'

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
afterEach((context) => reportFailure(bench, context))

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
  test('new lines appear, and can be searched, paused and saved', async () => {
    const tab = await bench.open()
    const { page } = tab
    await tab.goto(logs)
    await log(page).getByText('link up').first().waitFor()
    await page.getByLabel('Search log').fill('link up')
    const matches = page.getByRole('status').filter({ hasText: / of \d+$/ })
    const before = (await matches.textContent())?.split(' of ')[1]
    // The agent program logs this line at each connection to the platform.
    await bench.platform.request('POST', `/api/agents/${name}/stop`)
    await page.getByText('The agent is not running. These are its last log lines.').waitFor()
    await bench.platform.request('POST', `/api/agents/${name}/start`)
    await matches.filter({ hasText: `of ${Number(before) + 1}` }).waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByText('Paused. Last refresh:').waitFor()
    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download log' }).click()
    const download = await downloading
    assert.equal(download.suggestedFilename(), `${name}.log`)
    assert.match(await readFile(await download.path(), 'utf8'), /link up/)
    assert.deepEqual(tab.faults, [])
    await tab.context.close()
  })

  test('the browser stores the number of lines', async () => {
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

describe('the terminal', () => {
  const terminal = `/agents/${name}?tab=terminal`
  const screen = (page: Page) => page.locator('.xterm-rows')
  const isAtPrompt = (page: Page) => screen(page).getByText('$').first().waitFor()

  test('a shell accepts input, follows the window size, and reports its exit', async () => {
    const tab = await bench.open()
    const { page } = tab
    await tab.goto(terminal)
    await isAtPrompt(page)
    await page.keyboard.type('printf "\\033[38;2;1;99;3m%s\\033[0m\\n" "$((6 * 7))green"\n')
    const green = screen(page).getByText('42green')
    await green.waitFor()
    const [red = 0, most = 0, blue = 0] = await green.evaluate((span) =>
      (getComputedStyle(span).color.match(/\d+/g) ?? []).map(Number),
    )
    assert.ok(most > red && most > blue, 'it has its own colour')
    // The shell would keep what is typed before it runs the command. The answer of the program shows that it runs: one
    // that is just starting would not get the signal.
    await page.keyboard.type('echo rea""dy; cat\n')
    await screen(page).getByText('ready').waitFor()
    await page.keyboard.type('ping\n')
    await screen(page).getByText('ping').nth(1).waitFor()
    await page.keyboard.press('Control+c')
    await screen(page).getByText('^C').waitFor()
    await page.setViewportSize({ width: 500, height: 700 })
    await page.keyboard.type('clear; [ $(tput cols) -lt 70 ] && echo nar""row\n')
    await screen(page).getByText('narrow').waitFor()
    await page.keyboard.type('exit 3\n')
    await page.getByText('The shell exited with code 3').waitFor()
    await page.getByRole('button', { name: 'Open another terminal' }).click()
    await isAtPrompt(page)
    assert.deepEqual(tab.faults, [], 'the policy of the page has let every style count')
    await tab.context.close()
  })

  test('Escape and then Tab leaves it; screen readers find its text', async () => {
    const tab = await bench.open()
    const { page } = tab
    await tab.goto(terminal)
    await isAtPrompt(page)
    const input = page.getByRole('textbox', { name: `Terminal of ${name}` })
    assert.equal(await input.evaluate((box) => box === document.activeElement), true)
    await page.keyboard.press('Tab')
    assert.equal(await input.evaluate((box) => box === document.activeElement), true)
    await page.keyboard.press('Escape')
    await page.keyboard.press('Shift+Tab')
    assert.equal(await input.evaluate((box) => box === document.activeElement), false)
    await page.getByRole('switch', { name: 'Screen reader mode' }).click()
    await page.locator('.xterm-accessibility-tree').getByText('$').first().waitFor()
    assert.deepEqual(tab.faults, [])
    await tab.context.close()
  })

  test('screenshots', async () => {
    await reviewPage(bench, { name: 'terminal', path: terminal, ready: isAtPrompt })
  })
})

describe('the info page', () => {
  test('explains template.yaml for an agent without a template', async () => {
    await reviewPage(bench, {
      name: 'info-bare',
      path: info,
      ready: (page) => page.getByText('Add a template.yaml').waitFor(),
    })
  })

  test('shows the template of the workspace and grants SSH access once', async () => {
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
    await page.getByRole('button', { name: 'Grant access' }).click()
    const dialog = page.getByRole('dialog', { name: `SSH access to ${name}` })
    await dialog.getByLabel('Valid for').fill('25')
    await dialog.getByRole('button', { name: 'Grant access' }).click()
    await dialog.getByText(/24/).first().waitFor()
    await saveScreenshot(tab, 'info-ssh-form')
    await assertAccessible(tab, 'ssh form')
    await dialog.getByLabel('Valid for').fill('1')
    await dialog.getByRole('button', { name: 'Grant access' }).click()
    await dialog.getByText(/PRIVATE KEY/).waitFor()
    await dialog.getByText(/^ssh .*developer@/).waitFor()
    await saveScreenshot(tab, 'info-ssh-key')
    await assertAccessible(tab, 'ssh key')
    await dialog.getByLabel('I have stored it').click()
    await dialog.getByRole('button', { name: 'Done' }).click()
    assert.equal(await page.getByText(/PRIVATE KEY/).count(), 0)
    assert.deepEqual(tab.faults, [])
    await tab.context.close()
  })
})

describe('screenshots', () => {
  test('the log of a running and of a stopped agent', async () => {
    const ready = (page: Page) => log(page).getByText('link up').first().waitFor()
    await reviewPage(bench, { name: 'logs', path: logs, ready })
    assert.equal((await bench.platform.request('POST', `/api/agents/${name}/stop`)).status, 200)
    const stopped = (page: Page) =>
      page.getByText('The agent is not running. These are its last log lines.').waitFor()
    await reviewPage(bench, {
      name: 'logs-stopped',
      path: logs,
      ready: (page) => ready(page).then(() => stopped(page)),
    })
    await reviewPage(bench, {
      name: 'terminal-stopped',
      path: `/agents/${name}?tab=terminal`,
      ready: (page) => page.getByText('The agent is stopped').waitFor(),
    })
    await reviewPage(bench, {
      name: 'info-stopped',
      path: info,
      ready: (page) => page.getByText('Start the agent to view').waitFor(),
    })
  })
})
