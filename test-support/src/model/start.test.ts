import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { anthropicClient, ask } from './testing/wire-clients.ts'

const start = fileURLToPath(new URL('./start.ts', import.meta.url))

function run(...options: string[]) {
  const child = spawn(process.execPath, [start, ...options], { stdio: ['ignore', 'pipe', 'pipe'] })
  return { child, stdout: child.stdout, stderr: child.stderr }
}

async function exitCode(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return child.exitCode
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`it prints its address, logs, and exits cleanly on ${signal}`, async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'roost-model-'))
    const logFile = join(folder, 'requests.log')
    const { child, stdout } = run('--port', '0', '--log', logFile)
    context.after(async () => {
      child.kill('SIGKILL')
      await rm(folder, { recursive: true })
    })
    const [line] = (await once(createInterface(stdout), 'line')) as [string]
    const url = /^model server listening on (http:\/\/127\.0\.0\.1:\d+)$/.exec(line)?.[1]
    assert.ok(url, line)
    assert.equal((await ask(anthropicClient, url, { said: ['hello'], stream: true })).text, 'ok: hello')
    const endless = { said: ['[[drip:600000]] [[reply:never to its end]]'], stream: true }
    const response = await fetch(`${url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': 'k' },
      body: JSON.stringify(anthropicClient.body(endless)),
    })
    child.kill(signal)
    assert.equal(await exitCode(child), 0)
    await assert.rejects(response.text())
    assert.equal((await readFile(logFile, 'utf8')).trimEnd().split('\n').length, 2)
  })
}

for (const options of [[], ['--port', 'many'], ['--port', '70000'], ['--port', '0', '--unknown']]) {
  test(`the options ${JSON.stringify(options)} exit with 1 and a message`, async () => {
    const { child, stderr } = run(...options)
    const [code, said] = await Promise.all([exitCode(child), text(stderr)])
    assert.equal(code, 1)
    assert.match(said, /^(usage: |Unknown option '--unknown')/)
  })
}
