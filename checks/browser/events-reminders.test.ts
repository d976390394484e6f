/** Event subscriptions and reminders of an agent. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { eventually, type Loose } from '../acceptance/platform.ts'
import { createAgent } from '../acceptance/steps.ts'
import { assertAccessible, type Bench, closeTab, openBench, reviewPage, type Tab } from './bench.ts'
import { reportFailure } from './evidence.ts'

const name = 'qa-events-page'
const other = 'qa-events-source'

describe('events and reminders', () => {
  let bench: Bench
  before(async () => {
    bench = await openBench()
    await createAgent(bench.platform, name)
    await createAgent(bench.platform, other)
  })
  after(async () => {
    await bench?.[Symbol.asyncDispose]()
  })
  afterEach((context) => reportFailure(bench, context))

  const open = async (tab: string): Promise<Tab> => {
    const opened = await bench.open()
    await opened.goto(`/agents/${name}?tab=${tab}`)
    return opened
  }
  const api = async (method: string, path: string, body?: unknown): Promise<Loose> =>
    (await bench.platform.request(method, `/api/agents/${name}${path}`, body)).json

  test('the empty pages explain events and reminders', async () => {
    await reviewPage(bench, {
      name: 'events-empty',
      path: `/agents/${name}?tab=events`,
      ready: (page) => page.getByText('The agent emits events with its tool').waitFor(),
    })
    await reviewPage(bench, {
      name: 'reminders-empty',
      path: `/agents/${name}?tab=reminders`,
      ready: (page) => page.getByText('No pending reminders').waitFor(),
    })
  })

  test('creates a subscription, shows errors at their fields, and an event triggers the agent', async () => {
    const tab = await open('events')
    const { page } = tab
    await page.getByRole('button', { name: 'New subscription' }).click()
    const form = page.getByRole('dialog', { name: 'New subscription' })
    await form.getByLabel('Event').fill('tests failed')
    await form
      .getByRole('textbox', { name: 'Message' })
      .fill('Look into {{payload.branch}}. [[reply:looked]]')
    await form.getByRole('button', { name: 'Subscribe' }).click()
    await page.waitForFunction(() => document.querySelector('[name=event_type][aria-invalid=true]'))
    await assertAccessible(tab, 'the form of a subscription')
    await form.getByLabel('Event').fill('tests.failed')
    await form.getByRole('button', { name: 'Subscribe' }).click()
    const list = page.getByRole('grid', { name: 'Event subscriptions' })
    await list.getByText('tests.failed', { exact: true }).waitFor()

    await page.getByRole('button', { name: 'Emit event…' }).click()
    const emit = page.getByRole('dialog', { name: `Emit event as ${name}` })
    await emit.getByRole('textbox', { name: 'Event' }).fill('tests.failed')
    await emit.getByLabel('Payload').fill('[1]')
    await emit.getByRole('button', { name: 'Emit event', exact: true }).click()
    await emit.getByText('The payload must be empty or a JSON object.').waitFor()
    await emit.getByLabel('Payload').fill('{"branch": "main"}')
    await emit.getByRole('button', { name: 'Emit event', exact: true }).click()
    const log = page.getByRole('grid', { name: 'Events', exact: true })
    await log.getByText('1 agent').waitFor()
    await log.getByText('tests.failed').click()
    const sheet = page.getByRole('dialog', { name: 'tests.failed' })
    await sheet.getByText('"main"').waitFor()
    await sheet.getByRole('link', { name: 'Open run' }).click()
    await page.getByRole('heading', { name: 'Answer' }).waitFor()
    await closeTab(tab)
  })

  test('disables a subscription optimistically and deletes it with Undo', async () => {
    const tab = await open('events')
    const { page } = tab
    const list = page.getByRole('grid', { name: 'Event subscriptions' })
    await list.getByRole('switch').click()
    await eventually(
      () => api('GET', '/event-subscriptions'),
      ({ subscriptions }) => subscriptions[0].enabled === false,
    )
    await list.getByRole('button', { name: 'Actions for tests.failed' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByText('No event subscriptions').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await list.getByText('tests.failed', { exact: true }).waitFor()
    await closeTab(tab)
    await reviewPage(bench, {
      name: 'events',
      path: `/agents/${name}?tab=events`,
      ready: (page) => page.getByRole('grid', { name: 'Events', exact: true }).getByText('1 agent').waitFor(),
    })
  })

  test('creates a reminder in the user’s time zone and cancels it', async () => {
    const tab = await open('reminders')
    const { page } = tab
    await page.getByRole('button', { name: 'Create reminder' }).click()
    const form = page.getByRole('dialog', { name: 'Create reminder' })
    await form.getByRole('textbox', { name: 'Message' }).fill('Water the plants')
    const at = new Date(Date.now() + 3 * 3_600_000)
    // The test browser's time zone is Berlin.
    const local = at.toLocaleString('sv-SE', { timeZone: 'Europe/Berlin' }).replace(' ', 'T').slice(0, 16)
    await form.getByLabel('Time').fill(local)
    await form.getByRole('button', { name: 'Create reminder' }).click()
    const list = page.getByRole('grid', { name: 'Reminders' })
    await list.getByText('Water the plants').waitFor()
    const [stored] = await api('GET', '/reminders')
    assert.equal(stored.fire_at.slice(0, 16), at.toISOString().slice(0, 16))
    await reviewPage(bench, {
      name: 'reminders',
      path: `/agents/${name}?tab=reminders`,
      ready: (opened) => opened.getByText('Water the plants').waitFor(),
    })
    await list.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('No pending reminders').waitFor()
    await page.getByRole('link', { name: 'Files & tools' }).click()
    await eventually(
      () => api('GET', '/reminders?status=all'),
      ([reminder]) => reminder.status === 'cancelled',
    )
    await closeTab(tab)
  })
})
