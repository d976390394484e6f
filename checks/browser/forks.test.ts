/** Forks: from the menu of an agent by keyboard, and from a record on a phone. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { eventually } from '../acceptance/platform.ts'
import { createAgent } from '../acceptance/steps.ts'
import { assertAccessible, assertNoSideways, type Bench, closeTab, openBench } from './bench.ts'
import { reportFailure } from './evidence.ts'

const name = 'qa-forked'

describe('forks of an agent', () => {
  let bench: Bench
  before(async () => {
    bench = await openBench()
    await createAgent(bench.platform, name)
    const run = await bench.platform.request('POST', `/api/agents/${name}/task`, {
      message: '[[tool:Bash:echo one > plan.txt; echo TOKEN=1 > .env]] [[reply:ok]]',
    })
    assert.equal(run.status, 200, run.text)
    await eventually(
      async () =>
        (await bench.platform.request('GET', `/api/executions/${run.json.execution_id}/changes`)).json,
      ({ status }) => status === 'recorded',
    )
  })
  after(async () => {
    await bench?.[Symbol.asyncDispose]()
  })
  afterEach((context) => reportFailure(bench, context))

  const read = async (agent: string, path: string) =>
    (await bench.platform.request('GET', `/api/agents/${agent}/files/download?path=${path}`)).text

  test('a fork from now is made by keyboard, and says what it lacks', async () => {
    const tab = await bench.open({ width: 1280 })
    const { page } = tab
    const { keyboard } = page
    await tab.goto(`/agents/${name}?tab=info`)
    const menu = page.getByRole('button', { name: 'More actions' })
    const open = async () => {
      await menu.focus()
      await keyboard.press('Enter')
      await page.getByRole('menuitem', { name: 'Fork…' }).press('Enter')
    }
    const dialog = page.getByRole('dialog', { name: `Fork ${name}`, exact: true })
    const field = dialog.getByLabel('Name of the fork')
    const isFocused = (each: typeof field) => each.evaluate((node) => node === document.activeElement)
    await open()
    await eventually(() => isFocused(field), Boolean)
    await assertAccessible(tab, 'the dialog of a fork')
    const guide = dialog.getByRole('link', { name: 'Guide: Fork an agent' })
    assert.equal(await guide.getAttribute('href'), '/help/how-to/fork')
    await keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await eventually(() => isFocused(menu), Boolean)

    await open()
    await eventually(() => isFocused(field), Boolean)
    await keyboard.type(name)
    await keyboard.press('Enter')
    await dialog.getByText(/already exists/).waitFor()
    await field.fill('qa-fork-keys')
    await keyboard.press('Enter')
    const made = page.getByRole('dialog', { name: 'qa-fork-keys is running' })
    await made
      .getByRole('list', { name: 'Differences' })
      .getByText(/^Credentials .*"\.env"/)
      .waitFor()
    await assertAccessible(tab, 'the differences of a fork')
    await page.setViewportSize({ width: 390, height: 844 })
    await assertNoSideways(tab, 'the differences of a fork')
    await page.setViewportSize({ width: 1280, height: 860 })
    await eventually(() => isFocused(made.getByRole('button', { name: 'Open qa-fork-keys' })), Boolean)
    await keyboard.press('Enter')
    await page.waitForURL((url) => url.pathname === '/agents/qa-fork-keys')
    assert.equal(await read('qa-fork-keys', 'plan.txt'), 'one\n')
    await tab.goto('/agents/qa-fork-keys?tab=info')
    await page.getByRole('link', { name, exact: true }).click()
    await page.waitForURL((url) => url.pathname === `/agents/${name}`)
    await closeTab(tab)
  })

  test('a fork from a record on a phone, with credentials', async () => {
    const tab = await bench.open({ width: 390, hasTouch: true })
    const { page } = tab
    await tab.goto(`/agents/${name}?tab=history`)
    await page.getByRole('button', { name: 'Fork from this record' }).tap()
    const dialog = page.getByRole('dialog', { name: new RegExp(`^Fork ${name} from record \\d+$`) })
    await dialog.getByLabel('Name of the fork').fill('qa-fork-phone')
    await dialog.getByLabel('Copy credentials').tap()
    await assertNoSideways(tab, 'the dialog of a fork')
    await assertAccessible(tab, 'the dialog of a fork on a phone')
    await dialog.getByRole('button', { name: 'Create fork' }).tap()
    await page.waitForURL((url) => url.pathname === '/agents/qa-fork-phone')
    assert.equal(await read('qa-fork-phone', '.env'), 'TOKEN=1\n')
    await closeTab(tab)
  })
})
