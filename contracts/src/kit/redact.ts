/** Replaces a secret. */
export const hidden = '[secret]'
const secretKeys =
  /(secret|password|passwd|token|authorization|cookie|credential|api[-_]?key|apikey|private[-_]?key|encryption[-_]?key|signature|sealed)/i
/** Names that contain one of the words above but hold no secret. */
const plainKeys = /(_tokens?|^tokens|_count|_id|_ids|_name|_type|_state|_path|_seconds)$/i

/**
 * Repetitions before a required part are bounded, longer than any real secret. Otherwise a text of repeated
 * beginnings would take quadratic time and block the process.
 */
const shapes: [RegExp, string][] = [
  [/\bsvc_[a-z]+_[A-Za-z0-9_-]{8,}/g, hidden],
  [/\bwhsec_[A-Za-z0-9_+/=-]{8,}/g, hidden],
  [/\bsk-[A-Za-z0-9_-]{8,}/g, hidden],
  [/\beyJ[A-Za-z0-9_-]{5,4096}\.[A-Za-z0-9_-]{5,16384}\.[A-Za-z0-9_-]*/g, hidden],
  [/\bAIza[A-Za-z0-9_-]{20,}/g, hidden],
  [/\b(?:gh[a-z]_|github_pat_)[A-Za-z0-9_]{16,}/g, hidden],
  [/\bxox[a-z]-[A-Za-z0-9-]{8,}/g, hidden],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, hidden],
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, `$1 ${hidden}`],
  [/\b([a-z][a-z0-9+.-]{0,30}:\/\/[^\s/:@]*):[^\s/@]+@/gi, `$1:${hidden}@`],
  [/([?&](?:token|ticket|key|api_key|access_token|code|secret)=)[^&\s"']+/gi, `$1${hidden}`],
]

/** Masks everything in the form of a key, a token or a password in a URL. */
export function redactText(text: string): string {
  return shapes.reduce((out, [shape, put]) => out.replace(shape, put), text)
}

/** True if a field or variable of this name may hold a secret. */
export function isSecretKey(key: string): boolean {
  return secretKeys.test(key) && !plainKeys.test(key)
}
