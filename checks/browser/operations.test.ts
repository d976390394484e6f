/** Notifications, reports and health: the tabs beside the questions and the list of agents. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { eventually, type Loose } from '../acceptance/platform.ts'
import { createAgent, docker } from '../acceptance/steps.ts'
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

const name = 'qa-operations'
let bench: Bench
before(async () => {
  bench = await openBench()
  await createAgent(bench.platform, name)
})
after(async () => {
  await bench?.[Symbol.asyncDispose]()
})
afterEach((context) => reportFailure(bench, context))

const open = async (at: string): Promise<Tab> => {
  const tab = await bench.open()
  await tab.goto(at)
  return tab
}

describe('beside the questions and the agents', () => {
  test('notifications are counted, acknowledged, and dismissed with Undo', async () => {
    const notify = async (fields: object) => {
      const body = { notification_type: 'info', agent_name: name, ...fields }
      const reply = await bench.platform.request('POST', '/api/notifications', body)
      assert.equal(reply.status, 201, reply.text)
      return reply.json.id
    }
    await reviewPage(bench, {
      name: 'notifications-empty',
      path: '/inbox?tab=notifications',
      ready: (page) => page.getByText('No new notifications').waitFor(),
    })
    const tab = await open('/inbox?tab=notifications')
    const { page } = tab
    const list = page.getByRole('list', { name: 'List of notifications' })
    const stateOf = async (id: string) =>
      (await bench.platform.request('GET', '/api/notifications')).json.notifications.find(
        (row: Loose) => row.id === id,
      )?.status
    await page.getByText('No new notifications').waitFor()
    const read = await notify({ title: 'The index is built', message: 'It took **40 minutes**.' })
    const dismissed = await notify({
      title: 'The disk fills up',
      notification_type: 'alert',
      priority: 'urgent',
    })
    await list.getByText('40 minutes').waitFor()
    await page.getByRole('link', { name: 'Notifications 2', exact: true }).waitFor()
    const { pending } = (await bench.platform.request('GET', '/api/operator-queue/stats')).json
    await page.getByRole('link', { name: `Inbox ${pending + 2} waiting`, exact: true }).waitFor()
    await reviewPage(bench, {
      name: 'notifications',
      path: '/inbox?tab=notifications',
      ready: (shown) => shown.getByText('40 minutes').waitFor(),
    })
    await page.getByRole('button', { name: 'Acknowledge “The index is built”' }).click()
    await list.getByText('The index is built').waitFor({ state: 'detached' })
    assert.equal(await stateOf(read), 'acknowledged')
    await page.getByRole('button', { name: 'Dismiss “The disk fills up”' }).click()
    await page.getByText('No new notifications').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await list.getByText('The disk fills up').waitFor()
    await page.getByRole('button', { name: 'Dismiss all…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Dismiss all', exact: true }).click()
    await page.getByText('No new notifications').waitFor()
    await eventually(
      () => stateOf(dismissed),
      (status) => status === 'dismissed',
    )
    await page.getByRole('button', { name: 'Show all notifications' }).click()
    await list.getByText('The disk fills up').waitFor()
    assert.match(page.url(), /status=all/)
    await page.route('**/api/notifications?*', (route) =>
      route.fulfill({ status: 500, json: { error: 'internal_error', detail: 'It broke.' } }),
    )
    await page.reload()
    await page.getByText('Could not load the notifications').waitFor()
    await assertAccessible(tab, 'notifications that failed')
    await tab.context.close()
  })

  test('lists reports and shows each in its format', async () => {
    await reviewPage(bench, {
      name: 'reports-empty',
      path: '/inbox?tab=reports',
      ready: (page) => page.getByText('No reports yet').waitFor(),
    })
    const key = await docker('exec', bench.platform.containerOf(name), 'printenv', 'ROOST_AGENT_KEY')
    const hand = async (fields: object) => {
      const body = { report_type: 'qa.nightly', ...fields }
      const reply = await bench.platform.request('POST', `/api/agents/${name}/reports`, body, { token: key })
      assert.equal(reply.status, 201, reply.text)
      return reply.json.id
    }
    const rows = Array.from({ length: 3000 }, (_, index) => ({ name: `case-${index}`, runs: index }))
    const kinds = [
      { display_hint: 'table', title: 'Cases of the night', payload: rows, visible: 'case-0' },
      { display_hint: 'kpi', title: 'Figures', payload: { open_tickets: 12 }, visible: 'Open tickets' },
      { display_hint: 'markdown', title: 'In words', payload: '## What was **done**', visible: 'What was' },
      {
        display_hint: 'timeline',
        title: 'Hour by hour',
        payload: [{ at: '2026-01-01T03:00:00Z', title: 'Woken up', text: 'by the clock' }],
        visible: 'Woken up',
      },
      {
        display_hint: 'table',
        title: 'No table',
        payload: 'only words',
        visible: 'The payload does not match the format “table”',
      },
    ]
    const ids: string[] = []
    for (const { visible: _visible, ...report } of kinds) ids.push(await hand(report))
    const tab = await open('/inbox?tab=reports')
    const { page } = tab
    for (const { title, visible } of kinds) {
      await page.getByRole('link', { name: title }).click()
      await page.getByRole('heading', { name: title }).waitFor()
      await page.getByText(visible).first().waitFor()
      await page.getByRole('link', { name: 'All reports' }).click()
    }
    await page.getByRole('combobox', { name: 'Report type' }).click()
    await page.getByRole('option', { name: /qa\.nightly/ }).click()
    await page.waitForURL(/type=qa\.nightly/)
    await page.getByRole('link', { name: 'Cases of the night' }).click()
    await page.getByText('case-0').waitFor()
    assert.ok((await page.getByRole('row').count()) < 80)
    await tab.goto(`/agents/${name}?tab=reports`)
    await page.getByRole('link', { name: 'In words' }).click()
    await page.getByRole('heading', { name: 'In words' }).waitFor()
    await tab.goto('/inbox?tab=reports&report=nothing')
    await page.getByText('Report not found').waitFor()
    await closeTab(tab)
    const reviews = [
      ['reports', '/inbox?tab=reports', 'Hour by hour'],
      ...kinds.slice(0, 4).map((kind, at) => {
        return [`report-${kind.display_hint}`, `/inbox?tab=reports&report=${ids[at]}`, kind.visible] as const
      }),
    ] as const
    for (const [picture, at, words] of reviews)
      await reviewPage(bench, {
        name: picture,
        path: at,
        ready: (page) => page.getByText(words).first().waitFor(),
      })
  })

  test('lists agent health, worst first, and acknowledges an alert', async () => {
    await reviewPage(bench, {
      name: 'fleet-health',
      path: '/agents?tab=health',
      ready: async (page) => {
        await page.getByRole('grid', { name: 'Agent health' }).getByRole('row').nth(1).waitFor()
        const costs = page.getByRole('region', { name: 'Costs' })
        await costs.getByText('By model').waitFor()
        // The amount beside the limit is the one of today, like its percentage.
        const today = costs.getByText('Today (UTC), of the daily alert limit').locator('..')
        await today.getByText(/^<?\$[\d.]+ of \$50\.00, <?\d+%$/).waitFor()
        await page.getByRole('region', { name: 'Model credentials' }).getByText(name).waitFor()
        await page.getByRole('grid', { name: 'Replicas' }).getByText('This one').waitFor()
      },
    })
    const tab = await bench.open()
    const { page } = tab
    const alert = {
      id: 'alert-1',
      severity: 'critical',
      type: 'agent_unhealthy',
      agent_name: name,
      title: 'It restarts again and again',
      message: 'Look at its log.',
      status: 'pending',
      created_at: new Date().toISOString(),
      acknowledged_at: null,
    }
    let alerts = [alert]
    await page.route('**/api/ops/alerts?*', (route) =>
      route.fulfill({ json: { timestamp: alert.created_at, alerts, count: alerts.length } }),
    )
    await page.route('**/api/ops/alerts/alert-1/acknowledge', (route) => {
      alerts = []
      return route.fulfill({ json: { ...alert, status: 'acknowledged' } })
    })
    await tab.goto('/agents?tab=health')
    await page.getByText('Look at its log.').waitFor()
    await saveScreenshot(tab, 'fleet-health-alert-light-desktop')
    await assertAccessible(tab, 'an alert')
    await page.getByRole('button', { name: /^Acknowledge “It restarts/ }).click()
    await page.getByText('No pending alerts.').waitFor()
    await page.route('**/api/monitoring/status', (route) =>
      route.fulfill({ status: 500, json: { error: 'internal_error', detail: 'It broke.' } }),
    )
    await page.reload()
    await page.getByText('Could not load the health of the agents').waitFor()
    await assertAccessible(tab, 'health that failed')
    await tab.context.close()
  })

  test('lists the replicas with their leases, and names versions that differ', async () => {
    const tab = await bench.open()
    const { page } = tab
    await tab.goto('/agents?tab=health')
    const replicas = page.getByRole('region', { name: 'Replicas' })
    await replicas.getByText('This one').waitFor()
    await replicas.getByText(/^\d+ leases?$/).click()
    await replicas.getByRole('grid', { name: 'Leases' }).getByText('agents.repair').first().waitFor()
    await replicas.scrollIntoViewIfNeeded()
    await saveScreenshot(tab, 'replicas-light-desktop')
    await assertAccessible(tab, 'the replicas')
    const found = (await bench.platform.request('GET', '/api/ops/replicas')).json
    const [first] = found.replicas
    const old = { ...first, id: 'old', version: '0.0.9', state: 'silent', is_current: false, leases: [] }
    await page.route('**/api/ops/replicas', (route) =>
      route.fulfill({ json: { ...found, versions: ['0.0.9', first.version], replicas: [first, old] } }),
    )
    await replicas.getByText('Versions differ').waitFor()
    await replicas.getByText('Silent').waitFor()
    await saveScreenshot(tab, 'replicas-versions-light-desktop')
    await assertAccessible(tab, 'replicas of two versions')
    await page.route('**/api/ops/replicas', (route) =>
      route.fulfill({ status: 500, json: { error: 'internal_error', detail: 'It broke.' } }),
    )
    await page.reload()
    await page.getByText('Could not load the replicas').waitFor()
    await assertAccessible(tab, 'replicas that failed')
    await tab.context.close()
  })

  // Late in the file, because it stops the agent.
  test('an emergency stop requires typed words, stops the fleet and reports the result', async () => {
    const tab = await open('/agents?tab=health')
    const { page } = tab
    await page.getByRole('button', { name: 'Emergency stop…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Stop everything?' })
    const confirm = dialog.getByRole('button', { name: 'Stop everything' })
    assert.equal(await confirm.isDisabled(), true)
    await saveScreenshot(tab, 'emergency-stop-light-desktop')
    await assertAccessible(tab, 'an emergency stop')
    await dialog.getByRole('textbox').fill('stop everything')
    await confirm.click()
    await dialog.waitFor({ state: 'detached' })
    await eventually(
      async () => (await bench.platform.request('GET', `/api/agents/${name}`)).json.status,
      (status) => status === 'stopped',
    )
    await page.getByRole('grid', { name: 'Agent health' }).getByText('stopped').nth(1).waitFor()
    await saveScreenshot(tab, 'emergency-stopped-light-desktop')
    await assertAccessible(tab, 'after an emergency stop')
    await closeTab(tab)
  })

  test('restarts the selected agents after typed words', async () => {
    const tab = await open('/agents?tab=health')
    const { page } = tab
    await page.getByRole('button', { name: 'Restart agents…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Restart agents?' })
    await dialog.getByLabel('Status of agents').click()
    await page.getByRole('option', { name: 'Stopped' }).click()
    await dialog.getByLabel('Name prefix').fill(name)
    const confirm = dialog.getByRole('button', { name: 'Restart agents' })
    assert.equal(await confirm.isDisabled(), true)
    await saveScreenshot(tab, 'fleet-restart-light-desktop')
    await assertAccessible(tab, 'a restart of the fleet')
    await dialog.getByRole('textbox').last().fill('restart agents')
    await confirm.click()
    await page.getByText('1 agent done, 0 failed').waitFor()
    const { status } = (await bench.platform.request('GET', `/api/agents/${name}`)).json
    assert.equal(status, 'running')
    await closeTab(tab)
  })
})
