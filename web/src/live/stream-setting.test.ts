import assert from 'node:assert/strict'
import { test } from 'node:test'
import { browserSetting, hiddenGraceMs } from './stream-setting.ts'

function createPage() {
  const page = Object.assign(new EventTarget(), { visibilityState: 'visible' })
  return {
    // Only the members that a setting uses.
    setting: browserSetting(page as unknown as Document),
    turn(state: 'visible' | 'hidden') {
      page.visibilityState = state
      page.dispatchEvent(new Event('visibilitychange'))
    },
  }
}

test('a page hidden for the grace period ends its streams, a shortly hidden one does not', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { setting, turn } = createPage()
  using watched = setting.untilHidden(new AbortController().signal)
  turn('hidden')
  t.mock.timers.tick(hiddenGraceMs - 1)
  turn('visible')
  t.mock.timers.tick(hiddenGraceMs)
  assert.equal(watched.signal.aborted, false)
  turn('hidden')
  t.mock.timers.tick(hiddenGraceMs)
  assert.equal(watched.signal.aborted, true)
})

test('waiting for visibility resolves when the page is shown or the signal is aborted', async () => {
  const { setting, turn } = createPage()
  turn('hidden')
  let isVisible = false
  const waited = setting.whenVisible(new AbortController().signal).then(() => {
    isVisible = true
  })
  await new Promise(setImmediate)
  assert.equal(isVisible, false)
  turn('visible')
  await waited
  turn('hidden')
  await setting.whenVisible(AbortSignal.abort())
  await setting.wait(60_000, AbortSignal.abort())
})
