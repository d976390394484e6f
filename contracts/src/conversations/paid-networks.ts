/** A token for payments: its contract, and its name and version in signatures (EIP-712). */
export type PaidAsset = { asset: string; name: string; version: string; decimals: number }
export type PaidNetwork = {
  /** CAIP-2. */
  network: string
  label: string
  /** Name in version 1 of x402; null if it has none. */
  v1: string | null
  usdc: PaidAsset
}

/** Networks whose USDC supports signed transfers (EIP-3009), from the tables of x402. */
export const paidNetworks: readonly PaidNetwork[] = [
  network(8453, 'Base', 'base', '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', 'USD Coin'),
  network(84532, 'Base Sepolia (test)', 'base-sepolia', '0x036CbD53842c5426634e7929541eC2318f3dCF7e', 'USDC'),
  network(1, 'Ethereum', 'ethereum', '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', 'USD Coin'),
  network(137, 'Polygon', 'polygon', '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359', 'USD Coin'),
  network(42161, 'Arbitrum One', null, '0xaf88d065e77c8cC2239327C5EDb3A432268e5831', 'USD Coin'),
  network(421614, 'Arbitrum Sepolia (test)', null, '0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d', 'USD Coin'),
  network(43114, 'Avalanche', 'avalanche', '0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E', 'USD Coin'),
  network(42220, 'Celo', 'celo', '0xcebA9300f2b948710d2653dD7B07f33A8B32118C', 'USDC'),
  network(11142220, 'Celo Sepolia (test)', null, '0x01C5C0122039549AD1493B8220cABEdD739BC44E', 'USDC'),
  network(143, 'Monad', 'monad', '0x754704Bc059F8C67012fEd69BC8A327a5aafb603', 'USDC'),
  network(1329, 'Sei', 'sei', '0xe15fC38F6D8c56aF07bbCBe3BAf5708A2Bf42392', 'USDC'),
  network(1328, 'Sei Testnet', 'sei-testnet', '0x4fCF1784B31630811181f670Aea7A7bEF803eaED', 'USDC'),
  network(50, 'XDC', null, '0xfA2958CB79b0491CC627c1557F441eF849Ca8eb1', 'USDC'),
  network(51, 'XDC Apothem (test)', null, '0xb5AB69F7bBada22B28e79C8FFAECe55eF1c771D4', 'USDC'),
]

export function paidNetwork(id: string): PaidNetwork | null {
  return paidNetworks.find(({ network }) => network === id) ?? null
}

function network(chain: number, label: string, v1: string | null, asset: string, name: string): PaidNetwork {
  return { network: `eip155:${chain}`, label, v1, usdc: { asset, name, version: '2', decimals: 6 } }
}
