/**
 * Payments for tests: a facilitator of x402 on a free port of loopback, which is the official one with a chain in
 * memory, and payers who sign as official clients do.
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

/** Base Sepolia and its USDC, of which this ledger is not the real one. */
export const testNetwork = 'eip155:84532'
const testNetworkV1 = 'base-sepolia'
const testToken = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'

/** What the next call of a path meets instead of its answer. */
export type Mishap =
  | { kind: 'status'; status: number }
  | { kind: 'refuse'; reason: string }
  /** What was asked is done, and the connection ends before the answer. */
  | { kind: 'lost_answer' }
  /** Nothing is done, and the connection ends. */
  | { kind: 'hung_up' }
  /** The call waits, before or after what was asked is done. */
  | { kind: 'hold' | 'hold_answer'; until: Promise<void> }

export type TestFacilitator = AsyncDisposable & {
  url: string
  transfers: Transfer[]
  /** Paths that were asked, in order. */
  asked: string[]
  /** Resolves when a call has met it. */
  meets(path: '/verify' | '/settle', mishap: Mishap): Promise<void>
  /** Somebody with a new key and so much of the token. */
  payer(units?: bigint): TestPayer
}

export type TestPayer = {
  address: string
  /** The headers that pay what a 402 asks for: its header's object, or for version 1 its body. */
  pay(required: object): Promise<Record<string, string>>
  /** As an application would: asks, is told the price, pays. */
  fetch: typeof fetch
}

export async function startFacilitator(): Promise<TestFacilitator> {
  const ledger = createLedger(testToken)
  const official = new x402Facilitator()
    .register(testNetwork, new ExactFacilitator(ledger.signer, { simulateInSettle: false }))
    // Its type knows names of version 2 alone.
    .registerV1(testNetworkV1 as never, new ExactFacilitatorV1(ledger.signer))
  const asked: string[] = []
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
    asked.push(path)
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
    asked,
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

/** What x402's own tables have of a network (CAIP-2): its USDC, and its name in version 1. */
export function officialNetwork(network: string) {
  // Its type asks for the form, which every name of a network here has.
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
    // What a 402 says is of the library's own types.
    pay: async (required) =>
      http.encodePaymentSignatureHeader(await http.createPaymentPayload(required as never)),
    fetch: wrapFetchWithPayment(fetch, client) as typeof fetch,
  }
}
