import type { Vault } from '../../foundation/vault/index.ts'
import type { PresentedPayment } from '../../ports/payments/port.ts'
import { type Offer, type Proof, type Requirements, requirementsOf, versionOneForm } from './rules.ts'

/** A proof with the terms on which it was taken: what goes to the facilitator, then and later. */
export type Presented = PresentedPayment & { terms: Requirements }

/** The proof differs in no term from the offer. */
export function presentedOf(proof: Proof, offer: Offer): Presented {
  const terms = requirementsOf(offer)
  const requirements = proof.version === 1 ? versionOneForm(offer) : terms
  if (!requirements) throw new Error(`${offer.network} has no name in version 1 of x402.`)
  return { version: proof.version, proof: proof.wire, requirements, terms }
}

/** Proofs between the run and the collecting of the money, which a new process can go on with. */
export function createKeeping(vault: Pick<Vault, 'seal' | 'open'>) {
  const contextOf = (proofHash: string) => `paid-proof:${proofHash}`
  return {
    seal: (proofHash: string, presented: Presented) =>
      vault.seal(JSON.stringify(presented), contextOf(proofHash)),
    open: (proofHash: string, sealed: string): Presented =>
      // Sealed by this feature.
      JSON.parse(vault.open(sealed, contextOf(proofHash))) as Presented,
  }
}

export type Keeping = ReturnType<typeof createKeeping>
