import type { Secret } from '../../kit/secret.ts'

/** A model that listens and speaks: an open session is one voice conversation. */
export type VoicePort = {
  /**
   * Resolves when the model listens. Throws `VoiceDown` when the provider is unreachable, refuses, or does
   * not answer within 30 s. `signal` aborts opening; an open session ends with `close`.
   */
  open(asked: VoiceAsked): Promise<LiveVoice>
}

export type VoiceAsked = {
  key: Secret
  /** Null: the configured default model. */
  model: string | null
  systemInstruction: string
  /** One of `voiceNames`. */
  voiceName: string
  tools: readonly VoiceTool[]
  signal: AbortSignal
}

/** `parameters` is a JSON Schema of an object. The model keeps talking while a tool runs. */
export type VoiceTool = { name: string; description: string; parameters: object }

export type LiveVoice = {
  /**
   * Events in order for a single reader; the last one is `closed`. While the reader pauses, nothing more is
   * read from the provider.
   */
  readonly events: AsyncIterable<VoiceEvent>
  /**
   * Sends PCM, 16 kHz, mono, 16 bit little endian. Returns false when the audio was dropped, because the
   * provider is slow or the session is reconnecting: late speech is useless.
   */
  sendAudio(pcm16k: Buffer): boolean
  /** Signals that the microphone is off; audio may follow again. */
  audioEnd(): void
  /** Sends text to the model, which answers aloud. */
  sendText(text: string): void
  /** Answers a `toolCall` once. Does nothing for a cancelled call. */
  sendToolResult(answer: { id: string; name: string; result: object }): void
  /** Ends the session; the reader gets `closed` with `asked`. Idempotent. */
  close(): void
}

export type VoiceEvent =
  /** PCM, 24 kHz, mono, 16 bit little endian. Arrives faster than it is spoken. */
  | { type: 'audio'; pcm24k: Buffer }
  /**
   * A transcript line. `text` is the whole line so far. Each line ends with exactly one `final`, whose text
   * every database accepts. Open lines become final before `closed`.
   */
  | { type: 'transcript'; role: 'user' | 'assistant'; text: string; final: boolean }
  | { type: 'toolCall'; id: string; name: string; args: Record<string, unknown> }
  /** The model no longer wants the answers to these calls. */
  | { type: 'toolCancelled'; ids: string[] }
  /** The person started to speak: audio that was not played yet must be dropped. */
  | { type: 'interrupted' }
  | { type: 'turnComplete' }
  /**
   * `asked`: by `close`. `lost`: the connection was lost. `refused`: the provider ended it; `detail` has the
   * reason.
   */
  | { type: 'closed'; reason: 'asked' | 'lost' | 'refused'; detail: string | null }

/** The message never contains the key, which is part of requests. */
export class VoiceDown extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'VoiceDown'
  }
}
