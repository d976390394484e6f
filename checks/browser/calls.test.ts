/** Telephone calls in an agent's settings. */
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { startTelephoneProvider, type TelephoneProvider } from '@roost/test-support/telephony/index'
import { createAgent, isOver, untilExecution } from '../acceptance/steps.ts'
import { type Bench, openBench, reviewPage } from './bench.ts'
import { reportFailure } from './evidence.ts'

const name = 'qa-telephone'
let bench: Bench
let provider: TelephoneProvider
before(async () => {
  provider = await startTelephoneProvider()
  bench = await openBench({ env: { ROOST_VOIP_ENABLED: 'true', ROOST_TWILIO_BASE_URL: provider.url } })
  await createAgent(bench.platform, name)
})
after(async () => {
  await bench?.[Symbol.asyncDispose]()
  await provider?.close()
})
afterEach((context) => reportFailure(bench, context))

test('sets up, disables and lists calls with their errors; hidden without a voice provider', async () => {
  const { platform } = bench
  const tab = await bench.open()
  const { page } = tab
  const section = page.getByRole('region', { name: 'Telephone calls' })
  await tab.goto(`/agents/${name}?tab=settings`)
  await page.getByRole('region', { name: 'Spend caps' }).waitFor()
  assert.equal(await section.count(), 0)

  await platform.request('PUT', '/api/settings/api-keys/voice', { api_key: 'AIza-voice-of-calls' })
  await page.reload()
  await section.getByRole('button', { name: 'Set up Twilio account' }).click()
  const form = page.getByRole('dialog')
  await form.getByLabel('Account SID').fill(provider.account.sid)
  await form.locator('input[name=auth_token]').fill('a-token-that-is-wrong')
  await form.getByLabel('Caller number').fill(provider.account.number)
  await form.getByRole('button', { name: 'Verify and save' }).click()
  await form.getByText('the provider does not know this account').waitFor()
  await form.locator('input[name=auth_token]').fill(provider.account.token)
  await form.getByRole('button', { name: 'Verify and save' }).click()
  await section.getByText(`Calls from ${provider.account.number}`).waitFor()
  await section.getByText('0 of 20').waitFor()

  const call = await platform.request('POST', `/api/agents/${name}/voip/call`, { to_number: '+15550123' })
  assert.equal(call.status, 200, call.text)
  await (await provider.nextCall()).tell('busy')
  await untilExecution(platform, name, call.json.execution_id, isOver)
  await section.getByText('The number was busy.').waitFor()
  await section.getByText('1 of 20').waitFor()
  await reviewPage(bench, {
    name: 'agent-calls',
    path: `/agents/${name}?tab=settings`,
    ready: (at) => at.getByText('The number was busy.').scrollIntoViewIfNeeded(),
  })

  await section.getByRole('switch', { name: 'Allow telephone calls' }).click()
  await section.getByRole('switch', { name: 'Allow telephone calls', checked: false }).waitFor()
  const refused = await platform.request('POST', `/api/agents/${name}/voip/call`, { to_number: '+15550123' })
  assert.equal(refused.json.error, 'conflict')
  await section.getByRole('link', { name: '+15550123' }).click()
  await page.waitForURL(/executions\//)
  assert.deepEqual(tab.faults, [])
})
