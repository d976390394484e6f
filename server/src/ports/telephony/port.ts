import type { Secret } from '../../kit/secret.ts'

/**
 * A provider of telephone calls: it rings a number, tells how the call goes by signed requests, and streams the
 * sound of both ends through a socket that it opens here.
 */
export type Telephony = {
  /** Whether calls may be made so. Throws `TelephonyDown`. */
  check(account: TelephonyAccount, fromNumber: string): Promise<'good' | 'bad_credentials' | 'foreign_number'>
  /** Rings. Throws `TelephonyDown`, and then it is not known whether it rings. */
  place(account: TelephonyAccount, call: CallToPlace): Promise<PlacedCall>
  /** Ends a call wherever it is; one that has ended is left alone. Throws `TelephonyDown`. */
  hangUp(account: TelephonyAccount, providerCallId: string): Promise<void>
  /** Whether a request comes from the provider: signed with the account's token. `url` as it was given to it. */
  isSigned(authToken: Secret, request: { url: string; body: Uint8Array; signature: string }): boolean
  /** What a signed request tells; null when it is nothing that matters. */
  readStatus(body: Uint8Array): { providerCallId: string; status: CallStatus } | null

  /** One message of the media socket; null when it is nothing that matters. Throws when it is none of the protocol. */
  readFrame(text: string): MediaFrame | null
  /** Sent there: sound that is to be played. */
  audioFrame(streamId: string, mulaw: Uint8Array): string
  /** It comes back once all sound before it was played. */
  markFrame(streamId: string, name: string): string
  /** Sound that was not played yet is dropped. */
  clearFrame(streamId: string): string
}

export type TelephonyAccount = { accountSid: string; authToken: Secret }

export type CallToPlace = {
  to: string
  from: string
  /** Where the provider opens the media socket, and what it says there first. */
  mediaUrl: string
  ticket: string
  statusUrl: string
  ringSeconds: number
  maxSeconds: number
}

/** `refused`: the provider does not make this call and says why. */
export type PlacedCall = { ok: true; providerCallId: string } | { ok: false; refused: string }

/** How a call goes; the last five are its end. */
export type CallStatus =
  | 'initiated'
  | 'ringing'
  | 'answered'
  | 'completed'
  | 'busy'
  | 'no_answer'
  | 'failed'
  | 'cancelled'

export type MediaFrame =
  | { type: 'start'; streamId: string; providerCallId: string; ticket: string | null }
  /** μ-law, 8 kHz, mono: what the other end says. */
  | { type: 'audio'; mulaw: Buffer }
  | { type: 'mark'; name: string }
  | { type: 'stop' }

/** The provider cannot be reached, or does not answer as one does; its text is not told. */
export class TelephonyDown extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'TelephonyDown'
  }
}
