/** Verifies and settles proofs of payment: the facilitator of x402. */
export type Payments = {
  /** Checks a proof without moving money. Throws `FacilitatorDown`. */
  verify(payment: PresentedPayment): Promise<Verified>
  /** Settles the payment. A proof is settled once, however often it is sent. Throws `FacilitatorDown`. */
  settle(payment: PresentedPayment): Promise<Settled>
  /** Lists the supported payment kinds. Throws `FacilitatorDown`. */
  supported(): Promise<SupportedKind[]>
}

/** Proof and terms in the wire format of their x402 version. */
export type PresentedPayment = { version: 1 | 2; proof: object; requirements: object }

export type Verified =
  | { ok: true; payer: string | null }
  | { ok: false; reason: string; payer: string | null }
export type Settled =
  | { ok: true; transaction: string | null; payer: string | null }
  | { ok: false; reason: string; payer: string | null }

/** `network` in CAIP-2 format or as in version 1. */
export type SupportedKind = { scheme: string; network: string }

/** No valid response. Its text is not shown, because it may repeat the proof. */
export class FacilitatorDown extends Error {
  /** True when the request may have been executed, because it was sent. */
  readonly mayHaveActed: boolean
  constructor(message: string, options: { mayHaveActed: boolean; cause?: unknown }) {
    super(message, { cause: options.cause })
    this.name = 'FacilitatorDown'
    this.mayHaveActed = options.mayHaveActed
  }
}
