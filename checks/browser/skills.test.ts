/** The library with a real git host: templates, skills and their assignments. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { type GitServer, startGitServer } from '@roost/test-support/git/index'
import type { Page } from 'playwright-core'
import { eventually, type Loose } from '../acceptance/platform.ts'
import { createAgent } from '../acceptance/steps.ts'
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
import { focusOn } from './focus.ts'

const name = 'qa-lib-scout'
let host: GitServer
let bench: Bench
before(async () => {
  host = await startGitServer()
  await host.commit('acme/lib', {
    'skills/invoices/SKILL.md': instruction(
      'Reads invoices and books them',
      '# Invoices\n\n1. Read the PDF\n',
    ),
    'skills/invoices/read.sh': { script: '#!/bin/sh\necho read\n' },
    'skills/invoices/passwd': { link: '/etc/passwd' },
    'skills/weekly-report/SKILL.md': instruction('A weekly report as this company likes it', '# Report\n'),
  })
  await host.tag('acme/lib', 'v1', { message: 'one' })
  await host.commit('acme/odd', {
    'template.yaml':
      'name: odd\ndisplay_name: Odd helper\ndescription: Declares keys that the platform does not know.\n' +
      'credentials: {env: [{name: LEDGER_TOKEN}]}\n' +
      "schedules:\n  - {name: Never, cron: '@daily', message: x}\n",
  })
  await host.commit('acme/helper', {
    'template.yaml':
      'name: helper\ndisplay_name: Helper of accounting\ndescription: Books invoices and asks when it is not sure.\n' +
      'tagline: Books are kept\nversion: "2"\nauthor: Acme\nresources: {cpu: "2", memory: 2g}\n' +
      'use_cases: [Invoices in the morning]\nskills: [invoices]\n' +
      'credentials: {env_file: [LEDGER_URL, LEDGER_TOKEN], config_files: [credentials/ledger.pem]}\n' +
      'credential_setup:\n  - {name: LEDGER_TOKEN, title: Token of the ledger, description: Made in its settings}\n' +
      "schedules:\n  - {name: Morning, cron: '0 7 * * 1-5', message: Book what came in}\n",
  })
  bench = await openBench({ env: { ROOST_GIT_BASE_URL: host.url } })
  await createAgent(bench.platform, name)
})
after(async () => {
  await bench?.[Symbol.asyncDispose]()
  await host?.[Symbol.asyncDispose]()
})
afterEach((context) => reportFailure(bench, context))

function instruction(description: string, body: string): string {
  return `---\ndescription: ${description}\nautomation: gated\nrequires: {binaries: [pdftotext], env: [LEDGER_URL]}\n---\n${body}`
}
const open = async (at: string): Promise<Tab> => {
  const tab = await bench.open()
  await tab.goto(at)
  return tab
}
const rows = async (): Promise<Loose[]> =>
  (await bench.platform.request('GET', `/api/agents/${name}/skills`)).json

describe('sources of skills', () => {
  const path = '/library?tab=skills'

  test('shows an unsupported URL at its field; adds and syncs a source', async () => {
    const tab = await open(path)
    const { page } = tab
    await page.getByRole('button', { name: 'Add source' }).click()
    await page.getByLabel('Name', { exact: false }).fill('company')
    await page.getByLabel('Repository').fill('https://example.org/acme/lib')
    await page.getByRole('combobox', { name: 'Track' }).click()
    await page.getByRole('option', { name: /Tag/ }).click()
    await page.getByLabel('Branch or tag').fill('v1')
    await page.getByRole('button', { name: 'Add and sync' }).click()
    const address = page.getByLabel('Repository')
    await page.locator('[aria-invalid=true]').waitFor()
    assert.equal(await address.getAttribute('aria-invalid'), 'true')
    await saveScreenshot(tab, 'skills-source-refused-light-desktop')
    await assertAccessible(tab, 'a refused source')
    await address.fill(`${host.url}/acme/lib`)
    await page.getByRole('button', { name: 'Add and sync' }).click()
    await page.getByRole('link', { name: 'invoices' }).waitFor()
    await page.getByText('shadows community').waitFor()
    await closeTab(tab)
  })

  test('names a moved tag with a next step', async () => {
    await host.commit('acme/lib', { 'skills/invoices/SKILL.md': '# Changed\n' })
    await host.tag('acme/lib', 'v1', { message: 'moved' })
    const tab = await open(path)
    const { page } = tab
    await page.getByRole('button', { name: 'Actions for company' }).click()
    await page.getByRole('menuitem', { name: 'Sync now' }).click()
    await page.getByText('tag v1 was moved').waitFor()
    await page.getByText('moved_tag', { exact: true }).first().waitFor()
    await page.getByRole('switch', { name: 'Enable source community' }).click()
    await page.getByText('shadows community').waitFor({ state: 'detached' })
    await page.getByRole('switch', { name: 'Enable source community' }).click()
    await page.getByText('shadows community').waitFor()
    await closeTab(tab)
  })

  test('has no axe violations and no overflow in both themes and widths', async () => {
    await reviewPage(bench, {
      name: 'skills-library',
      path,
      ready: async (page) => {
        await page.getByText('tag v1 was moved').waitFor()
        await page.getByRole('link', { name: 'invoices' }).waitFor()
      },
    })
  })
})

describe('a skill and its agents', () => {
  test('the page of a skill shows its content and files, and assigns it', async () => {
    const tab = await open('/library?tab=skills&q=invoi')
    const { page } = tab
    await page.getByRole('link', { name: 'invoices' }).click()
    await page.getByRole('heading', { name: 'Invoices', exact: true }).waitFor()
    await page.getByText('The symbolic link passwd was omitted').waitFor()
    await page.getByRole('combobox', { name: 'Agent to assign' }).click()
    await page.getByRole('option', { name }).click()
    await page.getByRole('button', { name: 'Assign', exact: true }).click()
    await page.getByRole('link', { name, exact: true }).waitFor()
    await eventually(rows, (all) => all.some((row) => row.delivery_status === 'injected'))
    await closeTab(tab)
    await reviewPage(bench, {
      name: 'skill',
      path: '/library?tab=skills&skill=invoices',
      ready: async (page) => {
        await page.getByRole('heading', { name: 'Invoices', exact: true }).waitFor()
        await page.getByRole('link', { name, exact: true }).waitFor()
      },
    })
  })

  test('an unknown skill is shown as not found', async () => {
    await reviewPage(bench, {
      name: 'skill-unknown',
      path: '/library?tab=skills&skill=never-was',
      ready: (page) => page.getByText('Skill not found').waitFor(),
    })
  })

  test('assigns several skills together; their delivery appears live', async () => {
    const tab = await open(`/agents/${name}?tab=skills`)
    const { page } = tab
    await page.getByRole('button', { name: 'Choose skills' }).click()
    await page.getByRole('checkbox', { name: /weekly-report/ }).click()
    await saveScreenshot(tab, 'skills-choose-light-desktop')
    await assertAccessible(tab, 'choosing skills')
    await page.getByRole('button', { name: 'Save' }).click()
    const row = page.getByRole('row', { name: /weekly-report/ })
    await row.getByText('Delivered', { exact: true }).waitFor()
    await page.getByRole('button', { name: /warnings? of invoices/ }).click()
    await page.getByText('The program pdftotext is missing in the agent').waitFor()
    await page.keyboard.press('Escape')
    await closeTab(tab)
    await reviewPage(bench, {
      name: 'agent-skills',
      path: `/agents/${name}?tab=skills`,
      ready: (page) => page.getByRole('row', { name: /weekly-report/ }).waitFor(),
    })
  })

  test('runs a playbook with input as a separate run', async () => {
    const path = `/agents/${name}?tab=playbooks`
    const ready = (page: Page) => page.getByRole('button', { name: 'Run weekly-report' }).waitFor()
    await reviewPage(bench, { name: 'agent-playbooks', path, ready })
    const tab = await open(path)
    const { page } = tab
    const run = page.getByRole('button', { name: 'Run weekly-report' })
    await run.press('Enter')
    await page.getByRole('dialog').getByLabel('Input').press('Escape')
    // Returned, although the field had taken the focus.
    await focusOn(run)
    await run.click()
    await page.getByRole('dialog').getByLabel('Input').fill('of last week')
    await page.getByRole('button', { name: 'Run playbook' }).click()
    await page.waitForURL(new RegExp(`/agents/${name}/executions/`))
    await page.getByText('of last week').first().waitFor()
    await closeTab(tab)
  })

  test('removes a skill when Undo has passed; names the 409 of a stopped agent', async () => {
    await bench.platform.request('POST', `/api/agents/${name}/stop`)
    const tab = await open(`/agents/${name}?tab=skills`)
    const { page } = tab
    await page.getByRole('button', { name: 'Remove weekly-report' }).click()
    await page.getByRole('row', { name: /weekly-report/ }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('row', { name: /weekly-report/ }).waitFor()
    await page.getByRole('button', { name: 'Deliver', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Deliver missing skills' }).click()
    await page.getByText('agent_stopped').waitFor()
    await saveScreenshot(tab, 'agent-skills-stopped-light-desktop')
    await assertAccessible(tab, 'a delivery to a stopped agent')
    await page.getByRole('button', { name: 'Start agent' }).first().click()
    await eventually(
      async () => (await bench.platform.request('GET', `/api/agents/${name}`)).json.status,
      (status) => status === 'running',
    )
    await closeTab(tab)
  })
})

describe('templates', () => {
  const path = '/library?tab=templates'

  test('an admin adds a template repository; its card shows the required credentials', async () => {
    const tab = await open(path)
    const { page } = tab
    await page.getByRole('button', { name: 'Template repositories' }).click()
    await page.getByLabel('Repositories', { exact: true }).fill(`${host.url}/acme/helper.git`)
    await page.getByLabel('Repositories', { exact: true }).press('Enter')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('link', { name: 'Helper of accounting' }).click()
    await page.getByText('Token of the ledger').waitFor()
    await page.getByRole('button', { name: 'Show .env skeleton' }).click()
    await page.getByText('LEDGER_TOKEN=').waitFor()
    await saveScreenshot(tab, 'template-details-light-desktop')
    await assertAccessible(tab, 'details of a template')
    await page.getByRole('button', { name: 'Create agent from this template' }).click()
    await page.getByRole('dialog', { name: 'Create agent' }).waitFor()
    await page.getByRole('combobox', { name: 'Template' }).getByText('Helper of accounting').waitFor()
    await closeTab(tab)
    await reviewPage(bench, {
      name: 'templates',
      path,
      ready: (page) => page.getByRole('link', { name: 'Helper of accounting' }).waitFor(),
    })
  })

  test('unknown keys of a template are shown after creating an agent, on its Info tab and in the library', async () => {
    const tab = await open(path)
    const { page } = tab
    await page.getByRole('button', { name: 'Use repository' }).click()
    await page.getByRole('textbox', { name: 'Repository' }).fill('acme/odd')
    await page.getByRole('button', { name: 'Continue' }).click()
    const dialog = page.getByRole('dialog', { name: 'Create agent' })
    await dialog.getByLabel('Name').fill('qa-lib-odd')
    await dialog.locator('button[type=submit]').click()
    const toast = page.getByRole('region', { name: /^Notifications/ })
    await toast.getByText('Ignored in template.yaml: credentials.env.').waitFor()
    await toast.getByText('Schedule Never was not created:').waitFor()
    await saveScreenshot(tab, 'template-warnings-created-light-desktop')
    await toast.getByRole('button', { name: 'Show template' }).click()
    const warnings = page.getByRole('list', { name: 'Template warnings' })
    await warnings.getByText('Unknown key "env" in credentials is ignored').waitFor()
    await saveScreenshot(tab, 'template-warnings-info-light-desktop')
    await assertAccessible(tab, 'warnings about the template of an agent')

    await bench.platform.request('PUT', '/api/settings/templates', {
      repositories: ['acme/helper', 'acme/odd'],
    })
    await tab.goto(path)
    await page.getByText('1 warning', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Odd helper' }).click()
    await warnings.getByText('Known keys: mcp_servers, env_file, config_files.').waitFor()
    await saveScreenshot(tab, 'template-warnings-library-light-desktop')
    await assertAccessible(tab, 'warnings about a template of the library')
    await closeTab(tab)
  })

  test('shows a repository without a template as an error at its field', async () => {
    const tab = await open(path)
    const { page } = tab
    await page.getByRole('button', { name: 'Use repository' }).click()
    await page.getByRole('textbox', { name: 'Repository' }).fill('nobody/nothing')
    await page.getByRole('button', { name: 'Continue' }).click()
    const dialog = page.getByRole('dialog', { name: 'Create agent' })
    await dialog.getByRole('combobox', { name: 'Template' }).getByText('github:nobody/nothing').waitFor()
    await dialog.getByLabel('Name').fill('qa-lib-nothing')
    await dialog.getByRole('button', { name: 'Create and start' }).click()
    await dialog.locator('[aria-invalid=true]').waitFor()
    await saveScreenshot(tab, 'template-refused-light-desktop')
    await assertAccessible(tab, 'a refused template')
    await closeTab(tab)
  })
})
