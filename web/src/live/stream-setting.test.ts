import assert from 'node:assert/strict'
import { test } from 'node:test'
import { browserSetting, hiddenGraceMs } from './stream-setting.ts'

function createPage() {
  const page = Object.assign(new EventTarget(), { visibilityState: 'visible' })
  return {
    // What a setting asks of a document is here.
    setting: browserSetting(page as unknown as Document),
    turn(state: 'visible' | 'hidden') {
      page.visibilityState = state
      page.dispatchEvent(new Event('visibilitychange'))
    },
  }
}

test('a page that is hidden for a while ends its streams; a short look away does not', (t) => {
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

test('who waits for the page to be looked at is told, and let go when nobody waits any more', async () => {
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
