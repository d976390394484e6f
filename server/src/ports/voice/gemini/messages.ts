import { z } from 'zod'
import type { VoiceAsked, VoiceTool } from '../port.ts'

/** Path of the provider's API below its base address. */
export const livePath = '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent'

const Transcription = z.object({ text: z.string().optional(), finished: z.boolean().optional() }).nullish()

/** The used parts of the provider's messages. One message may contain several. */
export const ServerMessage = z.looseObject({
  setupComplete: z.looseObject({}).nullish(),
  serverContent: z
    .looseObject({
      modelTurn: z
        .looseObject({
          parts: z
            .array(
              z.looseObject({ inlineData: z.object({ mimeType: z.string(), data: z.string() }).nullish() }),
            )
            .nullish(),
        })
        .nullish(),
      inputTranscription: Transcription,
      outputTranscription: Transcription,
      interrupted: z.boolean().nullish(),
      turnComplete: z.boolean().nullish(),
    })
    .nullish(),
  toolCall: z
    .looseObject({
      functionCalls: z.array(
        z.looseObject({
          id: z.string(),
          name: z.string(),
          args: z.record(z.string(), z.unknown()).nullish(),
        }),
      ),
    })
    .nullish(),
  toolCallCancellation: z.looseObject({ ids: z.array(z.string()) }).nullish(),
  goAway: z.looseObject({}).nullish(),
  sessionResumptionUpdate: z
    .looseObject({ newHandle: z.string().nullish(), resumable: z.boolean().nullish() })
    .nullish(),
})
export type ServerMessage = z.output<typeof ServerMessage>

/** Null for unreadable messages, because later versions may add types. */
export function readMessage(text: string): ServerMessage | null {
  try {
    const read = ServerMessage.safeParse(JSON.parse(text))
    return read.success ? read.data : null
  } catch {
    return null
  }
}

/** The first message of a connection. `handle` resumes an earlier session. */
export function setupOf(request: VoiceAsked & { model: string }, handle: string | null): object {
  const { model, voiceName, systemInstruction, tools } = request
  return {
    setup: {
      model: model.startsWith('models/') ? model : `models/${model}`,
      generationConfig: {
        responseModalities: ['AUDIO'],
        speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName } } },
      },
      systemInstruction: { parts: [{ text: systemInstruction }] },
      ...(tools.length > 0 ? { tools: [{ functionDeclarations: tools.map(declared) }] } : {}),
      inputAudioTranscription: {},
      outputAudioTranscription: {},
      // A connection lasts about ten minutes, and the context fills sooner than the longest call.
      sessionResumption: handle === null ? {} : { handle },
      contextWindowCompression: { slidingWindow: {} },
    },
  }
}

/** The provider expects schema types in capitals. */
function declared({ name, description, parameters }: VoiceTool): object {
  const inCapitals = (key: string, value: unknown) =>
    key === 'type' && typeof value === 'string' ? value.toUpperCase() : value
  return { name, description, parameters: JSON.parse(JSON.stringify(parameters, inCapitals)) }
}

export const audioMessage = (pcm: Buffer) => ({
  realtimeInput: { audio: { data: pcm.toString('base64'), mimeType: 'audio/pcm;rate=16000' } },
})
export const audioEndMessage = { realtimeInput: { audioStreamEnd: true } }
export const textMessage = (text: string) => ({ realtimeInput: { text } })
export const toolMessage = (answer: { id: string; name: string; result: object }) => ({
  toolResponse: { functionResponses: [{ id: answer.id, name: answer.name, response: answer.result }] },
})
