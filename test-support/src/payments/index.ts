/**
 * Payments for tests: the official x402 facilitator on a free loopback port with an in-memory chain, and
 * payers that sign like official clients.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import { x402Client, x402HTTPClient } from '@x402/core/client'
import { x402Facilitator } from '@x402/core/facilitator'
import { getDefaultAsset } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { ExactEvmScheme as ExactFacilitator } from '@x402/evm/exact/facilitator'
import { ExactEvmSchemeV1 } from '@x402/evm/exact/v1/client'
import { ExactEvmSchemeV1 as ExactFacilitatorV1 } from '@x402/evm/exact/v1/facilitator'
import { EVM_NETWORK_CHAIN_ID_MAP } from '@x402/evm/v1'
import { wrapFetchWithPayment } from '@x402/fetch'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { createLedger, type Transfer } from './ledger.ts'

/** Base Sepolia and the address of its USDC, which this ledger simulates. */
export const testNetwork = 'eip155:84532'
const testNetworkV1 = 'base-sepolia'
const testToken = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'

/** What happens to the next call of a path. */
export type Mishap =
  | { kind: 'status'; status: number }
  | { kind: 'refuse'; reason: string }
  /** The call is executed, but the connection closes before the answer. */
  | { kind: 'lost_answer' }
  /** The connection closes before the call is executed. */
  | { kind: 'hung_up' }
  /** The call waits before or after its execution. */
  | { kind: 'hold' | 'hold_answer'; until: Promise<void> }

export type TestFacilitator = AsyncDisposable & {
  url: string
  transfers: Transfer[]
  /** Requested paths, in order. */
  requests: string[]
  /** Sets the mishap of the next call; resolves when a call has met it. */
  meets(path: '/verify' | '/settle', mishap: Mishap): Promise<void>
  /** Creates a payer with a new key and this balance. */
  payer(units?: bigint): TestPayer
}

export type TestPayer = {
  address: string
  /** Returns payment headers for a 402: for its header object, or in version 1 for its body. */
  pay(required: object): Promise<Record<string, string>>
  /** Fetches like an application: gets a 402, pays, and repeats the request. */
  fetch: typeof fetch
}

export async function startFacilitator(): Promise<TestFacilitator> {
  const ledger = createLedger(testToken)
  const official = new x402Facilitator()
    .register(testNetwork, new ExactFacilitator(ledger.signer, { simulateInSettle: false }))
    // The type allows only names of version 2.
    .registerV1(testNetworkV1 as never, new ExactFacilitatorV1(ledger.signer))
  const requests: string[] = []
  const mishaps = new Map<string, { mishap: Mishap; met: () => void }[]>()

  async function act(path: string, body: string): Promise<object> {
    if (path === '/supported') return official.getSupported()
    const { paymentPayload, paymentRequirements } = JSON.parse(body)
    return path === '/verify'
      ? official.verify(paymentPayload, paymentRequirements)
      : official.settle(paymentPayload, paymentRequirements)
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? ''
    const body = await readText(request)
    requests.push(path)
    const { mishap, met } = mishaps.get(path)?.shift() ?? {}
    if (mishap?.kind !== 'hold_answer') met?.()
    if (mishap?.kind === 'hold') await mishap.until
    if (mishap?.kind === 'hung_up') return void request.socket.destroy()
    if (mishap?.kind === 'status') return void response.writeHead(mishap.status).end('{}')
    const refusal = mishap?.kind === 'refuse' ? mishap.reason : null
    const answer = refusal === null ? await act(path, body) : refused(path, refusal)
    if (mishap?.kind === 'hold_answer') {
      met?.()
      await mishap.until
    }
    if (mishap?.kind === 'lost_answer') return void request.socket.destroy()
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  }

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      const message = error instanceof Error ? error.message : String(error)
      response.writeHead(500).end(JSON.stringify({ error: message }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo

  return {
    url: `http://127.0.0.1:${port}`,
    transfers: ledger.transfers,
    requests,
    meets(path, mishap) {
      const { promise, resolve: met } = Promise.withResolvers<void>()
      mishaps.set(path, [...(mishaps.get(path) ?? []), { mishap, met }])
      return promise
    },
    payer(units = 1_000_000_000n) {
      const payer = createPayer()
      ledger.fund(payer.address, units)
      return payer
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The entry of x402's own tables for a network (CAIP-2): its USDC, and its name in version 1. */
export function officialNetwork(network: string) {
  // The type requires the format that every network name here has.
  const { asset, name, version, decimals, assetTransferMethod } = getDefaultAsset(network as never, 'USDC')
  const named = Object.entries(EVM_NETWORK_CHAIN_ID_MAP).find(([, chain]) => network === `eip155:${chain}`)
  const takesSignedTransfers = assetTransferMethod === undefined
  return { usdc: { asset, name, version, decimals }, v1: named?.[0] ?? null, takesSignedTransfers }
}

function refused(path: string, reason: string): object {
  return path === '/verify'
    ? { isValid: false, invalidReason: reason }
    : { success: false, errorReason: reason, transaction: '', network: testNetwork }
}

function createPayer(): TestPayer {
  const account = privateKeyToAccount(generatePrivateKey())
  const client = new x402Client()
    .register(testNetwork, new ExactEvmScheme(account))
    .registerV1(testNetworkV1 as never, new ExactEvmSchemeV1(account))
  const http = new x402HTTPClient(client)
  return {
    address: account.address,
    // The content of a 402 has the library's own types.
    pay: async (required) =>
      http.encodePaymentSignatureHeader(await http.createPaymentPayload(required as never)),
    fetch: wrapFetchWithPayment(fetch, client) as typeof fetch,
  }
}
