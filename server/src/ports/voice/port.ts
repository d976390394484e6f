import type { Secret } from '../../kit/secret.ts'

/** A model that listens and speaks: one opened session is one conversation by voice. */
export type VoicePort = {
  /**
   * Resolves when the model listens. Throws `VoiceDown` when the provider cannot be reached, refuses, or does not
   * answer within 30 s. `signal` ends the opening; an open session is ended by its `close`.
   */
  open(asked: VoiceAsked): Promise<LiveVoice>
}

export type VoiceAsked = {
  key: Secret
  /** Null: the model that the platform is configured with. */
  model: string | null
  systemInstruction: string
  /** One of `voiceNames`. */
  voiceName: string
  tools: readonly VoiceTool[]
  signal: AbortSignal
}

/** `parameters` is a JSON Schema of an object. The model goes on talking while a tool is at work. */
export type VoiceTool = { name: string; description: string; parameters: object }

export type LiveVoice = {
  /**
   * What happens, in order, for one reader. The last one is `closed`. Whoever does not read on is waited for: then
   * nothing more is taken from the provider.
   */
  readonly events: AsyncIterable<VoiceEvent>
  /**
   * PCM, 16 kHz, mono, 16 bit little endian. False: it was dropped, because the provider is behind or the session
   * is being carried on elsewhere; late speech is of no use.
   */
  sendAudio(pcm16k: Buffer): boolean
  /** The microphone is off; audio may come again. */
  audioEnd(): void
  /** Said to the model in writing, which answers it aloud. */
  sendText(text: string): void
  /** The answer to a `toolCall`, once. For a call that was cancelled it does nothing. */
  sendToolResult(answer: { id: string; name: string; result: object }): void
  /** Ends it; the reader gets `closed` with `asked`. Again does nothing. */
  close(): void
}

export type VoiceEvent =
  /** PCM, 24 kHz, mono, 16 bit little endian. Comes faster than it is spoken. */
  | { type: 'audio'; pcm24k: Buffer }
  /**
   * What was said. `text` is the whole line as it is known by now; each line ends with exactly one `final`, whose
   * text every database keeps. What is still open is made final before `closed`.
   */
  | { type: 'transcript'; role: 'user' | 'assistant'; text: string; final: boolean }
  | { type: 'toolCall'; id: string; name: string; args: Record<string, unknown> }
  /** The model does not want the answers to these calls any more. */
  | { type: 'toolCancelled'; ids: string[] }
  /** The person began to speak: audio that was not played yet is to be dropped. */
  | { type: 'interrupted' }
  | { type: 'turnComplete' }
  /** `asked`: by `close`. `lost`: the provider is gone. `refused`: the provider has ended it, `detail` says why. */
  | { type: 'closed'; reason: 'asked' | 'lost' | 'refused'; detail: string | null }

/** Says what went wrong without the key, which is part of what is sent. */
export class VoiceDown extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'VoiceDown'
  }
}
