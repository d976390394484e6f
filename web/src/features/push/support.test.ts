import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deviceName, isAppleMobile, type Surroundings, supportIn } from './support.ts'

const around: Surroundings = {
  isSecure: true,
  hasWorker: true,
  hasPush: true,
  isAppleMobile: false,
  isInstalled: false,
  permission: 'default',
}

test('says why notifications are not possible, the cause that can be mended first', () => {
  assert.equal(supportIn(around), 'ready')
  assert.equal(supportIn({ ...around, isSecure: false, hasWorker: false, permission: null }), 'insecure')
  assert.equal(supportIn({ ...around, isAppleMobile: true, hasPush: false }), 'needs_install')
  assert.equal(supportIn({ ...around, isAppleMobile: true, isInstalled: true }), 'ready')
  assert.equal(supportIn({ ...around, hasPush: false }), 'unsupported')
  assert.equal(supportIn({ ...around, permission: null }), 'unsupported')
  assert.equal(supportIn({ ...around, permission: 'denied' }), 'blocked')
})

test('names browser and system of a device', () => {
  const names: [string, string][] = [
    [
      'Mozilla/5.0 (Linux; Android 16) AppleWebKit/537.36 Chrome/146.0 Mobile Safari/537.36',
      'Chrome on Android',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Mobile Safari/604.1',
      'Safari on iPhone',
    ],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0', 'Firefox on Linux'],
    ['Mozilla/5.0 (Windows NT 10.0; Win64) Chrome/146.0 Safari/537.36 Edg/146.0', 'Edge on Windows'],
    ['curl/8', 'Browser on unknown system'],
  ]
  for (const [agent, name] of names) assert.equal(deviceName(agent), name)
})

test('an iPad that calls itself a Macintosh is known by its touch screen', () => {
  const userAgent = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Version/19.0 Safari/605.1.15'
  assert.equal(isAppleMobile({ userAgent, maxTouchPoints: 5 }), true)
  assert.equal(isAppleMobile({ userAgent, maxTouchPoints: 0 }), false)
})
