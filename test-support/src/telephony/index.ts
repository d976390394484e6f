import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Account, createProvidedCall, type ProvidedCall } from './call.ts'

export { type ProvidedCall, signatureOf } from './call.ts'
export { type MediaEnd, openMediaEnd } from './media.ts'

/** A local telephone provider that speaks Twilio's protocols, both as server and as client. */
export type TelephoneProvider = {
  url: string
  account: Account
  /** Every requested call, in order. */
  calls: ProvidedCall[]
  /** Returns the next call that was not returned before, waiting for it if needed. */
  nextCall(): Promise<ProvidedCall>
  /** Refuses the next requested call with this message. */
  refuseNext(message: string): void
  close(): Promise<void>
}

/** Has one account with one number and one verified caller id. */
export async function startTelephoneProvider(): Promise<TelephoneProvider> {
  const account: Account = {
    sid: `AC${'0123456789abcdef'.repeat(2)}`,
    token: 'a-token-of-the-telephone-provider',
    number: '+15550100',
    callerId: '+15550199',
  }
  const calls: ProvidedCall[] = []
  const waiters: ((call: ProvidedCall) => void)[] = []
  let returned = 0
  let refusal: string | null = null

  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => {
      say(response, 500, { message: String(error) })
    })
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://provider')
    const form = new URLSearchParams(await textOf(request))
    const credentials = Buffer.from(`${account.sid}:${account.token}`).toString('base64')
    const root = `/2010-04-01/Accounts/${account.sid}`
    if (request.headers.authorization !== `Basic ${credentials}`) {
      return say(response, 401, { code: 20003, message: 'Authenticate', status: 401 })
    }
    const operation = `${request.method} ${url.pathname}`
    if (operation === `GET ${root}.json`) return say(response, 200, { sid: account.sid, status: 'active' })
    const number = url.searchParams.get('PhoneNumber')
    if (operation === `GET ${root}/IncomingPhoneNumbers.json`) {
      return say(response, 200, { incoming_phone_numbers: listed(number, account.number) })
    }
    if (operation === `GET ${root}/OutgoingCallerIds.json`) {
      return say(response, 200, { outgoing_caller_ids: listed(number, account.callerId) })
    }
    if (operation === `POST ${root}/Calls.json`) return createCall(form, response)
    const sid = new RegExp(`^POST ${root}/Calls/(CA\\w+)\\.json$`).exec(operation)?.[1]
    const call = calls.find((each) => each.sid === sid)
    if (!call) return say(response, 404, { code: 20404, message: 'Not found', status: 404 })
    if (form.get('Status') !== 'completed' || call.isOver()) {
      return say(response, 400, { code: 21220, message: 'Call is not in-progress.', status: 400 })
    }
    say(response, 200, { sid: call.sid, status: 'completed' })
    await call.endedByApi()
  }

  function createCall(form: URLSearchParams, response: ServerResponse): void {
    if (refusal !== null) {
      const message = refusal
      refusal = null
      say(response, 400, { code: 21211, message, status: 400 })
      return
    }
    const call = createProvidedCall(account, `CA${String(calls.length + 1).padStart(32, '0')}`, form)
    calls.push(call)
    say(response, 201, { sid: call.sid, status: 'queued' })
    const next = waiters.shift()
    if (next) {
      returned += 1
      next(call)
    }
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A server that listens on a port has an `AddressInfo`.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    account,
    calls,
    refuseNext(message) {
      refusal = message
    },
    nextCall() {
      const call = calls[returned]
      if (call) {
        returned += 1
        return Promise.resolve(call)
      }
      const { promise, resolve } = Promise.withResolvers<ProvidedCall>()
      waiters.push(resolve)
      return promise
    },
    async close() {
      for (const call of calls) call.drop()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function listed(requested: string | null, known: string) {
  return requested === known ? [{ phone_number: known }] : []
}

function say(response: ServerResponse, status: number, json: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json))
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  // The request stream yields buffers.
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString('utf8')
}
