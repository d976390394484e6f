import type { SealedColumn, SealedText, Vault } from '../../foundation/vault/index.ts'
import type { PresentedPayment } from '../../ports/payments/port.ts'
import { type Offer, type Proof, type Requirements, requirementsOf, versionOneForm } from './rules.ts'

/** A proof with the terms under which it was accepted; both go to the facilitator, immediately and on retries. */
export type Presented = PresentedPayment & { terms: Requirements }

/** Requires a proof whose terms match the offer. */
export function presentedOf(proof: Proof, offer: Offer): Presented {
  const terms = requirementsOf(offer)
  const requirements = proof.version === 1 ? versionOneForm(offer) : terms
  if (!requirements) throw new Error(`${offer.network} has no name in version 1 of x402.`)
  return { version: proof.version, proof: proof.wire, requirements, terms }
}

const contextOf = (proofHash: string) => `paid-proof:${proofHash}`

/** Seals proofs, so that a new process can continue the settlement and recognise a repeated proof. */
export function createProofVault(vault: Pick<Vault, 'seal' | 'open'>) {
  return {
    seal: (proofHash: string, presented: Presented) =>
      vault.seal(JSON.stringify(presented), contextOf(proofHash)),
    open: (proofHash: string, sealed: SealedText): Presented =>
      // Sealed by this feature, so the shape is known.
      JSON.parse(vault.open(sealed, contextOf(proofHash))) as Presented,
  }
}

export type ProofVault = ReturnType<typeof createProofVault>

export const sealedColumns: SealedColumn[] = [
  {
    table: 'paid_proofs',
    column: 'sealed',
    key: ['proof_hash'],
    context: ({ proof_hash = '' }) => contextOf(proof_hash),
  },
]
