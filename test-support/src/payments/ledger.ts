/** The part of a chain that signed transfers of one token (EIP-3009) need: balances and single-use nonces. */
import { randomBytes } from 'node:crypto'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { encodeAbiParameters, encodeEventTopics, erc20Abi, type Hex, zeroAddress } from 'viem'

export type Transfer = { from: string; to: string; value: bigint; transaction: string }

export type Ledger = {
  transfers: Transfer[]
  /** Sets a balance; all others are 0. */
  fund(address: string, units: bigint): void
  /** The chain access of the official facilitator. */
  signer: ReturnType<typeof toFacilitatorEvmSigner>
}

export function createLedger(token: string): Ledger {
  const balances = new Map<string, bigint>()
  const used = new Set<string>()
  const transfers: Transfer[] = []
  const balanceOf = (address: string) => balances.get(address.toLowerCase()) ?? 0n

  /** Throws like the token's contract. */
  function check(args: readonly unknown[] | undefined) {
    // The argument order of `transferWithAuthorization`.
    const [from, to, value, , , nonce] = args as [Hex, Hex, bigint, bigint, bigint, Hex]
    if (used.has(`${from}:${nonce}`)) throw new Error('FiatTokenV2: authorization is used or canceled')
    if (balanceOf(from) < value) throw new Error('ERC20: transfer amount exceeds balance')
    return { from, to, value, nonce }
  }

  function write(args: readonly unknown[]): Hex {
    const { from, to, value, nonce } = check(args)
    used.add(`${from}:${nonce}`)
    balances.set(from.toLowerCase(), balanceOf(from) - value)
    balances.set(to.toLowerCase(), balanceOf(to) + value)
    const transaction: Hex = `0x${randomBytes(32).toString('hex')}`
    transfers.push({ from, to, value, transaction })
    return transaction
  }

  function logOf(hash: string) {
    const { from, to, value } = transfers.find(({ transaction }) => transaction === hash) ?? {}
    const parties = { from: from as Hex, to: to as Hex }
    const topics = encodeEventTopics({ abi: erc20Abi, eventName: 'Transfer', args: parties })
    const data = encodeAbiParameters([{ type: 'uint256' }], [value ?? 0n])
    return { address: token, topics, data }
  }

  return {
    transfers,
    fund: (address, units) => void balances.set(address.toLowerCase(), units),
    signer: toFacilitatorEvmSigner({
      address: zeroAddress,
      // The token is a contract; payers are not.
      getCode: async ({ address }) => (address.toLowerCase() === token.toLowerCase() ? '0x60' : undefined),
      readContract: async ({ functionName, args }) => {
        if (functionName !== 'transferWithAuthorization')
          throw new Error(`${functionName} is not supported here`)
        check(args)
      },
      writeContract: async ({ args }) => write(args),
      verifyTypedData: async () => {
        throw new Error('signatures of contracts are not supported here')
      },
      sendTransaction: async () => {
        throw new Error('deployments are not supported here')
      },
      // The library reads only these fields of a receipt.
      waitForTransactionReceipt: async ({ hash }) => ({ status: 'success', logs: [logOf(hash)] }) as never,
    }),
  }
}
