import { PutEgressCredential } from '@roost/contracts/agents/egress'
import { readAssignments, rewriteAssignments } from '@roost/contracts/kit/dotenv'
import { namesVariable, suppressedVariables } from '@roost/contracts/link/credentials'
import { placeholderPrefix } from '@roost/contracts/link/egress'

/** A bound variable of a `.env`. */
export type BoundVariable = {
  name: string
  placeholder: string
  /** Whether the platform has a value; without one there is no placeholder. */
  hasValue: boolean
}

/** Plain values of bound variables in the text; the last one of a name counts. */
export function valuesIn(text: string, names: ReadonlySet<string>): Map<string, string> {
  const found = readAssignments(text).filter(
    ({ name, value }) => names.has(name) && value !== '' && !value.startsWith(placeholderPrefix),
  )
  return new Map(found.map(({ name, value }) => [name, value]))
}

/**
 * Replaces bound values in the text by placeholders. Removes placeholders of variables that are no longer
 * bound. Also replaces other occurrences of a value that was just stored.
 */
export function withPlaceholders(
  text: string,
  variables: readonly BoundVariable[],
  storedValues: ReadonlyMap<string, string>,
): string {
  // A text without bound variables stays byte for byte.
  if (variables.length === 0 && !text.includes(placeholderPrefix)) return text
  const byName = new Map(
    variables.filter(({ hasValue }) => hasValue).map((each) => [each.name, each.placeholder]),
  )
  const rewritten = rewriteAssignments(text, (name, value) => {
    const placeholder = byName.get(name)
    if (placeholder !== undefined) return value === placeholder ? null : placeholder
    return value.startsWith(placeholderPrefix) ? '' : null
  })
  const cleaned = [...storedValues].reduce(
    (result, [name, value]) => result.replaceAll(value, byName.get(name) ?? ''),
    rewritten,
  )
  const present = new Set(readAssignments(cleaned).map(({ name }) => name))
  const missing = [...byName].filter(([name]) => !present.has(name))
  if (missing.length === 0) return cleaned
  const prefix = cleaned === '' || cleaned.endsWith('\n') ? cleaned : `${cleaned}\n`
  return `${prefix}${missing.map(([name, placeholder]) => `${name}=${placeholder}\n`).join('')}`
}

/** The reason a value cannot be stored; null if it can. */
export function valueFault(value: string): string | null {
  const checked = PutEgressCredential.shape.value.safeParse(value)
  return checked.success ? null : (checked.error.issues[0]?.message ?? 'is not valid')
}

/** The reason a variable cannot be bound; null if it can. */
export function nameFault(name: string): string | null {
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,99}$/.test(name)) return 'must be the name of a variable'
  return namesVariable(suppressedVariables, name)
    ? 'is suppressed by the platform and never reaches a run'
    : null
}
