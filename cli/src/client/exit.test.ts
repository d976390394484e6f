import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { agents } from '../agents.ts'
import { type Command, UsageError } from '../command.ts'
import { events } from '../events.ts'
import { exitCodes } from './exit.ts'

/** Runs a command against the address; returns its exit code and its error output. */
async function runAgainst(
  t: TestContext,
  address: string,
  key: string,
  [command, ...args]: [Command, ...string[]],
) {
  process.env.ROOST_URL = address
  process.env.ROOST_KEY = key
  let errorOutput = ''
  t.mock.method(console, 'error', (text: string) => {
    errorOutput += text
  })
  return { code: await command.run(args), errorOutput }
}

test('1 with a sentence for a server that is not Roost, whatever its status', async (t) => {
  for (const [status, body] of [
    [200, '<html>Welcome</html>'],
    [200, '{"half": '],
    [502, '<html>Bad Gateway</html>'],
    [502, '{"message": "bad gateway"}'],
  ] as const) {
    const server = createServer((_request, response) => response.writeHead(status).end(body))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { code, errorOutput } = await runAgainst(t, address, 'svc_mcp_test', [agents, 'list'])
    assert.equal(code, exitCodes.failed)
    assert.match(errorOutput, new RegExp(`cannot be read.*HTTP ${status}`))
    const tail = await runAgainst(t, address, 'svc_mcp_test', [events, 'tail'])
    assert.equal(tail.code, exitCodes.unreachable)
    server.closeAllConnections()
    await new Promise<void>((done) => server.close(() => done()))
  }
})

test('3 for an invalid key, which is neither sent nor shown', async (t) => {
  for (const key of ['svc_mcp_one\nsvc_mcp_two', 'svc_mcp_ö', ' \n']) {
    const { code, errorOutput } = await runAgainst(t, 'http://127.0.0.1:1', key, [agents, 'list'])
    assert.equal(code, exitCodes.denied)
    assert.ok(!errorOutput.includes('svc_mcp_'), errorOutput)
  }
})

test('an invalid platform address is refused without a request, and its password is not shown', async (t) => {
  for (const address of ['ftp://roost.example', 'http://me:hunter2@roost.example', '::::']) {
    await assert.rejects(
      runAgainst(t, address, 'svc_mcp_test', [agents, 'list']),
      (error) => error instanceof UsageError && !error.message.includes('hunter2'),
    )
  }
})

test('control characters in an error message do not reach the terminal', async (t) => {
  const body = JSON.stringify({ detail: 'There is no "\x1b[31mred\x07".', error: 'agent_not_found' })
  const server = createServer((_request, response) => response.writeHead(404).end(body))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { code, errorOutput } = await runAgainst(t, address, 'svc_mcp_test', [agents, 'list'])
  assert.deepEqual(
    [code, errorOutput],
    [exitCodes.notFound, 'roost: There is no "[31mred". (agent_not_found)'],
  )
  server.closeAllConnections()
  await new Promise<void>((done) => server.close(() => done()))
})
