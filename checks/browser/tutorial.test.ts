/**
 * Runs every command of docs/tutorial.md in order against a real platform, then those of the pages about hardening and
 * uninstalling.
 * Takes the tutorial's pictures on the way. `ROOST_WRITE_PICTURES=true ./roost test checks/browser/tutorial.test.ts`
 * writes them to docs/tutorial/.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { access, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Browser, chromium, type Page } from 'playwright-core'
import { freePort } from '../../cli/src/machine/free-port.ts'
import { type Example, openShell, outputProblem, type Shell, shellExamples } from '../shell-pages.ts'
import { presetStorage } from './bench.ts'

const root = resolve(import.meta.dirname, '../..')
const docs = join(root, 'docs')
const tutorial = await readFile(join(docs, 'tutorial.md'), 'utf8')
const uninstall = await readFile(join(docs, 'operate/uninstall.md'), 'utf8')
const hardening = await readFile(join(docs, 'operate/hardening.md'), 'utf8')
const password = 'a long password'

/** The screens of the pictures. A picture is taken when its content is there, so a removed screen fails the test. */
const screens: Record<string, { path: string; ready(page: Page): Promise<unknown> }> = {
  agents: {
    path: '/agents',
    ready: (page) => page.getByRole('link', { name: 'scout', exact: true }).waitFor(),
  },
  run: { path: '', ready: (page) => page.getByText('hello from scout').last().waitFor() },
  schedules: {
    path: '/agents/scout?tab=schedules',
    ready: (page) => page.getByText('report', { exact: true }).first().waitFor(),
  },
  sharing: {
    path: '/agents/scout?tab=sharing',
    ready: (page) => page.getByText('ann@example.com').first().waitFor(),
  },
}

const pictures = [...tutorial.matchAll(/!\[[^\]]+\]\(tutorial\/([a-z-]+)\.webp\)/g)].map((match) => ({
  name: match[1] ?? '',
  line: tutorial.slice(0, match.index).split('\n').length,
}))

test('each picture of the page exists, and the page shows each screen', async () => {
  assert.deepEqual(pictures.map(({ name }) => name).toSorted(), Object.keys(screens).toSorted())
  if (process.env.ROOST_WRITE_PICTURES) return
  for (const { name } of pictures) {
    const picture = await readFile(join(docs, `tutorial/${name}.webp`))
    assert.equal(picture.toString('latin1', 8, 12), 'WEBP', name)
    assert.ok(picture.length < 60_000, `${name} has ${picture.length} bytes`)
  }
})

describe('the tutorial, hardening and uninstalling', {
  skip: process.env.ROOST_TEST_CONTAINERS_URL ? false : 'ROOST_TEST_CONTAINERS_URL is not set',
}, () => {
  let home: string
  let dataDir: string
  let port: number
  let env: NodeJS.ProcessEnv
  let shell: Shell
  let platform: ChildProcess | null = null
  let browser: Browser
  const prefix = `${randomBytes(4).toString('hex')}-`
  const install = (process.env.ROOST_TEST_INSTALL_PREFIX ?? '') + randomBytes(8).toString('hex')

  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'roost-tutorial-'))
    dataDir = join(home, 'data')
    port = await freePort()
    await mkdir(dataDir)
    // The tests' own id, by which whatever an aborted run leaves is found.
    await writeFile(join(dataDir, 'install-id'), install)
    await writeFile(join(dataDir, 'encryption.key'), randomBytes(32).toString('hex'), { mode: 0o600 })
    env = {
      PATH: process.env.PATH,
      HOME: home,
      NO_COLOR: '1',
      ROOST_CONTAINERS_URL: process.env.ROOST_TEST_CONTAINERS_URL,
      ROOST_CONTAINER_PREFIX: prefix,
      ROOST_DATA_DIR: dataDir,
      ROOST_PORT: String(port),
      ROOST_INTERNAL_PORT: String(await freePort()),
      ROOST_MCP_PORT: String(await freePort()),
      ROOST_SSH_PORT_RANGE: '22330-22350',
    }
    shell = openShell({ cwd: root, env })
    browser = await chromium.launch({
      executablePath: process.env.ROOST_TEST_CHROMIUM ?? '/usr/bin/chromium-headless-shell',
      args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run'],
    })
  })
  after(async () => {
    await browser?.close()
    await stop()
    await rm(home, { recursive: true, force: true })
  })

  /** The test's port and folder instead of those of the page. */
  const here = (text: string) =>
    text
      .replaceAll('localhost:8000', `localhost:${port}`)
      .replaceAll('/tmp/roost-tutorial', join(home, 'roost-tutorial'))

  async function stop(): Promise<void> {
    const running = platform
    platform = null
    if (!running || running.exitCode !== null) return
    const ended = new Promise((done) => running.once('close', done))
    running.kill('SIGINT')
    await ended
  }

  /** Starts the platform by the command of the page and resolves with its output when it is ready. */
  function start(command: string): Promise<string> {
    const child = spawn('bash', ['-c', `exec ${command}`], {
      cwd: root,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    platform = child
    let output = ''
    return new Promise((resolve, reject) => {
      for (const stream of [child.stdout, child.stderr])
        stream?.setEncoding('utf8').on('data', (part: string) => {
          output += part
          if (/Ctrl-C stops/.test(output)) resolve(output)
        })
      child.once('close', (code) => reject(new Error(`${command} ended with ${code}:\n${output}`)))
    })
  }

  async function runExample({ line, commands, shown }: Example, page: string): Promise<void> {
    let output = ''
    for (const command of commands)
      try {
        const text = await shell.run(here(command.text))
        output += text.endsWith('\n') || text === '' ? text : `${text}\n`
      } catch (error) {
        throw new Error(`${page}:${command.line}: ${error instanceof Error ? error.message : error}`)
      }
    const problem = shown === null ? null : outputProblem(here(shown), output)
    assert.equal(problem, null, `${page}:${line}`)
  }

  async function takePicture(name: string): Promise<void> {
    const screen = screens[name]
    assert.ok(screen, name)
    const body = new URLSearchParams({ username: 'admin', password })
    const reply = await fetch(`http://localhost:${port}/api/token`, { method: 'POST', body })
    const { access_token: token } = (await reply.json()) as { access_token: string }
    const path = screen.path === '' ? await pathOfNewestRun(token) : screen.path
    const context = await browser.newContext({
      viewport: { width: 1100, height: 640 },
      reducedMotion: 'reduce',
      colorScheme: 'light',
      locale: 'en-GB',
    })
    const page = await context.newPage()
    page.setDefaultTimeout(120_000)
    await presetStorage(page, 'roost.token', token)
    await page.goto(`http://localhost:${port}${path}`)
    await screen.ready(page)
    if (process.env.ROOST_WRITE_PICTURES) {
      const session = await context.newCDPSession(page)
      const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 70 })
      await mkdir(join(docs, 'tutorial'), { recursive: true })
      await writeFile(join(docs, `tutorial/${name}.webp`), Buffer.from(data, 'base64'))
    }
    await context.close()
  }

  async function pathOfNewestRun(token: string): Promise<string> {
    const headers = { authorization: `Bearer ${token}` }
    const reply = await fetch(`http://localhost:${port}/api/agents/scout/executions?limit=1`, { headers })
    const [run] = (await reply.json()) as { id: string }[]
    return `/agents/scout/executions/${run?.id}`
  }

  test('every command of the tutorial works, with the output that the page shows', async () => {
    const [first, ...examples] = shellExamples(tutorial)
    assert.equal(first?.commands[0]?.text, './roost up --demo')
    const output = await start(first?.commands[0]?.text ?? '')
    for (const line of here(first?.shown ?? '').split('\n')) assert.ok(output.includes(line), output)
    assert.ok(examples.length >= 9)
    const steps = [
      ...examples.map((example) => ({ line: example.line, run: () => runExample(example, 'tutorial.md') })),
      ...pictures.map(({ line, name }) => ({ line, run: () => takePicture(name) })),
    ].toSorted((a, b) => a.line - b.line)
    for (const step of steps) await step.run()
  })

  test('the checks of the hardening list answer', async () => {
    await shell.run(here('URL=http://localhost:8000'))
    // The others ask a public address, or look at how the operator installed the platform.
    const asked = shellExamples(hardening)
      .flatMap(({ commands }) => commands)
      .filter(({ text }) => !/roost\.example\.org|^(ps|stat|ls) |strict-transport/.test(text))
    assert.ok(asked.length >= 12)
    for (const { line, text } of asked) {
      const output = await shell.run(text).catch((error) => assert.fail(`hardening.md:${line}: ${error}`))
      assert.ok(output.trim() !== '' && !output.includes('"error"'), `hardening.md:${line}: ${output}`)
    }
  })

  test('the commands of the page about uninstalling leave nothing of the installation', async () => {
    const left = async () =>
      (
        await shell.run(
          `docker ps -a --format '{{.Names}}'; docker volume ls -q; docker network ls --filter label=roost.install=${install} -q; nft list tables`,
        )
      )
        .split('\n')
        .filter((line) => line.includes(prefix) || line.includes(table) || /^[0-9a-f]{12}$/.test(line))
    const table = (await shell.run(`printf 'roost_'; printf %s '${install}' | sha256sum | cut -c1-12`)).trim()
    const atFirst = await left()
    assert.ok(atFirst.includes(`${prefix}scout`), String(atFirst))
    // Images are shared with other tests: only that the page's filter finds the agent's image.
    const image = await shell.run(`docker inspect --format '{{.Image}}' ${prefix}scout`)
    const examples = shellExamples(uninstall)
    const steps = (heading: string) =>
      examples.filter(({ line }) => sectionAt(uninstall, line).startsWith(heading))
    const [filter = ''] = steps('5.')[0]?.commands[0]?.text.split('|') ?? []
    assert.ok((await shell.run(`${filter.trim()} --no-trunc`)).includes(image.trim()))
    await stop()
    for (const heading of ['2.', '3.', '4.']) {
      assert.ok(steps(heading).length > 0, heading)
      for (const example of steps(heading)) await runExample(example, 'uninstall.md')
    }
    assert.deepEqual(await left(), [])
    await assert.rejects(access(dataDir))
    await shell[Symbol.asyncDispose]()
  })
})

/** The heading above a line. */
function sectionAt(markdown: string, line: number): string {
  const above = markdown.split('\n').slice(0, line)
  return above.findLast((each) => each.startsWith('## '))?.slice('## '.length) ?? ''
}
