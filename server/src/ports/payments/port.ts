/** Who looks at proofs of payment and collects what they promise: the facilitator of x402. */
export type Payments = {
  /** Looks at a proof and moves nothing. Throws `FacilitatorDown`. */
  verify(payment: PresentedPayment): Promise<Verified>
  /** Collects. A facilitator collects one proof once, however often it is asked. Throws `FacilitatorDown`. */
  settle(payment: PresentedPayment): Promise<Settled>
  /** What it can collect. Throws `FacilitatorDown`. */
  supported(): Promise<SupportedKind[]>
}

/** Proof and terms in the form of their version of x402, as they go over the wire. */
export type PresentedPayment = { version: 1 | 2; proof: object; requirements: object }

export type Verified =
  | { ok: true; payer: string | null }
  | { ok: false; reason: string; payer: string | null }
export type Settled =
  | { ok: true; transaction: string | null; payer: string | null }
  | { ok: false; reason: string; payer: string | null }

/** `network` as CAIP-2 or as version 1 names it. */
export type SupportedKind = { scheme: string; network: string }

/** No answer, or none that a facilitator gives; what it said is not told, it may repeat the proof. */
export class FacilitatorDown extends Error {
  /** What was asked may have been done all the same: the request was on its way. */
  readonly mayHaveActed: boolean
  constructor(message: string, options: { mayHaveActed: boolean; cause?: unknown }) {
    super(message, { cause: options.cause })
    this.name = 'FacilitatorDown'
    this.mayHaveActed = options.mayHaveActed
  }
}
