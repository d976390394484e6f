/** The header of an agent's page: its content and its actions. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { eventually, type Loose } from '../acceptance/platform.ts'
import { createAgent } from '../acceptance/steps.ts'
import { type Bench, closeTab, openBench, reviewPage, type Tab } from './bench.ts'
import { reportFailure } from './evidence.ts'

const name = 'qa-header'
let bench: Bench
let tab: Tab
let page: Page
before(async () => {
  bench = await openBench()
  await createAgent(bench.platform, name, { tags: ['nightly'] })
  tab = await bench.open()
  page = tab.page
  await tab.goto(`/agents/${name}?tab=chat`)
  await page.getByRole('heading', { name, level: 1 }).waitFor()
})
after(async () => {
  await bench?.[Symbol.asyncDispose]()
})
afterEach((context) => reportFailure(bench, context))

const details = async (): Promise<Loose> => (await bench.platform.request('GET', `/api/agents/${name}`)).json
const until = (accept: (agent: Loose) => boolean) => eventually(details, accept)

describe('the navigation', () => {
  const sections = (of: Page) => of.getByRole('navigation', { name: `Sections of ${name}` })
  const tabs = (of: Page) => of.getByRole('navigation', { name: `Tabs of ${name}` })
  const words = (links: Locator) => links.getByRole('link').allTextContents()

  test('has six groups, each with its own tabs', async () => {
    assert.deepEqual(await words(sections(page)), [
      'Chat',
      'Runs',
      'Automations',
      'Files & tools',
      'Access',
      'Settings',
    ])
    await sections(page).getByRole('link', { name: 'Access' }).click()
    await page.getByRole('heading', { name: 'Variables' }).first().waitFor()
    assert.deepEqual(await words(tabs(page)), [
      'Credentials',
      'Outbound network',
      'Permissions',
      'Sharing',
      'Paid chat',
    ])
    // Addresses of single tabs stay valid.
    await tab.goto(`/agents/${name}?tab=logs`)
    const current = sections(page).locator('[aria-current]')
    await current.filter({ hasText: 'Settings' }).waitFor()
    await sections(page).getByRole('link', { name: 'Chat' }).click()
    await current.filter({ hasText: 'Chat' }).waitFor()
  })

  test('takes at most 96 px with the header on a phone, where the groups are a menu', async () => {
    const phone = await bench.open({ width: 390 })
    await phone.goto(`/agents/${name}?tab=files`)
    await tabs(phone.page).waitFor()
    const [top, bottom] = await Promise.all([
      phone.page
        .locator('header')
        .filter({ has: phone.page.getByRole('heading', { level: 1 }) })
        .boundingBox(),
      tabs(phone.page).boundingBox(),
    ])
    assert.ok(top && bottom)
    const height = bottom.y + bottom.height - top.y
    assert.ok(height <= 96, `${height} px`)
    await phone.page.getByRole('button', { name: 'Section: Files & tools' }).click()
    await phone.page.getByRole('menuitem', { name: 'Loops' }).click()
    await phone.page.getByRole('button', { name: 'Section: Automations' }).waitFor()
    await closeTab(phone)
  })
})

describe('the owner', () => {
  test('edits the label in place; Escape cancels', async () => {
    const edit = page.getByRole('button', { name: 'Edit label' })
    await edit.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('textbox', { name: 'Label' }).fill('Not this')
    await page.keyboard.press('Escape')
    await page.getByRole('heading', { name, level: 1 }).waitFor()
    await edit.click()
    await page.getByRole('textbox', { name: 'Label' }).fill('Night watch')
    await page.getByRole('textbox', { name: 'Label' }).press('Enter')
    await page.getByRole('heading', { name: 'Night watch', level: 1 }).waitFor()
    await until(({ label }) => label === 'Night watch')
  })

  test('edits the tags', async () => {
    await page.getByRole('button', { name: /Edit tags/ }).click()
    await page.getByRole('textbox', { name: 'Tags' }).fill('team-sales')
    await page.getByRole('textbox', { name: 'Tags' }).press('Enter')
    await page.getByRole('button', { name: 'Remove nightly' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: /Edit tags: ?team-sales/ }).waitFor()
    await until(({ tags }) => tags.join() === 'team-sales')
  })

  test('switches autonomy optimistically and rolls back when refused', async () => {
    const autonomy = page.getByRole('switch', { name: `Autonomy of ${name}` })
    const before = await autonomy.isChecked()
    await autonomy.click()
    await until(({ autonomy_enabled }) => autonomy_enabled === !before)
    assert.equal(await autonomy.isChecked(), !before)
    await page.route('**/autonomy', (route) =>
      route.fulfill({
        status: 500,
        json: { detail: 'Something went wrong on our side.', error: 'internal_error' },
      }),
    )
    await autonomy.click()
    await page.getByText('Something went wrong on our side.').first().waitFor()
    assert.equal(await autonomy.isChecked(), !before)
    await page.unroute('**/autonomy')
  })

  test('stops and starts the agent', async () => {
    await page.getByRole('button', { name: 'Stop agent' }).click()
    await page.getByRole('button', { name: 'Start agent' }).waitFor()
    await page.getByText('Night watch is stopped.').waitFor()
    await reviewPage(bench, {
      name: 'agent-stopped',
      path: `/agents/${name}?tab=chat`,
      ready: (each) => each.getByText('Night watch is stopped.').waitFor(),
    })
    await page.getByRole('button', { name: 'Start', exact: true }).click()
    await page.getByRole('button', { name: 'Stop agent' }).waitFor()
  })

  test('deletes the agent after typing its name', async () => {
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    const dialog = page.getByRole('dialog')
    const button = dialog.getByRole('button', { name: 'Delete agent' })
    assert.ok(await button.isDisabled())
    await dialog.getByRole('textbox').fill(name)
    await button.click()
    await page.waitForURL((url) => url.pathname === '/agents')
    assert.equal((await bench.platform.request('GET', `/api/agents/${name}`)).status, 404)
    assert.deepEqual(tab.faults, [])
  })
})
