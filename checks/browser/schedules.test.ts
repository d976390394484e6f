/** Schedules: created, explained, fired manually and by webhook, with history. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, afterEach, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { eventually, type Loose } from '../acceptance/platform.ts'
import { createAgent, isOver, untilExecution } from '../acceptance/steps.ts'
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

const name = 'qa-schedules-page'
const idle = 'qa-schedules-none'
const minutely = 'qa-schedules-minutely'
const longName =
  'A schedule whose name goes on and on until it is as long as the name of one may ever become, or very nearly so'

describe('schedules', () => {
  let bench: Bench
  /** A schedule that fired and was then held: takes real minutes while other tests run. */
  let dueTwice: Promise<string>
  before(async () => {
    bench = await openBench()
    await Promise.all([
      ...[name, idle, minutely].map((each) => createAgent(bench.platform, each)),
      bench.platform.startBeside('server/src/start/scheduler.ts'),
    ])
    for (const each of [name, minutely])
      await bench.platform.request('PUT', `/api/agents/${each}/autonomy`, { enabled: true })
    dueTwice = fireAndHold()
    // The test that awaits it reports errors.
    dueTwice.catch(() => {})
  })
  after(async () => {
    await bench?.[Symbol.asyncDispose]()
  })
  afterEach((context) => reportFailure(bench, context))

  const tabOf = (agent: string, search = '') => `/agents/${agent}?tab=schedules${search}`
  const rowOf = (page: Page, title: string) =>
    page.getByRole('grid', { name: 'Schedules' }).getByRole('row').filter({ hasText: title })
  const open = async (path: string): Promise<Tab> => {
    const tab = await bench.open()
    await tab.goto(path)
    return tab
  }
  const apiOf = (agent: string) => (method: string, path: string, body?: unknown) =>
    bench.platform.request(method, `/api/agents/${agent}/schedules${path}`, body)
  const api = apiOf(name)
  const createSchedule = async (fields: object, agent = name): Promise<Loose> => {
    const reply = await apiOf(agent)('POST', '', {
      name: 'nightly',
      cron_expression: '0 3 * * *',
      message: 'Sweep. [[reply:swept]]',
      ...fields,
    })
    assert.equal(reply.status, 201, reply.text)
    return reply.json
  }
  const fireAndHold = async (): Promise<string> => {
    const { id } = await createSchedule({ name: 'every minute', cron_expression: '* * * * *' }, minutely)
    const isFired = (row: Loose) => row.outcome === 'fired'
    const firesOf = async (): Promise<Loose[]> => (await apiOf(minutely)('GET', `/${id}/fires`)).json
    await eventually(firesOf, (rows) => rows.some(isFired), 130_000)
    await bench.platform.request('PUT', `/api/agents/${minutely}/autonomy`, { enabled: false })
    await eventually(firesOf, (rows) => rows.some((row) => !isFired(row)), 130_000)
    await apiOf(minutely)('POST', `/${id}/disable`)
    return id
  }

  test('explains schedules when there are none', async () => {
    await reviewPage(bench, {
      name: 'schedules-empty',
      path: tabOf(idle),
      ready: (page) => page.getByText('No schedules yet').waitFor(),
    })
  })

  test('creates a schedule with a description of its times; platform errors appear at their fields', async () => {
    const tab = await open(tabOf(name))
    const { page } = tab
    await page.getByRole('button', { name: 'New schedule' }).click()
    const form = page.getByRole('dialog', { name: 'New schedule' })
    await form.getByLabel('Name').fill('Morning report')
    await form.getByRole('textbox', { name: 'Message' }).fill('Report. [[reply:reported]]')
    await form.getByText('At 09:00, every day', { exact: true }).waitFor()
    await form.getByRole('button', { name: 'Weekdays' }).click()
    await form.getByText('At 09:00, Monday to Friday').waitFor()
    assert.equal(await form.getByRole('listitem').filter({ hasText: /09:00/ }).count(), 5)
    await form.getByRole('combobox', { name: 'Time zone' }).click()
    await page.getByPlaceholder('Search time zones').fill('Asia/Kolkata')
    await page.getByPlaceholder('Search time zones').press('Enter')
    await form
      .getByText(/09:00 \(schedule time zone\)/)
      .first()
      .waitFor()
    await form.getByLabel('Cron expression').fill('61 9 * * *')
    await form.getByText('“61 9 * * *” is not a valid cron expression').waitFor()
    await form.getByText('Limits, retries, delivery, validation').click()
    await form.getByRole('spinbutton', { name: 'Timeout' }).fill('7200000')
    await form.getByRole('button', { name: 'Create schedule' }).click()
    await form.getByText(/"61 9 \* \* \*" is not a valid cron expression/).waitFor()
    await form.getByLabel('Cron expression').fill('30 9 * * MON-FRI')
    await form.getByRole('button', { name: 'Create schedule' }).click()
    await form.getByText(/is above the agent's execution timeout/).waitFor()
    await saveScreenshot(tab, 'schedules-form-light-desktop')
    await assertAccessible(tab, 'the form of a schedule')
    await form.getByRole('spinbutton', { name: 'Timeout' }).fill('')
    await form.getByRole('button', { name: 'Create schedule' }).click()
    await page.getByRole('heading', { name: 'Morning report' }).waitFor()
    await page.getByText('At 09:30, Monday to Friday, Asia/Kolkata').waitFor()
    await page
      .getByText(/09:30 \(schedule time zone\)/)
      .first()
      .waitFor()
    const [stored] = (await api('GET', '')).json
    assert.deepEqual(
      [stored.cron_expression, stored.timezone, stored.timeout_seconds],
      ['30 9 * * MON-FRI', 'Asia/Kolkata', null],
    )

    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    const edit = page.getByRole('dialog', { name: 'Edit “Morning report”' })
    await edit.getByLabel('Name').fill('Evening report')
    await edit.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'Evening report' }).waitFor()
    await closeTab(tab)
  })

  test('switches optimistically and rolls back when refused', async () => {
    await createSchedule({ name: 'switched' })
    const tab = await open(tabOf(name))
    const { page } = tab
    const toggle = rowOf(page, 'switched').getByRole('switch')
    await toggle.click()
    await rowOf(page, 'switched').getByText('Disabled').waitFor()
    await eventually(
      async () => (await api('GET', '')).json.find((row: Loose) => row.name === 'switched'),
      (row) => row.enabled === false,
    )
    await page.route('**/schedules/*/enable', (route) => route.fulfill({ status: 503, body: '{}' }))
    await toggle.click()
    await page.waitForFunction(
      () =>
        document.querySelectorAll('[role=switch][aria-label="Enable switched"][aria-checked=false]')
          .length === 1,
    )
    await closeTab(tab)
  })

  test('triggers manually and shows the run, statistics and history', async () => {
    const { id } = await createSchedule({ name: 'by hand', enabled: false })
    const tab = await open(tabOf(name, `&schedule=${id}`))
    const { page } = tab
    await page.getByText('No runs in this time range.').waitFor()
    await page.getByRole('button', { name: 'Trigger now' }).click()
    await page.getByText('“by hand” triggered.', { exact: true }).waitFor()
    const [run] = await eventually(
      async () => (await api('GET', `/${id}/executions`)).json,
      (rows) => rows.length === 1,
    )
    await untilExecution(bench.platform, name, run.id, isOver)
    // Updated through the socket.
    await page.getByText('Duration, 95th percentile').waitFor()
    await page.getByRole('region', { name: 'by hand' }).getByRole('link', { name: 'Runs' }).click()
    await page.getByRole('grid', { name: 'Runs of the schedule' }).getByText('Succeeded').waitFor()
    await page.getByRole('link', { name: 'Due times', exact: true }).click()
    await page.getByText('No due times yet').waitFor()
    await closeTab(tab)
  })

  test('creates a webhook; its examples work, unsigned and signed; rotates and revokes it', async () => {
    const { id } = await createSchedule({ name: 'from outside' })
    const tab = await open(tabOf(name, `&schedule=${id}&part=webhook`))
    const { page } = tab
    await page.getByRole('button', { name: 'Create webhook' }).click()
    await page.getByText('never', { exact: true }).waitFor()
    const example = async () =>
      (await page.getByRole('group', { name: /^Code, (Call|Signed call)$/ }).innerText()).trim()
    assert.equal((await runExample(await example())).status, 'triggered')
    await page.getByText('never', { exact: true }).waitFor({ state: 'detached' })

    await page.getByRole('button', { name: 'Require signature' }).click()
    const shown = page.getByRole('dialog', { name: 'Signing secret' })
    const secret = (await shown.locator('code').first().innerText()).trim()
    await saveScreenshot(tab, 'webhook-secret-light-desktop')
    await shown.getByText('I have stored it').click()
    await shown.getByRole('button', { name: 'Done' }).click()
    await page.getByText('Calls need a signature of time and body').waitFor()
    assert.equal(await page.getByText(secret).count(), 0)
    assert.equal((await runExample(await example(), secret, 'signed')).status, 'triggered')
    assert.equal((await runExample(await example(), 'wrong', 'signed again')).error, 'invalid_signature')

    await page.getByRole('button', { name: 'Rotate…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate webhook' }).click()
    await page.getByText('The URL alone is sufficient').waitFor()
    await page.getByRole('button', { name: 'Revoke…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke webhook' }).click()
    await page.getByText('No webhook yet').waitFor()
    await closeTab(tab)
  })

  test('deletes a schedule immediately, with Undo', async () => {
    await createSchedule({ name: 'passing' })
    const tab = await open(tabOf(name))
    const { page } = tab
    const remove = async () => {
      await rowOf(page, 'passing').getByRole('button', { name: 'Actions for passing' }).click()
      await page.getByRole('menuitem', { name: 'Delete' }).click()
      await rowOf(page, 'passing').waitFor({ state: 'detached' })
    }
    await remove()
    await page.getByRole('button', { name: 'Undo' }).click()
    await rowOf(page, 'passing').waitFor()
    await remove()
    await page.getByRole('link', { name: 'Files & tools' }).click()
    await eventually(
      async () => (await api('GET', '')).json,
      (rows) => rows.every((row: Loose) => row.name !== 'passing'),
    )
    await closeTab(tab)
  })

  test('has no axe violations and no overflow in both themes and widths', async () => {
    const { id } = await createSchedule({
      name: longName,
      description: 'Keeps the house in order.',
      timezone: 'Asia/Tokyo',
    })
    const { execution_id } = (await api('POST', `/${id}/trigger`)).json
    await untilExecution(bench.platform, name, execution_id, isOver)
    await reviewPage(bench, {
      name: 'schedules',
      path: tabOf(name),
      ready: (page) => rowOf(page, 'A schedule whose name').waitFor(),
    })
    await reviewPage(bench, {
      name: 'schedule-one',
      path: tabOf(name, `&schedule=${id}`),
      ready: (page) => page.getByText('Duration, 95th percentile').waitFor(),
    })
    await api('POST', `/${id}/webhook`)
    await reviewPage(bench, {
      name: 'schedule-webhook',
      path: tabOf(name, `&schedule=${id}&part=webhook`),
      ready: (page) => page.getByText('Last called').waitFor(),
    })
  })

  test('explains why a due time did not fire, and filters such due times', async () => {
    const id = await dueTwice
    const tab = await open(tabOf(minutely, `&schedule=${id}`))
    const { page } = tab
    await page.getByText(/Held .*: The agent’s autonomy was off/).waitFor()
    await page.getByRole('link', { name: 'Due times', exact: true }).click()
    const times = page.getByRole('grid', { name: 'Due times' })
    await times.getByText('Fired', { exact: true }).first().waitFor()
    await page.getByRole('radio', { name: 'Not fired' }).click()
    await page.waitForURL(/status=not_run/)
    await times.getByText('The agent’s autonomy was off').first().waitFor()
    assert.equal(await times.getByText('Fired', { exact: true }).count(), 0)
    await page.goBack()
    await closeTab(tab)
    await reviewPage(bench, {
      name: 'schedule-due',
      path: tabOf(minutely, `&schedule=${id}&part=due`),
      ready: (page) => page.getByText('The agent’s autonomy was off').first().waitFor(),
    })
  })

  test('the page of all schedules leads to the form of the chosen agent', async () => {
    const tab = await open('/schedules')
    const { page } = tab
    await page.getByRole('button', { name: 'New schedule' }).click()
    const choice = page.getByRole('dialog', { name: 'New schedule' })
    await choice.getByRole('combobox', { name: 'Agent' }).waitFor()
    await assertAccessible(tab, 'the choice of an agent')
    assert.equal(await choice.getByRole('button', { name: 'Continue' }).isDisabled(), true)
    await choice.getByRole('combobox', { name: 'Agent' }).click()
    await page.getByRole('option', { name: idle }).click()
    await choice.getByRole('button', { name: 'Continue' }).click()
    await page.waitForURL(new RegExp(`/agents/${idle}\\?tab=schedules`))
    await page.getByRole('dialog', { name: 'New schedule' }).getByRole('textbox', { name: 'Name' }).waitFor()
    await closeTab(tab)
  })

  test('admins see, pause and resume all schedules, and restore deleted ones', async () => {
    const { id } = await createSchedule({ name: 'deleted too soon' })
    assert.equal((await api('DELETE', `/${id}`)).status, 204)
    await createSchedule({ name: 'of the fleet' })
    const tab = await open('/schedules')
    const { page } = tab
    const fleetRow = (title: string) =>
      page.getByRole('grid', { name: 'Schedules of all agents' }).getByRole('row').filter({ hasText: title })
    await fleetRow('of the fleet').getByText(name).waitFor()
    await page.getByRole('button', { name: 'Pause all…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Pause all', exact: true }).click()
    await fleetRow('of the fleet').getByText('Disabled').waitFor()
    await page.getByRole('button', { name: 'Resume all' }).click()
    await fleetRow('of the fleet').getByText(/^in /).waitFor()
    const toggle = fleetRow('of the fleet').getByRole('switch', {
      name: `Enable of the fleet of ${name}`,
    })
    await toggle.click()
    await fleetRow('of the fleet').getByText('Disabled').waitFor()
    await eventually(
      async () => (await api('GET', '')).json.find((row: Loose) => row.name === 'of the fleet'),
      (row) => row.enabled === false,
    )
    await toggle.click()
    await fleetRow('of the fleet').getByText(/^in /).waitFor()
    await page.getByRole('button', { name: 'Restore deleted too soon' }).click()
    await fleetRow('deleted too soon').getByText('Disabled').waitFor()
    await page.getByRole('searchbox', { name: 'Search schedules' }).fill('too soon')
    await page.waitForURL(/q=too/)
    await fleetRow('of the fleet').waitFor({ state: 'detached' })
    await closeTab(tab)
    await api('DELETE', `/${id}`)
    await reviewPage(bench, {
      name: 'schedules-fleet',
      path: '/schedules',
      ready: (opened) => opened.getByRole('list', { name: 'Deleted schedules' }).waitFor(),
    })
  })
})

/** Runs a pasted example and returns the platform's reply; another text makes it a different call. */
async function runExample(example: string, secret = '', text = 'Release 1.4 is out'): Promise<Loose> {
  const script = example.replace('curl ', 'curl -s ').replace('Release 1.4 is out', text)
  const { stdout } = await promisify(execFile)('bash', ['-c', script], {
    env: { ...process.env, WEBHOOK_SECRET: secret },
  })
  return JSON.parse(stdout)
}
