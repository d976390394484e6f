/**
 * The first minutes of a newcomer, from the address that `./roost up --demo` prints to a first answer, a first schedule
 * that fired and a first answered question: on the pages alone, with few clicks.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { type Browser, chromium, type Locator, type Page } from 'playwright-core'
import { freePort } from '../../cli/src/machine/free-port.ts'
import { removeNetworks } from '../acceptance/agents-networks.ts'
import { adminPassword, type Loose } from '../acceptance/platform.ts'
import { pictures } from './bench.ts'

const root = resolve(import.meta.dirname, '../..')
const mostClicks = 12
const options = {
  skip: process.env.ROOST_TEST_CONTAINERS_URL ? false : 'ROOST_TEST_CONTAINERS_URL is not set',
  timeout: 900_000,
}

let home: string
let dataDir: string
let env: NodeJS.ProcessEnv
let up: ChildProcess | null = null
let browser: Browser
before(async () => {
  if (options.skip) return
  home = await mkdtemp(join(tmpdir(), 'roost-newcomer-'))
  dataDir = join(home, 'data')
  await mkdir(dataDir)
  // The tests' own id, by which whatever an aborted run leaves is found.
  const install = (process.env.ROOST_TEST_INSTALL_PREFIX ?? '') + randomBytes(8).toString('hex')
  await writeFile(join(dataDir, 'install-id'), install)
  await writeFile(join(dataDir, 'encryption.key'), randomBytes(32).toString('hex'), { mode: 0o600 })
  env = {
    PATH: process.env.PATH,
    HOME: home,
    NO_COLOR: '1',
    ROOST_CONTAINERS_URL: process.env.ROOST_TEST_CONTAINERS_URL,
    ROOST_CONTAINER_PREFIX: `${randomBytes(4).toString('hex')}-`,
    ROOST_DATA_DIR: dataDir,
    ROOST_PORT: String(await freePort()),
    ROOST_INTERNAL_PORT: String(await freePort()),
    ROOST_MCP_PORT: String(await freePort()),
    ROOST_SSH_PORT_RANGE: '22360-22380',
  }
  browser = await chromium.launch({
    executablePath: process.env.ROOST_TEST_CHROMIUM ?? '/usr/bin/chromium-headless-shell',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run'],
  })
})
after(async () => {
  await browser?.close()
  await stop()
  if (home) await rm(home, { recursive: true, force: true })
})

/** Runs the command of the tutorial and returns the address that it tells the newcomer to open. */
async function start(): Promise<string> {
  const child = spawn('./roost', ['up', '--demo'], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  up = child
  let output = ''
  await new Promise<void>((done, refuse) => {
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (part: string) => {
        output += part
        if (/Ctrl-C stops/.test(output)) done()
      })
    child.once('close', (code) => refuse(new Error(`./roost up --demo ended with ${code}:\n${output}`)))
  })
  const [, url] = /open (\S+) in a browser/.exec(output) ?? []
  return url ?? assert.fail(output)
}

async function stop(): Promise<void> {
  const running = up
  up = null
  if (!running || running.exitCode !== null) return
  await ask('DELETE', '/api/demo').catch((error: unknown) =>
    console.error('could not remove the agents:', error),
  )
  const ended = new Promise((done) => running.once('close', done))
  running.kill('SIGINT')
  await ended
  await removeNetworks(dataDir)
}

async function ask(method: string, path: string): Promise<Loose> {
  const url = `http://127.0.0.1:${env.ROOST_PORT}`
  const body = new URLSearchParams({ username: 'admin', password: adminPassword })
  const signedIn: Loose = await (await fetch(`${url}/api/token`, { method: 'POST', body })).json()
  const headers = { authorization: `Bearer ${signedIn.access_token}` }
  return (await fetch(url + path, { method, headers })).json()
}

async function saveState(page: Page, name: string): Promise<void> {
  await mkdir(pictures, { recursive: true })
  await page.screenshot({ path: join(pictures, `newcomer-${name}.png`) })
}

test(
  `an answer, a fired schedule and an answered question in at most ${mostClicks} clicks`,
  options,
  async (t) => {
    const url = await start()
    const context = await browser.newContext({
      viewport: { width: 1440, height: 900 },
      reducedMotion: 'reduce',
      locale: 'en-GB',
    })
    const page = await context.newPage()
    page.setDefaultTimeout(240_000)
    let [clicks, loads] = [0, 0]
    page.on('load', () => (loads += 1))
    const click = async (target: Locator) => {
      clicks += 1
      await target.click()
    }
    const startedAt = performance.now()
    const mark = (what: string) =>
      t.diagnostic(`${what}: ${clicks} clicks, ${((performance.now() - startedAt) / 1000).toFixed(0)} s`)

    try {
      await page.goto(url)
      await page.getByLabel('Password', { exact: true }).fill(adminPassword)
      await page.getByLabel('Confirm password').fill(adminPassword)
      await click(page.getByRole('button', { name: 'Create admin account' }))
      await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
      mark('signed in')

      // The first question of an agent.
      const questions = page.getByRole('list', { name: 'Most urgent items' })
      await click(questions.getByRole('link').first())
      await click(page.getByRole('list', { name: 'Options' }).getByRole('button').first())
      await page
        .getByText(/^Answered “/)
        .first()
        .waitFor()
      mark('answered a question')
      await saveState(page, 'answered')

      // The first answer of an agent.
      await click(page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Home' }))
      await click(page.getByRole('link', { name: 'Open chat' }))
      const composer = page.getByRole('textbox', { name: /^Message to / })
      await composer.fill('Hello! Who are you?')
      await composer.press('Enter')
      await page
        .getByRole('region', { name: 'Messages' })
        .getByText(/scripted model of the Roost demo/)
        .first()
        .waitFor()
      mark('read an answer')
      await saveState(page, 'answer')

      // The first schedule, which fires by its time.
      await click(page.getByRole('link', { name: 'Automations' }))
      await click(page.getByRole('button', { name: 'New schedule' }).first())
      const form = page.getByRole('dialog', { name: 'New schedule' })
      await form.getByLabel('Name').fill('Every minute')
      await form.getByRole('textbox', { name: 'Message' }).fill('Say hello.')
      await form.getByLabel('Cron expression').fill('* * * * *')
      await click(form.getByRole('button', { name: 'Create schedule' }))
      await page.getByRole('heading', { name: 'Every minute' }).waitFor()
      await saveState(page, 'schedule')
      await click(page.getByRole('navigation', { name: 'Schedule tabs' }).getByRole('link', { name: 'Runs' }))
      const runs = page.getByRole('grid', { name: 'Runs of the schedule' })
      await runs.getByText('Succeeded').first().waitFor()
      mark('a schedule fired')
      await saveState(page, 'fired')
    } catch (error) {
      await saveState(page, 'failed')
      throw error
    }
    const { by_type: open } = await ask('GET', '/api/operator-queue/stats')
    assert.equal(open.approval ?? 0, 0, 'the question is still open')
    assert.equal(loads, 1, 'the pages were left or loaded again')
    assert.ok(clicks <= mostClicks, `${clicks} clicks`)
    await context.close()
  },
)
