/** `text` with every known secret replaced by `[secret]`, also where it stands inside JSON. */
export function maskText(text: string, secrets: readonly string[]): string {
  return maskForms(text, secrets, allForms)
}

/** The same for JSON text, whose structure is left alone: in strings a secret stands in its escaped form. */
export function maskJson(text: string, secrets: readonly string[]): string {
  return maskForms(text, secrets, (secret) => [escaped(secret), escaped(escaped(secret))])
}

/**
 * The same for a text that goes on: `held` is its end, as far as that may be the beginning of a secret or is
 * part of one that may be longer; it belongs before what comes next.
 */
export function maskPiece(text: string, secrets: readonly string[]): { told: string; held: string } {
  const forms = secrets.filter(isLongEnough).flatMap(allForms)
  const end = settledLength(text, forms)
  return { told: maskText(text.slice(0, end), secrets), held: text.slice(end) }
}

/** How much of a text is sure not to be part of a secret of which more may come. */
function settledLength(text: string, forms: readonly string[]): number {
  let end = Math.min(text.length, ...forms.map((form) => beginningAt(text, form)))
  // A secret that is whole is not cut in two either.
  for (let before = -1; before !== end; ) {
    before = end
    for (const form of forms) {
      const at = text.lastIndexOf(form, end - 1)
      if (at >= 0 && at + form.length > end) end = at
    }
  }
  return end
}

/** Where the end of `text` begins that `form` begins with; the length of `text` when there is none. */
function beginningAt(text: string, form: string): number {
  const first = form.charAt(0)
  let at = text.indexOf(first, Math.max(0, text.length - form.length + 1))
  while (at >= 0 && !form.startsWith(text.slice(at))) at = text.indexOf(first, at + 1)
  return at < 0 ? text.length : at
}

function maskForms(text: string, secrets: readonly string[], formsOf: (secret: string) => string[]): string {
  let masked = text
  // Longest first: a secret that contains another is replaced whole.
  for (const secret of secrets.toSorted((a, b) => b.length - a.length)) {
    if (!isLongEnough(secret)) continue
    for (const form of new Set(formsOf(secret))) masked = masked.replaceAll(form, '[secret]')
  }
  return masked
}

/** A shorter one would blot out ordinary words. */
function isLongEnough(secret: string): boolean {
  return secret.length >= 8
}

function allForms(secret: string): string[] {
  return [secret, escaped(secret), escaped(escaped(secret))]
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}
