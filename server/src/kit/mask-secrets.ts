/** Replaces every known secret by `[secret]`, including its JSON-escaped forms. */
export function maskText(text: string, secrets: readonly string[]): string {
  return maskForms(text, secrets, allForms)
}

/** Masks JSON text without changing its structure: secrets in strings have their escaped form. */
export function maskJson(text: string, secrets: readonly string[]): string {
  return maskForms(text, secrets, (secret) => [escaped(secret), escaped(escaped(secret))])
}

/**
 * Masks one piece of a stream. `held` is the end of the text that may be part of a longer secret; the caller
 * prepends it to the next piece.
 */
export function maskPiece(text: string, secrets: readonly string[]): { masked: string; held: string } {
  const forms = secrets.filter(isLongEnough).flatMap(allForms)
  const end = settledLength(text, forms)
  return { masked: maskText(text.slice(0, end), secrets), held: text.slice(end) }
}

/** Returns the length of the text that cannot be part of an unfinished secret. */
function settledLength(text: string, forms: readonly string[]): number {
  let end = Math.min(text.length, ...forms.map((form) => beginningAt(text, form)))
  // Complete secrets are not split either.
  for (let before = -1; before !== end; ) {
    before = end
    for (const form of forms) {
      const at = text.lastIndexOf(form, end - 1)
      if (at >= 0 && at + form.length > end) end = at
    }
  }
  return end
}

/** Returns where the text's end may start `form`, or the text's length. */
function beginningAt(text: string, form: string): number {
  const first = form.charAt(0)
  let at = text.indexOf(first, Math.max(0, text.length - form.length + 1))
  while (at >= 0 && !form.startsWith(text.slice(at))) at = text.indexOf(first, at + 1)
  return at < 0 ? text.length : at
}

function maskForms(text: string, secrets: readonly string[], formsOf: (secret: string) => string[]): string {
  let masked = text
  // Longest first, so that a secret containing another is replaced as a whole.
  for (const secret of secrets.toSorted((a, b) => b.length - a.length)) {
    if (!isLongEnough(secret)) continue
    for (const form of new Set(formsOf(secret))) masked = masked.replaceAll(form, '[secret]')
  }
  return masked
}

/** Shorter secrets would mask ordinary words. */
function isLongEnough(secret: string): boolean {
  return secret.length >= 8
}

function allForms(secret: string): string[] {
  return [secret, escaped(secret), escaped(escaped(secret))]
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}
