/** The private networks that agents may reach, in the settings. */
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { eventually } from '../acceptance/platform.ts'
import { assertAccessible, type Bench, closeTab, openBench, saveScreenshot } from './bench.ts'
import { reportFailure } from './evidence.ts'

let bench: Bench
before(async () => {
  bench = await openBench()
})
after(async () => {
  await bench?.[Symbol.asyncDispose]()
})
afterEach((context) => reportFailure(bench, context))

const opened = async () =>
  (await bench.platform.request('GET', '/api/settings/agent-defaults/network')).json.opened

test('an admin adds and removes allowed addresses; invalid ones stay in the field', async () => {
  const tab = await bench.open()
  const { page } = tab
  await tab.goto('/settings?tab=agents')
  const section = page.getByRole('region', { name: 'Private networks' })
  const field = section.getByLabel('Allowed addresses and networks')
  await field.fill('intranet.example.com')
  await field.press('Enter')
  assert.equal(await field.inputValue(), 'intranet.example.com')
  for (const entry of ['10.0.0.5:443', '10.1.0.0/16']) {
    await field.fill(entry)
    await field.press('Enter')
  }
  await section.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Allowed private addresses saved.', { exact: true }).waitFor()
  assert.deepEqual(await opened(), ['10.0.0.5:443', '10.1.0.0/16'])
  await section.scrollIntoViewIfNeeded()
  await saveScreenshot(tab, 'inner-networks-light-desktop')
  await assertAccessible(tab, 'private networks')
  await section.getByRole('button', { name: 'Remove 10.0.0.5:443' }).click()
  await section.getByRole('button', { name: 'Save' }).click()
  await eventually(opened, (entries) => entries.length === 1)
  await closeTab(tab)
})
