import type { Secret } from '../../kit/secret.ts'

/**
 * A telephone provider: calls a number, reports the call's state in signed requests, and streams both audio
 * directions through a socket that it opens.
 */
export type Telephony = {
  /** Returns whether calls are possible with this account and number. Throws `TelephonyDown`. */
  check(account: TelephonyAccount, fromNumber: string): Promise<'good' | 'bad_credentials' | 'foreign_number'>
  /** Starts a call. Throws `TelephonyDown` when it is unknown whether the call was started. */
  place(account: TelephonyAccount, call: CallToPlace): Promise<PlacedCall>
  /** Ends a call in any state; ended calls are ignored. Throws `TelephonyDown`. */
  hangUp(account: TelephonyAccount, providerCallId: string): Promise<void>
  /** True when the request is signed with the account's token. `url` is the address given to the provider. */
  isSigned(authToken: Secret, request: { url: string; body: Uint8Array; signature: string }): boolean
  /** Parses a signed request; null when irrelevant. */
  readStatus(body: Uint8Array): { providerCallId: string; status: CallStatus } | null

  /** Parses a message of the media socket; null when irrelevant. Throws for invalid messages. */
  readFrame(text: string): MediaFrame | null
  /** Encodes audio to be played. */
  audioFrame(streamId: string, mulaw: Uint8Array): string
  /** The provider returns the mark once all earlier audio was played. */
  markFrame(streamId: string, name: string): string
  /** Drops audio that was not played yet. */
  clearFrame(streamId: string): string
}

export type TelephonyAccount = { accountSid: string; authToken: Secret }

export type CallToPlace = {
  to: string
  from: string
  /** Address of the media socket, and the ticket in its first message. */
  mediaUrl: string
  ticket: string
  statusUrl: string
  ringSeconds: number
  maxSeconds: number
}

/** `refused`: the provider's reason for refusing the call. */
export type PlacedCall = { ok: true; providerCallId: string } | { ok: false; refused: string }

/** State of a call; the last five are final. */
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
  /** μ-law, 8 kHz, mono: audio from the other end. */
  | { type: 'audio'; mulaw: Buffer }
  | { type: 'mark'; name: string }
  | { type: 'stop' }

/** The provider is unreachable or its response is invalid. Its text is not shown. */
export class TelephonyDown extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'TelephonyDown'
  }
}
