/** Sections of the settings: private networks that agents may reach, and backups with their card on the home page. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { eventually } from '../acceptance/platform.ts'
import { createAgent } from '../acceptance/steps.ts'
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

test('an admin sets up backups, starts one, and the home page shows its result', async () => {
  const tab = await bench.open()
  const { page } = tab
  await createAgent(bench.platform, 'kept')
  const card = page.getByRole('region', { name: 'Backups' })
  await tab.goto('/')
  await card.getByText('No backup yet').waitFor()
  await card.getByRole('link', { name: 'Set up backups' }).click()

  const form = page.getByRole('form', { name: 'Backup settings' })
  await form.getByLabel('Address').fill('s3:nowhere')
  await form.getByText('Access key ID').waitFor()
  await form.getByRole('switch', { name: 'Scheduled backups' }).click()
  await form.getByLabel('Passphrase', { exact: true }).fill('a passphrase of tests')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText('must have the form s3:https://host/bucket/path').waitFor()
  const folder = await mkdtemp(join(tmpdir(), 'roost-browser-backup-'))
  try {
    await form.getByLabel('Address').fill(join(folder, 'repository'))
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Backup settings saved.', { exact: true }).waitFor()
    assert.equal(await form.getByLabel('Passphrase', { exact: true }).inputValue(), '')
    const stored = (await bench.platform.request('GET', '/api/settings/backup')).json
    assert.deepEqual([stored.enabled, stored.passphrase_set, stored.s3_set], [true, true, false])

    await page.getByRole('button', { name: 'Back up now' }).click()
    await page.getByText('A backup or verification is running.').waitFor()
    await page.getByText('succeeded', { exact: true }).waitFor({ timeout: 180_000 })
    await saveScreenshot(tab, 'settings-backups-light-desktop')
    await assertAccessible(tab, 'backup settings')
    await tab.goto('/')
    await card.getByText('succeeded', { exact: true }).waitFor()
    await card.getByText('Not verified yet').waitFor()
    await saveScreenshot(tab, 'dashboard-backup-light-desktop')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  await closeTab(tab)
})

test('an engine without backup jobs: the section says why and leads to the guide', async () => {
  await using other = await openBench({ env: { ROOST_CONTAINERS_URL: 'fake:' } })
  const tab = await other.open({ theme: 'dark' })
  const { page } = tab
  await tab.goto('/settings?tab=backups')
  await page.getByText(/The fake engine has no volumes to back up\./).waitFor()
  const guide = page.getByRole('link', { name: 'Guide: Back up and restore' })
  assert.equal(await guide.getAttribute('href'), '/help/operate/backup')
  for (const name of ['Back up now', 'Verify now'])
    assert.equal(await page.getByRole('button', { name }).isDisabled(), true, name)
  assert.equal(await page.getByRole('switch', { name: 'Scheduled backups' }).isDisabled(), true)
  await saveScreenshot(tab, 'settings-no-backups-dark-desktop')
  await assertAccessible(tab, 'unavailable backups')
  await closeTab(tab)
})
