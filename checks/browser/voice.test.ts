/** Voice calls: microphone, a speaking model, and the conversation afterwards. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { type LiveServer, loudness, startLiveServer } from '@roost/test-support/live/index'
import { createAgent } from '../acceptance/steps.ts'
import { assertAccessible, type Bench, openBench, saveScreenshot, type Tab } from './bench.ts'
import { reportFailure } from './evidence.ts'

const name = 'qa-voice-web'
const key = 'AIza-voice-browser'

describe('calls', () => {
  let live: LiveServer
  let bench: Bench
  before(async () => {
    live = await startLiveServer({ key })
    bench = await openBench({
      env: { GOOGLE_GEMINI_BASE_URL: live.url },
      // A fake microphone that beeps, allowed without a prompt.
      browserArgs: ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'],
    })
    await bench.platform.request('PUT', '/api/settings/api-keys/voice', { api_key: key })
    await createAgent(bench.platform, name)
  })
  after(async () => {
    await live?.[Symbol.asyncDispose]()
    await bench?.[Symbol.asyncDispose]()
  })
  afterEach((context) => reportFailure(bench, context))

  const call = async (tab: Tab) => {
    await tab.page.getByRole('button', { name: 'Call', exact: true }).click()
    const model = await live.session()
    const panel = tab.page.getByRole('dialog', { name: `Call with ${name}` })
    await panel.getByText('Listening').waitFor()
    return { model, panel }
  }

  test('calls an agent from its chat, with audio, live transcript, mute and stored messages', async () => {
    const tab = await bench.open()
    await tab.goto(`/agents/${name}?tab=chat&session=new`)
    const { model, panel } = await call(tab)
    await model.heardFor(2000)
    assert.ok(loudness(model.audio()) > 100, 'the microphone is heard')
    model.hear('What is the plan?')
    await panel.getByText('What is the plan?').waitFor()
    model.speak('They ship on Friday.', { milliseconds: 400 })
    await panel.getByText('They ship on Friday.').waitFor()
    await assertAccessible(tab, 'a call')
    await saveScreenshot(tab, 'voice-call')
    await panel.getByRole('button', { name: 'Mute' }).click()
    assert.equal(await model.next('audioStreamEnd'), true)
    await panel.getByRole('button', { name: 'End call' }).click()
    await tab.page.getByRole('dialog').waitFor({ state: 'detached' })
    await tab.page.getByText('They ship on Friday.').waitFor()
    await tab.page.getByText('What is the plan?').last().waitFor()
    assert.deepEqual(tab.faults, [])
    await tab.context.close()
  })

  test('calls from the Workspace and reports a lost provider', async () => {
    const tab = await bench.open({ theme: 'dark' })
    await tab.goto(`/workspace/a/${name}`)
    const { model, panel } = await call(tab)
    model.speak('Hello from afar.')
    await panel.getByText('Hello from afar.').waitFor()
    model.close(1008, 'Quota exceeded.')
    await panel.getByText('The voice provider refused the call').waitFor()
    await assertAccessible(tab, 'a call that was refused')
    await panel.getByRole('button', { name: 'Done' }).click()
    await tab.page.getByText('Hello from afar.').waitFor()
    assert.deepEqual(tab.faults, [])
    await tab.context.close()
  })

  test('sets the voice in the agent settings', async () => {
    const tab = await bench.open()
    await tab.goto(`/agents/${name}?tab=settings`)
    await tab.page.getByRole('combobox', { name: 'Voice', exact: true }).click()
    await tab.page.getByRole('option', { name: 'Puck' }).click()
    await tab.page.getByText('Voice set to Puck.').first().waitFor()
    const prompt = tab.page.getByLabel('Voice instructions')
    await prompt.fill('Like a pirate.')
    const form = tab.page.locator('form').filter({ has: prompt })
    await form.getByRole('button', { name: 'Save' }).click()
    await tab.page.getByText('Voice instructions saved.').first().waitFor()
    const { json } = await bench.platform.request('GET', `/api/agents/${name}/voice/status`)
    assert.deepEqual([json.voice_name, json.voice_prompt_set], ['Puck', true])
    assert.deepEqual(tab.faults, [])
    await tab.context.close()
  })
})
