/** `text` with every known secret replaced by `[secret]`, also where it stands inside JSON. */
export function maskText(text: string, secrets: readonly string[]): string {
  return maskForms(text, secrets, (secret) => [secret, escaped(secret), escaped(escaped(secret))])
}

/** The same for JSON text, whose structure is left alone: in strings a secret stands in its escaped form. */
export function maskJson(text: string, secrets: readonly string[]): string {
  return maskForms(text, secrets, (secret) => [escaped(secret), escaped(escaped(secret))])
}

function maskForms(text: string, secrets: readonly string[], formsOf: (secret: string) => string[]): string {
  let masked = text
  // Longest first: a secret that contains another is replaced whole.
  for (const secret of secrets.toSorted((a, b) => b.length - a.length)) {
    if (secret.length < shortestSecret) continue
    for (const form of new Set(formsOf(secret))) masked = masked.replaceAll(form, '[secret]')
  }
  return masked
}

/** Below this a replacement would blot out ordinary words. */
const shortestSecret = 8

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}
