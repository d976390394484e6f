/** Names of secret values: an early end of their comparison reveals how much of a guess was right. */
const secretName = String.raw`[\w$.?]*(?:secret|password|passwd|passphrase|signature|hmac|digest|hash|apikey|api_key|token|bearer|credential|otp)`
const comparison = new RegExp(
  String.raw`(?<![\w$.])${secretName}\s*[!=]==\s*(?<right>\S+)|(?<left>\S+)\s*[!=]==\s*${secretName}(?![\w$(])`,
  'gi',
)
/** Operands that are not secret: null checks, kinds, literals. */
const harmless = /^\(*(?:null|undefined|typeof|true|false|-?\d|['"`])|(?:\.length|\.kind|\.mode|'|`)$/
/**
 * Names of public values: digests of the audit chain, of repeated bodies and of runtime settings, fencing tokens,
 * and a password with its confirmation.
 */
const publicNames =
  /claim_?token|lease\.token|(?:entry|previous|last|swept|first)_hash|body_?digest|entry\.signature|confirm_password/i

const allowedFile = 'server/src/kit/same-secret.ts'

/** Returns the lines in which a file compares secrets itself, judged by names. */
export function secretComparisons(file: string, content: string): { text: string; line: number }[] {
  if (file === allowedFile) return []
  return content.split('\n').flatMap((text, index) => {
    const line = index + 1
    if (/^\s*(?:\/?\*|\/\/)/.test(text) || publicNames.test(text)) return []
    if (text.includes('timingSafeEqual')) return [{ text: 'timingSafeEqual', line }]
    return [...text.matchAll(comparison)]
      .filter(({ groups }) => !harmless.test(groups?.right ?? groups?.left ?? ''))
      .map(([found]) => ({ text: found, line }))
  })
}
