/** Names of values that somebody could guess at: a comparison that ends early tells how far a guess was right. */
const secretName = String.raw`[\w$.?]*(?:secret|password|passwd|passphrase|signature|hmac|digest|hash|apikey|api_key|token|bearer|credential|otp)`
const comparison = new RegExp(
  String.raw`(?<![\w$.])${secretName}\s*[!=]==\s*(?<right>\S+)|(?<left>\S+)\s*[!=]==\s*${secretName}(?![\w$(])`,
  'gi',
)
/** Whether one is there at all, of what kind, or a text that everybody knows. */
const harmless = /^\(*(?:null|undefined|typeof|true|false|-?\d|['"`])|(?:\.length|\.kind|\.mode|'|`)$/
/**
 * Digests that are no secret (of the audit's chain, of a body that came twice, of how a runtime was set up),
 * numbers that fence off an older holder, and two texts that one person has typed.
 */
const noSecret =
  /claim_?token|lease\.token|(?:entry|previous|last|swept|first)_hash|body_?digest|entry\.signature|confirm_password/i

const theOnePlace = 'server/src/kit/same-secret.ts'

/** Where a file compares secrets by itself, as far as names tell. */
export function secretComparisons(file: string, content: string): { text: string; line: number }[] {
  if (file === theOnePlace) return []
  return content.split('\n').flatMap((text, index) => {
    const line = index + 1
    if (/^\s*(?:\/?\*|\/\/)/.test(text) || noSecret.test(text)) return []
    if (text.includes('timingSafeEqual')) return [{ text: 'timingSafeEqual', line }]
    return [...text.matchAll(comparison)]
      .filter(({ groups }) => !harmless.test(groups?.right ?? groups?.left ?? ''))
      .map(([found]) => ({ text: found, line }))
  })
}
