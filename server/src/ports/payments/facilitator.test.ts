import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { createFacilitator } from './facilitator.ts'
import { FacilitatorDown } from './port.ts'

const payment = { version: 2 as const, proof: { payload: { signature: '0xsecret' } }, requirements: {} }

async function answering(answer: (response: ServerResponse) => unknown) {
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => void answer(response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    facilitator: createFacilitator({ url: `http://127.0.0.1:${port}/`, fetch }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const isDown = (mayHaveActed: boolean) => (error: unknown) => {
  assert.ok(error instanceof FacilitatorDown)
  assert.equal(error.mayHaveActed, mayHaveActed, error.message)
  assert.ok(!error.message.includes('0xsecret'))
  return true
}

test("a facilitator's response counts whatever its status, and its text is not shown", async () => {
  await using says = await answering((response) =>
    response.writeHead(402).end('{"success":false,"errorReason":"in\\nsufficient"}'),
  )
  assert.deepEqual(await says.facilitator.settle(payment), {
    ok: false,
    reason: 'in sufficient',
    payer: null,
  })
  await assert.rejects(says.facilitator.verify(payment), isDown(false))
})

test('a settlement without an answer may have happened; a refused or unsent one has not', async () => {
  await using cut = await answering((response) => response.destroy())
  await assert.rejects(cut.facilitator.settle(payment), isDown(true))
  for (const [status, mayHaveActed] of [
    [500, false],
    [502, true],
    [504, true],
    [429, false],
  ] as const) {
    await using fails = await answering((response) => response.writeHead(status).end('0xsecret'))
    await assert.rejects(fails.facilitator.settle(payment), isDown(mayHaveActed))
  }
  await using waits = await answering((response) =>
    response.end('{"success":false,"errorReason":"settlement_pending","transaction":"0x1"}'),
  )
  await assert.rejects(waits.facilitator.settle(payment), isDown(true))
  const closed = await answering(() => {})
  await closed[Symbol.asyncDispose]()
  await assert.rejects(closed.facilitator.settle(payment), isDown(false))
})

test('a proof is not sent to another host', async () => {
  await using elsewhere = await answering((response) => response.end('{"isValid":true}'))
  await using moved = await answering((response) =>
    response.writeHead(307, { location: 'http://127.0.0.1:9/verify' }).end(),
  )
  assert.equal((await elsewhere.facilitator.verify(payment)).ok, true)
  await assert.rejects(moved.facilitator.verify(payment), FacilitatorDown)
})
