/** Roost as an app on a phone: installation, the bottom bar, no connection, and notifications. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { type BrowserSubscription, type PushServer, startPushServer } from '@roost/test-support/push/index'
import type { Page } from 'playwright-core'
import { eventually, type Loose } from '../acceptance/platform.ts'
import { createAgent, docker } from '../acceptance/steps.ts'
import {
  assertAccessible,
  assertNoSideways,
  type Bench,
  openBench,
  saveScreenshot,
  type Tab,
  themes,
} from './bench.ts'
import { reportFailure } from './evidence.ts'

const name = 'qa-phone'
const width = 390

describe('the app on a phone', () => {
  let bench: Bench
  let service: PushServer
  let folder = ''
  let key = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'roost-push-'))
    const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    await promisify(execFile)('openssl', [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
      ...[
        '-subj',
        '/CN=Push',
        '-addext',
        'subjectAltName=DNS:localhost',
        '-keyout',
        keyFile,
        '-out',
        certFile,
      ],
    ])
    service = await startPushServer({
      key: await readFile(keyFile, 'utf8'),
      cert: await readFile(certFile, 'utf8'),
    })
    bench = await openBench({
      env: { ROOST_EGRESS_INNER: `${service.at}=127.0.0.1`, NODE_EXTRA_CA_CERTS: certFile },
    })
    await createAgent(bench.platform, name)
    key = await docker('exec', bench.platform.containerOf(name), 'printenv', 'ROOST_AGENT_KEY')
  })
  after(async () => {
    await bench?.[Symbol.asyncDispose]()
    await service?.close()
    if (folder) await rm(folder, { recursive: true, force: true })
  })
  afterEach((context) => reportFailure(bench, context))

  let count = 0
  const ask = async (title: string): Promise<Loose> => {
    count += 1
    const body = { request_id: `ask-${count}`, title, question: 'The password is hunter2.' }
    const reply = await bench.platform.request('POST', `/api/agents/${name}/operator-queue`, body, {
      token: key,
    })
    assert.equal(reply.status, 201, reply.text)
    return reply.json
  }
  const bar = (page: Page) => page.getByRole('navigation', { name: 'Bottom bar' })

  test('a device gets a notification of a new item, which opens it', async () => {
    const browser = service.subscribe()
    const tab = await bench.open({ width })
    const { page } = tab
    const origin = bench.platform.url
    await page.addInitScript(subscribeAtStandIn, { endpoint: browser.endpoint, keys: browser.keys })
    await tab.goto('/account')
    await page.getByRole('button', { name: 'Turn on notifications on this device' }).click()
    const devices = page.getByRole('list', { name: 'Devices with notifications' })
    await devices.getByText('This device').waitFor()
    await devices.getByRole('button', { name: /^Send a test/ }).click()
    await page.getByText('Test notification sent.', { exact: true }).waitFor()
    assert.deepEqual(JSON.parse((await service.waitFor(browser, 1))[0]?.text ?? ''), {
      title: 'Roost',
      body: 'Notifications work on this device.',
      item: null,
    })
    await assertAccessible(tab, 'the devices with notifications')
    await saveScreenshot(tab, 'phone-devices-light')

    const { id } = await ask('Shall I delete the branch?')
    const [, message] = await service.waitFor(browser, 2)
    assert.deepEqual(JSON.parse(message?.text ?? ''), {
      title: name,
      body: 'Shall I delete the branch?',
      item: id,
    })
    await ready(page)
    // Reported a moment after it controls the page.
    const worker = await eventually(
      async () => {
        const workers = page.context().serviceWorkers()
        return workers.findLast((each) => each.url().startsWith(origin))
      },
      (found) => found !== undefined,
    )
    assert.ok(worker)
    await worker.evaluate(recordNotifications)
    await deliver(tab, origin, message?.text ?? '')
    const shown = await eventually(
      () => worker.evaluate(() => (globalThis as unknown as Recording).shown),
      (notifications) => notifications.length === 1,
    )
    assert.deepEqual(
      shown.map(({ title, body, tag }) => [title, body, tag]),
      [[name, 'Shall I delete the branch?', id]],
    )
    await worker.evaluate(clickNotification)
    await page.waitForURL((url) => url.pathname === '/inbox' && url.searchParams.get('item') === id)
    await page.getByRole('heading', { name: 'Shall I delete the branch?' }).waitFor()

    await tab.goto('/account')
    await page.getByRole('button', { name: /^Turn off notifications on/ }).click()
    await page.getByText('No device has notifications.').waitFor()
    assert.deepEqual((await bench.platform.request('GET', '/api/users/me/push-devices')).json, [])
    assert.deepEqual(service.faults, [])
    await tab.context.close()
  })

  test('the manifest names its icons, which exist in their sizes', async () => {
    const url = bench.platform.url
    const manifest: Loose = await (await fetch(`${url}/manifest.webmanifest`)).json()
    assert.deepEqual([manifest.start_url, manifest.scope, manifest.display], ['/m', '/', 'standalone'])
    assert.deepEqual(
      manifest.icons.map(({ sizes, purpose }: Loose) => `${sizes} ${purpose}`),
      ['192x192 any', '512x512 any', '512x512 maskable'],
    )
    for (const { src, sizes } of [...manifest.icons, { src: '/apple-touch-icon.png', sizes: '180x180' }]) {
      const bytes = Buffer.from(await (await fetch(url + src)).arrayBuffer())
      // The header of a PNG file has its width and height.
      assert.equal(`${bytes.readUInt32BE(16)}x${bytes.readUInt32BE(20)}`, sizes, src)
    }
    const tab = await bench.open({ width })
    await tab.goto('/m')
    const session = await tab.context.newCDPSession(tab.page)
    const { errors } = await session.send('Page.getAppManifest')
    assert.deepEqual(errors, [])
    await tab.context.close()
  })

  test('the bar leads to inbox, chat, agents and the menu, hides nothing, and has no axe violations', async () => {
    await ask('Deploy build 118?')
    const tab = await bench.open({ width })
    const { page } = tab
    await tab.goto('/m')
    await page.getByRole('list', { name: 'Items' }).getByText('Deploy build 118?').waitFor()
    await bar(page)
      .getByRole('link', { name: /^Inbox 2 waiting/ })
      .click()
    await page.waitForURL((url) => url.pathname === '/inbox')
    await bar(page).getByRole('link', { name: 'Chat' }).click()
    await page.waitForURL((url) => url.pathname === '/workspace')
    await bar(page).getByRole('link', { name: 'Agents' }).click()
    await page.waitForURL((url) => url.pathname === '/agents')
    await bar(page).locator('[aria-current=page]', { hasText: 'Agents' }).waitFor()
    await bar(page).getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('dialog', { name: 'Menu' }).getByRole('link', { name: 'Mobile overview' }).click()
    await page.waitForURL((url) => url.pathname === '/m')
    for (const path of ['/m', '/inbox', '/agents', '/account', '/workspace', `/agents/${name}`]) {
      await tab.goto(path)
      await page.getByRole('heading', { level: 1 }).first().waitFor()
      await bar(page).waitFor()
      await page.waitForLoadState('networkidle')
      for (const theme of themes) {
        await page.emulateMedia({ colorScheme: theme })
        await page.locator(`html[data-theme=${theme}]`).waitFor()
        await saveScreenshot(tab, `phone${path.replaceAll('/', '-')}-${theme}`)
        await assertAccessible(tab, `${path} ${theme}`)
      }
      await assertNoSideways(tab, path)
      const hidden = await page.evaluate(() => {
        window.scrollTo(0, document.documentElement.scrollHeight)
        const bottom = document.querySelector('main')?.getBoundingClientRect().bottom ?? 0
        return bottom - (document.querySelector('.bottom-bar')?.getBoundingClientRect().top ?? 0)
      })
      assert.ok(hidden <= 1, `${path}: ${hidden} CSS pixels are behind the bar`)
    }
    assert.deepEqual(tab.faults, [])
    await tab.context.close()
  })

  test('the offer to install is shown until it is dismissed', async () => {
    const tab = await bench.open({ width })
    const { page } = tab
    const offer = () =>
      page.evaluate(() => {
        const event = Object.assign(new Event('beforeinstallprompt', { cancelable: true }), {
          prompt: async () => ({ outcome: 'accepted' }),
        })
        return dispatchEvent(event)
      })
    await tab.goto('/m')
    await bar(page).waitFor()
    assert.equal(await offer(), false, 'the browser’s own offer is suppressed')
    const shown = page.getByText('Install Roost on this device')
    await shown.waitFor()
    await assertAccessible(tab, 'the offer to install')
    await saveScreenshot(tab, 'phone-install-light')
    await page.getByRole('button', { name: 'Dismiss' }).click()
    await shown.waitFor({ state: 'detached' })
    await page.reload()
    await bar(page).waitFor()
    await offer()
    await page.waitForLoadState('networkidle')
    assert.equal(await shown.count(), 0)
    await tab.context.close()
  })

  test('without a connection a plain page says so, and the app comes back by itself', async () => {
    await using gate = await openGate(bench.platform.url)
    const tab = await bench.open({ width })
    const { page } = tab
    await page.goto(`${gate.url}/m`)
    await ready(page)
    await gate.close()
    await page.goto(`${gate.url}/agents`)
    await page.getByRole('heading', { name: 'Roost cannot be reached' }).waitFor()
    await assertAccessible(tab, 'the page without a connection')
    await saveScreenshot(tab, 'phone-offline-light')
    await gate.open()
    await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor()
    assert.deepEqual(await page.evaluate(() => caches.keys()), [], 'nothing is stored')
    await tab.context.close()
  })

  test('the account page says why notifications are not possible without HTTPS', async () => {
    const tab = await bench.open({ width })
    await tab.page.addInitScript(() => Object.defineProperty(window, 'isSecureContext', { value: false }))
    await tab.goto('/account')
    await tab.page.getByText('Notifications need HTTPS').waitFor()
    assert.equal(await tab.page.getByRole('button', { name: /^Turn on notifications/ }).count(), 0)
    await tab.context.close()
  })
})

/** Resolves when the service worker controls the page. */
async function ready(page: Page): Promise<void> {
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready
    if (navigator.serviceWorker.controller) return
    await new Promise((resolve) =>
      navigator.serviceWorker.addEventListener('controllerchange', resolve, { once: true }),
    )
  })
}

/** Runs in the page: headless Chromium refuses notifications and has no push service, so it gets that of the tests. */
function subscribeAtStandIn({ endpoint, keys }: Pick<BrowserSubscription, 'endpoint' | 'keys'>): void {
  const subscription = {
    options: { applicationServerKey: null },
    toJSON: () => ({ endpoint, keys }),
    unsubscribe: async () => localStorage.removeItem('stand-in') ?? true,
  }
  const isOn = () => localStorage.getItem('stand-in') !== null
  Object.defineProperty(Notification, 'permission', { get: () => 'granted' })
  Notification.requestPermission = async () => 'granted'
  PushManager.prototype.getSubscription = async () => (isOn() ? (subscription as never) : null)
  PushManager.prototype.subscribe = async () => {
    localStorage.setItem('stand-in', 'on')
    return subscription as never
  }
}

/** Passes the decrypted text to the service worker, as the browser does. */
async function deliver({ context, page }: Tab, origin: string, data: string): Promise<void> {
  const session = await context.newCDPSession(page)
  const { promise, resolve } = Promise.withResolvers<string>()
  session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
    const found = registrations.find(({ scopeURL }) => scopeURL.startsWith(origin))
    if (found) resolve(found.registrationId)
  })
  await session.send('ServiceWorker.enable')
  await session.send('ServiceWorker.deliverPushMessage', { origin, registrationId: await promise, data })
  await session.detach()
}

type Shown = NotificationOptions & { title: string }
type Recording = { registration: ServiceWorkerRegistration; shown: Shown[] }

/** Runs in the service worker: headless Chromium has no place for notifications. */
function recordNotifications(): void {
  const scope = globalThis as unknown as Recording
  scope.shown = []
  scope.registration.showNotification = async (title, options) => void scope.shown.push({ title, ...options })
}

/** Runs in the service worker. */
function clickNotification(): void {
  const [shown] = (globalThis as unknown as Recording).shown
  const notification = { data: shown?.data, close: () => {} }
  dispatchEvent(
    Object.assign(new Event('notificationclick'), { notification, waitUntil: (work: unknown) => work }),
  )
}

/** A way to the platform that can be closed. */
async function openGate(target: string) {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    const onward = connect(Number(port), hostname)
    for (const each of [socket, onward]) {
      sockets.add(each)
      each.on('error', () => {}).on('close', () => sockets.delete(each))
    }
    socket.pipe(onward).pipe(socket)
  })
  const listen = (at: number) => new Promise<void>((resolve) => server.listen(at, '127.0.0.1', resolve))
  await listen(0)
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const close = async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  }
  return {
    url: `http://127.0.0.1:${address.port}`,
    open: () => listen(address.port),
    close,
    [Symbol.asyncDispose]: close,
  }
}
