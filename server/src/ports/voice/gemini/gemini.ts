import type { VoicePort } from '../port.ts'
import { openSession } from './session.ts'

/** `baseUrl` of the provider's API, over HTTP; `model` is asked where the caller names none. */
export function createGeminiVoice({ baseUrl, model }: { baseUrl: string; model: string }): VoicePort {
  return {
    open: (asked) => openSession({ ...asked, model: asked.model ?? model }, baseUrl),
  }
}
