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

/** Masks the end of a longer text. What may be the end of a secret at its beginning is removed. */
export function maskEnd(text: string, secrets: readonly string[]): string {
  const forms = secrets.filter(isLongEnough).flatMap(allForms)
  let start = Math.max(0, ...forms.map((form) => endingAt(text, form)))
  // A complete secret there is removed as a whole.
  for (let before = -1; before !== start; ) {
    before = start
    for (const form of forms) {
      const at = text.lastIndexOf(form, start - 1)
      if (start > 0 && at >= 0 && at + form.length > start) start = at + form.length
    }
  }
  return maskText(text.slice(start), secrets)
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

/** Returns where `form` may end that began before the text; 0 if it does not. */
function endingAt(text: string, form: string): number {
  for (let length = Math.min(form.length - 1, text.length); length > 0; length -= 1)
    if (text.startsWith(form.slice(-length))) return length
  return 0
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
