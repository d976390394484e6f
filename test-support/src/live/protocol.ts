/** Validates messages like the provider: first message, shape and audio format. */
export const path =
  /^\/+ws\/google\.ai\.generativelanguage\.v1(beta|alpha)?\.GenerativeService\.BidiGenerateContent$/

const fields = ['setup', 'clientContent', 'realtimeInput', 'toolResponse']
const voices = ['Zephyr', 'Puck', 'Charon', 'Kore', 'Fenrir', 'Leda', 'Orus', 'Aoede']

type Json = Record<string, unknown>

/** Returns why a message is refused, or null. */
export function faultOf(message: unknown, isFirst: boolean): string | null {
  if (!isObject(message)) return 'Request contains an invalid argument.'
  const names = Object.keys(message)
  if (names.length !== 1 || !fields.includes(names[0] ?? '')) return 'Exactly one field must be set.'
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
