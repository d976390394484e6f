import type { VoicePort } from '../port.ts'
import { openSession } from './session.ts'

/** `baseUrl` is the provider's API over HTTP; `model` is the default model. */
export function createGeminiVoice({ baseUrl, model }: { baseUrl: string; model: string }): VoicePort {
  return {
    open: (request) => openSession({ ...request, model: request.model ?? model }, baseUrl),
  }
}
