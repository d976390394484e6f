/** Runs of other users, retries, and runs behind an open circuit breaker. */
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { type MailServer, startMailServer } from '@roost/test-support/mail/index'
import { chat, createAgent } from '../acceptance/steps.ts'
import { assertAccessible, type Bench, openBench, saveScreenshot, type Tab } from './bench.ts'
import { reportFailure } from './evidence.ts'
import { signInUser } from './users.ts'

const name = 'qa-run-states'
const guarded = 'qa-run-guarded'
/** Its second attempt starts after 30 s, while other tests run. */
let firstAttempt = ''
let bench: Bench
let mail: MailServer
before(async () => {
  mail = await startMailServer()
  bench = await openBench({ env: { ROOST_MAIL_URL: mail.url, DISPATCH_BREAKER_ENABLED: 'true' } })
  await createAgent(bench.platform, name)
  await createAgent(bench.platform, guarded)
  firstAttempt = await failOnce()
})
after(async () => {
  await bench?.[Symbol.asyncDispose]()
  await mail?.close()
})
afterEach((context) => reportFailure(bench, context))

async function open(path: string, token?: string): Promise<Tab> {
  const tab = await bench.open(token === undefined ? {} : { token })
  await tab.goto(path)
  return tab
}
const runPath = (id: string) => `/agents/${name}/executions/${id}`

test('a private run of another user shows its status but not its content', async () => {
  const reply = await chat(bench.platform, name, 'A secret question [[reply:a secret answer]]')
  assert.equal(reply.status, 200, reply.text)
  const email = 'guest@example.org'
  const token = await signInUser({ platform: bench.platform, mail }, email)
  const shared = await bench.platform.request('POST', `/api/agents/${name}/share`, { email })
  assert.ok(shared.status < 300, shared.text)
  const tab = await open(runPath(reply.json.execution.id), token)
  await tab.page.getByText('Private conversation of another user').waitFor()
  await tab.page.getByText('Succeeded', { exact: true }).waitFor()
  assert.doesNotMatch(await tab.page.locator('body').innerText(), /secret/)
  assert.equal(await tab.page.getByRole('button', { name: 'Retry', exact: true }).count(), 0)
  await saveScreenshot(tab, 'run-redacted')
  await assertAccessible(tab, 'a redacted run')
  assert.deepEqual(tab.faults, [])
  await tab.context.close()
})

test('users who cannot set provider keys are referred to an admin', async () => {
  const email = 'reader@example.org'
  const token = await signInUser({ platform: bench.platform, mail }, email)
  await bench.platform.request('POST', `/api/agents/${name}/share`, { email })
  const failed = await chat(bench.platform, name, 'hello [[autherror]]')
  assert.equal(failed.status, 503, failed.text)
  const path = runPath(failed.headers.get('x-execution-id') ?? assert.fail('no id'))
  const adminTab = await open(path)
  await adminTab.page.getByRole('link', { name: 'Provider keys' }).waitFor()
  await adminTab.context.close()
  const userTab = await open(path, token)
  await userTab.page.getByText('Ask an admin to check the provider keys.').waitFor()
  assert.equal(await userTab.page.getByRole('link', { name: 'Provider keys' }).count(), 0)
  assert.deepEqual(userTab.faults, [])
  await userTab.context.close()
})

test('the settings show an open circuit breaker and reset it', async () => {
  const on = await bench.platform.request('PUT', `/api/agents/${guarded}/circuit-breaker`, { enabled: true })
  assert.equal(on.status, 200, on.text)
  for (let time = 0; time < 3; time += 1) {
    const refused = await chat(bench.platform, guarded, 'hello [[autherror]]')
    assert.equal(refused.status, 503, refused.text)
  }
  const tab = await open(`/agents/${guarded}?tab=settings`)
  const { page } = tab
  await page.getByText('open', { exact: true }).waitFor()
  await page.getByText(/^3 consecutive failures, next attempt in \d+ s$/).waitFor()
  await saveScreenshot(tab, 'breaker-open')
  await page.getByRole('button', { name: 'Reset circuit breakers' }).click()
  await page.getByText('Both circuit breakers are closed.', { exact: true }).waitFor()
  await page.getByText('open', { exact: true }).waitFor({ state: 'detached' })
  assert.deepEqual(tab.faults, [])
  await tab.context.close()
})

test('attempts of one run are listed with links', async () => {
  const tab = await open(runPath(firstAttempt))
  const { page } = tab
  await page.getByRole('heading', { name: 'Attempts' }).waitFor()
  await page.getByRole('link', { name: /Attempt 2/ }).click()
  await page.getByText('fine now').first().waitFor()
  await page.getByText('Succeeded', { exact: true }).first().waitFor()
  await page.getByRole('link', { name: /Attempt 1/ }).waitFor()
  await saveScreenshot(tab, 'run-attempts')
  assert.deepEqual(tab.faults, [])
  await tab.context.close()
})

/** A run that fails and is retried; returns its ID. */
async function failOnce(): Promise<string> {
  const schedule = await bench.platform.request('POST', `/api/agents/${name}/schedules`, {
    name: 'Once more',
    cron_expression: '0 4 1 1 *',
    message: 'Try. [[fail-first:run-states:1]] [[reply:fine now]]',
    ...{ max_retries: 1, retry_delay_seconds: 30 },
  })
  assert.equal(schedule.status, 201, schedule.text)
  const fired = await bench.platform.request(
    'POST',
    `/api/agents/${name}/schedules/${schedule.json.id}/trigger`,
  )
  assert.ok(fired.status < 300, fired.text)
  return fired.json.execution_id
}
