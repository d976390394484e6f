/** Credentials, repository and outbound network of an agent, against a real platform. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { type GitServer, startGitServer } from '@roost/test-support/git/index'
import { eventually } from '../acceptance/platform.ts'
import { answerOf, createAgent, docker } from '../acceptance/steps.ts'
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

const name = 'qa-src-helper'
const secret = 'canary-source-5d1e07'
let host: GitServer
let bench: Bench
before(async () => {
  host = await startGitServer()
  await host.commit('acme/helper', {
    'template.yaml':
      'name: helper\ndisplay_name: Helper\ndescription: Made for this check\n' +
      'credentials: {env_file: [LEDGER_URL, LEDGER_TOKEN], config_files: [credentials/ledger.pem]}\n' +
      'credential_setup:\n  - {name: LEDGER_TOKEN, title: Token of the ledger, description: Made in its settings,' +
      ' setup_url: "https://ledger.example.org/tokens"}\n' +
      '  - {name: LEDGER_URL, title: Address of the ledger, secret: false, required: false, format: url}\n',
    'CLAUDE.md': '# Helper\n',
  })
  await host.git('acme/helper', 'config', 'http.receivepack', 'true')
  bench = await openBench({ env: { ROOST_GIT_BASE_URL: host.url, GITHUB_PAT: 'ghp-canary-src-40b1' } })
  await createAgent(bench.platform, name, { template: 'github:acme/helper' })
  // The first response of an agent can be slow on a busy machine.
  await eventually(
    () => request('GET', 'credentials/status'),
    ({ status }) => status === 200,
  )
})
after(async () => {
  await bench?.[Symbol.asyncDispose]()
  await host?.[Symbol.asyncDispose]()
})
afterEach((context) => reportFailure(bench, context))

const open = async (at: string): Promise<Tab> => {
  const tab = await bench.open()
  await tab.goto(at)
  return tab
}
const request = (method: string, path: string, body?: object) =>
  bench.platform.request(method, `/api/agents/${name}/${path}`, body)

describe('credentials', () => {
  const path = `/agents/${name}?tab=credentials`

  test('shows missing credentials and sets variables', async () => {
    const tab = await open(path)
    const { page } = tab
    const needs = page.getByRole('list', { name: 'Required credentials' })
    await needs.getByText('Token of the ledger').waitFor()
    await needs.getByText('Missing').nth(1).waitFor()
    assert.equal(await needs.getByText('Missing').count(), 2)
    await page.getByRole('button', { name: 'Set variables' }).click()
    await page.getByLabel('Token of the ledger').fill(`it's ${secret} "quoted"`)
    await page.getByRole('button', { name: 'Add variable' }).click()
    await page.getByLabel('Name', { exact: true }).fill('2 WRONG')
    await page.getByRole('button', { name: 'Write .env' }).click()
    await page.getByText('The name may contain letters, digits and underscores').waitFor()
    await page.getByLabel('Name', { exact: true }).fill('OTHER')
    await page.getByLabel('Value', { exact: true }).fill('more')
    await saveScreenshot(tab, 'credentials-fill-in-light-desktop')
    await assertAccessible(tab, 'filling in variables')
    await page.getByRole('button', { name: 'Write .env' }).click()
    await needs.getByText('Set', { exact: true }).waitFor()
    const value = await docker(
      'exec',
      '-u',
      'developer',
      bench.platform.containerOf(name),
      'cat',
      '/home/developer/.env',
    )
    assert.match(value, new RegExp(`LEDGER_TOKEN="it's ${secret} \\\\"quoted\\\\""`))
    await page.getByRole('button', { name: 'Set variables' }).click()
    await page.getByText('These variables would lose their value').waitFor()
    assert.ok(!(await page.content()).includes(secret), 'a value is shown again')
    await page.keyboard.press('Escape')
    await closeTab(tab)
  })

  test('shows path errors at the field, from the form and from the platform', async () => {
    const tab = await open(path)
    const { page } = tab
    await page.getByRole('button', { name: 'Add files' }).click()
    const where = page.getByLabel('Path in the workspace')
    await where.fill('.bashrc')
    await page.getByLabel('Content').fill('x')
    await page.getByRole('button', { name: 'Write files' }).click()
    await page.getByText('is not a credential file').waitFor()
    await where.fill('.mcp.json')
    await page.getByLabel('Content').fill('{"mcpServers": {"a": {"command": "bash"}}}')
    await page.getByRole('button', { name: 'Write files' }).click()
    await page.getByText(/must have one of npx/).waitFor()
    await saveScreenshot(tab, 'credentials-files-refused-light-desktop')
    await assertAccessible(tab, 'refused files')
    await page.getByRole('button', { name: 'Remove file 1' }).click()
    const [chooser] = await Promise.all([
      page.waitForEvent('filechooser'),
      page.getByRole('button', { name: 'Choose files…' }).click(),
    ])
    await chooser.setFiles({ name: 'ledger.pem', mimeType: '', buffer: Buffer.from([0xff, 0, 1]) })
    await page.getByText('A binary file').waitFor()
    await where.fill('credentials/ledger.pem')
    await page.getByRole('button', { name: 'Write files' }).click()
    await page.getByRole('list', { name: 'Files' }).getByText('credentials/ledger.pem').waitFor()
    await closeTab(tab)
  })

  test('exports and imports the bundle', async () => {
    const tab = await open(path)
    const { page } = tab
    await page.getByRole('button', { name: 'Import…' }).click()
    await page.getByRole('button', { name: 'Import bundle' }).click()
    await page.getByText('bundle_missing', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Export' }).click()
    await page.getByText(/Exported/).waitFor()
    await docker(
      'exec',
      '-u',
      'developer',
      bench.platform.containerOf(name),
      'rm',
      '/home/developer/credentials/ledger.pem',
    )
    await page.getByRole('button', { name: 'Import…' }).click()
    await page.getByRole('button', { name: 'Import bundle' }).click()
    await page.getByText(/^\d files imported from the bundle\.$/).waitFor()
    await closeTab(tab)
    await reviewPage(bench, {
      name: 'agent-credentials',
      path,
      ready: async (page) => {
        await page.getByText('Token of the ledger').waitFor()
        await page.getByRole('list', { name: 'Variables' }).waitFor()
      },
    })
  })
})

describe('git', () => {
  const path = `/agents/${name}?tab=git`
  const inAgent = (script: string) =>
    docker(
      'exec',
      '-u',
      'developer',
      '-w',
      '/home/developer',
      bench.platform.containerOf(name),
      'sh',
      '-c',
      script,
    )
  const write = (text: string) => inAgent(`echo ${text} > notes.txt`)

  test('shows, commits and pushes changes', async () => {
    await eventually(
      () => request('GET', 'git/status'),
      ({ json }) => json.branch !== null && json.ahead === 0,
    )
    await write('work')
    const tab = await open(path)
    const { page } = tab
    await page.getByRole('list', { name: 'Changed files' }).getByText('notes.txt').waitFor()
    await page.getByRole('button', { name: 'Sync…' }).click()
    await page.getByLabel('Commit message').fill('first work')
    await page.getByRole('button', { name: 'Sync', exact: true }).click()
    await page.getByRole('list', { name: 'Commits' }).getByText('first work').waitFor()
    await page.getByText('No uncommitted changes.', { exact: true }).waitFor()
    await page.getByRole('list', { name: 'Files of the last sync' }).getByText('notes.txt').waitFor()
    await closeTab(tab)
    await reviewPage(bench, {
      name: 'agent-git-last-sync',
      path,
      ready: async (page) => {
        const files = page.getByRole('list', { name: 'Files of the last sync' })
        await files.getByRole('button', { name: /notes\.txt/ }).click()
        await page.getByRole('group', { name: 'Changes of notes.txt' }).getByText('+work').waitFor()
        assert.equal(await files.getByText('.pem').count(), 0, 'a credential is named')
      },
    })
  })

  test('names a conflict and changes nothing', async () => {
    const { working_branch } = (await request('GET', 'git/config')).json
    await host.commit('acme/helper', { 'notes.txt': 'theirs\n' }, working_branch)
    await write('mine')
    const tab = await open(path)
    const { page } = tab
    await page.getByRole('button', { name: 'Sync…' }).click()
    await page.getByRole('button', { name: 'Sync', exact: true }).click()
    await page.getByText(/git_conflict · diverged/).waitFor()
    await saveScreenshot(tab, 'git-conflict-light-desktop')
    await assertAccessible(tab, 'a conflict')
    await page.keyboard.press('Escape')
    await closeTab(tab)
  })

  test('an unreachable host shows failures and frozen schedules, also on an open page', async () => {
    const tab = await open(path)
    const { page } = tab
    await page.getByRole('switch', { name: 'Freeze schedules while syncs fail' }).click()
    await eventually(
      () => request('GET', 'git/config'),
      ({ json }) => json.freeze_schedules_if_sync_failing,
    )
    host.behave('redirect')
    await eventually(
      async () => {
        await request('POST', 'git/pull', { strategy: 'clean' })
        return (await request('GET', 'git/sync-state')).json
      },
      ({ frozen }) => frozen,
    )
    await page.getByText('Schedules are frozen').waitFor()
    await closeTab(tab)
    await reviewPage(bench, {
      name: 'agent-git',
      path,
      ready: async (page) => {
        await page.getByText('Schedules are frozen').waitFor()
        await page.getByRole('list', { name: 'Commits' }).getByText('first work').waitFor()
      },
    })
    host.behave('well')
  })

  test('a reset requires the typed name, preserves output and moves other changes', async () => {
    await inAgent('mkdir -p content && echo kept > content/kept.txt')
    const tab = await open(path)
    const { page } = tab
    await page.getByRole('button', { name: 'Reset workspace…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Reset the workspace to main?' })
    const confirm = dialog.getByRole('button', { name: 'Reset workspace' })
    assert.equal(await confirm.isDisabled(), true)
    await dialog.getByLabel(`Type ${name} to confirm`).fill(name)
    await saveScreenshot(tab, 'git-reset-light-desktop')
    await assertAccessible(tab, 'the confirmation of a reset')
    await confirm.click()
    await page.getByText(/^Workspace reset\. \d+ files? preserved/).waitFor()
    await dialog.waitFor({ state: 'detached' })
    assert.equal(await inAgent('cat content/kept.txt; ls notes.txt 2>/dev/null || echo gone'), 'kept\ngone')
    await closeTab(tab)
  })

  test('changes the repository: field error, creation and copied history', async () => {
    const { working_branch } = (await request('GET', 'git/config')).json
    const tab = await open(path)
    const { page } = tab
    await page.getByRole('button', { name: 'Change repository…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Change repository' })
    await dialog.getByText('Replaces acme/helper').waitFor()
    const field = dialog.getByRole('textbox', { name: 'Repository' })
    await field.fill('no-owner')
    await dialog.getByRole('button', { name: 'Change repository' }).click()
    await dialog.getByText('must be owner/repository').waitFor()
    await saveScreenshot(tab, 'git-rebind-refused-light-desktop')
    await assertAccessible(tab, 'an invalid repository')
    await field.fill('acme/own-helper')
    await dialog.getByRole('button', { name: 'Change repository' }).click()
    await page.getByText('acme/own-helper', { exact: true }).waitFor()
    assert.equal((await request('GET', 'git/config')).json.github_repo, 'acme/own-helper')
    const ours = await inAgent('git rev-parse HEAD')
    assert.equal(await host.git('acme/own-helper', 'rev-parse', working_branch), ours)
    await closeTab(tab)
  })

  test('binds the first repository; a refused token is shown at its field', async () => {
    await createAgent(bench.platform, 'qa-src-plain')
    await reviewPage(bench, {
      name: 'agent-git-unbound',
      path: '/agents/qa-src-plain?tab=git',
      ready: (page) => page.getByText('has no repository').waitFor(),
    })
    const tab = await open('/agents/qa-src-plain?tab=git')
    const { page } = tab
    await page.getByRole('textbox', { name: 'Account' }).fill('acme')
    await page.getByRole('button', { name: 'Bind repository' }).click()
    await page.getByText('acme/qa-src-plain', { exact: true }).waitFor()
    await page.getByText('The platform’s token.', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Set agent token' }).click()
    await page.locator('input[name=pat]').fill('bad-token')
    await page.getByRole('button', { name: 'Verify and save' }).click()
    await page.locator('[aria-invalid=true]').waitFor()
    await saveScreenshot(tab, 'git-token-refused-light-desktop')
    await assertAccessible(tab, 'a refused token')
    await page.locator('input[name=pat]').fill('good-token-of-its-own')
    await page.getByRole('button', { name: 'Verify and save' }).click()
    await page.getByText('The agent’s own token.', { exact: true }).waitFor()
    await closeTab(tab)
  })
})

describe('outbound network', () => {
  const path = `/agents/${name}?tab=egress`
  const request = (host: string) =>
    answerOf(bench.platform, name, `[[tool:Bash:curl -sS -m 20 https://${host}/ 2>&1 || true]]`)

  test('records a refused destination and allows it with one click', async () => {
    const tab = await open(path)
    const { page } = tab
    await page.getByRole('radio', { name: /Enforce/ }).click()
    await page.getByRole('dialog', { name: 'Enforce an empty allow list?' }).waitFor()
    await page.getByRole('button', { name: 'Enforce', exact: true }).click()
    await page.getByRole('radio', { name: /Enforce/, checked: true }).waitFor()
    await page.getByText('No destinations recorded').waitFor()
    await request('ledger.example.org')
    const row = page.getByRole('row', { name: /ledger\.example\.org/ })
    await row.getByText('not on the allow list').waitFor()
    await row.getByRole('button', { name: 'Allow ledger.example.org' }).click()
    const allowed = page.getByRole('list', { name: 'Allowed hosts' })
    await allowed.getByText('ledger.example.org').waitFor()
    await row.getByText('allowed', { exact: true }).waitFor()
    await saveScreenshot(tab, 'egress-log-light-desktop')
    await closeTab(tab)
  })

  test('allows a host by name, shows errors at the field, and removes it with Undo', async () => {
    const tab = await open(path)
    const { page } = tab
    const allowed = page.getByRole('list', { name: 'Allowed hosts' })
    await page.getByLabel('Host', { exact: true }).fill('https://no host')
    await page.getByLabel('Host', { exact: true }).press('Enter')
    await page.getByText('must be a host name').waitFor()
    await page.getByLabel('Host', { exact: true }).fill('*.example.com')
    await page.getByLabel('Port').fill('8443')
    await page.getByLabel('Port').press('Enter')
    await allowed.getByText('*.example.com:8443').waitFor()
    await page.getByRole('button', { name: 'Remove *.example.com:8443' }).click()
    await allowed.getByText('*.example.com:8443').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Undo' }).click()
    await allowed.getByText('*.example.com:8443').waitFor()
    await closeTab(tab)
  })

  test('a bound credential shows its name and hosts, never its value', async () => {
    const tab = await open(path)
    const { page } = tab
    await page.getByRole('button', { name: 'Bind credential' }).click()
    await page.getByLabel('Variable').fill('LEDGER_TOKEN')
    await page.getByLabel('Value').fill('short')
    await page.getByRole('textbox', { name: 'Hosts' }).fill('ledger.example.org')
    await page.getByRole('textbox', { name: 'Hosts' }).press('Enter')
    await page.getByRole('dialog').getByRole('button', { name: 'Bind credential' }).click()
    await page.getByText('must have at least 8 characters').waitFor()
    await saveScreenshot(tab, 'egress-keep-light-desktop')
    await assertAccessible(tab, 'keeping a credential')
    await page.getByLabel('Value').fill('canary-kept-91d2aa07')
    await page.getByRole('dialog').getByRole('button', { name: 'Bind credential' }).click()
    const bound = page.getByRole('list', { name: 'Bound credentials' })
    await bound.getByText('LEDGER_TOKEN').waitFor()
    assert.ok(!(await page.content()).includes('canary-kept'), 'a value is shown again')
    await closeTab(tab)
    await reviewPage(bench, {
      name: 'agent-egress',
      path,
      ready: async (page) => {
        await page.getByRole('list', { name: 'Bound credentials' }).waitFor()
        await page.getByRole('row', { name: /ledger\.example\.org/ }).waitFor()
      },
    })
  })
})
