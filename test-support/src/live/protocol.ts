/** What the provider refuses: a first message that is no setup, messages that are none, the wrong kind of sound. */
export const path =
  /^\/+ws\/google\.ai\.generativelanguage\.v1(beta|alpha)?\.GenerativeService\.BidiGenerateContent$/

const fields = ['setup', 'clientContent', 'realtimeInput', 'toolResponse']
const voices = ['Zephyr', 'Puck', 'Charon', 'Kore', 'Fenrir', 'Leda', 'Orus', 'Aoede']

type Json = Record<string, unknown>

/** Why a message is refused; null for one that is taken. */
export function faultOf(message: unknown, isFirst: boolean): string | null {
  if (!isObject(message)) return 'Request contains an invalid argument.'
  const named = Object.keys(message)
  if (named.length !== 1 || !fields.includes(named[0] ?? '')) return 'Exactly one field must be set.'
  if (isFirst !== 'setup' in message) return 'setup must be the first message and only that.'
  if ('setup' in message) return faultOfSetup(message.setup)
  if ('realtimeInput' in message) return faultOfInput(message.realtimeInput)
  return null
}

function faultOfSetup(setup: unknown): string | null {
  if (!isObject(setup) || typeof setup.model !== 'string') return 'setup.model is required.'
  if (!/^models\/gemini-[\w.-]*live[\w.-]*$/.test(setup.model)) {
    return `${setup.model} is not found for API version v1beta, or is not supported for bidiGenerateContent.`
  }
  const config = isObject(setup.generationConfig) ? setup.generationConfig : {}
  if (JSON.stringify(config.responseModalities) !== '["AUDIO"]')
    return 'Cannot extract voices from a text request.'
  const voice = /"voiceName":"([^"]*)"/.exec(JSON.stringify(config.speechConfig ?? {}))?.[1]
  return voice === undefined || voices.includes(voice) ? null : `Requested voice ${voice} is not available.`
}

function faultOfInput(input: unknown): string | null {
  if (!isObject(input)) return 'realtimeInput must be an object.'
  const { audio } = input
  if (audio === undefined) return null
  if (!isObject(audio) || typeof audio.data !== 'string') return 'realtimeInput.audio.data is required.'
  return audio.mimeType === 'audio/pcm;rate=16000' ? null : 'Unsupported audio format.'
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
