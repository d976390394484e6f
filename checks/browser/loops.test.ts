/** Loops: started, watched run by run, stopped and explained. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
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
import { gateOf } from './gates.ts'

const name = 'qa-loops-page'
const idle = 'qa-loops-none'
const patienceMs = 90_000

describe('loops', () => {
  let bench: Bench
  before(async () => {
    bench = await openBench()
    await createAgent(bench.platform, name)
    await createAgent(bench.platform, idle)
    await bench.platform.startBeside('server/src/start/scheduler.ts')
  })
  after(async () => {
    await bench?.[Symbol.asyncDispose]()
  })
  afterEach((context) => reportFailure(bench, context))

  const tabOf = (agent: string, search = '') => `/agents/${agent}?tab=loops${search}`
  const open = async (path: string): Promise<Tab> => {
    const tab = await bench.open()
    await tab.goto(path)
    return tab
  }
  const started = async (body: object): Promise<string> => {
    const reply = await bench.platform.request('POST', `/api/agents/${name}/loops`, body)
    assert.equal(reply.status, 202, reply.text)
    return reply.json.loop_id
  }
  const ended = (id: string): Promise<Loose> =>
    eventually(
      async () => (await bench.platform.request('GET', `/api/loops/${id}`)).json,
      (loop) => loop.completed_at !== null,
      patienceMs,
    )

  test('explains loops when there are none', async () => {
    await reviewPage(bench, {
      name: 'loops-empty',
      path: tabOf(idle),
      ready: (page) => page.getByText('No loops yet').waitFor(),
    })
  })

  test('starts a loop, shows each run, and ends at the stop phrase', async () => {
    const tab = await open(tabOf(name))
    const { page } = tab
    // An empty list has a second button for the same dialog.
    await page.getByRole('button', { name: 'Start loop' }).first().click()
    const form = page.getByRole('dialog', { name: 'Start loop' })
    await form.getByRole('textbox', { name: 'Message' }).fill('Step {{run}}. [[reply:step {{run}} is made]]')
    await form.getByLabel('Stop after equal replies').fill('1')
    await form.getByLabel('Deadline').fill('20')
    await form.getByLabel('Run timeout').fill('9999999')
    await form.getByRole('button', { name: 'Start loop' }).click()
    await form.getByText('must be 0 or at least 2').waitFor()
    await form.getByLabel('Stop after equal replies').fill('3')
    await form.getByLabel('Run timeout').fill('30')
    await form.getByRole('button', { name: 'Start loop' }).click()
    // The platform's own validation, shown at its field.
    await form.getByText('max_duration_seconds (20) is below timeout_per_run (30).').waitFor()
    await page.waitForFunction(() => document.querySelector('[name=max_duration_seconds][aria-invalid=true]'))
    await saveScreenshot(tab, 'loops-form-light-desktop')
    await assertAccessible(tab, 'the form of a loop')
    await form.getByLabel('Run timeout').fill('')
    await form.getByLabel('Deadline').fill('')
    await form.getByLabel('Budget').fill('2.5')
    await form.getByLabel('Stop phrase').fill('step 2 is made')
    await form.getByRole('button', { name: 'Start loop' }).click()
    await page.waitForURL(/loop=loop_/)
    const runs = page.getByRole('grid', { name: 'Runs of the loop' })
    await runs.getByText('step 1 is made').waitFor()
    await page.getByText('A reply contained the stop phrase “step 2 is made”.').waitFor()
    await page.getByText('2 of 5 runs').waitFor()
    await page.getByText(/\$[\d.]+ of \$2.50/).waitFor()
    await runs.getByText('Run 2').click()
    await page.waitForURL(/\/executions\//)
    await page.getByRole('heading', { name: 'Answer' }).waitFor()
    await closeTab(tab)
  })

  test('stops after the current run and shows the reason', async () => {
    const gate = gateOf(bench.platform, name, 'loop')
    const id = await started({
      message: `Wait {{run}}. ${gate.directive} [[reply:waited]]`,
      max_runs: 50,
    })
    const tab = await open(tabOf(name, `&loop=${id}`))
    const { page } = tab
    await page.getByText('Running', { exact: true }).first().waitFor()
    await page.getByRole('button', { name: 'Stop loop' }).click()
    await page.getByText('Stopping after this run…').waitFor()
    await gate.open()
    await page.getByText('Stopped by a user.').waitFor()
    assert.ok((await ended(id)).runs_completed < 50)
    await page.getByRole('link', { name: 'All loops' }).click()
    await page.getByRole('grid', { name: 'Loops' }).getByText('Stopped by a user.').waitFor()
    await closeTab(tab)
  })

  test('has no axe violations and no overflow in both themes and widths', async () => {
    const failed = await started({
      message: 'Go through every file of the repository and mend what is broken in it. [[fail]]',
      max_runs: 3,
      max_duration_seconds: 7200,
      max_cost_usd: 5,
    })
    await ended(failed)
    await reviewPage(bench, {
      name: 'loops',
      path: tabOf(name),
      ready: (page) => page.getByRole('grid', { name: 'Loops' }).getByText('Stopped by a user.').waitFor(),
    })
    await reviewPage(bench, {
      name: 'loop-one',
      path: tabOf(name, `&loop=${failed}`),
      ready: (page) => page.getByRole('heading', { name: 'Stop conditions' }).waitFor(),
    })
  })
})
